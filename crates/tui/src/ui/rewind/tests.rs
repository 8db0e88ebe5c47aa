//! The picker as a person sees and uses it, with a scripted owner.

mod agreeing;
mod choices;
mod small;
mod turns;

use retake_wire::reply::{OwnerWork, Receipt, Running, Work};
use retake_wire::{Choice, Condition, FileOptions, ProblemKind, Scope};

use super::Rewind;
use super::samples::{Owner, TestPane, entry, plan, problem, target, with_conflict, with_files, with_posts};
use crate::ui::keymap::{Command, Context, TABLE};
use crate::ui::msg::PaneInstruction;
use crate::ui::pane::Pane;
use crate::ui::testing::THEMES;

fn stage(turns: u64, plan: retake_wire::reply::Plan) -> TestPane<Rewind> {
    let mut stage = TestPane::new(Rewind::new(), Owner::new(turns, plan));
    stage.screen(120, 30);
    stage.wait(200);
    stage
}

/// In a small, a medium and a wide terminal.
macro_rules! shows {
    ($name:literal, $stage:expr) => {
        for (width, height) in [(40, 12), (80, 24), (140, 30)] {
            insta::assert_snapshot!(format!("{}_{width}x{height}", $name), $stage.screen(width, height));
        }
    };
}

#[test]
fn an_empty_conversation_says_what_to_do() {
    let mut stage = stage(0, plan());
    shows!("empty", stage);
    stage.keys("enter");
    assert!(stage.plans().is_empty());
}

#[test]
fn turns_and_the_plan_of_the_newest() {
    let mut stage = stage(3, plan());
    shows!("three", stage);
    for theme in THEMES {
        let name = format!("three_{:?}_{:?}", theme.colours, theme.background);
        insta::assert_snapshot!(name, stage.styled(110, 12, theme));
    }
    assert_eq!(stage.planned(), [entry(3)]);
}

#[test]
fn posts_come_after_the_effects_that_stay_and_are_part_of_the_question() {
    let mut stage = stage(3, with_posts());
    shows!("posts", stage);
    stage.keys("enter");
    shows!("posts_asked", stage);
}

#[test]
fn ten_thousand_turns_come_in_pages() {
    let mut stage = stage(10_000, plan());
    let asked: Vec<_> =
        stage.owner.asked.iter().filter(|it| matches!(it, retake_wire::Request::Targets(_))).collect();
    assert_eq!(asked.len(), 11, "the first page, and ten behind it");
    shows!("many", stage);
    stage.keys("f x p s r 9 9 9 6");
    insta::assert_snapshot!("many_filtered", stage.styled(110, 10, THEMES[1]));
    stage.keys("ctrl+u end");
    assert_eq!(stage.planned().last(), Some(&entry(1)));
}

#[test]
fn filter_without_hits_is_reported() {
    let mut stage = stage(3, plan());
    stage.keys("z z z");
    shows!("no_hit", stage);
    stage.keys("enter");
    assert!(stage.screen(80, 24).contains("no turn matches what is typed"));
    stage.keys("backspace backspace backspace");
    assert!(stage.screen(80, 24).contains("3 turns"));
}

#[test]
fn run_is_stopped_only_on_request() {
    let mut at_work = with_files();
    at_work.at_work = true;
    at_work.waiting = 2;
    at_work.running = vec![Running { entry: entry(3), processes: 2 }];
    let mut owner = Owner::new(3, at_work);
    for target in &mut owner.targets {
        target.at_work = true;
    }
    owner.applies.push_back(Ok(Receipt::default()));
    let mut stage = TestPane::new(Rewind::new(), owner);
    stage.wait(1_000);
    shows!("running", stage);
    stage.keys("enter enter enter");
    assert!(stage.applied().is_empty(), "Enter alone stops nothing");
    stage.keys("ctrl+x");
    insta::assert_snapshot!("running_confirm", stage.screen(80, 24));
    stage.keys("enter");
    assert!(stage.applied()[0].files.stop);
}

