//! A plan changes nothing, and announces exactly what the action does.

use std::collections::BTreeSet;
use std::path::PathBuf;

use retake_wire::reply::{Entry, Line, Receipt};
use retake_wire::request::{Apply, Checkpoint, Edit, Remember};
use retake_wire::{Action, Condition, FileName, MarkVerb, Part, Request, Role, Scope};

use super::world::{Desk, get, label, mark, plan, rewind, variant, variants};

const ACTIONS: &str = include_str!("../../wire/src/action.rs");

/// A conversation of three turns, the second of which has two answers, folded; returns its entries.
async fn talk(desk: &Desk) -> (String, Vec<String>) {
    let (id, mut entries) = desk.talk(&["one", "two", "three", "bad"]).await;
    desk.apply(&id, rewind("@")).await;
    for (role, text) in [(Role::Assistant, "good"), (Role::User, "four"), (Role::Assistant, "five")] {
        entries.push(desk.say(&id, role, text).await);
    }
    let [from, to] = [entries[0].clone(), entries[1].clone()];
    desk.apply(&id, Action::Fold { from, to, summary: "in short".into() }).await;
    (id, entries)
}

/// The numbers of remembered facts that go and come.
fn facts(conditions: &[Condition]) -> Option<(u64, u64)> {
    let mut found = conditions.iter().filter_map(|it| match it {
        Condition::MemoryChanges { gone, came } => Some((*gone, *came)),
        _ => None,
    });
    let first = found.next();
    assert_eq!(found.next(), None, "it is said once");
    first
}

/// Plans, checks, applies as planned; returns the receipt.
async fn check(desk: &Desk, id: &str, action: Action) -> Receipt {
    let before = (desk.info(id).await, desk.timeline(id).await);
    let planned = get!(desk, Plan, plan(id, action.clone()));
    assert_eq!((desk.info(id).await, desk.timeline(id).await), before, "{action:?}: a plan changes nothing");
    assert_eq!(planned.head, before.0.head);
    let done = get!(
        desk,
        Receipt,
        Request::Apply(Apply {
            conversation: id.into(),
            action: action.clone(),
            head: Some(planned.head),
            since: false,
            files: retake_wire::FileOptions::default(),
            request_id: None,
        })
    );
    assert_eq!(done.timeline.taken_back, planned.timeline.taken_back, "{action:?}");
    assert_eq!(done.timeline.brought_back, planned.timeline.brought_back, "{action:?}");
    assert_eq!(
        (&done.timeline.lifted, &done.composer),
        (&planned.timeline.lifted, &planned.composer),
        "{action:?}"
    );
    assert_eq!(done.unchanged, planned.unchanged, "{action:?}");
    assert_eq!(facts(&done.conditions), facts(&planned.conditions), "{action:?}");
    let ids =
        |entries: Vec<Entry>| -> BTreeSet<String> { entries.into_iter().map(|entry| entry.id).collect() };
    let lines = |lines: Vec<Line>| -> BTreeSet<String> { lines.into_iter().map(|line| line.id).collect() };
    let (then, now) = (ids(before.1.1), ids(desk.timeline(id).await.1));
    assert_eq!(
        (lines(planned.timeline.gone), lines(planned.timeline.came)),
        (&then - &now, &now - &then),
        "{action:?}"
    );
    done
}

#[tokio::test]
async fn action_does_what_its_plan_shows() {
    let desk = Desk::new().await;
    let (id, entries) = talk(&desk).await;
    let head = desk.info(&id).await.head;
    let rows = [
        rewind(&entries[5]),
        Action::Undo { count: 1 },
        Action::Redo { count: 1 },
        Action::Restore { head },
        Action::Edit { entry: entries[2].clone() },
        Action::Checkout { entry: Some(entries[4].clone()) },
        Action::Choose { entry: entries[4].clone(), number: 1 },
        mark(MarkVerb::Hide, &entries[1]),
        mark(MarkVerb::Hide, &entries[1]),
        mark(MarkVerb::Show, &entries[1]),
        mark(MarkVerb::Exclude, &entries[0]),
        mark(MarkVerb::Include, &entries[0]),
        Action::Unfold { fold: entries[0].clone() },
        Action::Fold { from: entries[1].clone(), to: entries[2].clone(), summary: "shorter".into() },
        label(&entries[2], "here"),
        Action::Title { title: Some("a talk".into()) },
        Action::Erase { entries: vec![entries[2].clone()], matching: None },
        Action::Checkout { entry: None },
    ];
    let mut done = BTreeSet::new();
    for action in rows {
        done.insert(variant(&action));
        check(&desk, &id, action).await;
    }
    let (there, file) = changed_since_a_checkpoint(&desk).await;
    let files = Action::RestoreFiles { paths: vec![name("a")], to: Some("here".into()) };
    done.insert(variant(&files));
    let counts = check(&desk, &there, files).await.files.expect("files").counts;
    assert_eq!((counts.reverted, std::fs::read_to_string(file).expect("read")), (1, "one".to_owned()));
    assert_eq!(done, variants(ACTIONS, "Action").into_keys().collect());
}

fn name(path: &str) -> FileName {
    FileName { path: path.into(), path_base64: None }
}

