//! The composer: typed, pasted and prefilled text comes back complete.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use super::pty::{Pty, now};

const ENTER: &str = "\r";
const CTRL_C: &str = "\x03";
const CTRL_D: &str = "\x04";
const CTRL_Z: &str = "\x1a";
const BACKSPACE: &str = "\x7f";
const UP: &str = "\x1b[A";

fn edit(prefill: &[&str]) -> Pty {
    let pty = Pty::start(&[&["edit"], prefill].concat());
    pty.shows("you> ");
    pty
}

/// Waits for the text as it was read, and for the next prompt: keys before the prompt are echoed by the terminal itself.
#[track_caller]
fn reads(pty: &Pty, text: &str) {
    let short = text.chars().take(60).collect::<String>();
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let expected = format!("READ {} {:016x} {short:?}", text.len(), hasher.finish());
    // The terminal may have wrapped the line.
    pty.until(&expected, |screen| {
        let after = screen.replace('\n', "").rsplit_once(&expected).map(|(_, after)| after.to_owned());
        after.is_some_and(|after| after.contains("you> "))
    });
}

#[test]
fn a_prefill_is_visible_and_editable_and_waits() {
    let pty = edit(&["my old words"]);
    pty.shows("you> my old words");
    pty.send(BACKSPACE);
    pty.send("k, better");
    let screen = pty.shows("my old wordk, better");
    assert!(!screen.contains("READ"), "{screen}");
    pty.send(ENTER);
    reads(&pty, "my old wordk, better");
}

/// The Enter after a `y` that took a step is typed before anybody has read the returned words.
#[test]
fn an_enter_directly_after_a_prefill_sends_nothing() {
    let pty = Pty::start(&["edit", "my old words"]);
    pty.shows("you> my old words");
    pty.send(ENTER);
    let screen = pty.shows("Enter again sends this");
    assert!(!screen.contains("READ"), "{screen}");
    pty.send(ENTER);
    reads(&pty, "my old words");
}

#[test]
fn a_prefill_keeps_its_lines() {
    let pty = edit(&["one\ntwo"]);
    pty.shows("· two");
    pty.send(format!("!{ENTER}"));
    reads(&pty, "one\ntwo!");
}

#[test]
fn newlines_are_typed_in_four_ways() {
    let pty = edit(&[]);
    pty.send("one\x1b\rtwo\nthree\\\rfour");
    pty.shows("four");
    pty.send(ENTER);
    reads(&pty, "one\ntwo\nthree\nfour");
}

#[test]
fn a_paste_is_one_insert_and_never_submits() {
    let pty = edit(&[]);
    pty.paste("first\rsecond\r\nthird\r");
    let screen = pty.shows("third");
    assert!(!screen.contains("READ"), "{screen}");
    pty.send(format!("fourth{ENTER}"));
    reads(&pty, "first\nsecond\nthird\nfourth");
}

#[test]
fn pasted_lines_are_one_text_that_waits_for_another_enter() {
    let pty = edit(&[]);
    pty.send("first\rsecond\rthird\r");
    let screen = pty.shows("came at once");
    assert!(screen.contains("· third") && !screen.contains("READ"), "{screen}");
    pty.send(ENTER);
    reads(&pty, "first\nsecond\nthird");
    pty.send(format!("fourth{ENTER}"));
    reads(&pty, "fourth");
}

#[test]
fn a_pasted_escape_sequence_is_shown_and_kept() {
    let pty = edit(&[]);
    pty.paste("a\x1b[2Jb");
    pty.shows("you> a[control U+001B][2Jb");
    pty.send(ENTER);
    reads(&pty, "a\x1b[2Jb");
}

#[test]
fn ten_megabytes_are_pasted_as_a_placeholder_and_read_whole() {
    let pty = edit(&[]);
    let body =
        "0123456789 abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ 0123456789 words\n".repeat(122_000);
    pty.send("look: ");
    pty.shows("look: ");
    let started = now();
    pty.paste(&body.replace('\n', "\r"));
    pty.shows("you> look: [pasted 10.0 MB, 122,000 lines]");
    let shown = started.elapsed();
    pty.send(format!(" thanks{ENTER}"));
    reads(&pty, &format!("look: {body} thanks"));
    assert!(shown < Duration::from_secs(5), "the paste took {shown:?}");
}

