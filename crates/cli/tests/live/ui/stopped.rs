//! The process is stopped from outside, and goes on by the shell's `fg`. Must never leave the shell with the terminal of the face, nor
//! the face with that of the shell.

use std::path::Path;

use rustix::process::Signal;

use super::{EMPTY, open};
use crate::live::harness::{World, signal, until};
use crate::live::model::Model;
use crate::live::tmux::Tmux;

/// The face with some words in its composer, and its process.
fn with_words(world: &World) -> (Tmux, String) {
    let face = open(world);
    face.types("some words");
    face.shows("some words");
    let pid = face.pid_of(Path::new(env!("CARGO_BIN_EXE_retake")));
    (face, pid)
}

/// Waits until the process is stopped.
fn is_stopped(pid: &str) {
    until("it is stopped", || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("Linux");
        stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('T'))
    });
}

/// Goes on by the shell's `fg`: all is as it was, and keys, mouse and pastes come to the face.
fn goes_on(face: &Tmux) {
    face.sends("fg\n");
    face.shows("some words");
    face.until("the face", |_| face.is_full_screen() && face.has_mouse());
    face.types(" and more");
    face.until("what is typed, once, where it belongs", |screen| {
        screen.matches("some words and more").count() == 1 && !screen.contains("here$")
    });
    face.pastes("pasted \u{1b}[31mred");
    face.shows("[31mred");
    face.press("C-c");
    face.shows(EMPTY);
}

#[test]
fn a_suspended_client_gives_the_terminal_to_the_shell_until_it_resumes() {
    let model = Model::start();
    let world = model.world(&[]);
    let (face, pid) = with_words(&world);
    for _ in 0..2 {
        signal(&pid, Signal::TSTP);
        is_stopped(&pid);
        face.until("the shell", |screen| {
            !face.is_full_screen() && !screen.contains("some words") && screen.contains("here$")
        });
        assert!(!face.has_mouse());
        face.types("echo echoed; stty -a | tr ' ' '\\n' | grep -x icanon");
        face.press("Enter");
        face.until("a terminal that reads lines", |screen| {
            screen.lines().any(|line| line == "icanon") && screen.contains("$ echo echoed")
        });
        goes_on(&face);
        face.types("some words");
        face.shows("some words");
    }
    face.press("C-q");
    face.is_given_back();
}

#[test]
fn a_client_resumed_after_sigstop_sets_the_terminal_up_again() {
    let model = Model::start();
    let world = model.world(&[]);
    let (face, pid) = with_words(&world);
    signal(&pid, Signal::STOP);
    is_stopped(&pid);
    // As shells do that edit their lines.
    face.sends("stty sane; printf '\\033[?1000l\\033[?1002l\\033[?1003l\\033[?2004l'\n");
    face.until("a terminal of the shell", |_| !face.has_mouse());
    goes_on(&face);
    face.press("C-q");
    face.is_given_back();
}
