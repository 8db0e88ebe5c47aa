//! The mouse in a real terminal. Must never be needed.

use super::{EMPTY, PICKER, three_turns};
use crate::live::model::Model;
use crate::live::tmux::Tmux;

const LEFT: u8 = 0;
const DRAG: u8 = 32;
const WHEEL_UP: u8 = 64;
const WHEEL_DOWN: u8 = 65;

#[test]
fn the_wheel_scrolls_and_a_click_selects() {
    let model = Model::start();
    let (_world, client) = three_turns(&model);
    client.resize(100, 12);
    client.until("the end", |screen| {
        screen.contains("The third answer.") && !screen.contains("apples please\n")
    });
    let is_top = |screen: &str| screen.lines().any(|line| line.starts_with("┃ apples please"));
    for _ in 0..10 {
        client.mouse(WHEEL_UP, 10, 3);
    }
    client.until("the beginning", is_top);
    for _ in 0..10 {
        client.mouse(WHEEL_DOWN, 10, 3);
    }
    client.until("the end", |screen| screen.contains("The third answer.") && !is_top(screen));
    let (column, row) = client.place_of("The third answer.");
    client.mouse(LEFT, column, row);
    client.shows("y copy");
    client.until("it is selected", |screen| {
        screen.lines().any(|line| line.contains('▌') && line.contains("The third answer."))
    });
}

#[test]
fn a_click_selects_a_row_and_one_more_takes_what_can_be_taken_at_once() {
    let model = Model::start();
    let (_world, client) = three_turns(&model);
    client.press("C-r");
    client.until("the turns", |screen| screen.contains(PICKER) && screen.contains("t1 "));
    let (column, row) = client.place_of("apples please");
    client.mouse(LEFT, column, row);
    client.until("it is selected", |screen| {
        screen.lines().any(|line| line.contains('❯') && line.contains("apples please"))
    });
    client.until("its plan", |screen| screen.contains("to edit: “apples please”"));
    client.press("Escape");
    client.hides(PICKER);
    client.shows("The third answer.");
    // For rows that can be picked at once: the first click selects, the second one picks.
    client.press("M-p");
    let (column, row) = client.place_of("allow-all");
    client.mouse(LEFT, column, row);
    client.until("it is selected", |screen| {
        screen.lines().any(|line| line.contains('❯') && line.contains("allow-all"))
    });
    client.mouse(LEFT, column, row);
    client.until("it is so", |screen| screen.contains("allow-all ·"));
}

#[test]
fn without_the_mouse_the_terminal_keeps_it() {
    let model = Model::start();
    let world = model.world(&[]);
    let before = std::fs::read_to_string(world.config()).expect("settings");
    world.settings(&format!("{before}[face]\nmouse = false\n"));
    let printed = world.home().join("printed");
    let client = Tmux::shell(&world, 100, 30);
    client.records(&printed);
    client.runs("\"$RETAKE\"");
    client.shows(EMPTY);
    let printed = std::fs::read_to_string(&printed).expect("recorded");
    assert!(printed.contains("\x1b[?2004h") && !printed.contains("\x1b[?1000h"), "{printed:?}");
}

#[test]
fn a_mouse_selection_is_copied_and_a_click_focuses_the_composer() {
    let model = Model::start();
    let (_world, client) = three_turns(&model);
    client.accepts_copies();
    let (column, row) = client.place_of("third answer.");
    client.sends(&format!("\x1b[<{LEFT};{};{}M", column + 1, row + 1));
    client.sends(&format!("\x1b[<{DRAG};{};{}M", column + 80, row + 1));
    client.until("it is highlighted", |_| client.coloured().contains("\x1b[7m"));
    client.sends(&format!("\x1b[<{LEFT};{};{}m", column + 80, row + 1));
    client.shows("sent 1 line to");
    client.until("the clipboard", |_| client.copied() == "third answer.");
    client.press("Escape");
    client.until("no highlight", |_| !client.coloured().contains("\x1b[7m"));
    client.mouse(LEFT, column, row);
    client.shows("y copy");
    let (column, row) = client.place_of("a message is selected");
    client.mouse(LEFT, column + 3, row);
    client.hides("y copy");
    client.types("fy");
    client.shows("› fy");
}
