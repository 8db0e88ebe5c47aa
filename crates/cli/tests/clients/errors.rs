//! Errors at the command line, and their remedies.

use insta::assert_snapshot;

use super::fixtures;
use super::scripted::Case;

#[test]
fn invalid_arguments_are_refused() {
    let lines: [&[&str]; 21] = [
        &["rewnd"],
        &["undo", "0"],
        &["undo", "-1"],
        &["undo", "two"],
        &["--json", "undo", "0"],
        &["choose", "@", "0"],
        &["rewind"],
        &["plan", "edit"],
        &["--json", "drop"],
        &["fix the typo in guide.md"],
        &["fix", "the", "typo"],
        &["--json", "don't", "do", "it"],
        &["rewind", "t1", "--since"],
        &["-c", "undo"],
        &["-r"],
        &["ask", " "],
        &["search", "x", "--since", "soon"],
        &["label", "t1"],
        &["list", "--limit", "0"],
        &["ops", "--before", "-1"],
        &["log", "--limit", "18446744073709551615"],
    ];
    let seen: Vec<String> = lines
        .iter()
        .map(|arguments| {
            let seen = Case::script(" ").see(arguments);
            format!("$ retake {}\n{seen}", arguments.join(" "))
        })
        .collect();
    assert_snapshot!(seen.join("\n"));
}

#[test]
fn a_stale_head() {
    let people = Case::script("").reply("apply", Err(fixtures::stale()));
    let programs = Case::script("").reply("apply", Err(fixtures::stale()));
    let seen = [
        people.see(&["rewind", "t1", "--head", "12.6"]),
        programs.see(&["--json", "rewind", "t1", "--head", "12.6"]),
    ];
    assert_snapshot!(seen.join("\n"));
}

#[test]
fn an_answer_that_does_not_fit() {
    let case = Case::script("").reply("apply", Ok(retake_wire::Reply::Done));
    assert_snapshot!(case.see(&["undo"]));
}

#[test]
fn a_conversation_has_no_json() {
    assert_snapshot!(Case::terminal([]).see(&["--json"]));
}
