//! Drafts in a real terminal: stored however the client ends, in the right place, beside those of other terminals. Must never
//! send one.

use std::path::Path;

use retake_wire::request::DraftOf;
use retake_wire::{Client as _, HttpClient, Reply, Request};
use rustix::process::Signal;

use super::{EMPTY, answered, answers, opened, says};
use crate::live::harness::{World, runs, signal, until};
use crate::live::model::{Model, endless, words};
use crate::live::tmux::Tmux;

#[test]
fn drafts_are_kept_over_a_restart() {
    let model = Model::start();
    let (world, client) = opened(&model, vec![words("Hello.")]);
    says(&client, "hello", "Hello.");
    client.types("an unfinished thought");
    client.shows("an unfinished thought");
    client.leaves();
    let mut thought = "an unfinished thought".to_owned();
    // A person who quits just after typing, or during the pause before the draft is stored, could lose it.
    for round in 0..8 {
        let client = Tmux::client(&world, "-c");
        client.shows(&thought);
        let more = format!(" {round}");
        client.types(&more);
        thought.push_str(&more);
        client.shows(&thought);
        client.leaves();
    }
    let client = Tmux::client(&world, "-c");
    client.shows(&thought);
}

#[test]
fn a_draft_without_a_conversation_is_kept() {
    let model = Model::start();
    let (world, client) = opened(&model, vec![words("Hello.")]);
    client.types("the first thought");
    client.shows("the first thought");
    client.leaves();
    let client = Tmux::client(&world, "");
    client.shows("the first thought");
    assert!(model.asked().is_empty(), "it is never sent");
    client.press("Enter");
    answered(&client, "Hello.");
    client.leaves();
    let client = Tmux::client(&world, "");
    let screen = client.shows(EMPTY);
    assert!(!screen.contains("the first thought"), "it was said: {screen}");
}

#[test]
fn a_draft_is_stored_while_words_of_an_answer_keep_coming() {
    let model = Model::start();
    let (world, client) = opened(&model, vec![endless("and on")]);
    client.types("go on");
    client.press("Enter");
    client.shows("and on on on");
    client.types("meanwhile");
    client.shows("› meanwhile");
    until("the owner has it", || kept(&world).contains("meanwhile"));
    client.until("it still answers", |screen| screen.contains("answering"));
    client.press("C-c");
    client.until("it has stopped", |screen| !screen.contains("answering"));
}

/// A conversation of one turn, without a client.
fn left(model: &Model) -> World {
    let (world, client) = opened(model, vec![words("Hello.")]);
    says(&client, "hello", "Hello.");
    client.leaves();
    world
}

#[test]
fn closing_the_terminal_or_killing_the_client_loses_no_draft() {
    let model = Model::start();
    let world = left(&model);
    let client = Tmux::client(&world, "-c");
    client.shows("Hello.");
    client.types("closed at once");
    client.shows("closed at once");
    client.closes();
    let client = Tmux::client(&world, "-c");
    client.shows("closed at once");
    client.types(" and told to end");
    client.shows("closed at once and told to end");
    let pid = client.pid_of(Path::new(env!("CARGO_BIN_EXE_retake")));
    signal(&pid, Signal::TERM);
    client.is_given_back();
    let client = Tmux::client(&world, "-c");
    client.shows("closed at once and told to end");
    assert_eq!(model.asked().len(), 1, "nothing is sent");
}

#[test]
fn a_draft_that_a_rewind_moved_aside_survives_a_restart_and_a_kill() {
    let model = Model::start();
    let (world, client) = opened(&model, vec![words("Hello.")]);
    says(&client, "hello", "Hello.");
    client.types("a thought of my own");
    client.shows("› a thought of my own");
    client.press("C-r");
    client.until("the plan", |screen| screen.contains("Rewind:") && screen.contains("takes back"));
    client.press("Enter");
    client.shows("Enter applies");
    client.press("Enter");
    client.until("the words are back", |screen| screen.contains("› hello") && screen.contains("moved aside"));
    client.leaves();
    let client = Tmux::client(&world, "-c");
    client.until("both are kept", |screen| screen.contains("› hello") && screen.contains("moved aside"));
    client.press("M-d");
    client.shows("› a thought of my own");
    let is_kept =
        |kept: &str| kept.find("a thought of my own") < kept.find("aside") && kept.contains("hello");
    until("the owner has them so", || is_kept(&kept(&world)));
    let pid = client.pid_of(Path::new(env!("CARGO_BIN_EXE_retake")));
    signal(&pid, Signal::KILL);
    let client = Tmux::client(&world, "-c");
    client.until("both are kept", |screen| {
        screen.contains("› a thought of my own") && screen.contains("moved aside")
    });
    client.press("M-D");
    client.until("it is gone", |screen| !screen.contains("moved aside"));
    assert_eq!(model.asked().len(), 1, "nothing is sent");
}

