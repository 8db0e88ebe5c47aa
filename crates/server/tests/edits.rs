//! Editing a message: the receipt says what it took back, and undo reverts message and edit as one step.

use futures::StreamExt;
use retake_wire::reply::Receipt;
use retake_wire::request::{At, ConversationTarget, Edit};
use retake_wire::{
    Action, Attached, MessageName, Mode, OpSummary, OperationReason, Outcome, Part, Permit, PlannedStep,
    Request, Run, RunEvent, RunStart,
};

use super::world::{Desk, get, plan, rewind};

/// The first events of a run.
async fn begun(desk: &Desk, id: &str, start: RunStart, request_id: Option<&str>) -> Receipt {
    let run = Run {
        conversation: id.to_owned(),
        folder: None,
        start,
        files: Default::default(),
        model: None,
        head: None,
        permit: Permit { mode: Some(Mode::AllowAll), ..Permit::default() },
        request_id: request_id.map(str::to_owned),
    };
    let events: Vec<_> = desk.client.run(run).await.expect("begun").collect().await;
    let begun = events.into_iter().find_map(|event| match event {
        RunEvent::Started { receipt, .. } => receipt,
        _ => None,
    });
    *begun.expect("a receipt")
}

fn says(text: &str) -> RunStart {
    RunStart::Say { parts: vec![Part::text(text)], seen: None, steer: None, piped: false }
}

fn edits(entry: &str, text: &str) -> RunStart {
    RunStart::Edit { entry: entry.into(), parts: vec![Part::text(text)], attached: Attached::Kept }
}

#[tokio::test]
async fn the_receipt_of_an_edit_says_what_it_took_back() {
    let desk = Desk::fast().await;
    let folder = desk.file("work");
    std::fs::create_dir(&folder).expect("made");
    let id = desk.create(None, folder.to_str()).await;
    let said = begun(&desk, &id, says("create a file a.txt with x"), None).await;
    assert_eq!((said.operations.len(), said.timeline.taken_back.messages), (0, 0));
    assert!(folder.join("a.txt").exists());
    begun(&desk, &id, says("hello"), None).await;
    let edited = begun(&desk, &id, edits("t1", "hello again"), Some("r1")).await;
    assert_eq!((edited.operations.len(), edited.entries.len(), edited.timeline.taken_back.turns), (1, 1, 2));
    assert_eq!(edited.files.as_ref().map(|files| files.counts.deleted), Some(1));
    assert!(!folder.join("a.txt").exists());
    let again = begun(&desk, &id, edits("t1", "hello again"), Some("r1")).await;
    assert_eq!(again, edited, "the same request has the same receipt");
    let parts = vec![Part::text("other words")];
    let edit = Edit {
        conversation: id.clone(),
        entry: "t1".into(),
        parts,
        attached: Attached::Kept,
        files: Default::default(),
        head: None,
        request_id: Some("r2".into()),
    };
    let stored = get!(desk, Receipt, Request::Edit(edit.clone()));
    assert_eq!((stored.operations.len(), stored.timeline.taken_back.turns), (1, 1));
    assert_eq!(get!(desk, Receipt, Request::Edit(edit)), stored);
}

/// Like a retry: the old message and what followed are back at once, and redo brings back the new one.
#[tokio::test]
async fn trial_15_an_edit_is_one_undo_step() {
    let desk = Desk::fast().await;
    let (id, entries) = desk.talk(&["one", "two", "three", "four"]).await;
    begun(&desk, &id, edits(&entries[0], "eins"), None).await;
    let edited = desk.texts(&id).await;
    assert_eq!(edited[0], "eins");
    begun(&desk, &id, says("more"), None).await;
    desk.apply(&id, Action::Undo { count: 1 }).await;
    assert_eq!(desk.texts(&id).await, edited, "a turn after it is another step");
    let back = desk.apply(&id, Action::Undo { count: 1 }).await;
    assert_eq!(desk.texts(&id).await, ["one", "two", "three", "four"]);
    assert_eq!((back.timeline.taken_back.turns, back.timeline.brought_back.turns), (1, 2));
    desk.apply(&id, Action::Redo { count: 1 }).await;
    assert_eq!(desk.texts(&id).await, edited);
    desk.apply(&id, Action::Undo { count: 1 }).await;
    desk.apply(&id, Action::Undo { count: 1 }).await;
    assert_eq!(desk.texts(&id).await, ["one", "two"], "what was done before");
}

