//! The process is suspended from outside, and resumed with the shell's `fg`. Must never leave the shell with the terminal modes
//! of the client, nor the reverse.

use std::path::Path;

use rustix::process::Signal;

use super::{EMPTY, open};
use crate::live::harness::{World, signal, until};
use crate::live::model::Model;
use crate::live::tmux::Tmux;

/// The client with some text in its composer, and its process.
fn with_words(world: &World) -> (Tmux, String) {
    let client = open(world);
    client.types("some words");
    client.shows("some words");
    let pid = client.pid_of(Path::new(env!("CARGO_BIN_EXE_retake")));
    (client, pid)
}

/// Waits until the process is suspended.
fn is_stopped(pid: &str) {
    until("it is stopped", || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("Linux");
        stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('T'))
    });
}

/// Resumes with the shell's `fg`: everything is as before, and the client gets keys, mouse and pastes.
fn goes_on(client: &Tmux) {
    client.sends("fg\n");
    client.shows("some words");
    client.until("the client", |_| client.is_full_screen() && client.has_mouse());
    client.types(" and more");
    client.until("what is typed, once, where it belongs", |screen| {
        screen.matches("some words and more").count() == 1 && !screen.contains("here$")
    });
    client.pastes("pasted \u{1b}[31mred");
    client.shows("[31mred");
    client.press("C-c");
    client.shows(EMPTY);
}

#[test]
fn a_suspended_client_gives_the_terminal_to_the_shell_until_it_resumes() {
    let model = Model::start();
    let world = model.world(&[]);
    let (client, pid) = with_words(&world);
    for _ in 0..2 {
        signal(&pid, Signal::TSTP);
        is_stopped(&pid);
        client.until("the shell", |screen| {
            !client.is_full_screen() && !screen.contains("some words") && screen.contains("here$")
        });
        assert!(!client.has_mouse());
        client.types("echo echoed; stty -a | tr ' ' '\\n' | grep -x icanon");
        client.press("Enter");
        client.until("a terminal that reads lines", |screen| {
            screen.lines().any(|line| line == "icanon") && screen.contains("$ echo echoed")
        });
        goes_on(&client);
        client.types("some words");
        client.shows("some words");
    }
    client.press("C-q");
    client.is_given_back();
}

#[test]
fn a_client_resumed_after_sigstop_sets_the_terminal_up_again() {
    let model = Model::start();
    let world = model.world(&[]);
    let (client, pid) = with_words(&world);
    signal(&pid, Signal::STOP);
    is_stopped(&pid);
    // As shells with line editing do.
    client.sends("stty sane; printf '\\033[?1000l\\033[?1002l\\033[?1003l\\033[?2004l'\n");
    client.until("a terminal of the shell", |_| !client.has_mouse());
    goes_on(&client);
    client.press("C-q");
    client.is_given_back();
}
