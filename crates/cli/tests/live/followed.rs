//! Clients only subscribe: whatever happens to one, the run continues, unless a client stops it.

use std::io::Read as _;
use std::process::Child;

use rustix::process::Signal;
use serde_json::Value;

use super::harness::{World, out, signal, until};

/// A world with a slow model.
fn slow() -> World {
    let world = World::new();
    world.settings("[model]\ndefault = \"demo\"\n[local]\nfind = false\n[demo]\nword_delay_ms = 40\n");
    world
}

/// Sends a request, and waits for the first part of the answer.
fn asking(world: &World) -> Child {
    let mut client = world.command(&["ask", "one apple"]).spawn().expect("it starts");
    let mut first = [0; 4];
    client.stdout.as_mut().expect("a pipe").read_exact(&mut first).expect("the first of the answer");
    client
}

fn answer(world: &World) -> Value {
    let log = world.json(&["log"]);
    assert_eq!(log["entries"].as_array().map(Vec::len), Some(2), "{log}");
    log["entries"][1].clone()
}

fn is_over(world: &World) {
    until("the run is over", || {
        let status = world.json(&["status"]);
        status.is_null() || status["running"].as_array().is_some_and(Vec::is_empty)
    });
}

#[test]
fn trial_18_the_answer_to_a_client_that_was_killed_is_stored_whole() {
    let world = slow();
    let mut client = asking(&world);
    client.kill().expect("killed");
    client.wait().expect("ended");
    is_over(&world);
    let answer = answer(&world);
    assert!(answer["interrupted"] != true, "{answer}");
    assert!(
        answer["parts"][0]["text"].as_str().is_some_and(|text| text.contains("This is turn 1")),
        "{answer}"
    );
}

#[test]
fn trial_18_a_suspended_client_delays_no_other_and_gets_the_rest_when_it_resumes() {
    let world = slow();
    let client = asking(&world);
    let pid = client.id().to_string();
    signal(&pid, Signal::STOP);
    world.does(&["new"]);
    is_over(&world);
    assert_eq!(world.json(&["list"])["conversations"].as_array().map(Vec::len), Some(2));
    signal(&pid, Signal::CONT);
    let told = client.wait_with_output().expect("it ends");
    assert!(told.status.success() && out(&told).contains("This is turn 1"), "{told:?}");
}

/// Ending `ask` ends its run; closing its terminal does not.
#[test]
fn trial_18_sigterm_stops_the_run_of_a_command_and_a_closed_terminal_does_not() {
    for (told, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 143)] {
        let world = slow();
        let client = asking(&world);
        signal(&client.id().to_string(), told);
        let ended = client.wait_with_output().expect("it ends");
        assert_eq!(ended.status.code(), Some(code), "{told:?}: {ended:?}");
        is_over(&world);
        let answer = answer(&world);
        assert_eq!(answer["interrupted"] == true, told != Signal::HUP, "{told:?}: {answer}");
    }
}

/// A line client that opens a conversation with a run gets its output so far, and the rest.
#[test]
fn trial_18_the_line_conversation_shows_the_rest_of_a_run_that_an_earlier_client_began() {
    let world = slow();
    let mut client = asking(&world);
    client.kill().expect("killed");
    client.wait().expect("ended");
    let mut pty = world.converse();
    pty.shows("a run is active:");
    pty.shows("This is turn 1");
    super::prompt(&pty);
    pty.send(super::CTRL_D);
    assert!(pty.ended());
    assert!(answer(&world)["interrupted"] != true);
}
