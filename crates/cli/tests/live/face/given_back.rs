//! The terminal after something in the program has panicked: the shell has it again, and the person reads what to do. Must never panic in
//! another way than a bug would.

use super::EMPTY;
use crate::live::tmux::Tmux;
use crate::live::world::World;

/// The whole program, with an owner that panics there as soon as it is told to. What the shell shows then.
fn panics(place: &str) -> String {
    let world = World::new();
    let (sign, printed) = (world.home().join("now"), world.home().join("printed"));
    let face = Tmux::shell(&world, 100, 30);
    face.records(&printed);
    face.runs(&format!("'{}' face {place} '{}'", env!("CARGO_BIN_EXE_term_demo"), sign.display()));
    face.shows(EMPTY);
    assert!(face.is_full_screen());
    face.types("half a thought");
    face.shows("half a thought");
    std::fs::write(&sign, "").expect("written");
    let screen = face.until("the shell", |screen| !face.is_full_screen() && screen.contains("retake -c"));
    face.is_given_back();
    let printed = std::fs::read_to_string(&printed).expect("recorded");
    let (_, after) = printed.rsplit_once("\x1b[?1049l").expect("the other screen was left");
    assert!(after.contains("a bug, as asked for"), "nothing hides the message: {after:?}");
    assert!(
        !after.contains("\x1b[?1049h") && !after.contains("half a thought"),
        "nothing is drawn any more: {after:?}"
    );
    screen
}

#[test]
fn a_panic_of_the_face_gives_the_terminal_back_and_says_what_to_do() {
    let screen = panics("main");
    assert!(screen.contains("a bug, as asked for"), "{screen}");
    assert!(screen.contains("retake has failed") && screen.contains("what was said is kept"), "{screen}");
}

#[test]
fn a_panic_of_another_thread_ends_the_face_and_says_what_to_do() {
    let screen = panics("thread");
    assert!(screen.contains("a bug, as asked for"), "{screen}");
    assert!(screen.contains("a part of the program has failed"), "{screen}");
}

#[test]
fn a_panic_of_a_task_ends_the_face_and_says_what_to_do() {
    let screen = panics("task");
    assert!(screen.contains("a bug, as asked for"), "{screen}");
    assert!(screen.contains("a part of the program has failed"), "{screen}");
}
