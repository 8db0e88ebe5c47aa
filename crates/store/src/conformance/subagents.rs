//! Subagents: their conversation counts while the call that started it does, and their changes belong to that call.

use std::sync::Arc;

use retake_core::{
    Action, Caller, ContentHash, ConversationId, Grade, Include, ListRequest, NewSubagent, Part, ReadOnly,
    Reason, Role, SearchRequest, ToolOutcome, Uncertain,
};

use super::effects::asks;
use super::files::{change, workspace};
use super::stage::{Stage, by, new_id};
use super::tool_turns::copied;
use crate::{NewDelta, Store, WantedFiles};

/// The mark of no capture.
const MARK: ContentHash = ContentHash([9; 32]);

/// A subagent that a call of the entry with this text starts.
async fn starts(stage: &Stage, text: &str) -> Stage {
    let id = ConversationId::new(new_id());
    let entry = stage.named(text);
    let caller = Caller { conversation: stage.id, entry, call: format!("{entry}-1") };
    let new = NewSubagent { id, caller, title: "explore".into(), by: by() };
    stage.store.create_subagent(new).await.expect("created");
    stage.elsewhere(id)
}

/// The subagents that count.
async fn counting(stage: &Stage) -> Vec<ConversationId> {
    let found = stage.store.subagents(stage.id).await.expect("subagents");
    found.into_iter().map(|(_, summary)| summary.id).collect()
}

async fn hits(store: &Store, include: Include) -> usize {
    let request = SearchRequest { query: "secretly".into(), include, limit: 9, ..SearchRequest::default() };
    store.search(request).await.expect("searched").hits.len()
}

/// A subagent is not in the list. It is found by its call while that is on the path, and its words are found likewise.
pub async fn subagent_counts_while_its_call_does(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["one", "two"]).await;
    asks(&mut stage, "a").await;
    let mut child = starts(&stage, "a").await;
    child.say(Role::User, "look secretly").await;
    let summary = stage.store.summary(child.id).await.expect("a summary");
    let Some(ReadOnly::Subagent(caller)) = summary.read_only else { panic!("it is a subagent's") };
    assert_eq!((caller.conversation, caller.entry), (stage.id, stage.named("a")));
    assert_eq!((summary.title.as_deref(), summary.folder.as_deref()), (Some("explore"), Some("/work")));
    let list = stage.store.list(ListRequest { limit: 99, ..ListRequest::default() }).await.expect("a list");
    assert!(list.iter().all(|summary| summary.id != child.id), "it is not in the list");
    let rewound = Include { rewound: true, ..Include::default() };
    assert_eq!((counting(&stage).await, hits(&stage.store, Include::default()).await), (vec![child.id], 1));
    stage.rewind("two").await;
    assert_eq!((counting(&stage).await, hits(&stage.store, Include::default()).await), (vec![], 0));
    assert_eq!(hits(&stage.store, rewound).await, 1);
    stage.act(Action::Undo(1)).await.expect("undone");
    // In a fork it counts as the answer does there.
    let fork = stage.fork(Some("a")).await;
    assert_eq!(counting(&fork).await, [child.id]);
    stage.rewind("two").await;
    assert_eq!((counting(&fork).await, counting(&stage).await), (vec![child.id], vec![]));
    assert_eq!(hits(&stage.store, Include::default()).await, 1);
    fork.rewind("two").await;
    assert_eq!((counting(&fork).await, hits(&stage.store, Include::default()).await), (vec![], 0));
    stage.act(Action::Undo(1)).await.expect("undone");
    assert_eq!((counting(&stage).await, hits(&stage.store, Include::default()).await), (vec![child.id], 1));
    stage.mark(Reason::Hide, &["a"]).await.expect("hidden");
    assert_eq!((counting(&stage).await, hits(&stage.store, Include::default()).await), (vec![], 0));
    stage.act(Action::Undo(1)).await.expect("undone");
    let copy = copied(&stage).await;
    let of_copy = counting(&copy).await;
    assert!(of_copy.len() == 1 && of_copy[0] != child.id, "a full export has it: {of_copy:?}");
}

