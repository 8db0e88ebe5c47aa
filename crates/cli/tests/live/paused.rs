//! An owner that is suspended for a while, or dead with an active run: no client waits for ever, and it writes nothing once there
//! is another one.

use std::fs;

use retake_wire::request::Say;
use retake_wire::{Client as _, HttpClient, OwnerAddress, Part, Problem, Reply, Request, Role};
use rustix::process::Signal;
use tokio::runtime::Runtime;

use super::harness::{World, error, out, until};
use super::killed::holds;
use super::owned::Serving;

/// Sends a message to the owner at this address.
fn say(world: &World, serving: &Serving, of: &str, text: &str) -> Result<Reply, Problem> {
    let base =
        serving.said[1].split([' ', ';']).find(|word| word.starts_with("http://")).expect("an address");
    let token = fs::read_to_string(world.data().join("token")).expect("a token").trim().to_owned();
    let client = HttpClient::new(OwnerAddress::Address { base: base.to_owned(), token }).expect("a client");
    let say = Say {
        conversation: of.to_owned(),
        role: Role::User,
        parts: vec![Part::text(text)],
        author: String::new(),
        synthetic: false,
        observed: false,
        time_ms: None,
        platform_id: None,
        seen: None,
        request_id: Some(text.to_owned()),
    };
    Runtime::new().expect("a runtime").block_on(client.call(Request::Say(say)))
}

#[test]
fn an_owner_that_was_paused_writes_nothing_after_another_one_took_over() {
    let world = World::new();
    let old = Serving::start(&world, &["--listen", "127.0.0.1:0"]);
    let made = world.json(&["new"]);
    let of = made["conversation"].as_str().expect("an id");
    say(&world, &old, of, "one").expect("said");
    old.signal(Signal::STOP);
    let unanswered = world.run(&["say", "lost"]);
    assert!(!unanswered.status.success(), "{unanswered:?}");
    assert!(error(&unanswered).contains("does not answer"), "{unanswered:?}");
    // Only the end of the process removes the lock; here somebody removed it.
    fs::remove_file(world.data().join("owner.lock")).expect("removed");
    fs::remove_file(world.data().join("owner.sock")).expect("removed");
    let new = Serving::start(&world, &[]);
    world.does(&["say", "two"]);
    old.signal(Signal::CONT);
    let refused = say(&world, &old, of, "three").expect_err("it owns nothing any more");
    // It also notices by itself, and may have ended by then.
    let known = ["taken_over", "data_moved", "owner_away", "owner_lost"];
    assert!(known.contains(&&*refused.code), "{refused:?}");
    assert_eq!(world.texts(), ["one", "two"]);
    assert_eq!(world.json(&["status"])["pid"], new.pid());
    old.signal(Signal::KILL);
    assert!(!old.ended());
    world.does(&["say", "four"]);
    world.does(&["doctor"]);
    assert_eq!(world.texts(), ["one", "two", "four"]);
}

#[test]
fn a_run_whose_owner_was_killed_is_marked_by_the_next_owner() {
    let world = World::new();
    world.settings("[model]\ndefault = \"demo\"\n[local]\nfind = false\n[demo]\nword_delay_ms = 100\n");
    let serving = Serving::start(&world, &[]);
    let asking = world.command(&["ask", "one apple"]).spawn().expect("it starts");
    until("a part is stored", || holds(world.data(), b"I am the demo"));
    serving.signal(Signal::KILL);
    assert!(!serving.ended());
    // The client becomes the owner.
    let told = asking.wait_with_output().expect("ended");
    let log = world.json(&["log"]);
    assert_eq!(log["entries"].as_array().map(Vec::len), Some(2), "{log}");
    assert_eq!(log["entries"][1]["interrupted"], true, "{log}");
    let kept = log["entries"][1]["parts"][0]["text"].as_str().expect("a text");
    assert!(out(&told).starts_with("I am the demo") && kept.starts_with("I am the demo"), "{told:?} {kept}");
    assert!(error(&told).contains("the owner ended during the run"), "{told:?}");
    world.does(&["doctor"]);
    world.does(&["rewind", "t1"]);
    assert_eq!(world.texts().len(), 0);
}

#[test]
fn a_call_whose_owner_was_killed_is_shown_as_interrupted_also_after_the_conversation_continues() {
    let world = World::working(&[]);
    world.settings("[model]\ndefault = \"demo\"\n[local]\nfind = false\n[demo]\nword_delay_ms = 0\n");
    let strikes = |start: &[&str], made: &str| {
        let serving = Serving::start(&world, &[]);
        let mut asking = world.command(start).spawn().expect("it starts");
        until("it works", || world.read(made).is_some());
        // The client would become the owner.
        asking.kill().expect("killed");
        asking.wait().expect("ended");
        serving.signal(Signal::KILL);
        assert!(!serving.ended());
        fs::write(world.home().join(format!("{made}-go")), "").expect("written");
        let log = world.json(&["log"]);
        assert_eq!(log["cut_off"].as_array().map(Vec::len), Some(1), "{log}");
        assert_eq!(log.get("unbegun"), None, "{log}");
        assert!(world.does(&["log"]).contains("cut off before there was a result: what it did is not known"));
    };
    let own = format!("touch own; {}", world.waits_for("own-go"));
    strikes(&["exec", "--say", "do it", "--", "sh", "-c", &own], "own");
    world.does(&["rewind", "t1"]);
    let asked = format!("run `touch asked; {}`", world.waits_for("asked-go"));
    strikes(&["ask", "--mode", "allow-all", &asked], "asked");
    world.does(&["say", "never mind"]);
    let log = world.json(&["log"]);
    assert_eq!(log["cut_off"].as_array().map(Vec::len), Some(1), "it is known from the ledger: {log}");
}
