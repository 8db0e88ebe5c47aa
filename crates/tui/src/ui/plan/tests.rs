//! The plan of an action as a person sees and uses it, with a scripted owner.

mod choosing;

use retake_wire::reply::{Receipt, TimelinePlan};
use retake_wire::{
    Action, Condition, FileOptions, MarkVerb, MessageName, OpSummary, OperationReason, PlannedStep,
    ProblemKind, Request, RunStart, Scope,
};

use super::PlanPane;
use crate::ui::keymap::{Command, Context, TABLE};
use crate::ui::msg::PaneInstruction;
use crate::ui::pane::Pane;
use crate::ui::rewind::samples::{Owner, TestPane, entry, plan, problem, with_conflict, with_files};

fn undo() -> PlanPane {
    PlanPane::new("Undo", Action::Undo { count: 1 })
}

fn stage(pane: PlanPane, plan: retake_wire::reply::Plan) -> TestPane<PlanPane> {
    let mut stage = TestPane::new(pane, Owner::new(3, plan));
    stage.screen(80, 24);
    stage
}

#[test]
fn the_plan_of_any_action_is_shown_and_done() {
    let mut stage = stage(undo(), with_files());
    for (width, height) in [(40, 12), (80, 24), (140, 30)] {
        insta::assert_snapshot!(format!("undo_{width}x{height}"), stage.screen(width, height));
    }
    stage.owner.applies.push_back(Ok(Receipt { head: "4.12".to_owned(), ..Receipt::default() }));
    stage.keys("enter");
    let apply = stage.applied()[0];
    assert_eq!((apply.head.as_deref(), &apply.action), (Some("3.12"), &Action::Undo { count: 1 }));
    assert!(matches!(&stage.world.wants[..], [PaneInstruction::Applied(..), PaneInstruction::Close]));
}

#[test]
fn every_key_of_the_table_does_something() {
    let agrees = [Command::Accept, Command::ConfirmYes];
    for row in TABLE.iter().filter(|row| matches!(row.context, Context::Confirm | Context::Pane)) {
        for key in row.keys {
            let mut stage = stage(undo(), with_files());
            stage.screen(80, 12);
            stage.keys("right down");
            stage.owner.applies.push_back(Ok(Receipt::default()));
            let before = (stage.screen(80, 12), stage.owner.asked.len());
            assert_eq!(stage.press(key), Some(row.command), "{key}");
            stage.wait(1_000);
            let done = (stage.screen(80, 12), stage.owner.asked.len()) != before || stage.is_closed();
            assert!(done, "{key} does nothing:\n{}", stage.screen(80, 12));
            assert_eq!(stage.applied().len(), usize::from(agrees.contains(&row.command)), "{key}");
        }
    }
}

#[test]
fn each_mark_has_its_own_sentence() {
    let mut shots = String::new();
    for (title, verb) in [
        ("Hide", MarkVerb::Hide),
        ("Show", MarkVerb::Show),
        ("Exclude", MarkVerb::Exclude),
        ("Include", MarkVerb::Include),
        ("Drop", MarkVerb::Drop),
    ] {
        let action = Action::Mark { verb, entries: vec![entry(2)], range: false, seen: None };
        let (gone, none) = (plan(), retake_wire::reply::Plan::default());
        let told = match verb {
            MarkVerb::Hide | MarkVerb::Drop => retake_wire::reply::Plan { composer: None, ..gone },
            MarkVerb::Show => {
                let TimelinePlan { taken_back, gone, .. } = gone.timeline;
                let timeline = TimelinePlan { brought_back: taken_back, came: gone, ..none.timeline };
                retake_wire::reply::Plan { timeline, ..none }
            }
            MarkVerb::Exclude | MarkVerb::Include => none,
        };
        let pane = PlanPane::new(title, action).about(Some("run the tests and\nsay what fails"));
        shots.push_str(&stage(pane, told).screen(80, 8));
    }
    insta::assert_snapshot!("marks", shots);
}