#[test]
fn a_placeholder_is_deleted_whole_and_comes_back_with_undo() {
    let pty = edit(&[]);
    let body = "line\n".repeat(100);
    pty.send("see ");
    pty.paste(&body);
    pty.shows("you> see [pasted 500 B, 100 lines]");
    pty.send(BACKSPACE);
    pty.until("no placeholder", |screen| screen.contains("see") && !screen.contains("pasted"));
    pty.send(CTRL_Z);
    pty.shows("[pasted 500 B, 100 lines]");
    pty.send(ENTER);
    reads(&pty, &format!("see {body}"));
    pty.send(UP);
    pty.until("the placeholder again", |screen| screen.matches("[pasted 500 B").count() == 2);
}

#[test]
fn ctrl_c_clears_a_line_and_undo_brings_it_back() {
    let pty = edit(&["precious"]);
    pty.send(CTRL_C);
    pty.shows("you> cleared: Ctrl-Z brings it back, Ctrl-D quits");
    pty.send(CTRL_Z);
    pty.shows("you> precious");
    pty.send(ENTER);
    reads(&pty, "precious");
}

#[test]
fn ctrl_c_twice_on_an_empty_line_leaves() {
    let mut pty = edit(&["text"]);
    for shown in ["you> cleared", "you> press Ctrl-C again to quit", "LEFT interrupted"] {
        pty.send(CTRL_C);
        pty.shows(shown);
    }
    assert!(pty.ended());
}

#[test]
fn a_key_between_two_ctrl_c_stays() {
    let pty = edit(&[]);
    pty.send(CTRL_C);
    pty.shows("press Ctrl-C again");
    pty.send("x");
    pty.until("the typed key", |screen| screen.trim_end().ends_with("you> x"));
    pty.send(CTRL_C);
    pty.shows("cleared");
    pty.send(format!("still here{ENTER}"));
    reads(&pty, "still here");
}

#[test]
fn ctrl_c_clears_every_line_of_the_text() {
    let pty = edit(&["one\ntwo\nthree"]);
    pty.shows("· three");
    pty.send(CTRL_C);
    let screen = pty.shows("you> cleared");
    assert!(!screen.contains("two") && !screen.contains("three"), "{screen}");
}

#[test]
fn ctrl_c_leaves_the_search_of_the_history_and_keeps_the_line() {
    let pty = edit(&["draft"]);
    pty.send("\x12fir");
    pty.shows("(search: fir) first prompt");
    pty.send(CTRL_C);
    pty.shows("you> draft");
    pty.send(ENTER);
    reads(&pty, "draft");
}

#[test]
fn ctrl_d_on_an_empty_line_leaves_the_terminal_as_it_was() {
    let mut pty = Pty::start(&["edit"]);
    pty.shows("you> ");
    pty.reads_keys();
    pty.send(CTRL_D);
    pty.shows("LEFT eof");
    assert!(pty.ended());
    assert!(pty.is_restored());
}

#[test]
fn earlier_prompts_are_there_and_new_ones_join_them() {
    let pty = edit(&[]);
    pty.send(UP);
    pty.shows("you> second prompt");
    pty.send(UP);
    pty.shows("you> first prompt");
    pty.send(format!("!{ENTER}"));
    reads(&pty, "first prompt!");
    pty.send(UP);
    pty.until("the new prompt", |screen| screen.matches("you> first prompt!").count() == 2);
}

#[test]
fn a_command_is_completed_with_its_help() {
    let pty = edit(&[]);
    pty.send("/re\t");
    let screen = pty.shows("goes back to an earlier message");
    assert!(screen.contains("comes forward again") && !screen.contains("takes back"), "{screen}");
    pty.send("w\t");
    pty.shows("you> /rewind ");
    pty.send(format!("3{ENTER}"));
    reads(&pty, "/rewind 3");
}

#[test]
fn tab_in_a_message_does_nothing() {
    let pty = edit(&[]);
    pty.send("hello");
    pty.shows("hello");
    pty.send(format!("\t there{ENTER}"));
    reads(&pty, "hello there");
}

#[test]
fn a_panic_in_another_thread_leaves_a_readable_message_and_a_working_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    let sign = folder.path().join("now");
    let mut pty = Pty::start(&["panic", sign.to_str().expect("a path in UTF-8")]);
    pty.shows("you> ");
    assert!(!pty.is_restored());
    std::fs::write(&sign, "").expect("a file");
    pty.shows("\na bug, as asked for");
    assert!(!pty.ended());
    assert!(pty.is_restored());
}
