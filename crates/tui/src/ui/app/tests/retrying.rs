//! A retry: what it took back is shown, and a stale one is planned again.

use retake_wire::{Ended, FileOptions, FilesDone, Outcome, ProblemKind, Run, RunStart, Scope};

use super::*;
use crate::ui::msg::Ticket;
use crate::ui::rewind::samples::{problem, with_files};

/// Requests a retry.
fn retrying(app: &mut App, files: FileOptions) -> Ticket {
    let start = RunStart::Retry { entry: "@".into() };
    let run = Run {
        conversation: "0199a000-c".into(),
        folder: None,
        start,
        files,
        model: None,
        head: Some("1.4".into()),
        permit: Default::default(),
        request_id: None,
    };
    app.want(TabId(1), PaneInstruction::Run(Box::new(run)));
    let acts = app.on(Msg::Tick, NOW_MS + LATER);
    let run = acts.iter().find_map(|act| match act {
        Act::Run(ticket, _) => Some(*ticket),
        _ => None,
    });
    run.expect("a run")
}

fn begins(app: &mut App, ticket: Ticket, files: Option<FilesDone>) -> String {
    let taken_back = Counts { messages: 1, ..Counts::default() };
    let timeline = TimelineChange { taken_back, ..TimelineChange::default() };
    let receipt = Receipt { operations: vec![3], timeline, files, ..Receipt::default() };
    let begun = RunEvent::Started { receipt: Some(Box::new(receipt)), model: "demo".into() };
    drop(app.on(Msg::Ran(ticket, Box::new(begun)), NOW_MS + LATER));
    screen(100, 24, |frame| app.draw(frame))
}

#[test]
fn retry_says_what_it_took_back_and_how_to_restore_it() {
    let mut app = talking(Theme::default());
    let ticket = retrying(&mut app, FileOptions::default());
    let shown = begins(&mut app, ticket, None);
    assert!(shown.contains("asked again: 1 message taken back"), "{shown}");
    assert!(
        shown.contains("files stay as they are; the old answer stays: Alt+U or /undo brings it back"),
        "{shown}"
    );
    let ticket = retrying(&mut app, FileOptions::default());
    assert_eq!(begins(&mut app, ticket, None).matches("asked again").count(), 1, "the one before is over");
    let counts = retake_wire::FileCounts { deleted: 1, ..Default::default() };
    let files = FilesDone { counts, ..FilesDone::default() };
    let mut app = talking(Theme::default());
    let ticket = retrying(&mut app, FileOptions::default());
    let shown = begins(&mut app, ticket, Some(files));
    assert!(shown.contains("files: 1 deleted") && !shown.contains("files stay"), "{shown}");
}

#[test]
fn failed_retry_says_that_the_old_answer_is_still_there() {
    for (outcome, says) in [
        (Outcome::Failed, "the old answer is still there: /retry asks again"),
        (Outcome::RolledBack, "stopped before any answer: nothing has changed"),
    ] {
        let mut app = talking(Theme::default());
        let ticket = retrying(&mut app, FileOptions::default());
        drop(begins(&mut app, ticket, None));
        let ended = Ended { outcome, receipt: None, entry: None, problem: None };
        drop(app.on(Msg::Ran(ticket, Box::new(RunEvent::Ended(Box::new(ended)))), NOW_MS + LATER));
        let shown = screen(100, 24, |frame| app.draw(frame));
        assert!(shown.contains(says) && !shown.contains("taken back"), "{shown}");
    }
}

#[test]
fn stale_retry_is_planned_again() {
    for (stop, says) in [
        (false, "something has changed, and nothing was done: this is the new plan"),
        (true, "stopped; this is the new plan: press again to agree to it"),
    ] {
        let mut app = talking(Theme::default());
        let files =
            FileOptions { scope: Scope::Conversation, seen: Some("d0".into()), stop, ..Default::default() };
        let ticket = retrying(&mut app, files);
        let stale = problem(ProblemKind::Stale, "files have changed since the plan was shown");
        let acts = app.on(Msg::NotRun(ticket, Box::new(stale)), NOW_MS + LATER);
        answer(&mut app, acts, &|request| match request {
            Request::Plan(of) => {
                assert_eq!((of.files.scope, of.files.stop), (Scope::Conversation, false));
                Some(Reply::Plan(Plan { head: "3.14".into(), files: None, ..with_files() }))
            }
            request => owner(request),
        });
        let shown = screen(100, 24, |frame| app.draw(frame));
        assert!(shown.contains(says) && shown.contains("Retry"), "{shown}");
        let acts = press(&mut app, "enter", NOW_MS + 2 * LATER);
        let head = acts.iter().find_map(|act| match act {
            Act::Run(_, run) => run.head.clone(),
            _ => None,
        });
        assert_eq!(head.as_deref(), Some("3.14"));
    }
}