#[test]
fn action_without_files_asks_about_no_files() {
    let action = Action::Mark { verb: MarkVerb::Hide, entries: vec![entry(2)], range: false, seen: None };
    let mut stage = stage(PlanPane::new("Hide", action), plan());
    stage.keys("s");
    insta::assert_snapshot!("hide", stage.screen(80, 12));
    let asked = stage.plans()[0];
    assert!(!asked.diff && asked.files.is_default(), "the owner refuses such options");
    stage.owner.applies.push_back(Ok(Receipt::default()));
    stage.keys("enter");
    assert!(stage.applied()[0].files.is_default());
}

#[test]
fn no_file_changes_is_reported_once() {
    let stays = vec!["no file changes that Retake keeps track of".to_owned()];
    let mut stage = stage(undo(), retake_wire::reply::Plan { stays, files: None, ..plan() });
    let screen = stage.screen(80, 16);
    assert_eq!(screen.matches("no file").count(), 1, "{screen}");
}

#[test]
fn a_turn_without_files_has_no_warning() {
    let conditions = vec![Condition::NoFileChanges];
    let mut stage = stage(undo(), retake_wire::reply::Plan { conditions, files: None, ..plan() });
    let screen = stage.screen(80, 16);
    assert!(screen.contains("\nfiles stay as they are: these messages changed none"), "{screen}");
    assert!(!screen.contains("no file changes"), "{screen}");
}

#[test]
fn remembered_facts_go_and_come_without_a_warning() {
    let conditions = vec![Condition::NoFileChanges, Condition::MemoryChanges { gone: 1, came: 2 }];
    let mut stage = stage(undo(), retake_wire::reply::Plan { conditions, files: None, ..plan() });
    insta::assert_snapshot!("facts", stage.screen(80, 16));
}

/// A person mistakes the pane for the composer.
#[test]
fn words_typed_into_a_plan_confirm_nothing() {
    let mut stage = stage(undo(), with_files());
    stage.owner.applies.push_back(Ok(Receipt { head: "4.12".to_owned(), ..Receipt::default() }));
    stage.keys("/ z % enter");
    assert!(stage.applied().is_empty());
    assert!(stage.screen(100, 24).contains("typed text was ignored"), "{}", stage.screen(100, 24));
    stage.keys("enter");
    assert_eq!(stage.applied().len(), 1);
}

/// The last letter is a key here, or the first one, or both.
#[test]
fn typed_words_never_act_as_keys() {
    for words in ["s t o p", "a g a i n", "/ h i d d e n", "n o", "n p n o"] {
        let mut stage = stage(undo(), with_files());
        stage.owner.applies.push_back(Ok(Receipt::default()));
        for key in words.split(' ').chain(["enter"]) {
            stage.press(key);
        }
        stage.wait(1_000);
        assert!(stage.applied().is_empty(), "{words}");
        let screen = stage.screen(100, 24);
        assert!(screen.contains("typed text was ignored: press again to agree to the plan"), "{screen}");
        assert!(screen.contains("[conversation and files]"), "{words}:\n{screen}");
        assert!(!screen.contains('❯'), "{words}: a file is looked at\n{screen}");
        stage.keys("enter");
        assert_eq!(stage.applied().len(), 1, "{words}");
        assert_eq!(stage.applied()[0].files.scope, Scope::Both);
    }
}