#[test]
fn a_conflict_waits_for_a_choice_and_the_choice_is_applied() {
    let mut owner = Owner::new(3, plan());
    let mut resolved = with_files();
    resolved.files.as_mut().expect("files").digest = "d2".to_owned();
    owner.plans = [Ok(with_conflict()), Ok(resolved)].into();
    owner.applies.push_back(Ok(Receipt::default()));
    let mut stage = TestPane::new(Rewind::new(), owner);
    stage.wait(1_000);
    shows!("conflict", stage);
    stage.keys("enter");
    assert!(stage.screen(80, 24).contains("choose first: src/parse.rs is in conflict"));
    stage.keys("left right");
    insta::assert_snapshot!("conflict_looked_at", stage.screen(140, 30));
    insta::assert_snapshot!("conflict_looked_at_80x24", stage.screen(80, 24));
    stage.keys("ctrl+d");
    stage.keys("enter");
    let files = &stage.plans().last().expect("a plan").files;
    assert_eq!(files.choose[0].choice, Choice::Disk, "nothing of anybody's goes with the first one");
    insta::assert_snapshot!("conflict_chosen", stage.screen(140, 30));
    stage.keys("enter enter");
    let files = &stage.applied()[0].files;
    assert_eq!((files.seen.as_deref(), files.choose.len()), (Some("d2"), 1));
}

#[test]
fn one_key_opens_the_choices_and_goes_through_all_of_them() {
    let hunk = |number| Choice::Hunks(vec![number]);
    let all = [Choice::Disk, Choice::Checkpoint, Choice::Yours, hunk(1), hunk(2), Choice::Skip, Choice::Disk];
    for (more, choice) in all.into_iter().enumerate() {
        let mut stage = stage(3, with_conflict());
        stage.keys("right ctrl+d");
        (0..more).for_each(|_| stage.keys("ctrl+d"));
        stage.keys("enter");
        let files = &stage.plans().last().expect("a plan").files;
        assert_eq!(files.choose.first().map(|choose| choose.choice.clone()), Some(choice), "{more}");
    }
}

#[test]
fn effects_come_first_and_keys_go_through_the_files() {
    let mut stage = stage(3, with_files());
    shows!("files", stage);
    for theme in THEMES {
        let name = format!("files_{:?}_{:?}", theme.colours, theme.background);
        insta::assert_snapshot!(name, stage.styled(110, 26, theme));
    }
    stage.keys("right");
    insta::assert_snapshot!("files_first", stage.screen(140, 30));
    stage.keys("right right left");
    assert!(stage.screen(140, 60).contains("❯ - notes.md"), "{}", stage.screen(140, 60));
    stage.keys("left left");
    assert!(!stage.screen(140, 30).contains("@@"), "before the first file is the beginning");
}

#[test]
fn enter_asks_for_confirmation_and_applies_the_plan_shown() {
    let mut owner = Owner::new(3, with_files());
    owner.applies.push_back(Ok(Receipt { head: "4.12".to_owned(), ..Receipt::default() }));
    let mut stage = TestPane::new(Rewind::new(), owner);
    stage.wait(1_000);
    stage.keys("enter");
    shows!("confirm", stage);
    assert!(stage.applied().is_empty());
    stage.keys("enter");
    let apply = stage.applied()[0];
    assert_eq!(apply.head.as_deref(), Some("3.12"));
    let files = FileOptions { seen: Some("d1".to_owned()), ..FileOptions::default() };
    assert_eq!((&apply.files, apply.since), (&files, false));
    assert!(
        matches!(&stage.world.wants[..], [PaneInstruction::Applied(_, receipt), PaneInstruction::Close] if receipt.head == "4.12")
    );
}

#[test]
fn early_enter_shows_the_question_with_the_plan() {
    let mut stage = stage(5, with_files());
    stage.press("down");
    stage.press("enter");
    stage.press("enter");
    assert!(stage.screen(80, 24).contains("the plan is being made: wait a moment"));
    stage.wait(1);
    let screen = stage.screen(80, 24);
    assert!(screen.contains("Go back to before t4"), "{screen}");
    assert!(stage.applied().is_empty());
    stage.keys("esc down enter up");
    let screen = stage.screen(80, 24);
    assert!(!screen.contains("Go back to before t"), "who has moved on is asked nothing: {screen}");
}

