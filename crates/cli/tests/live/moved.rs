//! A data directory that is moved or deleted under its owner: the owner notices, reports it and ends. Acknowledged data is where
//! the directory is, and what can't be stored is not acknowledged.

use std::fs;

use super::harness::{World, error, until};
use super::owned::Serving;

#[test]
fn an_owner_whose_data_are_moved_ends_and_the_next_one_finds_them() {
    let world = World::new().with("RETAKE_WAIT_MS", "20000");
    let serving = Serving::start(&world, &[]);
    world.does(&["ask", "one apple"]);
    let there = world.home().join("elsewhere");
    fs::rename(world.data(), &there).expect("moved");
    // A client at the new place is refused by the old owner, and becomes the next one.
    let moved = world.with_data(&there);
    moved.does(&["ask", "two pears"]);
    assert_eq!(moved.texts().len(), 4);
    let told = serving.said_at_its_end();
    assert!(told.contains("was moved or deleted while it was in use"), "{told}");
    moved.does(&["doctor"]);
}

#[test]
fn an_owner_whose_data_are_deleted_ends_by_itself_and_leaves_another_one_alone() {
    let world = World::new();
    let serving = Serving::start(&world, &[]);
    world.does(&["ask", "one apple"]);
    fs::remove_dir_all(world.data()).expect("deleted");
    world.does(&["ask", "two pears"]);
    let told = serving.said_at_its_end();
    assert!(told.contains("hint: put it back"), "{told}");
    assert_eq!(world.texts().len(), 2, "the new one is a store of its own");
    world.does(&["doctor"]);
}

#[test]
fn a_run_whose_data_were_moved_is_not_reported_as_done() {
    let world = World::new();
    world.settings("[model]\ndefault = \"demo\"\n[local]\nfind = false\n[demo]\nword_delay_ms = 300\n");
    let serving = Serving::start(&world, &[]);
    let asking = world.command(&["ask", "one apple"]).spawn().expect("it starts");
    until("it runs", || world.json(&["status"])["running"].as_array().is_some_and(|all| all.len() == 1));
    until("what it answers is stored", || world.texts().len() == 1);
    let there = world.home().join("elsewhere");
    fs::rename(world.data(), &there).expect("moved");
    let told = asking.wait_with_output().expect("ended");
    assert!(!told.status.success(), "{told:?}");
    assert!(error(&told).contains("was moved or deleted while it was in use"), "{told:?}");
    serving.said_at_its_end();
    assert!(!world.data().exists(), "nobody begins anew by itself");
    let moved = world.with_data(&there);
    let log = moved.json(&["log"]);
    assert_eq!(log["entries"][0]["parts"][0]["text"], "one apple", "{log}");
    moved.does(&["doctor"]);
}

#[test]
fn a_conversation_in_the_terminal_reports_that_its_data_are_gone() {
    let world = World::talking();
    let pty = world.converse();
    pty.until("the prompt", |screen| screen.trim_end().ends_with("\n>"));
    pty.reads_keys();
    fs::rename(world.data(), world.home().join("elsewhere")).expect("moved");
    pty.send("three plums\r");
    // The store or the server may find it first.
    pty.shows("was moved or deleted while");
    assert!(!world.data().exists(), "nothing is begun anew");
}