/// Keys of the plan, pressed quickly by a person who knows them.
#[test]
fn a_single_key_and_an_enter_right_behind_it_are_both_meant() {
    for (key, scope) in [("n", Scope::Both), ("p", Scope::Both), ("s", Scope::Conversation)] {
        let mut stage = stage(undo(), with_files());
        stage.owner.applies.push_back(Ok(Receipt::default()));
        stage.press(key);
        // A changed choice is planned first: nobody can agree to a plan that is not shown.
        stage.wait(100);
        stage.press("enter");
        stage.settle();
        let applied: Vec<_> = stage.applied().iter().map(|apply| apply.files.scope).collect();
        assert_eq!(applied, [scope], "{key}");
    }
    let mut stage = stage(undo(), with_files());
    stage.press("s");
    stage.press("enter");
    assert!(stage.screen(80, 24).contains("the plan is being made: wait a moment"));
    assert!(stage.applied().is_empty());
}

#[test]
fn keys_of_a_plan_act_however_quickly_they_are_pressed() {
    let mut stage = stage(undo(), with_files());
    for key in ["n", "n", "p", "n"] {
        stage.press(key);
        stage.wait(150);
    }
    let screen = stage.screen(100, 30);
    assert!(screen.lines().any(|line| line.starts_with('❯') && line.contains("notes.md")), "{screen}");
    for key in ["c", "down", "enter"] {
        stage.press(key);
        stage.wait(150);
    }
    assert_eq!(stage.plans().last().expect("a plan").files.choose.len(), 1, "{}", stage.screen(100, 30));
    stage.wait(3_000);
    for key in ["n", "p", "enter"] {
        stage.press(key);
    }
    stage.wait(1_000);
    assert!(stage.applied().is_empty(), "it may have been a word");
    assert!(stage.screen(100, 30).contains("typed text was ignored"), "{}", stage.screen(100, 30));
    stage.press("n");
    stage.wait(150);
    stage.press("y");
    stage.wait(1_000);
    assert!(stage.applied().is_empty() && stage.screen(100, 30).contains("too soon after another key"));
}

#[test]
fn slowly_typed_words_are_words_and_a_key_after_a_pause_is_a_key() {
    let mut stage = stage(undo(), with_files());
    for key in ["d", "s", "o", "s"] {
        stage.press(key);
        stage.wait(700);
    }
    assert!(stage.screen(100, 24).contains("[conversation and files]"), "{}", stage.screen(100, 24));
    stage.wait(3_000);
    stage.keys("s");
    assert!(stage.screen(100, 24).contains("[conversation only]"));
    stage.keys("enter");
    assert!(stage.applied().is_empty() && stage.screen(100, 24).contains("typed text was ignored"));
}

#[test]
fn words_choose_nothing_for_a_conflict() {
    let mut stage = stage(undo(), with_conflict());
    for key in "a c c".split(' ') {
        stage.press(key);
    }
    stage.keys("n");
    stage.wait(3_000);
    for key in "c h o o s e".split(' ') {
        stage.press(key);
    }
    stage.wait(1_000);
    assert!(stage.plans().last().expect("a plan").files.choose.is_empty(), "{:?}", stage.plans());
}

#[test]
fn nothing_is_done_where_nothing_would_change() {
    let unchanged = retake_wire::reply::Plan { unchanged: true, ..Default::default() };
    let mut stage = stage(undo(), unchanged);
    stage.keys("enter enter enter");
    insta::assert_snapshot!("unchanged", stage.screen(80, 8));
    assert!(stage.applied().is_empty());
}

#[test]
fn refused_plan_says_why() {
    let mut owner = Owner::new(3, plan());
    owner.plans = [Err(problem(ProblemKind::Refused, "there is nothing to undo"))].into();
    let mut stage = TestPane::new(undo(), owner);
    stage.keys("enter");
    insta::assert_snapshot!("refused", stage.screen(80, 8));
    stage.keys("esc");
    assert!(stage.is_closed());
}