#[test]
fn esc_returns_step_by_step_and_changes_nothing() {
    let mut stage = stage(3, with_files());
    stage.keys("enter esc");
    assert!(!stage.is_closed());
    assert!(stage.screen(80, 24).contains("nothing has changed"));
    stage.keys("esc");
    assert!(stage.is_closed() && stage.applied().is_empty());
}

#[test]
fn one_key_goes_through_what_is_possible() {
    let mut stage = stage(3, with_files());
    let scopes =
        |stage: &TestPane<Rewind>| stage.plans().iter().map(|plan| plan.files.scope).collect::<Vec<_>>();
    stage.keys("ctrl+s");
    insta::assert_snapshot!("conversation_only", stage.screen(140, 20));
    stage.keys("ctrl+s ctrl+s");
    assert_eq!(scopes(&stage), [Scope::Both, Scope::Conversation, Scope::Both], "one plan where one rests");
    stage.keys("ctrl+s");
    stage.owner.applies.push_back(Ok(Receipt::default()));
    stage.keys("enter enter");
    let files = FileOptions { scope: Scope::Conversation, ..FileOptions::default() };
    assert_eq!(stage.applied()[0].files, files);
}

#[test]
fn without_files_there_is_one_scope_and_it_says_why() {
    let mut stage = stage(3, plan());
    stage.keys("ctrl+s right ctrl+d");
    assert_eq!(stage.plans().len(), 1);
    stage.keys("ctrl+s");
    assert!(stage.screen(80, 24).ends_with("no file changes\n"));
}

#[test]
fn holding_a_key_down_requests_one_plan() {
    let mut stage = stage(10_000, plan());
    for _ in 0..500 {
        stage.press("down");
        stage.wait(5);
    }
    stage.wait(200);
    assert_eq!(stage.planned(), [entry(10_000), entry(9_500)]);
    stage.keys("up");
    stage.keys("down");
    assert_eq!(stage.planned().len(), 3, "what was planned is kept");
}

#[test]
fn change_by_another_client_removes_the_final_question_rewind_case_32() {
    let mut stage = stage(5, with_files());
    stage.keys("down down enter");
    stage.owner.targets.remove(0);
    stage.owner.head = "4.12".to_owned();
    stage.changed();
    stage.wait(1_000);
    shows!("changed", stage);
    assert_eq!(stage.planned().last(), Some(&entry(3)), "the same turn is marked");
    stage.owner.applies.push_back(Err(problem(ProblemKind::Stale, "the head is another one")));
    stage.keys("enter enter");
    insta::assert_snapshot!("stale", stage.screen(100, 24));
    assert!(!stage.is_closed());
    stage.owner.applies.push_back(Ok(Receipt::default()));
    stage.keys("enter enter");
    assert!(stage.is_closed());
}

#[test]
fn a_change_while_the_plan_is_on_its_way_plans_once_more() {
    let mut stage = TestPane::new(Rewind::new(), Owner::new(5, with_files()));
    stage.owner.silent.push("plan");
    stage.wait(200);
    stage.changed();
    stage.wait(200);
    assert_eq!(stage.plans().len(), 1, "one at a time");
    stage.release();
    stage.wait(200);
    assert_eq!(stage.plans().len(), 2);
    stage.keys("enter");
    assert!(stage.screen(80, 24).contains("Go back to before t5"), "{}", stage.screen(80, 24));
}

#[test]
fn in_a_small_terminal_the_plan_hides_the_list_and_esc_shows_it() {
    let mut stage = stage(5, with_files());
    stage.screen(40, 8);
    assert!(!stage.screen(140, 30).contains('┃'));
    stage.keys("tab");
    assert!(stage.screen(140, 30).contains('┃'), "who has the arrow keys is seen without colours");
    insta::assert_snapshot!("small_plan", stage.screen(40, 8));
    stage.keys("esc");
    assert!(!stage.is_closed());
    insta::assert_snapshot!("small_list", stage.screen(40, 8));
    stage.keys("esc");
    assert!(stage.is_closed());
}