#[test]
fn closing_a_terminal_does_not_end_an_owner_that_others_use() {
    let model = Model::start();
    let world = left(&model);
    let mut owner = world.serves();
    let client = Tmux::client(&world, "-c");
    client.shows("Hello.");
    client.types("closed at once");
    client.shows("closed at once");
    client.closes();
    let client = Tmux::client(&world, "-c");
    client.shows("closed at once");
    assert!(owner.try_wait().expect("asked").is_none(), "the owner is still there");
    owner.kill().expect("killed");
    owner.wait().expect("it ends");
}

#[test]
fn text_typed_before_the_conversation_is_loaded_goes_to_it() {
    let model = Model::start();
    let world = left(&model);
    let client = Tmux::shell(&world, 100, 30);
    // All of it arrives before the client has the terminal.
    client.sends("\"$RETAKE\" -c\nfor the conversation");
    client.until("both", |screen| screen.contains("› for the conversation") && screen.contains("Hello."));
    client.leaves();
    let client = Tmux::client(&world, "");
    let screen = client.shows(EMPTY);
    assert!(!screen.contains("for the conversation"), "not the folder's: {screen}");
    client.leaves();
    let client = Tmux::client(&world, "-c");
    client.shows("› for the conversation");
}

#[test]
fn two_terminals_in_a_folder_keep_both_drafts() {
    let model = Model::start();
    let world = model.world(&[]);
    let mut owner = world.serves();
    let (one, two) = (Tmux::client(&world, ""), Tmux::client(&world, ""));
    for (client, text) in [(&one, "thought of one"), (&two, "idea of two")] {
        client.shows(EMPTY);
        client.types(text);
        client.shows(text);
    }
    for client in [&one, &two] {
        client.leaves();
    }
    let client = Tmux::client(&world, "");
    client.until("the words of both", |screen| {
        screen.contains("thought of one") && screen.contains("idea of two")
    });
    owner.kill().expect("killed");
    owner.wait().expect("it ends");
}

#[test]
fn an_invalid_reference_to_a_message_is_kept_and_named() {
    let model = Model::start();
    let world = left(&model);
    let client = Tmux::client(&world, "-c");
    client.shows("Hello.");
    client.types("/edit t1");
    client.press("Enter");
    client.shows("Enter edits its words");
    answers(&client, "Enter", "editing t");
    client.types(" and goodbye");
    client.shows("› hello and goodbye");
    client.leaves();
    let client = Tmux::client(&world, "-c");
    client.until("the words, and what they are", |screen| {
        screen.contains("› hello and goodbye") && screen.contains("written to replace t1")
    });
}

/// The owner's drafts of a conversation, with those aside.
fn kept(world: &World) -> String {
    let conversation = world.json(&["list"])["conversations"][0]["id"].as_str().expect("an id").to_owned();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let asked = runtime.block_on(async {
        let client = HttpClient::new(world.reach()).expect("a client");
        client.call(Request::Draft(DraftOf { conversation, ..DraftOf::default() })).await
    });
    match asked {
        Ok(Reply::Draft(draft)) => format!("{:?}, aside {:?}", draft.parts, draft.aside),
        other => panic!("no draft: {other:?}"),
    }
}

#[test]
fn a_draft_that_another_terminal_shows_is_given_to_no_other() {
    let model = Model::start();
    let world = left(&model);
    // The first is the owner for the second.
    let one = Tmux::client(&world, "-c");
    one.shows("Hello.");
    let two = Tmux::client(&world, "-c");
    two.shows("Hello.");
    for (client, text) in [(&one, "thought of one"), (&two, "idea of two")] {
        client.types(text);
        client.shows(text);
        until("it is kept", || kept(&world).contains(text));
    }
    assert!(!two.screen().contains("thought of one"), "{}", two.screen());
    let pid = one.pid_of(Path::new(env!("CARGO_BIN_EXE_retake")));
    signal(&pid, Signal::KILL);
    until("it is gone", || !runs(&pid));
    let three = Tmux::client(&world, "-c");
    let screen = three.shows("› thought of one");
    assert!(screen.contains("Hello.") && !screen.contains("idea of two"), "{screen}");
    assert!(two.screen().contains("› idea of two"), "{}", two.screen());
    two.leaves();
    let four = Tmux::client(&world, "-c");
    let screen = four.shows("› idea of two");
    assert!(!screen.contains("thought of one"), "it is given once: {screen}");
    for client in [three, four] {
        client.leaves();
    }
    let client = Tmux::client(&world, "-c");
    client.until("the words of both, each once", |screen| {
        screen.matches("thought of one").count() == 1 && screen.matches("idea of two").count() == 1
    });
    assert_eq!(model.asked().len(), 1, "nothing is sent");
}
