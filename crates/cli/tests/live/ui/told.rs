//! What a person is told who looks elsewhere. Must never ring for what is seen.

use super::EMPTY;
use crate::live::model::{Model, shell, words};
use crate::live::tmux::Tmux;

/// What a terminal says when it gets the focus, and when it loses it.
const FOCUS: &str = "\x1b[I";
const NO_FOCUS: &str = "\x1b[O";

#[test]
fn the_end_of_a_long_turn_is_notified_when_the_terminal_has_no_focus() {
    let model = Model::start();
    let world = model.world(&[]);
    let before = std::fs::read_to_string(world.config()).expect("settings");
    world.settings(&format!("{before}[face]\nnotify_after_s = 0\n"));
    let file = world.home().join("printed");
    let printed = || std::fs::read_to_string(&file).expect("recorded");
    model.then(vec![words("Seen."), words("Not seen.")]);
    let face = Tmux::shell(&world, 100, 30);
    face.records(&file);
    face.runs("\"$RETAKE\"");
    face.shows(EMPTY);
    face.sends(FOCUS);
    super::says(&face, "hello", "Seen.");
    assert!(!printed().contains("\x1b]9;"), "whoever sees it is not told");
    face.sends(NO_FOCUS);
    super::says(&face, "and again", "Not seen.");
    face.until("a message and a bell", |_| {
        let printed = printed();
        printed.split_once("\x1b]9;").is_some_and(|(_, told)| {
            told.split_once('\x07').is_some_and(|(told, rest)| !told.is_empty() && rest.starts_with('\x07'))
        })
    });
}

#[test]
fn the_end_of_a_long_turn_is_notified() {
    let model = Model::start();
    let world = model.world(&[]);
    let before = std::fs::read_to_string(world.config()).expect("settings");
    world.settings(&format!("{before}[face]\nnotify_after_s = 2\n"));
    let file = world.home().join("printed");
    let printed = || std::fs::read_to_string(&file).expect("recorded");
    model.then(vec![words("Soon."), shell("sleep 3"), words("At last.")]);
    let face = Tmux::shell(&world, 100, 30);
    face.records(&file);
    face.runs("\"$RETAKE\"");
    face.shows(EMPTY);
    face.types("/permissions allow-all");
    face.press("Enter");
    face.shows("allow-all");
    face.sends(NO_FOCUS);
    super::says(&face, "hello", "Soon.");
    assert!(!printed().contains("\x1b]9;"), "that was a moment");
    super::says(&face, "and something longer", "At last.");
    face.until("a message and a bell", |_| printed().contains("\x1b]9;hello is done\x07\x07"));
    assert_eq!(printed().matches("\x1b]9;").count(), 1);
}