#[test]
fn new_turns_join_the_list_without_reading_pages_again() {
    let mut stage = stage(3_000, plan());
    let pages = |stage: &TestPane<Rewind>| {
        stage.owner.asked.iter().filter(|it| matches!(it, retake_wire::Request::Targets(_))).count()
    };
    let before = pages(&stage);
    stage.owner.targets.insert(0, target(3_001, "new"));
    stage.changed();
    assert_eq!(pages(&stage), before + 1);
    assert!(stage.screen(80, 24).contains("3,001 turns"));
    stage.owner.targets.remove(2_000);
    stage.owner.head = "5.12".to_owned();
    stage.changed();
    assert_eq!(pages(&stage), before + 5, "a step may have changed what is older");
    assert!(stage.screen(80, 24).contains("3,000 turns"));
}

#[test]
fn refused_action_says_why_and_is_planned_again() {
    let mut stage = stage(3, with_files());
    stage.owner.applies.push_back(Err(problem(ProblemKind::Refused, "src/parse.rs can't be written")));
    stage.keys("enter enter");
    insta::assert_snapshot!("refused", stage.screen(100, 24));
    assert_eq!(stage.plans().len(), 2);
    assert!(!stage.is_closed());
}

#[test]
fn while_it_is_applied_keys_do_nothing_and_progress_is_shown() {
    let mut stage = stage(3, with_files());
    stage.owner.silent.push("apply");
    stage.owner.applies.push_back(Ok(Receipt::default()));
    stage.owner.work = Work { doing: Some(OwnerWork::Writing { files: 1_200 }) };
    stage.keys("enter enter");
    stage.changed();
    stage.keys("down enter esc ctrl+s x");
    stage.wait(1_000);
    shows!("applying", stage);
    assert_eq!(stage.applied().len(), 1);
    stage.release();
    assert!(stage.is_closed());
}

#[test]
fn a_plan_that_cannot_be_made_says_why() {
    let mut owner = Owner::new(3, plan());
    owner.plans = [Err(problem(ProblemKind::Storage, "the folder is gone"))].into();
    let mut stage = TestPane::new(Rewind::new(), owner);
    stage.wait(1_000);
    insta::assert_snapshot!("no_plan", stage.screen(100, 12));
    stage.keys("enter enter");
    assert!(stage.applied().is_empty());
}

#[test]
fn slow_plan_shows_its_progress() {
    let mut stage = TestPane::new(Rewind::new(), Owner::new(3, plan()));
    stage.owner.silent.push("plan");
    stage.owner.work = Work { doing: Some(OwnerWork::Looking { folders: 120 }) };
    stage.wait(200);
    stage.wait(100);
    assert!(stage.screen(100, 12).contains("planning …"), "not asked at once");
    stage.wait(400);
    stage.wait(400);
    assert!(stage.screen(100, 12).contains("looking at files: 120 folders …"));
    stage.release();
    assert!(stage.screen(100, 12).contains("takes back 2 messages"));
    let asked = stage.owner.asked.len();
    stage.wait(5_000);
    assert_eq!(stage.owner.asked.len(), asked, "who waits for nothing asks nothing");
}

#[test]
fn keys_go_through_thousands_of_files() {
    let mut many = with_files();
    let files = many.files.as_mut().expect("files");
    let one = files.paths[0].clone();
    let named = |number: usize| {
        let call = format!("call-{}", number % 300);
        let name = retake_wire::FileName { path: format!("src/{number}.rs"), path_base64: None };
        retake_wire::PathPlan { name, calls: vec![call], ..one.clone() }
    };
    files.paths = (0..5_000).map(named).collect();
    let call = |number| retake_wire::CallLine { entry: format!("call-{number}"), ..files.calls[0].clone() };
    files.calls = (0..300).map(call).collect();
    let mut stage = stage(3, many);
    for _ in 0..40 {
        stage.press("right");
        stage.screen(140, 30);
    }
    // In the order of their calls: one of each of the first calls, then those of the second.
    insta::assert_snapshot!("thousands", stage.screen(140, 12));
}

