//! The list of choices for a file, and the letter that agrees.

use retake_wire::reply::Receipt;
use retake_wire::{Choice, PathPlan, Verdict};

use super::*;
use crate::ui::plan::NO_WORDS;

/// What was chosen in the last requested plan.
fn chosen(stage: &TestPane<PlanPane>) -> Vec<Choice> {
    stage.plans().last().expect("a plan").files.choose.iter().map(|choose| choose.choice.clone()).collect()
}

#[test]
fn choices_are_named_by_what_they_do_in_every_size() {
    let mut shots = String::new();
    for (width, height) in [(80, 24), (40, 12)] {
        let mut stage = stage(undo(), with_conflict());
        stage.screen(width, height);
        for keys in ["", "ctrl+d", "down down", "down space down space"] {
            if !keys.is_empty() {
                stage.keys(keys);
            }
            stage.screen(width, height);
            shots.push_str(&format!("══ {keys} {width}x{height}\n{}", stage.screen(width, height)));
        }
    }
    insta::assert_snapshot!("choices", shots);
}

#[test]
fn arrows_move_in_the_list_and_enter_takes_what_is_there() {
    // In the order of the list: disk, checkpoint, yours, two hunks, skip.
    for (keys, choice) in [
        ("", Choice::Disk),
        ("down", Choice::Checkpoint),
        ("down down up", Choice::Checkpoint),
        ("down down", Choice::Yours),
        ("end", Choice::Skip),
        ("end down", Choice::Skip),
        ("end up", Choice::Hunks(vec![2])),
        ("end home", Choice::Disk),
        ("ctrl+d ctrl+d", Choice::Yours),
    ] {
        let mut stage = stage(undo(), with_conflict());
        stage.screen(80, 24);
        stage.keys("ctrl+d");
        for key in keys.split_whitespace() {
            stage.keys(key);
        }
        assert_eq!(stage.plans().len(), 1, "{keys}: to look is not to choose");
        stage.keys("enter");
        assert_eq!(chosen(&stage), [choice], "{keys}");
        assert!(stage.applied().is_empty(), "{keys}");
        assert_eq!(stage.pane.context(), Context::Confirm, "{keys}");
    }
}

#[test]
fn several_hunks_can_be_ticked() {
    let mut stage = stage(undo(), with_conflict());
    stage.screen(80, 24);
    stage.keys("ctrl+d");
    stage.keys("end up space");
    assert_eq!(chosen(&stage), [Choice::Hunks(vec![2])]);
    stage.keys("up space");
    assert_eq!(chosen(&stage), [Choice::Hunks(vec![1, 2])]);
    assert_eq!(stage.screen(80, 30).matches("[x] hunk").count(), 2, "{}", stage.screen(80, 30));
    stage.keys("space");
    assert_eq!(chosen(&stage), [Choice::Hunks(vec![2])]);
    stage.wait(1_000);
    stage.keys("space enter");
    assert_eq!(chosen(&stage), [Choice::Hunks(vec![1, 2])], "Enter keeps what is ticked");
    stage.keys("ctrl+d");
    stage.keys("home space");
    assert_eq!(chosen(&stage), [Choice::Disk], "another choice replaces the hunks");
}

#[test]
fn esc_leaves_the_list_without_a_choice() {
    let mut stage = stage(undo(), with_conflict());
    stage.screen(80, 24);
    stage.keys("ctrl+d");
    stage.keys("down esc");
    assert!(!stage.is_closed() && stage.plans().len() == 1);
    assert_eq!(stage.pane.context(), Context::Confirm);
    stage.keys("esc");
    assert!(stage.is_closed());
}

/// Two files in conflict, and the plan after a choice for the first one.
fn two_conflicts() -> (retake_wire::reply::Plan, retake_wire::reply::Plan) {
    let mut two = with_conflict();
    let files = two.files.as_mut().expect("files");
    let first = files.paths[0].clone();
    files.paths[1] = PathPlan { name: files.paths[1].name.clone(), ..first };
    files.conflicts = 2;
    let mut one = two.clone();
    let files = one.files.as_mut().expect("files");
    (files.paths[0].verdict, files.paths[0].diff, files.conflicts) = (Verdict::Unchanged, None, 1);
    (two, one)
}

/// The viewed file.
fn viewed(stage: &mut TestPane<PlanPane>) -> Option<String> {
    let screen = stage.screen(100, 40);
    screen
        .lines()
        .find(|line| line.starts_with('❯'))
        .map(|line| line.trim_start_matches('❯').trim().to_owned())
}

#[test]
fn after_a_choice_the_next_file_without_one_is_viewed() {
    let (two, one) = two_conflicts();
    let mut stage = stage(undo(), two);
    stage.keys("c");
    assert!(viewed(&mut stage).expect("a file").contains("src/parse.rs"));
    stage.owner.plans = [Ok(one.clone())].into();
    stage.keys("enter");
    assert!(viewed(&mut stage).expect("a file").contains("src/lex.rs"), "{}", stage.screen(100, 40));
    stage.keys("right right right right left left left left left enter");
    assert!(viewed(&mut stage).expect("a file").contains("src/lex.rs"), "Enter goes to it");
    assert!(stage.screen(100, 40).contains("choose first: src/lex.rs is in conflict"));
    // The decided one says what it becomes.
    while !viewed(&mut stage).is_none_or(|viewed| viewed.contains("src/parse.rs")) {
        stage.keys("right");
    }
    assert!(stage.screen(100, 40).contains("stays as it is now\n"), "{}", stage.screen(100, 40));
}

#[test]
fn the_only_file_is_no_next_file() {
    let mut one = with_files();
    one.files.as_mut().expect("files").paths.truncate(1);
    let mut stage = stage(undo(), one);
    let foot = |stage: &mut TestPane<PlanPane>| {
        stage.screen(110, 40).lines().last().map(str::to_owned).expect("a foot")
    };
    assert!(foot(&mut stage).contains("Right shows the diff"), "{}", foot(&mut stage));
    stage.keys("right");
    assert!(foot(&mut stage).contains("Left hides the diff"), "{}", foot(&mut stage));
    stage.screen(110, 12);
    let foot = stage.screen(110, 12).lines().last().map(str::to_owned).expect("a foot");
    assert!(foot.contains("Up/Down scroll"), "{foot}");
}

#[test]
fn y_agrees_if_it_stands_alone() {
    let mut stage = stage(undo(), with_files());
    stage.screen(80, 24);
    stage.owner.applies.push_back(Ok(Receipt::default()));
    stage.press("y");
    stage.wait(100);
    assert!(stage.applied().is_empty(), "a word may follow");
    stage.press("e");
    stage.press("s");
    stage.wait(1_000);
    assert!(stage.applied().is_empty());
    stage.wait(3_000);
    stage.keys("enter");
    assert!(stage.applied().is_empty() && stage.screen(80, 24).contains(NO_WORDS));
    stage.press("y");
    stage.wait(1_000);
    assert_eq!(stage.applied().len(), 1);
}

#[test]
fn y_agrees_to_no_plan_that_waits_for_a_choice() {
    let mut stage = stage(undo(), with_conflict());
    stage.screen(80, 24);
    stage.press("y");
    stage.wait(1_000);
    assert!(stage.applied().is_empty());
    assert!(stage.screen(80, 24).contains("choose first: src/parse.rs is in conflict"));
}
