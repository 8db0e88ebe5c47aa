//! Targets of a rewind, with the badge of each: the cost of a page depends only on its content, not on the number of turns
//! or its position.

use std::collections::HashSet;

use retake_core::{
    ContentHash, Effect, EffectClass, EffectState, FileChange, FilePath, Grade, Record, TargetLine,
};
use retake_store::{CallsSeen, CapturedCallChanges, NewCapture};

use super::*;

/// The short conversation, in turns of two entries.
const SHORT: u64 = 2_000;
/// The long one.
const LONG: u64 = 10_000;
/// The turns of a page.
const PAGE: usize = 1_000;
/// The distance of turns with calls in the ledger.
const EFFECT_EVERY: u64 = 10;

fn change(path: &str) -> (Grade, FileChange) {
    let record = Record::File { hash: ContentHash([7; 32]), len: 1, mode: 0o644 };
    let path = FilePath::new(path.as_bytes()).expect("a path");
    (Grade::Seen, FileChange { path, before: None, after: Some(record) })
}

/// Two calls of a turn that changed two files between them; both changed one of them.
fn owned(turn: u64) -> [CapturedCallChanges; 2] {
    let (one, other) = (change(&format!("src/{turn}.rs")), change(&format!("doc/{turn}.md")));
    let entry = entry_id(2 * turn);
    [vec![one.clone()], vec![one, other]].map(|changes| CapturedCallChanges {
        conversation: conversation(),
        entry,
        changes,
        candidates: Vec::new(),
    })
}

fn effect(turn: u64) -> Effect {
    Effect {
        call: format!("call-{turn}"),
        conversation: conversation(),
        entry: entry_id(2 * turn),
        tool: "mail".into(),
        class: EffectClass::External,
        print: [0; 16],
        began: NOW,
        state: EffectState::Begun,
    }
}

impl Stage {
    /// A conversation of turns that change files.
    async fn that_changes_files(turns: u64) -> Self {
        let stage = Self::with_entries(2 * turns).await;
        let place = stage.store.workspace(b"/work".to_vec(), (1, 2), NOW).await.expect("a workspace");
        let calls = CallsSeen { owned: (1..=turns).flat_map(owned).collect(), over: Vec::new() };
        let mark = ContentHash([7; 32]);
        let seen = NewCapture { time: NOW, name: None, changes: Vec::new(), calls, mark, manifest: None };
        stage.store.captured(place.no, seen).await.expect("captured");
        let mut written = JoinSet::new();
        for turn in (1..=turns).filter(|turn| turn.is_multiple_of(EFFECT_EVERY)) {
            let store = Arc::clone(&stage.store);
            written.spawn(async move { store.begin_effect(effect(turn), Vec::new()).await });
        }
        while let Some(written) = written.join_next().await {
            written.expect("no panic").expect("written down");
        }
        stage
    }

    /// A page, and its statements, rows and steps.
    async fn page(&self, before: Option<EntryId>) -> (Vec<TargetLine>, [u64; 3]) {
        let earlier = self.work.counts();
        let page = self.store.targets(conversation(), before, PAGE).await.expect("targets");
        let later = self.work.counts();
        (page, [0, 1, 2].map(|count| later[count] - earlier[count]))
    }

    /// The cost of a page that is not the first one after the start: the newest, and one further back.
    async fn pages(&self) -> [[u64; 3]; 2] {
        self.page(None).await;
        let (newest, cost) = self.page(None).await;
        let (earlier, further) = self.page(newest.last().map(|line| line.target.meta.id)).await;
        for (at, line) in newest.iter().chain(&earlier).enumerate() {
            let turn = self.entries / 2 - at as u64;
            let begun = usize::from(turn.is_multiple_of(EFFECT_EVERY));
            assert_eq!((line.target.number, line.did.files, line.did.begun.len()), (turn, 2, begun));
        }
        [cost, further]
    }
}

#[tokio::test]
async fn a_page_of_targets_costs_the_same_among_ten_thousand_turns() {
    let short = Stage::that_changes_files(SHORT).await.pages().await;
    let long = Stage::that_changes_files(LONG).await;
    for (few, many) in short.into_iter().zip(long.pages().await) {
        assert_eq!(many[..2], few[..2], "statements and rows");
        assert!(many[2] <= few[2] + few[2] / 10, "steps, {few:?} and {many:?}");
        assert!(few[0] < 8 * PAGE as u64, "{few:?}");
    }
    let (mut all, mut before) = (HashSet::new(), None);
    while let (page, _) = long.page(before).await
        && let Some(last) = page.last()
    {
        before = Some(last.target.meta.id);
        all.extend(page.into_iter().map(|line| line.target.number));
    }
    assert_eq!(all.len() as u64, LONG, "each turn is on a page");
}