/// A conversation in a folder with a file that has changed since the checkpoint.
async fn changed_since_a_checkpoint(desk: &Desk) -> (String, PathBuf) {
    let work = desk.file("work");
    std::fs::create_dir(&work).expect("made");
    let there = desk.create(None, work.to_str()).await;
    std::fs::write(work.join("a"), "one").expect("written");
    desk.does(Request::Checkpoint(Checkpoint { conversation: there.clone(), name: "here".into() })).await;
    std::fs::write(work.join("a"), "two").expect("written");
    (there, work.join("a"))
}

#[tokio::test]
async fn files_are_named_by_their_bytes_and_invalid_names_are_refused() {
    let desk = Desk::new().await;
    let (there, _) = changed_since_a_checkpoint(&desk).await;
    let asks = |paths: Vec<FileName>, scope| {
        Request::Plan(retake_wire::request::Plan {
            conversation: there.clone(),
            action: Action::RestoreFiles { paths, to: Some("here".into()) },
            files: retake_wire::FileOptions { scope, ..Default::default() },
            diff: true,
        })
    };
    let base64 = |text: &str| FileName { path: String::new(), path_base64: Some(text.into()) };
    let plan = get!(desk, Plan, asks(vec![base64("YQ==")], Scope::Both));
    let paths = plan.files.expect("files").paths;
    assert_eq!((paths[0].name.path.as_str(), paths[0].theirs), ("a", true));
    assert!(paths[0].diff.as_ref().is_some_and(|diff| diff.contains("-two")), "{:?}", paths[0].diff);
    for (paths, scope, code) in [
        (vec![], Scope::Both, "usage"),
        (vec![name("a")], Scope::Conversation, "usage"),
        (vec![base64("?")], Scope::Both, "usage"),
        (vec![base64("/w==")], Scope::Files, "unknown_path"),
        (vec![name("../a")], Scope::Both, "bad_path"),
    ] {
        assert_eq!(desk.refused(asks(paths.clone(), scope)).await.code, code, "{paths:?}");
    }
}

#[tokio::test]
async fn prompt_that_is_taken_back_returns_to_the_composer() {
    let desk = Desk::new().await;
    let (id, entries) = talk(&desk).await;
    let back = check(&desk, &id, rewind(&entries[2])).await;
    assert_eq!(
        back.composer.map(|composer| (composer.entry, composer.text)),
        Some((entries[2].clone(), "three".into()))
    );
    assert_eq!((back.timeline.taken_back.messages, back.timeline.taken_back.turns), (4, 2));
    assert_eq!(
        check(&desk, &id, Action::Undo { count: 1 }).await.timeline.brought_back,
        back.timeline.taken_back
    );
}

#[tokio::test]
async fn a_plan_and_its_receipt_count_remembered_facts() {
    let desk = Desk::new().await;
    let (id, mut entries) = desk.talk(&["one", "two"]).await;
    for text in ["the port is 80", "answer briefly"] {
        let remember = Remember { conversation: id.clone(), text: text.into(), ..Remember::default() };
        entries.extend(get!(desk, Receipt, Request::Remember(remember)).entries);
    }
    let (undo, redo) = (|count| Action::Undo { count }, |count| Action::Redo { count });
    let erase = Action::Erase { entries: Vec::new(), matching: Some("briefly".into()) };
    for (action, expected) in [
        (rewind(&entries[2]), Some((2, 0))),
        (undo(1), Some((0, 2))),
        (redo(1), Some((2, 0))),
        // The rewind, and the entry before it.
        (undo(2), Some((0, 1))),
        (redo(2), Some((1, 0))),
        (Action::Checkout { entry: Some(entries[3].clone()) }, Some((0, 2))),
        (mark(MarkVerb::Hide, &entries[2]), Some((1, 0))),
        (mark(MarkVerb::Hide, &entries[0]), None),
        (mark(MarkVerb::Show, &entries[2]), Some((0, 1))),
        (erase, Some((1, 0))),
    ] {
        assert_eq!(facts(&check(&desk, &id, action.clone()).await.conditions), expected, "{action:?}");
    }
    let edit = Request::Edit(Edit {
        conversation: id.clone(),
        entry: entries[2].clone(),
        parts: vec![Part::text("the port is 81")],
        attached: Default::default(),
        files: Default::default(),
        head: None,
        request_id: Some("edit".into()),
    });
    assert_eq!(facts(&get!(desk, Receipt, edit.clone()).conditions), Some((1, 0)));
    assert_eq!(facts(&get!(desk, Receipt, edit).conditions), None, "a repeated request is not told again");
}

/// The text that replaces messages in the prompt must not be empty.
#[tokio::test]
async fn a_fold_without_a_summary_is_refused() {
    let desk = Desk::new().await;
    let (id, entries) = desk.talk(&["one", "two"]).await;
    for summary in ["", " \n\t", "\0"] {
        let fold = Action::Fold { from: entries[0].clone(), to: entries[1].clone(), summary: summary.into() };
        let refused = desk.refused(plan(&id, fold)).await;
        assert_eq!(refused.code, "empty_summary", "{refused:?}");
        assert!(refused.hint.is_some(), "{refused:?}");
    }
}
