//! An approval request outlives the terminal that showed it, as long as a setting says, and any other terminal can answer it.

use rustix::process::Signal;
use serde_json::json;

use super::harness::{World, error, signal, until};
use super::model::{Model, call, words};
use super::tmux::Tmux;
use super::ui::answers;
use super::{CTRL_D, prompt};
use crate::term::pty::Pty;

/// A terminal with an approval request to write a file, and the settings of this world.
fn asked(model: &Model, wait_s: u32) -> (World, Pty) {
    let world = model.world(&[]);
    let settings = std::fs::read_to_string(world.config()).expect("settings");
    world.settings(&settings.replace("wait_s = 0", &format!("wait_s = {wait_s}")));
    model.turn(&world, "hello", vec![words("hi")]);
    model.then(vec![call("write", json!({"path": "b", "content": "b\n"})), words("That is all.")]);
    let pty = world.converse();
    prompt(&pty);
    pty.send("write it\r");
    pty.shows("allow? ");
    (world, pty)
}

fn running(world: &World) -> usize {
    world.json(&["status"])["running"].as_array().map_or(0, Vec::len)
}

/// Waits until the run is over, and returns the result of the call for the model.
fn told(model: &Model, world: &World) -> String {
    until("the run is over", || running(world) == 0);
    let told = model.asked_last();
    told.last().expect("it was told")["content"].to_string()
}

#[test]
fn trial_18_an_open_approval_survives_its_client_and_another_one_answers_it() {
    let model = Model::start();
    let (world, mut pty) = asked(&model, 600);
    pty.kill_at_once();
    assert_eq!(running(&world), 1, "it waits");
    let client = Tmux::client(&world, "-c");
    client.shows("may it run?");
    assert_eq!(world.read("b"), None);
    answers(&client, "y", "That is all.");
    assert_eq!(world.read("b").as_deref(), Some("b\n"));
    client.leaves();
}

#[test]
fn trial_18_the_line_conversation_answers_an_approval_that_an_earlier_client_left_open() {
    let model = Model::start();
    let (world, mut pty) = asked(&model, 600);
    pty.kill_at_once();
    let refused = world.run(&["ask", "and now?"]);
    assert_eq!(refused.status.code(), Some(4), "{refused:?}");
    assert!(error(&refused).contains("`retake -c` in a terminal follows the run"), "{refused:?}");
    let mut pty = world.converse();
    pty.shows("a run is active:");
    pty.shows("write b");
    pty.shows("allow? ");
    assert_eq!(world.read("b"), None);
    pty.reads_keys();
    pty.answers("y");
    pty.shows("That is all.");
    prompt(&pty);
    pty.send(CTRL_D);
    assert!(pty.ended());
    assert_eq!(world.read("b").as_deref(), Some("b\n"));
}

#[test]
fn trial_18_an_approval_is_rejected_when_no_person_was_present_for_the_configured_time() {
    let model = Model::start();
    let (world, mut pty) = asked(&model, 1);
    pty.kill_at_once();
    let told = told(&model, &world);
    assert!(told.contains("no client is there to answer"), "{told}");
    assert_eq!(world.read("b"), None);
}

/// Ctrl+Z in the terminal: the person is not present.
#[test]
fn trial_18_a_suspended_terminal_does_not_count_as_present_for_approvals() {
    let model = Model::start();
    let (world, pty) = asked(&model, 1);
    let pid = pty.pid();
    signal(&pid, Signal::STOP);
    let told = told(&model, &world);
    assert!(told.contains("no client is there to answer"), "{told}");
    assert_eq!(world.read("b"), None);
    signal(&pid, Signal::CONT);
}
