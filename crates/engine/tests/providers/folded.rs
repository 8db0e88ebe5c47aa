//! Prompts with summaries and shortened results, as a model server gets them: over random messages, folds, marks, rewinds, undos and
//! redos, a prompt depends on the path, its marks and its folds only.

use std::cell::Cell;
use std::collections::HashMap;

use proptest::collection::vec;
use proptest::prelude::*;
use retake_core::{Action, FoldId, Part, Path, Reason, Role, Shortening, ToolOutcome};
use serde_json::Value;

use super::rules::{Talk, body};
use crate::raw::Raw;

/// A step. A number names a person's message, modulo their count.
#[derive(Clone, Debug)]
enum Act {
    /// A turn: a message, perhaps a call with a long result, an answer.
    Turn(bool),
    Fold(usize, usize),
    Mark(Reason, usize),
    Rewind(usize),
    Undo,
    Redo,
}

const VERBS: [Reason; 4] = [Reason::Hide, Reason::Show, Reason::Exclude, Reason::Include];

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        5 => any::<bool>().prop_map(Act::Turn),
        3 => (0..8_usize, 0..8_usize).prop_map(|(from, to)| Act::Fold(from, to)),
        2 => (proptest::sample::select(&VERBS), 0..8_usize).prop_map(|(verb, at)| Act::Mark(verb, at)),
        2 => (0..8_usize).prop_map(Act::Rewind),
        2 => Just(Act::Undo),
        2 => Just(Act::Redo),
    ]
}

/// What a prompt may depend on.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Ground {
    path: Path,
    normal: Path,
    folds: Vec<FoldId>,
}

/// The messages that the server got, without the last one: what follows may be merged with it.
type Sent = Vec<Value>;

struct Checked {
    talk: Talk,
    server: Raw,
    opened: Vec<usize>,
    /// The prompts so far, by their grounds: whole, and with shortened results.
    sent: HashMap<String, [Sent; 2]>,
    before: Option<(Ground, Sent)>,
    rewinds: usize,
    shortened: usize,
}

impl Checked {
    async fn new() -> Self {
        let server = Raw::answering("400 Bad", "", "{}");
        let (talk, opened) = (Talk::of(&[]).await, Vec::new());
        Self { talk, server, opened, sent: HashMap::new(), before: None, rewinds: 0, shortened: 0 }
    }

    fn at(&self, number: usize) -> Option<retake_core::EntryId> {
        Some(self.talk.said[*self.opened.get(number % self.opened.len().max(1))?])
    }

    async fn take(&mut self, act: &Act) {
        match act {
            Act::Turn(calls) => self.turn(*calls).await,
            Act::Fold(from, to) => {
                if let (Some(from), Some(to)) = (self.at(*from), self.at(*to)) {
                    let summary = self.talk.word();
                    let fold = Action::Fold { verb: Reason::Fold, from, to, summary, covers: None };
                    self.talk.act(fold).await;
                }
            }
            Act::Mark(verb, at) => {
                if let Some(entry) = self.at(*at) {
                    let entries = vec![entry];
                    self.talk.act(Action::Mark { verb: *verb, entries, range: false, seen: None }).await;
                }
            }
            Act::Rewind(at) => {
                if let Some(entry) = self.at(*at) {
                    self.talk.act(Action::Rewind(entry)).await;
                }
            }
            Act::Undo => self.talk.act(Action::Undo(1)).await,
            Act::Redo => self.talk.act(Action::Redo(1)).await,
        }
    }

    async fn turn(&mut self, calls: bool) {
        self.opened.push(self.talk.said.len());
        let word = self.talk.word();
        self.talk.say(Role::User, "ann", vec![Part::text(word)]).await;
        if calls {
            let id = self.talk.word();
            let call = Part::ToolCall { id: id.clone(), name: "look".into(), arguments: "{}".into() };
            self.talk.say(Role::Assistant, "here/m", vec![call]).await;
            let content = format!("{}\n", self.talk.word()).repeat(700);
            let result = Part::ToolResult { call: id, content, outcome: ToolOutcome::Ok };
            self.talk.say(Role::Tool, "look", vec![result]).await;
        }
        let word = self.talk.word();
        self.talk.say(Role::Assistant, "here/m", vec![Part::text(word)]).await;
    }

    async fn ground(&self) -> Ground {
        let snapshot = self.talk.store.snapshot(self.talk.id).await.expect("a snapshot");
        let now = snapshot.conversation();
        let normal = retake_core::Normal::of(&now.path(), &now.state.marks).path().clone();
        Ground { path: now.path(), normal, folds: now.folds_in_force() }
    }

    async fn sent(&self, messages: Vec<retake_core::Message>) -> Sent {
        let body = body(&self.server, "openai", "/v1", messages).await;
        let mut messages = body["messages"].as_array().expect("messages").clone();
        messages.pop();
        messages
    }

    /// The prompt is that of any earlier state with this ground. After a rewind with the same folds it begins the prompt before it.
    async fn check(&mut self, act: &Act) -> Result<(), TestCaseError> {
        let (store, id, ground) = (&self.talk.store, self.talk.id, self.ground().await);
        let whole = store.prompt(id, None).await.expect("a prompt");
        let shortening = Shortening { step: 6_000, folder: "/spool".into() };
        let (short, kept) = store.shortened_prompt(id, None, shortening).await.expect("a prompt");
        prop_assert!(kept.iter().all(|whole| whole.content.len() > 2_000));
        self.shortened += kept.len();
        let sent = [self.sent(whole).await, self.sent(short).await];
        if let (Act::Rewind(_), Some((before, earlier))) = (act, &self.before)
            && before.folds == ground.folds
        {
            self.rewinds += usize::from(before.path != ground.path);
            prop_assert!(earlier.starts_with(&sent[0]) || sent[0] == *earlier, "{earlier:?}\n{:?}", sent[0]);
        }
        self.before = Some((ground.clone(), sent[0].clone()));
        if let Some(earlier) = self.sent.insert(format!("{ground:?}"), sent.clone()) {
            prop_assert_eq!(earlier, sent);
        }
        Ok(())
    }
}

#[test]
fn prompt_depends_on_path_marks_and_folds_only_and_a_rewind_gives_the_beginning_of_an_earlier_one() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let cases = ProptestConfig::with_cases((ProptestConfig::default().cases / 4).max(1));
    let (again, rewinds, shortened) = (Cell::new(0), Cell::new(0), Cell::new(0));
    proptest!(cases, |(acts in vec(act(), 8..28))| {
        runtime.block_on(async {
            let mut checked = Checked::new().await;
            for act in &acts {
                checked.take(act).await;
                checked.check(act).await?;
            }
            again.set(again.get() + acts.len() - checked.sent.len());
            shortened.set(shortened.get() + checked.shortened);
            rewinds.set(rewinds.get() + checked.rewinds);
            Ok::<(), TestCaseError>(())
        })?;
    });
    let counts = [again.get(), rewinds.get(), shortened.get()];
    assert!(
        counts.iter().all(|count| *count > 0),
        "the tests reached states again, kept folds, shortened: {counts:?}"
    );
}