/// What a call of a subagent changes belongs to the answer that started it, and its moves in git are one.
pub async fn changes_of_a_subagent_belong_to_the_call_that_started_it(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["one", "two"]).await;
    let answer = asks(&mut stage, "a").await;
    let child = starts(&stage, "a").await;
    let place = workspace(&stage.store).await;
    let of = Some((stage.id, answer));
    let delta = |changes| NewDelta { of, ..NewDelta::new(place, changes, MARK) };
    let say = child.saying(Role::User, vec![Part::text("done")]);
    let changes = vec![(Grade::Seen, change("f", 'a', 'b'))];
    stage.store.say_changed(child.id, say, vec![delta(changes)]).await.expect("said");
    let deltas = stage.store.deltas(stage.id).await.expect("deltas");
    assert_eq!(deltas.iter().map(|(_, entry)| *entry).collect::<Vec<_>>(), [answer]);
    assert_eq!(stage.store.deltas(child.id).await.expect("deltas"), []);
    let wanted = stage.store.wanted(stage.id, Action::Rewind(stage.named("two"))).await.expect("wanted");
    let WantedFiles::Path(lines) = wanted.files else { panic!("a rewind wants a path") };
    assert_eq!(lines.iter().map(|(_, wanted)| *wanted).collect::<Vec<_>>(), [false]);
}

/// An ambiguous change is certain for a step that reverts every call that may have made it.
pub async fn change_whose_every_candidate_is_reverted_is_certain(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["one"]).await;
    let first = asks(&mut stage, "a").await;
    stage.turn("two").await;
    let second = asks(&mut stage, "b").await;
    let place = workspace(&stage.store).await;
    let changes = vec![(Grade::Ambiguous(Uncertain::Several), change("f", 'a', 'b'))];
    let delta = |candidates| NewDelta {
        of: Some((stage.id, second)),
        candidates,
        ..NewDelta::new(place, changes.clone(), MARK)
    };
    let deltas = vec![delta(vec![second]), delta(vec![first, second]), delta(Vec::new())];
    let say = stage.saying(Role::Assistant, vec![Part::text("done")]);
    stage.store.say_changed(stage.id, say, deltas).await.expect("said");
    for (rewound, expected) in [("two", vec![1]), ("one", vec![1, 2])] {
        let wanted =
            stage.store.wanted(stage.id, Action::Rewind(stage.named(rewound))).await.expect("wanted");
        assert_eq!(wanted.certain.iter().map(|delta| delta.no).collect::<Vec<_>>(), expected, "to {rewound}");
    }
}

/// The task is in the call that started a subagent, and its result in the call's: who erases one of them erases the subagent.
pub async fn erasing_a_call_or_its_result_erases_the_subagent(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["one"]).await;
    let rewound = Include { rewound: true, ..Include::default() };
    for (answer, erased) in [("a", "a"), ("b", "r")] {
        let asked = asks(&mut stage, answer).await;
        let mut child = starts(&stage, answer).await;
        child.say(Role::User, "look secretly").await;
        let result =
            Part::ToolResult { call: format!("c-{answer}"), content: "r".into(), outcome: ToolOutcome::Ok };
        let result = stage.saying(Role::Tool, vec![result]);
        let id = stage.store.say(stage.id, result).await.expect("said").entries[0];
        assert_eq!(hits(&stage.store, rewound).await, 1);
        let entries = vec![if erased == "r" { id } else { asked }];
        stage.act(Action::Erase { entries, matching: None, objects: Vec::new() }).await.expect("erased");
        assert_eq!(hits(&stage.store, rewound).await, 0, "{erased} was erased");
        let summary = stage.store.summary(child.id).await.expect("a summary");
        assert_eq!(summary.title, None, "the task in a few words");
    }
}
