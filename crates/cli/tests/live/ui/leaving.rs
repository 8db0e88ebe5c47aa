//! Quitting the client during a run. Must never show a continuing run as stopped, nor the reverse.

use serde_json::json;

use super::{open, permits};
use crate::live::harness::{World, until};
use crate::live::model::{Model, call, words};
use crate::live::tmux::Tmux;

/// A command runs, in a conversation with all permissions.
fn at_work(model: &Model, world: &World, command: &str) -> Tmux {
    model.then(vec![call("shell", json!({"command": command})), words("Done.")]);
    permits(world, "allow-all");
    let client = open(world);
    client.types("work");
    client.press("Enter");
    until("the command runs", || world.read("begun").is_some());
    client
}

#[test]
fn trial_18_a_run_goes_on_when_its_terminal_is_left_and_is_found_again() {
    let model = Model::start();
    let world = model.world(&[]);
    let client = at_work(&model, &world, "touch begun; until test -e go; do sleep 0.05; done; touch over");
    client.press("C-q");
    client.shows("still running: $ touch begun;");
    client.is_given_back();
    assert_eq!(world.json(&["status"])["running"].as_array().map(Vec::len), Some(1));
    let client = Tmux::client(&world, "-c");
    client.shows("touch begun; until test -e go");
    world.write("go", "");
    client.shows("Done.");
    assert_eq!(world.read("over").as_deref(), Some(""));
    client.leaves();
}

#[test]
fn a_run_of_another_process_goes_on_after_quitting() {
    let model = Model::start();
    let world = model.world(&[]);
    let mut owner = world.serves();
    let client = at_work(&model, &world, "touch begun; until test -e go; do sleep 0.05; done; touch over");
    client.press("C-q");
    client.shows("still running: $ touch begun;");
    client.is_given_back();
    let screen = client.screen();
    assert!(!screen.contains("waiting for"), "{screen}");
    world.write("go", "");
    until("it goes on to its end", || world.read("over").is_some());
    world.does(&["stop"]);
    owner.wait().expect("it ends");
}
