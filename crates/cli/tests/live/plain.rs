//! The line conversation as screen readers and simple terminals need it: no pager, nothing drawn again, and a start that fails before it
//! takes the terminal. Must never reach a network.

use super::harness::{World, error};
use super::{ENTER, prompt};

/// A program that would be seen if it paged something.
const PAGER: &str = "echo a pager was started; cat";

#[test]
fn no_pager_is_started_in_the_line_conversation() {
    let world = World::new().with("PAGER", PAGER);
    let pty = world.types(&["--plain"]);
    prompt(&pty);
    pty.send("/help\r");
    pty.shows("anything else goes to the model");
    prompt(&pty);
    assert!(pty.ever_printed("/rewind [ENTRY]") && !pty.ever_printed("a pager was started"));
    // A verb in a shell has the pager of the person.
    let mut shell = world.types(&["config"]);
    assert!(shell.ended() && shell.ever_printed("a pager was started"), "{}", shell.screen());
}

#[test]
fn an_unknown_command_leaves_an_empty_line_and_stays_in_the_history() {
    let world = World::new();
    let pty = world.types(&["--plain"]);
    prompt(&pty);
    pty.send("/hlep\r");
    pty.shows("did you mean /help?");
    prompt(&pty);
    pty.send("\x1b[A");
    pty.until("the line", |screen| screen.trim_end().ends_with("\n> /hlep"));
}

#[test]
fn a_conversation_that_does_not_exist_opens_no_screen() {
    let world = World::new();
    let unknown = "there is no conversation “nosuch”";
    for (arguments, says) in [
        (&["-r", "nosuch"][..], unknown),
        (&["-c"], "there is no conversation in "),
        (&["--plain", "-r", "nosuch"], unknown),
        (&["--plain", "-c"], "there is no conversation in "),
    ] {
        let mut pty = world.types(arguments);
        assert!(!pty.ended(), "{arguments:?}");
        pty.shows(says);
        pty.shows("hint: `retake");
        assert!(!pty.ever_printed("\x1b[?1049h") && !pty.ever_printed("Ctrl-D quits"), "{arguments:?}");
        assert!(pty.is_restored());
    }
    for arguments in [&["-r", "nosuch"][..], &["-c"]] {
        for input in ["", "hello\n"] {
            let output = world.pipe(arguments, input);
            assert_eq!(output.status.code(), Some(3), "{arguments:?}: {output:?}");
            assert!(error(&output).starts_with("error: there is no conversation"), "{}", error(&output));
        }
    }
}

#[test]
fn a_rewind_is_answered_with_numbers_and_letters() {
    let world = World::working(&[("a", "one\n")]);
    world.exec("echo two > a");
    let pty = world.converse();
    prompt(&pty);
    pty.send("/rewind\r");
    pty.shows("number:");
    pty.reads_keys();
    pty.send("1\r");
    pty.shows("Go back with");
    pty.shows("letter:");
    pty.reads_keys();
    // Enter alone never agrees.
    pty.send(ENTER);
    pty.shows("nothing has changed");
    prompt(&pty);
    assert_eq!(world.read("a").as_deref(), Some("two\n"));
    pty.send("/rewind t1\r");
    pty.until("the question", |screen| screen.trim_end().ends_with("letter:"));
    pty.reads_keys();
    pty.send("y\r");
    pty.shows("rewound: ");
    assert_eq!(world.read("a").as_deref(), Some("one\n"));
}
