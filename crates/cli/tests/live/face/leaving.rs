//! Leaving the face while something runs. Must never take for stopped what goes on, nor the other way round.

use serde_json::json;

use super::open;
use crate::live::model::{Model, call, words};
use crate::live::tmux::Tmux;
use crate::live::world::{World, until};

/// A command runs, in a conversation that may run all.
fn at_work(model: &Model, world: &World, command: &str) -> Tmux {
    model.then(vec![call("shell", json!({"command": command})), words("Done.")]);
    let face = open(world);
    face.types("/permissions allow-all");
    face.press("Enter");
    face.shows("allow-all");
    face.types("work");
    face.press("Enter");
    until("the command runs", || world.read("begun").is_some());
    face
}

#[test]
fn a_run_of_this_terminal_is_stopped_only_by_one_who_knows_it() {
    let model = Model::start();
    let world = model.world(&[]);
    let face = at_work(&model, &world, "touch begun; sleep 600; touch never");
    face.press("C-q");
    face.shows("leaving stops what runs: Ctrl+Q once more; `retake serve` keeps runs going");
    face.press("C-q");
    face.shows("stopped, as you left: $ touch begun; sleep 600; touch never");
    face.is_given_back();
    let screen = face.screen();
    assert!(!screen.contains("what other clients run"), "{screen}");
    let log = world.does(&["log"]);
    assert!(log.contains("stopped when the terminal that ran it was left"), "{log}");
    assert!(!log.contains("stopped by the person"), "{log}");
}

#[test]
fn a_run_of_another_process_goes_on_after_leaving() {
    let model = Model::start();
    let world = model.world(&[]);
    let mut owner = world.command(&["serve"]).spawn().expect("it starts");
    until("it serves", || world.run(&["status"]).status.success());
    let face = at_work(&model, &world, "touch begun; until test -e go; do sleep 0.05; done; touch over");
    face.press("C-q");
    face.shows("it goes on: $ touch begun;");
    face.is_given_back();
    let screen = face.screen();
    assert!(!screen.contains("waiting for"), "{screen}");
    world.write("go", "");
    until("it goes on to its end", || world.read("over").is_some());
    world.does(&["stop"]);
    owner.wait().expect("it ends");
}