/// An edit that is stopped before any output is compensated, and its text comes back.
#[tokio::test]
async fn trial_15_edit_stopped_before_output_is_compensated() {
    let desk = Desk::new().await;
    let (id, entries) = desk.talk(&["one", "two"]).await;
    let run = Run {
        conversation: id.clone(),
        folder: None,
        start: edits(&entries[0], "eins"),
        files: Default::default(),
        model: None,
        head: None,
        permit: Permit::default(),
        request_id: None,
    };
    let mut events = desk.client.run(run).await.expect("begun");
    assert!(matches!(events.next().await, Some(RunEvent::Started { .. })));
    desk.does(Request::Cancel(ConversationTarget { conversation: id.clone() })).await;
    let Some(RunEvent::Ended(ended)) = events.collect::<Vec<_>>().await.pop() else { panic!("not ended") };
    let composer = ended.receipt.and_then(|receipt| receipt.composer).map(|composer| composer.text);
    assert_eq!((ended.outcome, composer.as_deref()), (Outcome::RolledBack, Some("eins")));
    assert_eq!(desk.texts(&id).await, ["one", "two"]);
    desk.apply(&id, Action::Undo { count: 1 }).await;
    assert!(desk.texts(&id).await.is_empty(), "the step before the edit");
}

/// A fold that ends with a turn covers its answers, and the plan names what it covers.
#[tokio::test]
async fn trial_15_fold_includes_the_answers_of_its_last_turn() {
    let desk = Desk::new().await;
    let (id, entries) = desk.talk(&["one", "two", "three", "four", "five", "six"]).await;
    let fold = |to: &str| Action::Fold { from: "t1".into(), to: to.into(), summary: "in short".into() };
    for (to, count) in [("t2", 4), (&*entries[2], 3)] {
        let plan = get!(desk, Plan, plan(&id, fold(to)));
        let covers: Vec<_> = plan.timeline.covers.iter().map(|line| line.id.clone()).collect();
        assert_eq!(covers, entries[..count], "{to}");
    }
    let prompt = async || {
        let at = At { conversation: id.clone(), at: None };
        format!("{:?}", get!(desk, Prompt, Request::Prompt(at)).messages)
    };
    desk.apply(&id, fold("t2")).await;
    let prompt = prompt().await;
    assert!(!prompt.contains("four") && prompt.contains("in short") && prompt.contains("five"), "{prompt}");
}

#[tokio::test]
async fn the_receipt_of_a_retry_says_what_it_took_back() {
    let desk = Desk::fast().await;
    let folder = desk.file("work");
    std::fs::create_dir(&folder).expect("made");
    let id = desk.create(None, folder.to_str()).await;
    begun(&desk, &id, says("create a file a.txt with x"), None).await;
    let retries = || RunStart::Retry { entry: "@".into() };
    let retried = begun(&desk, &id, retries(), Some("r1")).await;
    assert_eq!((retried.operations.len(), retried.entries.len()), (1, 0));
    assert!(
        retried.timeline.taken_back.messages > 0 && retried.timeline.taken_back.turns == 0,
        "{:?}",
        retried.timeline.taken_back
    );
    assert_eq!(retried.files.as_ref().map(|files| files.counts.deleted), Some(1));
    assert_eq!(
        begun(&desk, &id, retries(), Some("r1")).await,
        retried,
        "the same request has the same receipt"
    );
}

/// Every subscriber gets the conversation, and only the client that rewound gets the words.
#[tokio::test]
async fn conversation_names_its_next_undo_and_redo_without_words_of_messages() {
    let desk = Desk::new().await;
    let (id, entries) = desk.talk(&["one", "two", "three", "four"]).await;
    desk.apply(&id, rewind(&entries[2])).await;
    let three = MessageName { turn: 2, opens_turn: true, words: String::new() };
    let summary = OpSummary::Moved { message: Some(three) };
    let step = Some(PlannedStep::Operation { reason: OperationReason::Rewind, summary });
    let next = desk.info(&id).await.steps;
    assert_eq!((&next.undo_step, next.undo.as_deref(), &next.redo_step), (&step, Some("rewind"), &None));
    desk.apply(&id, Action::Undo { count: 1 }).await;
    let next = desk.info(&id).await.steps;
    assert_eq!((&next.redo_step, next.redo.as_deref()), (&step, Some("rewind")));
}