#[test]
fn stale_plan_is_planned_again_and_never_applied_by_itself() {
    let mut stage = stage(undo(), with_files());
    let mut other = with_files();
    other.timeline.taken_back.messages += 2;
    stage.owner.plans = [Ok(other)].into();
    stage.changed();
    stage.press("enter");
    stage.wait(200);
    stage.press("enter");
    assert!(stage.screen(80, 24).contains("it has just changed: this is the new plan, press again"));
    stage.wait(1_000);
    assert!(stage.applied().is_empty(), "nobody has seen it");
    stage.owner.applies.push_back(Err(problem(ProblemKind::Stale, "another head")));
    stage.keys("enter");
    assert_eq!(stage.applied().len(), 1);
    insta::assert_snapshot!("stale", stage.screen(80, 24));
    assert_eq!(stage.plans().len(), 3);
}

#[test]
fn renewed_plan_with_the_same_content_can_be_applied_at_once() {
    let mut stage = stage(undo(), with_files());
    stage.owner.plans = [Ok(retake_wire::reply::Plan { head: "3.13".to_owned(), ..with_files() })].into();
    stage.owner.applies.push_back(Err(problem(ProblemKind::Refused, "not now")));
    stage.changed();
    stage.wait(200);
    stage.press("enter");
    stage.settle();
    let [apply] = &stage.applied()[..] else { panic!("{:?}", stage.applied()) };
    assert_eq!(apply.head.as_deref(), Some("3.13"), "as of now");
}

#[test]
fn conflict_can_be_resolved_in_this_pane() {
    let mut stage = stage(undo(), with_conflict());
    stage.keys("enter");
    assert!(stage.screen(80, 24).contains("choose first: src/parse.rs is in conflict"));
    stage.keys("c c");
    assert_eq!(stage.plans().len(), 1, "to look is not to choose");
    stage.keys("enter");
    let files = &stage.plans().last().expect("a plan").files;
    assert_eq!(files.choose.len(), 1);
    assert_eq!(files.choose[0].choice, retake_wire::Choice::Checkpoint, "the second one");
    assert_eq!(stage.plans().len(), 2);
}

#[test]
fn edited_message_is_put_into_the_composer_with_the_agreed_choices() {
    let mut stage = stage(PlanPane::edit(&entry(3)), with_files());
    insta::assert_snapshot!("edit", stage.screen(80, 24));
    stage.keys("s");
    stage.keys("enter");
    assert!(stage.applied().is_empty(), "nothing is done before the new words are sent");
    let [
        PaneInstruction::Rewrite { entry: rewritten, head, parts, files, takes_back },
        PaneInstruction::Close,
    ] = &stage.world.wants[..]
    else {
        panic!("{:?}", stage.world.wants);
    };
    assert!(takes_back.starts_with("1 turn"), "{takes_back}");
    assert_eq!((rewritten, head.as_str(), parts.len()), (&entry(3), "3.12", 1));
    assert_eq!(files, &FileOptions { scope: Scope::Conversation, ..FileOptions::default() });
}

#[test]
fn message_of_the_model_cannot_be_edited() {
    let without = retake_wire::reply::Plan { composer: None, ..plan() };
    let mut stage = stage(PlanPane::edit("@"), without);
    stage.keys("enter");
    assert!(
        stage.screen(80, 12).contains("only messages of a person can be edited")
            && stage.world.wants.is_empty()
    );
}

#[test]
fn retry_shows_what_it_takes_back_and_starts_a_run() {
    let mut stage = TestPane::new(PlanPane::retry("@"), Owner::new(3, with_files()));
    let (answer, second) = (format!("{}-answer", entry(2)), entry(2));
    for (named, prompt) in [("@", 3), (answer.as_str(), 2), (second.as_str(), 2), (entry(1).as_str(), 1)] {
        let stage = TestPane::new(PlanPane::retry(named), Owner::new(3, with_files()));
        assert_eq!(stage.plans()[0].action, Action::Checkout { entry: Some(entry(prompt)) }, "{named}");
    }
    insta::assert_snapshot!("retry", stage.screen(80, 12));
    stage.keys("enter");
    let [PaneInstruction::Run(run), PaneInstruction::Close] = &stage.world.wants[..] else {
        panic!("{:?}", stage.world.wants)
    };
    assert_eq!(run.start, RunStart::Retry { entry: "@".to_owned() });
    assert_eq!((run.head.as_deref(), run.files.seen.as_deref()), (Some("3.12"), Some("d1")));
}

