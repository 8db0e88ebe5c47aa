//! `--json` with every verb: scripts get JSON, one document per line, and nothing else. Every verb has an example in the help.

use retake_cli::examples;
use serde_json::Value;

use super::scripted::Case;

/// A conversation to import.
const IMPORTED: &str = r#"[{"content":"hi","role":"user"},{"content":"ho","role":"assistant"}]"#;

#[test]
fn every_verb_prints_json_and_nothing_else() {
    let mut others = Vec::new();
    for words in examples() {
        let line = words[1..].join(" ");
        let arguments: Vec<&str> = words[1..].iter().map(String::as_str).chain(["--json"]).collect();
        // Words after two dashes are a command's own.
        let arguments = match arguments.iter().position(|word| *word == "--") {
            Some(_) => [&["--json"], &arguments[..arguments.len() - 1]].concat(),
            None => arguments,
        };
        let seen = Case::script(IMPORTED).see(&arguments);
        let (printed, rest) = seen.split_once("--- exit ").expect("an exit code");
        let printed = printed.strip_prefix("--- stdout\n").expect("what was printed");
        assert!(!printed.is_empty() && !printed.contains("--- stderr"), "{line}: {printed}");
        for document in printed.lines() {
            serde_json::from_str::<Value>(document)
                .unwrap_or_else(|error| panic!("{line}: {error}: {document}"));
        }
        let code = rest.lines().next().expect("a code");
        if code != "0" {
            others.push(format!("{line}: {code}"));
        }
    }
    // Missing files and accounts, wrong answers, and settings that the fake owner calls wrong.
    let expected = [
        "files put-back --remove .git/hooks/pre-commit: 3",
        "export --full --output talk.jsonl: 3",
        "import talk.jsonl: 3",
        "gateway add matrix: 2",
        "gateway test matrix: 3",
        "gateway remove matrix: 3",
        "gateway run matrix: 3",
        "config check: 2",
        "doctor: 2",
    ];
    assert_eq!(others, expected);
}

#[test]
fn a_problem_is_json_too() {
    for arguments in
        [&["undo", "two", "--json"][..], &["nonsense", "--json"], &["--json"], &["--json", "import", "/no"]]
    {
        let seen = Case::script("").see(arguments);
        let printed =
            seen.strip_prefix("--- stdout\n").and_then(|seen| seen.split_once("--- exit ")).expect("it").0;
        let problem: Value = serde_json::from_str(printed).unwrap_or_else(|error| panic!("{error}: {seen}"));
        assert!(problem["message"].is_string() && problem["code"].is_string(), "{arguments:?}: {printed}");
    }
}
