//! What a plan says of files, and what can be chosen in it. Must never lose what a person wrote.

use super::{EMPTY, PICKER, answers, opened, three_turns};
use crate::live::harness::{World, until};
use crate::live::model::{Model, shell, words};
use crate::live::tmux::Tmux;

/// The picker at the second turn, whose file somebody has changed by hand.
fn changed_by_hand(model: &Model) -> (World, Tmux) {
    let (world, face) = three_turns(model);
    world.write("new.txt", "by hand\n");
    face.press("C-r");
    face.until("the turns", |screen| screen.contains(PICKER) && screen.contains("t1 "));
    face.press("Down");
    face.until("the plan", |screen| screen.contains("pears please") && screen.contains("new.txt"));
    (world, face)
}

/// Chooses this outcome for the file.
fn chooses(face: &Tmux, outcome: &str) {
    let chosen = |screen: &str| {
        let line = screen.lines().find_map(|line| line.split_once("● "))?;
        line.1.split_whitespace().next().map(str::to_owned)
    };
    face.press("Right");
    face.shows("Ctrl+D choose");
    let mut now = chosen(&face.screen());
    while now.as_deref() != Some(outcome) {
        face.press("C-d");
        let offers = |screen: &str| chosen(screen).is_some() && chosen(screen) != now;
        now = chosen(&face.until("another outcome", offers));
    }
}

/// Goes on to the final question, and applies.
fn applies(face: &Tmux) {
    face.press("Enter");
    face.shows("Enter applies");
    answers(face, "Enter", "rewound");
    face.until("the words", |screen| screen.lines().rev().take(4).any(|line| line.contains("pears please")));
}

#[test]
fn a_persons_concurrent_changes_are_shown_and_kept() {
    let model = Model::start();
    let (world, face) = changed_by_hand(&model);
    face.shows("can't decide about 1 file");
    face.shows("you or another program changed the same place");
    // Without a choice nothing is done.
    face.press("Enter");
    face.shows("choose");
    assert!(!face.screen().contains("Enter applies"));
    chooses(&face, "disk");
    applies(&face);
    assert_eq!(world.read("new.txt").as_deref(), Some("by hand\n"));
}

#[test]
fn a_person_chooses_another_outcome_for_a_file() {
    let model = Model::start();
    let (world, face) = changed_by_hand(&model);
    chooses(&face, "checkpoint");
    applies(&face);
    assert_eq!(world.read("new.txt"), None, "it was not there then");
    face.press("M-u");
    face.shows("Enter applies");
    answers(&face, "Enter", "undone");
    face.until("it is back", |_| world.read("new.txt").as_deref() == Some("by hand\n"));
}

#[test]
fn diffs_are_paged_through_and_a_key_changes_the_scope() {
    let model = Model::start();
    let (world, face) = three_turns(&model);
    face.press("C-r");
    face.until("the turns", |screen| screen.contains(PICKER) && screen.contains("t1 "));
    face.press("Down");
    face.until("the plan", |screen| screen.contains("[both]") && screen.contains("new.txt"));
    face.press("Right");
    face.until("its diff", |screen| screen.contains("-made"));
    face.press("C-s");
    face.until("words only", |screen| screen.contains("[conversation]") && !screen.contains("-made"));
    applies(&face);
    assert_eq!(world.read("new.txt").as_deref(), Some("made\n"), "files were not touched");
    face.press("C-u");
    face.shows(EMPTY);
    assert_eq!(world.texts().len(), 2);
}

/// The stop itself makes the plan stale that was agreed to: the run has written and said more until then.
#[test]
fn files_that_a_command_writes_until_it_is_stopped_are_reverted_with_its_turn() {
    let model = Model::start();
    let (world, face) = opened(
        &model,
        vec![shell("for i in $(seq 2000); do echo $i >> r.txt; sleep 0.05; done"), words("Counted.")],
    );
    face.types("/permissions allow-all");
    face.press("Enter");
    face.shows("allow-all");
    face.types("count to many");
    face.press("Enter");
    until("the command writes", || world.read("r.txt").is_some_and(|text| text.contains("3\n")));
    face.press("C-r");
    // What is agreed to names the file: only then nothing else is added by what the run does until its end.
    let is_planned = |screen: &str| screen.contains(PICKER) && screen.contains("- r.txt");
    face.until("the plan", |screen| is_planned(screen) && screen.contains("Ctrl+X"));
    face.press("C-x");
    face.until("the question", |screen| is_planned(screen) && screen.contains("Enter stops it and applies"));
    face.press("Enter");
    face.until("it is done", |screen| screen.contains("rewound") && screen.contains("› count to many"));
    assert_eq!(world.read("r.txt"), None);
    assert!(world.texts().iter().all(|text| !text.contains("count to many")), "{:?}", world.texts());
}
