//! The pager, progress, and Ctrl-C during work.

use std::process::{Command, Stdio};

use super::pty::{Pty, program};

/// Ends a program that reads a line, without an echo.
const CTRL_D: &str = "\x04";

#[test]
fn long_output_goes_through_the_pager_and_a_broken_pipe_is_a_success() {
    let mut pty = Pty::start_with(&["page"], &[("PAGER", "head -n 2 | sed s/line/paged/")]);
    let screen = pty.shows("PAGED");
    assert_eq!(screen.trim_end(), "paged 1\npaged 2\nPAGED");
    assert!(pty.ended());
}

#[test]
fn an_empty_pager_prints_directly() {
    let mut pty = Pty::start_with(&["page"], &[("PAGER", "")]);
    let screen = pty.shows("PAGED");
    assert!(screen.contains("line 100000"), "{screen}");
    assert!(pty.ended());
}

#[test]
fn a_pipe_is_not_paged_and_may_break() {
    let mut child = Command::new(program())
        .arg("page")
        .env("PAGER", "false")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the demonstration");
    let head = Command::new("head")
        .args(["-n", "1"])
        .stdin(child.stdout.take().expect("a pipe"))
        .output()
        .expect("head");
    assert_eq!(String::from_utf8_lossy(&head.stdout), "line 1\n");
    let output = child.wait_with_output().expect("the demonstration ends");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "PAGED\n");
    assert!(output.status.success());
}

#[test]
fn a_spinner_is_drawn_after_a_while_and_leaves_no_trace() {
    let mut pty = Pty::start(&["progress"]);
    pty.shows("thinking hard");
    assert!(pty.ever_printed("thinking"));
    pty.send(CTRL_D);
    let screen = pty.shows("DONE");
    assert!(!screen.contains("thinking"), "{screen}");
    assert!(pty.ended());
}

#[test]
fn quick_work_shows_no_progress() {
    let mut pty = Pty::start(&["progress"]);
    pty.send(CTRL_D);
    pty.shows("DONE");
    assert!(!pty.ever_printed("thinking"));
    assert!(pty.ended());
}

#[test]
fn ctrl_c_asks_to_stop_and_never_ends_the_process() {
    let mut pty = Pty::start(&["interrupt"]);
    pty.shows("ready");
    for press in 1..=3 {
        pty.send("\x03");
        pty.shows(&format!("STOP {press}"));
    }
    assert!(pty.ended());
}
