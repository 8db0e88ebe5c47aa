//! The choices for a file: distinct, folded if none is needed, and visible.

use retake_wire::{AfterChoice, Choice, ChoiceOutcome, Verdict};

use super::super::Rewind;
use super::super::samples::{Owner, TestPane, plan, with_conflict, with_files};

#[test]
fn a_file_that_stays_by_choice_is_listed_and_can_be_chosen_for_again() {
    let mut stays = with_files();
    stays.files.as_mut().expect("files").paths[0].verdict = Verdict::Unchanged;
    let mut owner = Owner::new(3, plan());
    owner.plans = [Ok(with_files()), Ok(stays), Ok(with_files())].into();
    let mut stage = TestPane::new(Rewind::new(), owner);
    stage.wait(1_000);
    stage.screen(140, 40);
    stage.keys("right");
    assert!(!stage.screen(140, 40).contains("○ keep mine"), "folded until it is asked for");
    stage.keys("ctrl+d");
    assert!(stage.screen(140, 40).contains("❯ ● as it was then"), "{}", stage.screen(140, 40));
    assert_eq!(stage.plans().last().expect("a plan").files.choose, [], "to look is not to choose");
    stage.keys("up enter");
    assert!(stage.screen(140, 40).contains("leaves 1 file as chosen\n"), "{}", stage.screen(140, 40));
    stage.keys("ctrl+d");
    stage.keys("down enter");
    let files = &stage.plans().last().expect("a plan").files;
    assert_eq!((files.choose.len(), &files.choose[0].choice), (1, &Choice::Checkpoint));
    assert!(stage.screen(140, 40).contains("❯ ~ src/parse.rs"));
}

/// If the other author's last version equals the present one, keeping and restoring it are one choice.
#[test]
fn choices_with_the_same_outcome_are_one() {
    let mut same = with_conflict();
    let path = &mut same.files.as_mut().expect("files").paths[0];
    let stays = "stays as it is now and counts as yours: not asked again";
    let after = |choice: &Choice| AfterChoice {
        choice: choice.clone(),
        becomes: ChoiceOutcome::Stays,
        turn: None,
        call: None,
        partly: false,
        words: String::new(),
    };
    path.outcomes = vec![after(&Choice::Disk), after(&Choice::Yours)];
    let mut owner = Owner::new(3, plan());
    owner.plans = [Ok(same.clone())].into();
    let mut stage = TestPane::new(Rewind::new(), owner);
    stage.wait(1_000);
    stage.screen(200, 40);
    stage.keys("right");
    let screen = stage.screen(200, 40);
    assert!(screen.contains("keep mine  ") && !screen.contains("my last version"), "{screen}");
    assert_eq!(screen.matches(stays).count(), 1, "{screen}");
    let look = crate::ui::words::look(140, 0);
    let text = crate::render::files::plan(&look, same.files.as_ref().expect("files")).to_string();
    assert!(text.contains(&format!("disk or yours: {stays}")), "{text}");
}

/// A file with a choice moves among the files; it stays visible, with its other choices.
#[test]
fn file_with_a_choice_stays_visible() {
    let mut before = with_conflict();
    let files = before.files.as_mut().expect("files");
    let one = files.paths[1].clone();
    for number in 0..40 {
        let mut path = one.clone();
        path.name.path = format!("src/more/{number:02}.rs");
        path.calls.clear();
        files.paths.push(path);
    }
    let mut after = before.clone();
    let files = after.files.as_mut().expect("files");
    files.conflicts = 0;
    files.paths[0].verdict = Verdict::Unchanged;
    let mut owner = Owner::new(3, plan());
    owner.plans = [Ok(before), Ok(after)].into();
    let mut stage = TestPane::new(Rewind::new(), owner);
    stage.wait(1_000);
    stage.screen(140, 24);
    stage.keys("right");
    assert!(stage.screen(140, 24).contains("❯ ! src/parse.rs"), "{}", stage.screen(140, 24));
    stage.keys("ctrl+d");
    stage.keys("enter");
    let screen = stage.screen(140, 24);
    assert!(screen.contains("❯   src/parse.rs") && screen.contains("keep mine]"), "{screen}");
}

#[test]
fn arrows_move_among_the_choices_and_not_in_the_list_of_turns() {
    let mut stage = TestPane::new(Rewind::new(), Owner::new(3, with_conflict()));
    stage.wait(1_000);
    for (width, height) in [(140, 24), (80, 24), (40, 12)] {
        stage.screen(width, height);
        stage.keys("ctrl+d");
        stage.keys("down x");
        let screen = stage.screen(width, height);
        assert!(screen.contains("❯ ○   as before t2"), "{screen}");
        assert!(stage.plans().iter().all(|plan| plan.files.choose.is_empty()));
        stage.keys("esc");
        stage.wait(1_000);
    }
    assert_eq!(stage.plans().len(), 1, "the same turn");
}
