//! What is typed and not sent, in a real terminal: kept however the face ends, where it belongs, beside what other terminals keep. Must
//! never send it.

use std::path::Path;

use retake_wire::request::DraftOf;
use retake_wire::{Client as _, HttpClient, Reply, Request};
use rustix::process::Signal;

use super::{EMPTY, answered, answers, opened, says};
use crate::live::harness::{World, runs, signal, until};
use crate::live::model::{Model, words};
use crate::live::tmux::Tmux;

#[test]
fn drafts_are_kept_over_a_restart() {
    let model = Model::start();
    let (world, face) = opened(&model, vec![words("Hello.")]);
    says(&face, "hello", "Hello.");
    face.types("an unfinished thought");
    face.shows("an unfinished thought");
    face.leaves();
    let mut thought = "an unfinished thought".to_owned();
    // One who quits right after typing, or while the draft rests, is the one who would lose it.
    for round in 0..8 {
        let face = Tmux::face(&world, "-c");
        face.shows(&thought);
        let more = format!(" {round}");
        face.types(&more);
        thought.push_str(&more);
        face.shows(&thought);
        face.leaves();
    }
    let face = Tmux::face(&world, "-c");
    face.shows(&thought);
}

#[test]
fn a_draft_without_a_conversation_is_kept() {
    let model = Model::start();
    let (world, face) = opened(&model, vec![words("Hello.")]);
    face.types("the first thought");
    face.shows("the first thought");
    face.leaves();
    let face = Tmux::face(&world, "");
    face.shows("the first thought");
    assert!(model.asked().is_empty(), "it is never sent");
    face.press("Enter");
    answered(&face, "Hello.");
    face.leaves();
    let face = Tmux::face(&world, "");
    let screen = face.shows(EMPTY);
    assert!(!screen.contains("the first thought"), "it was said: {screen}");
}

/// A conversation of one turn, and nobody in it.
fn left(model: &Model) -> World {
    let (world, face) = opened(model, vec![words("Hello.")]);
    says(&face, "hello", "Hello.");
    face.leaves();
    world
}

#[test]
fn closing_the_terminal_or_killing_the_client_loses_no_draft() {
    let model = Model::start();
    let world = left(&model);
    let face = Tmux::face(&world, "-c");
    face.shows("Hello.");
    face.types("closed at once");
    face.shows("closed at once");
    face.closes();
    let face = Tmux::face(&world, "-c");
    face.shows("closed at once");
    face.types(" and told to end");
    face.shows("closed at once and told to end");
    let pid = face.pid_of(Path::new(env!("CARGO_BIN_EXE_retake")));
    signal(&pid, Signal::TERM);
    face.is_given_back();
    let face = Tmux::face(&world, "-c");
    face.shows("closed at once and told to end");
    assert_eq!(model.asked().len(), 1, "nothing is sent");
}

#[test]
fn a_draft_that_a_rewind_moved_aside_survives_a_restart_and_a_kill() {
    let model = Model::start();
    let (world, face) = opened(&model, vec![words("Hello.")]);
    says(&face, "hello", "Hello.");
    face.types("a thought of my own");
    face.shows("› a thought of my own");
    face.press("C-r");
    face.shows("Rewind:");
    face.press("Enter");
    face.shows("Enter applies");
    face.press("Enter");
    face.until("the words are back", |screen| screen.contains("› hello") && screen.contains("moved aside"));
    face.leaves();
    let face = Tmux::face(&world, "-c");
    face.until("both are kept", |screen| screen.contains("› hello") && screen.contains("moved aside"));
    face.press("M-d");
    face.shows("› a thought of my own");
    let is_kept =
        |kept: &str| kept.find("a thought of my own") < kept.find("aside") && kept.contains("hello");
    until("the owner has them so", || is_kept(&kept(&world)));
    let pid = face.pid_of(Path::new(env!("CARGO_BIN_EXE_retake")));
    signal(&pid, Signal::KILL);
    let face = Tmux::face(&world, "-c");
    face.until("both are kept", |screen| {
        screen.contains("› a thought of my own") && screen.contains("moved aside")
    });
    face.press("M-D");
    face.until("it is gone", |screen| !screen.contains("moved aside"));
    assert_eq!(model.asked().len(), 1, "nothing is sent");
}

