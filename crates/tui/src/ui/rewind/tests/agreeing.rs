//! Agreement in the picker, and its limits.

use retake_wire::reply::{Plan, Receipt, Words};
use retake_wire::{Part, ProblemKind, Request, Verdict};

use super::super::Rewind;
use super::super::samples::{Owner, TestPane, problem, with_conflict, with_files};
use super::stage;
use crate::ui::msg::PaneInstruction;

/// A person types the next message because they mistake the question for the composer.
#[test]
fn words_typed_into_the_final_question_confirm_nothing() {
    let mut stage = stage(3, with_files());
    stage.owner.applies.push_back(Ok(Receipt::default()));
    stage.keys("enter");
    stage.keys("s t o p enter");
    assert!(stage.applied().is_empty());
    assert!(stage.screen(80, 24).contains("typed text was ignored: press again to agree to the plan"));
    stage.keys("enter");
    assert_eq!(stage.applied().len(), 1);
}

#[test]
fn y_agrees_to_the_final_question_if_it_stands_alone() {
    let mut stage = stage(3, with_files());
    stage.owner.applies.push_back(Ok(Receipt::default()));
    stage.keys("enter");
    for key in ["y", "e", "s"] {
        stage.press(key);
    }
    stage.wait(1_000);
    assert!(stage.applied().is_empty(), "a word");
    stage.keys("enter");
    assert!(stage.applied().is_empty(), "the Enter after words");
    stage.wait(3_000);
    stage.press("y");
    stage.wait(1_000);
    assert_eq!(stage.applied().len(), 1);
}

/// A turn that runs, and its plan after the stop: it has said and written more meanwhile.
fn at_work(stopped: Plan) -> TestPane<Rewind> {
    let mut owner = Owner::new(3, Plan { at_work: true, ..with_files() });
    for target in &mut owner.targets {
        target.at_work = true;
    }
    owner.plans.push_back(Ok(stopped));
    owner.applies.push_back(Err(problem(ProblemKind::Stale, "files have changed since the plan was shown")));
    owner.applies.push_back(Ok(Receipt { head: "4.20".to_owned(), ..Receipt::default() }));
    let mut stage = TestPane::new(Rewind::new(), owner);
    stage.wait(1_000);
    stage
}

fn written_more() -> Plan {
    let mut now = Plan { head: "3.14".to_owned(), ..with_files() };
    now.timeline.taken_back.messages += 2;
    let files = now.files.as_mut().expect("files");
    let mut own = files.paths[2].clone();
    own.name.path = "r.txt".to_owned();
    files.paths.push(own);
    files.digest = "d2".to_owned();
    now
}

#[test]
fn changes_of_a_stopped_run_are_taken_back_too() {
    let mut stage = at_work(written_more());
    stage.keys("ctrl+x");
    stage.changed();
    assert!(stage.screen(80, 24).contains("y or Enter stops it and applies"), "the run goes on meanwhile");
    stage.keys("enter");
    let [first, second] = &stage.applied()[..] else { panic!("{:?}", stage.applied()) };
    assert_eq!((first.head.as_deref(), first.files.seen.as_deref()), (Some("3.12"), Some("d1")));
    assert_eq!((second.head.as_deref(), second.files.seen.as_deref()), (Some("3.14"), Some("d2")));
    assert_eq!(first.action, second.action);
    assert!(stage.is_closed());
}

/// Messages wait for the run: they are taken back before the stop, and no run starts that would have
/// to be stopped, too.
#[test]
fn words_that_wait_for_a_run_come_back_before_it_is_stopped() {
    let mut stage = at_work(written_more());
    let plan = Plan { at_work: true, waiting: 1, ..with_files() };
    stage.owner.plans.push_front(Ok(plan));
    let words = Words { parts: vec![Part::text("and then the docs")], author: String::new(), time_ms: 0 };
    stage.owner.waiting = vec![words];
    stage.changed();
    stage.wait(2_000);
    stage.keys("ctrl+x enter");
    let names = stage.owner.asked.iter().filter_map(|request| match request {
        Request::Unqueue(_) => Some("words"),
        Request::Apply(_) => Some("apply"),
        _ => None,
    });
    assert_eq!(names.collect::<Vec<_>>(), ["words", "apply", "apply"]);
    assert!(
        matches!(
            &stage.world.wants[..],
            [PaneInstruction::Returned(_), PaneInstruction::Applied(..), PaneInstruction::Close]
        ),
        "{:?}",
        stage.world.wants
    );
}

