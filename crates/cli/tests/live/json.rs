//! `--json` at every verb, through the real program: JSON on standard output whatever comes of it, and nothing else. Must never start
//! what an example names, but a command that ends by itself.

use retake_cli::examples;
use serde_json::Value;

use super::harness::{World, out};

/// What would start a server, and never end or fetch something.
const LEFT_OUT: [&str; 4] = ["serve", "mcp add", "mcp list", "mcp tools"];

#[test]
fn what_every_verb_prints_for_a_program_is_json() {
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
        // What failed says what to do next.
        let last: Value = serde_json::from_str(printed.lines().last().expect("a line")).expect("JSON");
        let hint = if last["event"] == "ended" { &last["problem"]["hint"] } else { &last["hint"] };
        let is_told = !hint.is_null() || output.status.code() == Some(8) || last["code"] == "usage";
        assert!(is_told, "{line}: {output:?}");
    }
}
