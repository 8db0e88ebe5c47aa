//! Random conversations with forks: a full export restores each of them exactly.

use fastrand::Rng;
use retake_core::{Action, Apply, ConversationId, Part, Reason, Role, SeenState, ToolOutcome};
use retake_engine::ExportFormat;

use super::{Desk, request};

const CASES: u64 = 60;
const STEPS: usize = 60;

/// A random step. A refusal changes nothing, which is a valid case, too.
async fn step(desk: &Desk, rng: &mut Rng, all: &mut Vec<ConversationId>, number: usize) {
    let id = all[rng.usize(..all.len())];
    let target = match rng.usize(1..9) {
        1 => "@".to_owned(),
        turn => format!("t{turn}"),
    };
    let entry = desk.engine.entry(id, &target).await.ok();
    let action = match (rng.u8(..16), entry) {
        (0..=3, _) | (_, None) => {
            desk.words(id, Role::User, &format!("ask {number}")).await;
            return;
        }
        (4 | 5, _) => {
            desk.words(id, Role::Assistant, &format!("answer {number}")).await;
            return;
        }
        (6, _) => {
            let call = number.to_string();
            let name = "f".to_owned();
            let asks = Part::ToolCall { id: call.clone(), name, arguments: "{}".into() };
            desk.say(id, Role::Assistant, vec![asks]).await;
            let result = Part::ToolResult { call, content: "3".into(), outcome: ToolOutcome::Ok };
            desk.say(id, Role::Tool, vec![result]).await;
            return;
        }
        (7, entry) => {
            if let Ok(made) = desk.engine.fork(id, entry, None, desk.engine.by(None)).await {
                all.push(made.conversation);
            }
            return;
        }
        (8, Some(entry)) => Action::Rewind(entry),
        (9, Some(entry)) => Action::Retry(entry),
        (10, _) => Action::Undo(rng.usize(1..4)),
        (11, _) => Action::Redo(1),
        (12, Some(entry)) => Action::Label(Some(entry), Some(format!("label {number}"))),
        (13, Some(from)) => {
            let Ok(to) = desk.engine.entry(id, "@").await else { return };
            Action::Fold { verb: Reason::Fold, from, to, summary: format!("sum {number}"), covers: None }
        }
        (14, Some(entry)) => Action::Erase { entries: vec![entry], matching: None, objects: Vec::new() },
        (_, Some(entry)) => {
            let verb = [Reason::Hide, Reason::Exclude, Reason::Show][rng.usize(..3)];
            Action::Mark { verb, entries: vec![entry], range: false, seen: None }
        }
    };
    let by = desk.engine.by(request(&format!("r{number}")));
    drop(desk.store.apply(id, Apply { action, seen: SeenState::Anything, by }).await);
}

#[tokio::test]
async fn any_conversation_is_restored_exactly() {
    let mut forks = 0;
    for seed in 0..CASES {
        let mut rng = Rng::with_seed(seed);
        let desk = Desk::new(seed).await;
        let mut all = vec![desk.create().await];
        for number in 0..STEPS {
            step(&desk, &mut rng, &mut all, number).await;
        }
        forks += all.len() - 1;
        let text = desk.export(all[0], ExportFormat::Full).await;
        let other = Desk::new(seed + CASES).await;
        other.import(&text).await.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert_eq!(other.export(all[0], ExportFormat::Full).await, text, "seed {seed}");
        for id in all {
            let (one, two) = (desk.export(id, ExportFormat::Jsonl), other.export(id, ExportFormat::Jsonl));
            let lines = |text: String| text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(lines(one.await), lines(two.await), "seed {seed}");
        }
    }
    assert!(forks > 0, "no case had a fork");
}
