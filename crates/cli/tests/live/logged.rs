//! The log of the owner: what it contains of requests, and what never reaches it.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::process::Command;

use rustix::process::Signal;
use serde_json::{Value, json};

use super::harness::{World, error, manifest, signal, until};
use super::model::{Model, calls, words};

/// A raw request to the owner; returns the reply.
fn send(world: &World, request: &str) -> String {
    let mut stream = UnixStream::connect(world.data().join("owner.sock")).expect("an owner");
    stream.write_all(request.as_bytes()).expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("answered");
    answer
}

/// A line of the log with all of these.
fn line<'l>(log: &'l str, parts: &[&str]) -> &'l str {
    let found = log.lines().find(|line| parts.iter().all(|part| line.contains(part)));
    found.unwrap_or_else(|| panic!("no line with {parts:?}: {log}"))
}

#[test]
fn log_names_requests_and_holds_no_text_argument_file_variable_header_or_key() {
    let model = Model::start();
    let world = model
        .world(&[("planted-name", "planted-content\n")])
        .with("HERE_KEY", "planted-key")
        .with("PLANTED", "planted-variable")
        .with("RETAKE_LOG", "trace")
        .with("RETAKE_IDLE_S", "600");
    let asks = calls(&[
        (
            "shell",
            json!({"command": "echo planted-argument; cat planted-name; echo planted-$((1+1))-result; exit 3"}),
        ),
        ("write", json!({"path": "planted-path", "content": "planted-written"})),
        ("planted_tool", json!({"planted": "planted-value"})),
    ]);
    model.turn(&world, "planted-message", vec![asks, words("planted-answer")]);
    // The model fails, and nothing like this is there.
    assert!(!world.run(&["ask", "planted-unanswered"]).status.success());
    for arguments in [
        &["say", "planted-said"][..],
        &["title", "planted-title"],
        &["label", "t1", "planted-label"],
        &["search", "planted-query"],
        &["search", "\"planted-quote"],
        &["label", "planted-entry", "planted"],
        &["--json", "ask", "-c", "planted-conversation", "planted"],
        &["exec", "--", "sh", "-c", "echo planted-exec > planted-made; echo planted-printed; exit 2"],
        &["export", "planted-export"],
        &["erase", "--matching", "planted-said", "--yes"],
    ] {
        world.run(arguments);
    }
    let conversation =
        world.json(&["list", "--all"])["conversations"][0]["id"].as_str().expect("an id").to_owned();
    world.does(&["rewind", "t1", "--request-id", "log-request-1"]);
    let token = fs::read_to_string(world.data().join("token")).expect("a token").trim().to_owned();
    for (line, token) in [
        ("GET /v1/planted-place?planted=query", &*token),
        ("GET /v1/conversations", "planted-token"),
        ("planted", ""),
    ] {
        let request = format!(
            "{line} HTTP/1.1\r\nhost: planted-host\r\nx-planted: planted-header\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\r\n"
        );
        send(&world, &request);
    }
    world.does(&["stop"]);
    let log = world.owner_log();
    let id = format!("conversation={conversation}");
    line(
        &log,
        &["operation=\"apply\"", "action=\"rewind\"", &id, "request=\"log-request-1\"", "outcome=\"done\""],
    );
    line(&log, &["operation=\"run\"", "action=\"say\"", &id, "outcome=\"done\""]);
    line(&log, &["operation=\"run\"", &id, "the run has begun"]);
    line(&log, &["WARN", "operation=\"run\"", &id, "code=\"model\"", "the run has failed"]);
    line(&log, &["operation=\"apply\"", "action=\"label\"", "outcome=\"unknown_entry\""]);
    for (path, (mode, bytes)) in manifest(&world.state()) {
        let text = String::from_utf8_lossy(&bytes);
        for secret in ["planted", &token] {
            assert!(!text.contains(secret), "{secret} is in {}: {text}", path.display());
        }
        assert_eq!(mode & 0o077, 0, "{} is private", path.display());
    }
}

#[test]
fn failure_that_no_client_gets_is_logged_with_its_cause() {
    let world = World::new();
    let servers = json!({"mcpServers": {"it": {"command": "true"}}});
    fs::write(world.home().join("mcp.json"), servers.to_string()).expect("written");
    world.does(&["ask", "one apple"]);
    line(&world.owner_log(), &["WARN", "an MCP server cannot be used", "cause=\"closed\""]);
}

#[test]
fn log_can_be_json_with_one_object_in_each_line() {
    let world = World::new().with("RETAKE_LOG_FORMAT", "json");
    world.does(&["ask", "one apple"]);
    let lines: Vec<Value> =
        world.owner_log().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let is_end = |line: &&Value| line["fields"]["message"] == "the run has ended";
    let end = lines.iter().find(is_end).expect("a run");
    assert_eq!((&end["span"]["operation"], &end["level"]), (&json!("run"), &json!("INFO")), "{end}");
    assert!(end["process"].is_u64() && end["timestamp"].is_string(), "{end}");
}

#[test]
fn log_that_cannot_be_written_is_said_once_and_harms_nothing() {
    let pipe = World::new();
    let folder = pipe.home().join("retake");
    fs::create_dir(&folder).expect("made");
    assert!(Command::new("mkfifo").arg(folder.join("owner.log")).status().expect("it runs").success());
    for place in ["/dev/null/state", pipe.home().to_str().expect("UTF-8")] {
        let world = World::new().with("XDG_STATE_HOME", place).with("RETAKE_IDLE_S", "600");
        for notices in [1, 0] {
            let told = world.run(&["ask", "one apple"]);
            assert!(told.status.success(), "{told:?}");
            assert_eq!(error(&told).matches("cannot be written").count(), notices, "{place}: {told:?}");
        }
        world.does(&["stop"]);
    }
}

#[test]
fn filter_of_the_log_that_is_none_is_said_and_errors_alone_can_be_asked_for() {
    let world = World::new().with("RETAKE_LOG", "retake_engine=loud");
    let told = world.run(&["new"]);
    assert!(told.status.success() && error(&told).contains("RETAKE_LOG is not a filter"), "{told:?}");
    assert!(world.owner_log().contains("the owner has started"));
    let world = World::new().with("RETAKE_LOG", "error");
    world.does(&["new"]);
    assert_eq!(world.owner_log(), "");
}

/// After a kill it has complete lines, and the next owner continues in the same file.
#[test]
fn log_of_the_next_owner_goes_on_in_the_same_file() {
    let world = World::new().with("RETAKE_IDLE_S", "600");
    world.does(&["new"]);
    signal(&world.json(&["status"])["pid"].to_string(), Signal::KILL);
    until("it is dead", || world.owners().is_empty());
    world.does(&["new"]);
    world.does(&["stop"]);
    let log = world.owner_log();
    assert_eq!(log.matches("the owner has started").count(), 2, "{log}");
    assert!(log.ends_with("\n"), "{log}");
}