#[test]
fn closing_a_terminal_does_not_end_an_owner_that_others_use() {
    let model = Model::start();
    let world = left(&model);
    let mut owner = world.command(&["serve"]).spawn().expect("it starts");
    until("an owner", || world.run(&["status"]).status.success());
    let face = Tmux::face(&world, "-c");
    face.shows("Hello.");
    face.types("closed at once");
    face.shows("closed at once");
    face.closes();
    let face = Tmux::face(&world, "-c");
    face.shows("closed at once");
    assert!(owner.try_wait().expect("asked").is_none(), "the owner is still there");
    owner.kill().expect("killed");
    owner.wait().expect("it ends");
}

#[test]
fn text_typed_before_the_conversation_is_loaded_goes_to_it() {
    let model = Model::start();
    let world = left(&model);
    let face = Tmux::shell(&world, 100, 30);
    // All of it is there before the face has the terminal.
    face.sends("\"$RETAKE\" -c\nfor the conversation");
    face.until("both", |screen| screen.contains("› for the conversation") && screen.contains("Hello."));
    face.leaves();
    let face = Tmux::face(&world, "");
    let screen = face.shows(EMPTY);
    assert!(!screen.contains("for the conversation"), "not the folder's: {screen}");
    face.leaves();
    let face = Tmux::face(&world, "-c");
    face.shows("› for the conversation");
}

#[test]
fn two_terminals_in_a_folder_keep_both_drafts() {
    let model = Model::start();
    let world = model.world(&[]);
    let mut owner = world.command(&["serve"]).spawn().expect("it starts");
    until("an owner", || world.run(&["status"]).status.success());
    let (one, two) = (Tmux::face(&world, ""), Tmux::face(&world, ""));
    for (face, text) in [(&one, "thought of one"), (&two, "idea of two")] {
        face.shows(EMPTY);
        face.types(text);
        face.shows(text);
    }
    for face in [&one, &two] {
        face.leaves();
    }
    let face = Tmux::face(&world, "");
    face.until("the words of both", |screen| {
        screen.contains("thought of one") && screen.contains("idea of two")
    });
    owner.kill().expect("killed");
    owner.wait().expect("it ends");
}

#[test]
fn an_invalid_reference_to_a_message_is_kept_and_named() {
    let model = Model::start();
    let world = left(&model);
    let face = Tmux::face(&world, "-c");
    face.shows("Hello.");
    face.types("/edit t1");
    face.press("Enter");
    face.shows("Enter edits its words");
    answers(&face, "Enter", "editing t");
    face.types(" and goodbye");
    face.shows("› hello and goodbye");
    face.leaves();
    let face = Tmux::face(&world, "-c");
    face.until("the words, and what they are", |screen| {
        screen.contains("› hello and goodbye") && screen.contains("written in the place of t1")
    });
}

/// What the owner keeps of a conversation, by whoever; and what is aside.
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
    let one = Tmux::face(&world, "-c");
    one.shows("Hello.");
    let two = Tmux::face(&world, "-c");
    two.shows("Hello.");
    for (face, text) in [(&one, "thought of one"), (&two, "idea of two")] {
        face.types(text);
        face.shows(text);
        until("it is kept", || kept(&world).contains(text));
    }
    assert!(!two.screen().contains("thought of one"), "{}", two.screen());
    let pid = one.pid_of(Path::new(env!("CARGO_BIN_EXE_retake")));
    signal(&pid, Signal::KILL);
    until("it is gone", || !runs(&pid));
    let three = Tmux::face(&world, "-c");
    let screen = three.shows("› thought of one");
    assert!(screen.contains("Hello.") && !screen.contains("idea of two"), "{screen}");
    assert!(two.screen().contains("› idea of two"), "{}", two.screen());
    two.leaves();
    let four = Tmux::face(&world, "-c");
    let screen = four.shows("› idea of two");
    assert!(!screen.contains("thought of one"), "it is given once: {screen}");
    for face in [three, four] {
        face.leaves();
    }
    let face = Tmux::face(&world, "-c");
    face.until("the words of both, each once", |screen| {
        screen.matches("thought of one").count() == 1 && screen.matches("idea of two").count() == 1
    });
    assert_eq!(model.asked().len(), 1, "nothing is sent");
}