#[test]
fn unseen_changes_are_shown_again_after_a_stop() {
    let mut call = written_more();
    call.outside.effects.count += 1;
    let mut mixed = written_more();
    mixed.files.as_mut().expect("files").paths[3].verdict = Verdict::Merge;
    let mut turn = written_more();
    turn.timeline.taken_back.turns = 2;
    for now in [call, mixed, turn] {
        let mut stage = at_work(now);
        stage.keys("ctrl+x enter");
        // The end of the run is reported later.
        stage.changed();
        stage.wait(1_000);
        let screen = stage.screen(80, 24);
        assert!(screen.contains("stopped; this is the new plan: press again to apply it"), "{screen}");
        assert!(!screen.contains("nothing was done") && !screen.contains("changed elsewhere"), "{screen}");
        assert!(screen.contains("Enter applies"), "{screen}");
        assert_eq!(stage.applied().len(), 1, "nobody has seen it");
        stage.keys("enter");
        assert_eq!(stage.applied()[1].files.seen.as_deref(), Some("d2"));
        assert!(stage.is_closed());
    }
}

#[test]
fn conflict_after_a_stop_is_named() {
    let mut stage = at_work(with_conflict());
    stage.keys("ctrl+x enter");
    let screen = stage.screen(80, 24);
    assert!(screen.contains("stopped; choose first: src/parse.rs is in conflict"), "{screen}");
    stage.keys("enter");
    assert_eq!(stage.applied().len(), 1);
    assert!(stage.screen(80, 24).contains("choose first: src/parse.rs is in conflict"));
}

#[test]
fn changes_in_a_read_only_list_keep_its_keys_and_a_row_says_why_it_does_nothing() {
    let mut stage = at_work(written_more());
    stage.owner.plans = [Ok(Plan { at_work: true, ..with_files() })].into();
    stage.changed();
    stage.wait(1_000);
    let screen = stage.screen(100, 24);
    assert!(screen.contains("Ctrl+X") && !screen.contains("changed elsewhere"), "{screen}");
    stage.keys("enter");
    stage.changed();
    stage.wait(1_000);
    let screen = stage.screen(100, 24);
    assert!(screen.contains("something is running: it must be stopped first"), "{screen}");
    assert!(screen.contains("Ctrl+X"), "{screen}");
}

/// A command that writes changes its plan again and again: a new one is always on its way.
#[test]
fn run_can_be_stopped_while_its_plan_is_renewed() {
    let mut stage = at_work(written_more());
    stage.owner.silent.push("plan");
    stage.changed();
    stage.wait(1_000);
    stage.changed();
    stage.press("enter");
    assert!(stage.screen(100, 24).contains("something is running: it must be stopped first"));
    stage.press("ctrl+x");
    assert!(stage.screen(100, 24).contains("Enter stops it and applies"), "{}", stage.screen(100, 24));
    stage.press("ctrl+s");
    stage.press("ctrl+x");
    assert!(
        stage.screen(100, 24).contains("the plan is being made: wait a moment"),
        "not of what is wanted now"
    );
}

/// The plan on its way does not contain the stop.
#[test]
fn a_plan_that_arrives_while_a_run_is_stopped_keeps_the_step_going() {
    let mut stage = at_work(written_more());
    stage.owner.plans.push_front(Ok(Plan { at_work: true, ..with_files() }));
    stage.owner.silent.extend(["plan", "apply"]);
    stage.changed();
    stage.wait(5_000);
    stage.keys("ctrl+x enter");
    assert_eq!(stage.applied().len(), 1);
    stage.release();
    assert_eq!(stage.applied().len(), 2);
    assert!(stage.is_closed());
}
