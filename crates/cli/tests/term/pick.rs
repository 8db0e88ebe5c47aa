//! A list to pick from: numbers and lines, and the modes of the terminal afterwards.

use super::pty::Pty;

fn picker() -> Pty {
    let pty = Pty::start(&["pick"]);
    pty.shows("number:");
    pty.reads_keys();
    pty
}

#[test]
fn a_number_and_enter_pick_and_nothing_is_drawn_again() {
    let mut pty = picker();
    let screen = pty.screen();
    assert!(screen.contains("Go back to\n  1  message 1 漢字  1 minutes ago"), "{screen}");
    assert!(screen.contains("12  message 12 ") && !screen.contains("message 13 "), "{screen}");
    assert!(!pty.cursor_hidden());
    pty.send("2?\r");
    pty.shows("preview of 1␛[2J\nand more");
    pty.until("the prompt", |screen| screen.trim_end().ends_with("number:"));
    pty.reads_keys();
    pty.send("2\r");
    let screen = pty.shows("PICKED Some(1)");
    assert!(screen.contains("1  message 1 漢字"), "the list stays: {screen}");
    assert!(pty.ended());
    assert!(pty.is_restored());
}

#[test]
fn keys_that_no_row_has_pick_none() {
    for cancel in ["\r", "\x03", "\x04"] {
        let mut pty = picker();
        pty.send("3\r");
        pty.shows("cannot be picked: its files are gone");
        pty.until("the prompt", |screen| screen.trim_end().ends_with("number:"));
        pty.reads_keys();
        pty.send(cancel);
        pty.shows("PICKED None");
        assert!(pty.ended());
    }
}

#[test]
fn a_pasted_line_waits_for_enter() {
    let pty = picker();
    pty.paste("1\n");
    // The pasted text can still be changed.
    pty.send("\x7f\x7f2\r");
    pty.shows("PICKED Some(1)");
}
