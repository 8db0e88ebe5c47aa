//! The terminal after a panic in the program: the shell has it again, and the person sees what to do. Must never panic in another
//! way than a bug would.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use rustix::process::Signal;

use super::{EMPTY, PICKER, open, opened, says};
use crate::live::harness::{World, runs, signal, until};
use crate::live::model::{Model, words};
use crate::live::tmux::Tmux;

/// Asks the client to end, like the system.
fn is_told_to_end(client: &Tmux) -> String {
    let pid = client.pid_of(Path::new(env!("CARGO_BIN_EXE_retake")));
    signal(&pid, Signal::TERM);
    pid
}

#[test]
fn sigterm_while_the_picker_is_open_restores_the_terminal() {
    let model = Model::start();
    let (_world, client) = opened(&model, vec![words("Hello.")]);
    says(&client, "hello", "Hello.");
    client.press("C-r");
    client.shows(PICKER);
    let _ = is_told_to_end(&client);
    client.is_given_back();
}

#[test]
fn sigterm_while_an_editor_is_open_restores_the_terminal_and_keeps_the_text() {
    let world = World::working(&[]);
    let editor = world.home().join("editor");
    let waits = world.waits_for("written");
    std::fs::write(&editor, format!("#!/bin/sh\necho in the editor\n{waits}\n")).expect("written");
    std::fs::set_permissions(&editor, Permissions::from_mode(0o755)).expect("executable");
    let world = world.with("VISUAL", &editor.display().to_string());
    let client = open(&world);
    // The owner is there: a draft can be stored.
    client.shows("the demo model answers");
    client.types("half a thought");
    client.shows("half a thought");
    client.press("C-g");
    client.until("the editor", |screen| screen.contains("in the editor") && !client.is_full_screen());
    let pid = is_told_to_end(&client);
    client.is_given_back();
    std::fs::write(world.home().join("written"), "").expect("written");
    // As long as it is running, the text is its own.
    until("it has ended", || !runs(&pid));
    let client = Tmux::client(&world, "");
    client.shows("› half a thought");
}

/// The whole program, with an owner that panics on request in this place. Returns what the shell shows then.
fn panics(place: &str) -> String {
    let world = World::new();
    let (sign, printed) = (world.home().join("now"), world.home().join("printed"));
    let client = Tmux::shell(&world, 100, 30);
    client.records(&printed);
    client.runs(&format!("'{}' client {place} '{}'", env!("CARGO_BIN_EXE_term_demo"), sign.display()));
    client.shows(EMPTY);
    assert!(client.is_full_screen());
    client.types("half a thought");
    client.shows("half a thought");
    std::fs::write(&sign, "").expect("written");
    let screen = client.until("the shell", |screen| !client.is_full_screen() && screen.contains("retake -c"));
    client.is_given_back();
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
fn a_panic_of_the_full_screen_program_restores_the_terminal_and_shows_a_hint() {
    let screen = panics("main");
    assert!(screen.contains("a bug, as asked for"), "{screen}");
    assert!(screen.contains("retake has failed") && screen.contains("your messages are stored"), "{screen}");
}

#[test]
fn a_panic_of_another_thread_ends_the_full_screen_program_with_a_hint() {
    let screen = panics("thread");
    assert!(screen.contains("a bug, as asked for"), "{screen}");
    assert!(screen.contains("a part of the program has failed"), "{screen}");
}

#[test]
fn a_panic_of_a_task_ends_the_full_screen_program_with_a_hint() {
    let screen = panics("task");
    assert!(screen.contains("a bug, as asked for"), "{screen}");
    assert!(screen.contains("a part of the program has failed"), "{screen}");
}