#[test]
fn run_is_stopped_only_on_request() {
    let at_work = retake_wire::reply::Plan { at_work: true, ..with_files() };
    let mut stage = stage(undo(), at_work);
    stage.keys("enter enter");
    assert!(stage.applied().is_empty(), "Enter alone stops nothing");
    stage.keys("ctrl+x");
    insta::assert_snapshot!("stop_confirm", stage.screen(80, 12));
    stage.keys("esc enter");
    assert!(stage.applied().is_empty());
    stage.owner.applies.push_back(Ok(Receipt::default()));
    stage.keys("ctrl+x enter");
    assert!(stage.applied()[0].files.stop);
}

#[test]
fn missing_message_is_reported() {
    let mut owner = Owner::new(0, plan());
    owner.silent.push("log");
    let mut stage = TestPane::new(PlanPane::retry("nowhere"), owner);
    insta::assert_snapshot!("seeking", stage.screen(80, 6));
    let gone = problem(ProblemKind::NotFound, "there is no entry “nowhere”");
    let ticket = stage.held(|request| matches!(request, Request::Log(_)));
    stage.pane.replied(ticket, Err(gone), &mut stage.world.cx());
    assert!(stage.screen(80, 6).contains("there is no entry “nowhere”"));
    stage.keys("enter esc");
    assert!(stage.is_closed());
}

#[test]
fn no_size_breaks_it() {
    let mut stage = stage(undo(), with_conflict());
    for keys in ["down", "right", "enter"] {
        stage.keys(keys);
        for (width, height) in [(20, 6), (1, 1), (3, 3), (7, 30), (200, 2)] {
            stage.screen(width, height);
        }
    }
    assert!(stage.screen(20, 6).contains("Undo"));
}

/// A plan with these steps.
fn with_steps(steps: &[PlannedStep]) -> retake_wire::reply::Plan {
    retake_wire::reply::Plan { step_summaries: steps.to_vec(), ..plan() }
}

/// A message that opened a turn.
fn opened(turn: u64, words: &str) -> Option<MessageName> {
    Some(MessageName { turn, opens_turn: true, words: words.to_owned() })
}

fn hide() -> PlannedStep {
    let summary = OpSummary::Marked { messages: 2, first: None };
    PlannedStep::Operation { reason: OperationReason::Hide, summary }
}

#[test]
fn steps_to_undo_are_named_and_listed() {
    let summary = OpSummary::Moved { message: opened(3, "make it \x1b[31mblue") };
    let rewind = PlannedStep::Operation { reason: OperationReason::Rewind, summary };
    let turn = PlannedStep::Turn { message: opened(2, "run the tests") };
    let steps = [rewind, hide(), turn];
    let mut one = stage(undo(), with_steps(&steps[..1]));
    let title = one.screen(80, 8).lines().next().unwrap_or_default().to_owned();
    assert!(title.contains("Undo rewind to t3 “make it"), "{title}");
    assert!(!one.screen(80, 24).contains("1. rewind"), "one step needs no list");
    let mut several = stage(PlanPane::new("Undo", Action::Undo { count: 3 }), with_steps(&steps));
    insta::assert_snapshot!("steps", several.screen(80, 14));
}