#[test]
fn the_list_and_the_plan_move_apart() {
    let mut stage = stage(100, with_files());
    stage.screen(120, 12);
    stage.keys("pagedown");
    assert_eq!(stage.planned().last(), Some(&entry(92)));
    stage.keys("pageup home end");
    assert_eq!(stage.planned().last(), Some(&entry(1)));
    stage.keys("home ctrl+p ctrl+n up tab down down pagedown home end shift+up shift+down ctrl+k ctrl+j");
    assert!(stage.screen(120, 12).contains("! only files of this folder"), "{}", stage.screen(120, 12));
    assert_eq!(stage.planned().last(), Some(&entry(1)), "the marked one stays while the plan moves");
    stage.keys("tab down");
    assert_eq!(stage.planned().last(), Some(&entry(99)));
}

#[test]
fn a_click_marks_a_turn_and_opens_a_file() {
    let mut stage = stage(100, with_files());
    stage.screen(140, 30);
    stage.pane.clicked((5, 6).into(), &mut stage.world.cx());
    stage.wait(1_000);
    assert_eq!(stage.planned().last(), Some(&entry(96)));
    let screen = stage.screen(140, 30);
    let row = screen.lines().position(|line| line.contains("~ src/parse.rs")).expect("the file");
    stage.pane.clicked((80, u16::try_from(row).expect("a row")).into(), &mut stage.world.cx());
    assert!(stage.screen(140, 30).contains("❯ ~ src/parse.rs"), "{}", stage.screen(140, 30));
}

/// A list and a plan in which every key has an effect.
fn amid() -> TestPane<Rewind> {
    let mut stage = stage(100, with_files());
    stage.screen(120, 14);
    stage.keys("t e s pagedown right");
    stage.screen(120, 14);
    stage
}

#[test]
fn every_key_of_the_table_does_something() {
    let rows = TABLE.iter().filter(|row| matches!(row.context, Context::Rewind | Context::Pane));
    for row in rows {
        for key in row.keys {
            let mut stage = amid();
            let before = (stage.screen(120, 14), stage.owner.asked.len());
            assert_eq!(stage.press(key), Some(row.command), "{key}");
            stage.wait(1_000);
            let seen = stage.screen(120, 14);
            // The focus moves to the plan; the border shows that only in colours.
            let focused = row.command == Command::Other && stage.pane.scrolls();
            let done = (seen, stage.owner.asked.len()) != before || stage.is_closed() || focused;
            assert!(done, "{key} does nothing:\n{}", stage.screen(120, 14));
            assert!(stage.applied().is_empty(), "{key} alone applies nothing");
        }
    }
}

#[test]
fn no_size_and_no_text_breaks_it() {
    let mut hostile = with_files();
    hostile.conditions = vec![Condition::CutOffCall {
        call: "\x1b[2J\x1b]0;x\x07 漢字 👩‍👩‍👧 שלום".to_owned()
    }];
    let mut owner = Owner::new(3, hostile);
    owner.targets[0].preview = "\x1b[31m漢字漢字漢字漢字漢字漢字漢字漢字 👩‍👩‍👧 שלום עולם".to_owned();
    let mut stage = TestPane::new(Rewind::new(), owner);
    stage.wait(1_000);
    for keys in ["up", "tab", "right", "enter"] {
        stage.keys(keys);
        for (width, height) in [(20, 6), (1, 1), (3, 3), (7, 30), (100, 3), (200, 7), (20, 2)] {
            let seen = stage.screen(width, height);
            assert!(!seen.contains('\x1b'), "{seen}");
        }
    }
    insta::assert_snapshot!("hostile", stage.screen(60, 20));
}
