//! Notifications for a person who looks elsewhere. Must never ring for something visible.

use super::EMPTY;
use crate::live::model::{Model, shell, words};
use crate::live::tmux::Tmux;

/// The terminal's report of getting the focus, and of losing it.
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
    let client = Tmux::shell(&world, 100, 30);
    client.records(&file);
    client.runs("\"$RETAKE\"");
    client.shows(EMPTY);
    client.sends(FOCUS);
    super::says(&client, "hello", "Seen.");
    assert!(!printed().contains("\x1b]9;"), "whoever sees it is not told");
    client.sends(NO_FOCUS);
    super::says(&client, "and again", "Not seen.");
    client.until("a message and a bell", |_| {
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
    super::permits(&world, "allow-all");
    let file = world.home().join("printed");
    let printed = || std::fs::read_to_string(&file).expect("recorded");
    model.then(vec![words("Soon."), shell("sleep 3"), words("At last.")]);
    let client = Tmux::shell(&world, 100, 30);
    client.records(&file);
    client.runs("\"$RETAKE\"");
    client.shows(EMPTY);
    client.sends(NO_FOCUS);
    super::says(&client, "hello", "Soon.");
    assert!(!printed().contains("\x1b]9;"), "that was a moment");
    super::says(&client, "and something longer", "At last.");
    client.until("a message and a bell", |_| printed().contains("\x1b]9;hello is done\x07\x07"));
    assert_eq!(printed().matches("\x1b]9;").count(), 1);
}