#[test]
fn fewer_steps_than_requested_are_reported_in_the_title_and_first() {
    let steps = |done, asked| Some(retake_wire::reply::Steps { done, asked, refusal: None, refused: None });
    let screen = |lines: &[PlannedStep], asked| {
        let plan = retake_wire::reply::Plan { steps: steps(lines.len(), asked), ..with_steps(lines) };
        stage(PlanPane::new("Undo", Action::Undo { count: asked }), plan).screen(80, 14)
    };
    let several = screen(&[hide(), PlannedStep::Turn { message: None }], 99);
    let mut lines = several.lines();
    assert!(several.starts_with("Undo only 2 of 99 steps, the first: hide 2 messages"), "{several}");
    assert!(lines.nth(2).is_some_and(|line| line.starts_with("there are only 2 steps, of 99")), "{several}");
    let one = screen(&[hide()], 3);
    assert!(one.starts_with("Undo only 1 of 3 steps: hide 2 messages"), "{one}");
    assert!(!screen(&[hide()], 1).contains("only"));
}

#[test]
fn other_effects_of_a_call_are_reported_apart_from_its_files() {
    let with = |mut plan: retake_wire::reply::Plan| {
        plan.outside.effects = retake_wire::reply::Effects { count: 1, calls: Vec::new() };
        plan
    };
    let first = |plan| {
        let shown = stage(undo(), with(plan)).screen(80, 24);
        shown.lines().find(|line| line.contains("can't be taken back")).map(|line| line.trim().to_owned())
    };
    let both = first(with_files()).unwrap_or_default();
    assert!(both.starts_with("! can't be taken back: what 1 call did beyond these files"), "{both}");
    assert!(first(plan()).unwrap_or_default().starts_with("! can't be taken back: 1 call"));
}

#[test]
fn unchanged_files_and_chosen_files_are_listed_apart() {
    let mut plan = with_files();
    let files = plan.files.as_mut().expect("files");
    files.paths[3].verdict = retake_wire::Verdict::Unchanged;
    let shown = stage(undo(), plan.clone()).screen(100, 24);
    assert!(shown.contains("needs no change: 1 file\n    build.log, changed during `make all`"), "{shown}");
    let text = crate::render::plan::body(&crate::ui::words::look(80, 0), &plan).to_string();
    assert!(text.contains("needs no change: 1 file\n") && text.contains("    build.log, changed"), "{text}");
}

#[test]
fn a_small_window_shows_what_matters_of_a_plan_or_nothing_is_agreed_to() {
    for (width, height) in [(40, 7), (30, 6), (12, 4)] {
        let mut stage = stage(undo(), with_files());
        stage.owner.applies.push_back(Ok(Receipt::default()));
        let seen = stage.screen(width, height);
        insta::assert_snapshot!(format!("small_{width}x{height}"), seen);
        stage.keys("enter");
        assert_eq!(stage.applied().len(), usize::from(width > 12), "{seen}");
        assert_eq!(seen.contains("Enter"), width > 12, "{seen}");
    }
}

#[test]
fn command_typed_into_a_plan_gets_a_notice() {
    let mut stage = stage(undo(), with_files());
    stage.keys("/ u d");
    assert!(stage.screen(80, 24).contains("commands are typed in the composer: close this view first"));
}

#[test]
fn changes_of_a_stopped_run_are_taken_back_by_a_plan_pane_too() {
    let at_work = retake_wire::reply::Plan { at_work: true, ..with_files() };
    let mut stage = stage(undo(), at_work);
    let mut more = with_files();
    more.outside.effects.count += 1;
    for (now, at_once) in [(with_files(), true), (more, false)] {
        stage.owner.plans = [Ok(now)].into();
        stage.owner.applies =
            [Err(problem(ProblemKind::Stale, "files have changed")), Ok(Receipt::default())].into();
        stage.keys("ctrl+x enter");
        assert_eq!(stage.applied().len(), if at_once { 2 } else { 1 });
        if !at_once {
            assert!(stage.screen(80, 24).contains("stopped; this is the new plan: press again to apply it"));
            stage.keys("enter");
            assert_eq!(stage.applied().len(), 2);
        }
        stage = self::stage(undo(), retake_wire::reply::Plan { at_work: true, ..with_files() });
    }
}
