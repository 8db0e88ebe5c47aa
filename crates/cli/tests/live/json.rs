//! `--json` with every verb of the real program: standard output is JSON in every case, and nothing else. Must never start what
//! an example names, except a command that ends by itself.

use retake_cli::examples;
use serde_json::Value;

use super::harness::{World, out};

/// Examples that would start a server and never end, or download something.
const LEFT_OUT: [&str; 4] = ["serve", "mcp add", "mcp list", "mcp tools"];

#[test]
fn the_output_of_every_verb_for_programs_is_json() {
    let world = World::working(&[("src", "one\n")]);
    for words in ["one apple", "two pears", "three plums"] {
        world.does(&["ask", words]);
    }
    for words in examples() {
        let line = words[1..].join(" ");
        if LEFT_OUT.iter().any(|verb| line.starts_with(verb)) {
            continue;
        }
        let arguments: Vec<&str> =
            ["--json"].into_iter().chain(words[1..].iter().map(String::as_str)).collect();
        let output = world.pipe(&arguments, "{\"role\":\"user\",\"content\":\"hi\"}\n");
        let printed = out(&output);
        assert!(
            !printed.is_empty() && output.status.code().is_some_and(|code| code != 1),
            "{line}: {output:?}"
        );
        for document in printed.lines() {
            let read = serde_json::from_str::<Value>(document);
            read.unwrap_or_else(|error| panic!("{line}: {error}: {document}"));
        }
        if output.status.success() {
            continue;
        }
        // An error says what to do next.
        let last: Value = serde_json::from_str(printed.lines().last().expect("a line")).expect("JSON");
        let hint = if last["event"] == "ended" { &last["problem"]["hint"] } else { &last["hint"] };
        let is_told = !hint.is_null() || output.status.code() == Some(8) || last["code"] == "usage";
        assert!(is_told, "{line}: {output:?}");
    }
}

#[test]
fn request_shows_the_receipt_of_an_earlier_request_by_its_id() {
    let world = World::working(&[("src", "0\n")]);
    world.exec("echo 1 > src");
    world.exec("echo 2 > src");
    // Remarks are printed once, and the requested number of steps is not stored.
    let lasting = |mut receipt: Value| {
        let fields = receipt.as_object_mut().expect("a receipt");
        for told_once in ["steps", "conditions", "stays", "effects"] {
            fields.remove(told_once);
        }
        receipt
    };
    let undone = lasting(world.json(&["undo", "2", "--request-id", "nightly-1"]));
    world.exec("echo 3 > src");
    assert_eq!(lasting(world.json(&["request", "nightly-1"])), undone);
    let told = world.does(&["request", "nightly-1"]);
    assert!(told.starts_with("done: ") && told.contains(undone["head"].as_str().expect("a head")), "{told}");
    let unknown = world.run(&["--json", "request", "nightly-2"]);
    assert!(out(&unknown).contains("unknown_request"), "{unknown:?}");
    assert_eq!(unknown.status.code(), Some(3));
}
