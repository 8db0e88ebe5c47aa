//! The picker: the right row, and a clean screen afterwards.

use super::pty::Pty;

const ENTER: &str = "\r";
const DOWN: &str = "\x1b[B";
const UP: &str = "\x1b[A";
const ESC: &str = "\x1b";

fn picker() -> Pty {
    let pty = Pty::start(&["pick"]);
    pty.shows("Esc cancel");
    pty.cursor_is_at(1, 0);
    pty
}

#[test]
fn keys_pick_and_the_screen_is_clean_afterwards() {
    let mut pty = picker();
    let screen = pty.screen();
    assert!(screen.contains("Go back to  1/40"), "{screen}");
    assert!(screen.contains("> message 1 漢字") && screen.contains("1 minutes ago"), "{screen}");
    assert!(screen.contains("│ preview of 0␛[2J") && screen.contains("│ and more"), "{screen}");
    assert!(screen.contains("message 12 ") && !screen.contains("message 13 "), "{screen}");
    assert!(pty.cursor_hidden());
    pty.send(DOWN);
    pty.shows("preview of 1");
    pty.send(ENTER);
    let screen = pty.shows("PICKED Some(1)");
    assert_eq!(screen.trim_end(), "line 1\nPICKED Some(1)");
    assert!(!pty.cursor_hidden());
    assert!(pty.ended());
}

#[test]
fn the_modes_of_the_terminal_come_back() {
    let mut pty = Pty::start(&["pick"]);
    pty.reads_keys();
    pty.send("q");
    pty.shows("PICKED None");
    assert!(pty.ended());
    assert!(pty.is_restored());
}

#[test]
fn typing_filters_in_any_case() {
    let pty = picker();
    pty.send("SAGE 37");
    let screen = pty.until("one row", |screen| screen.contains("Go back to  1/1  /SAGE 37"));
    assert!(screen.contains("> message 37") && !screen.contains("message 1 "), "{screen}");
    pty.send(ENTER);
    pty.shows("PICKED Some(36)");
}

#[test]
fn nothing_found_is_said_and_cancelled() {
    for cancel in [ESC, "\x03"] {
        let pty = picker();
        pty.send("nowhere");
        pty.shows("no match");
        pty.send(ENTER);
        pty.send(cancel);
        let screen = pty.shows("PICKED None");
        assert_eq!(screen.trim_end(), "line 1\nPICKED None");
    }
}

#[test]
fn a_disabled_row_shows_the_reason_and_can_not_be_picked() {
    let pty = picker();
    assert!(pty.screen().contains("message 3 漢字  (its files are gone)"), "{}", pty.screen());
    pty.send(format!("{DOWN}{DOWN}{ENTER}"));
    pty.shows("cannot be picked: its files are gone");
    pty.send(format!("{UP}{ENTER}"));
    pty.shows("PICKED Some(1)");
}

#[test]
fn the_list_scrolls_by_pages_and_to_its_ends() {
    let pty = picker();
    pty.send("\x1b[6~");
    pty.shows("> message 13 ");
    pty.send("\x1b[F");
    pty.shows("> message 40 ");
    pty.send("\x1b[H");
    pty.shows("> message 1 ");
    pty.send(format!("jjk{ENTER}"));
    pty.shows("PICKED Some(1)");
}

#[test]
fn a_resize_redraws_the_screen_also_when_it_is_narrow() {
    let pty = picker();
    pty.resize(10, 14);
    let screen = pty.until("narrow rows", |screen| screen.contains("Go back to  …"));
    assert!(screen.lines().count() <= 10, "{screen}");
    pty.resize(24, 60);
    pty.shows("Esc cancel");
    pty.send(ESC);
    let screen = pty.shows("PICKED None");
    assert!(!screen.contains("message"), "{screen}");
}

#[test]
fn at_the_bottom_of_the_screen_it_makes_room_and_gives_it_back() {
    let pty = Pty::start(&["pick", "50"]);
    let screen = pty.shows("Esc cancel");
    assert!(screen.contains("line 50\nGo back to"), "{screen}");
    pty.send(format!("{DOWN}{ENTER}"));
    let screen = pty.shows("PICKED Some(1)");
    assert!(screen.trim_end().ends_with("line 49\nline 50\nPICKED Some(1)"), "{screen}");
    assert!(!screen.contains("message"), "{screen}");
}

#[test]
fn a_low_terminal_has_fewer_rows_and_less_preview() {
    let pty = picker();
    pty.resize(8, 80);
    let screen = pty.until("fewer rows", |s| s.contains("message 4") && s.contains("Esc cancel"));
    assert!(!screen.contains("message 5"), "{screen}");
    assert!(screen.contains("preview of 0␛[2J…"), "{screen}");
}
