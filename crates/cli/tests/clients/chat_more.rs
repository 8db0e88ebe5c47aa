//! The other commands of the line client.

use insta::assert_snapshot;
use retake_wire::reply::{Conversation, Operations, Plan, Receipt};
use retake_wire::{Outcome, Problem, Reply, RunEvent};

use super::files::files_plan;
use super::fixtures::{OTHER, composer, conversation, ended, plan, receipt};
use super::scripted::Act::{Escape, Line, Pick};
use super::scripted::Case;

#[test]
fn help() {
    let acts = [Line("/help"), Line("/help rewind"), Line("/help /tree"), Line("/help rewnd"), Line("/quit")];
    assert_snapshot!(Case::terminal(acts).see(&[]));
}

#[test]
fn unknown_commands_show_the_nearest_one_and_the_next_line_begins_empty() {
    let acts = ["/rewnd t1", "/usr/bin/env is here", "/", "/fold", "/config", "/stop", "/quit"].map(Line);
    assert_snapshot!(Case::terminal(acts).see(&[]));
}

#[test]
fn a_verb_without_its_conversation_reports_that() {
    let acts = ["/rewind", "/edit", "/retry", "/tree", "/fork", "/hide", "/ops", "/log", "/export x.md"];
    assert_snapshot!(Case::terminal(acts.map(Line)).see(&[]));
}

#[test]
fn moves() {
    let acts = [
        Line("/redo"),
        Line("/redo 0"),
        Line("/restore 3.14"),
        Line("/restore t1"),
        Line("/restore"),
        Line("/choose"),
        Pick(0),
        Line("/choose t1"),
        Escape,
    ];
    assert_snapshot!(Case::terminal(acts).see(&["-c"]));
}

#[test]
fn verb_on_another_conversation_runs_nothing_here_and_brings_no_words() {
    let other = Conversation { id: OTHER.to_owned(), ..conversation() };
    let undone = Receipt { conversation: OTHER.to_owned(), composer: Some(composer()), ..receipt() };
    let acts = [
        Line("/retry --conversation 0199a000-0000-7000-8000-00000000c002"),
        Line("/undo --conversation 0199a000-0000-7000-8000-00000000c002"),
        Line("hello"),
        Line("/retry --conversation 0199a000-0000-7000-8000-00000000c001"),
        Line("/retry --conversation 0199a000"),
    ];
    let case = Case::terminal(acts).reply("apply", Ok(Reply::Receipt(undone)));
    let case = [conversation(), other]
        .into_iter()
        .fold(case, |case, it| case.reply("info", Ok(Reply::Conversation(it))));
    assert_snapshot!(case.see(&["-c"]));
}

#[test]
fn branches() {
    let acts = [Line("/tree"), Pick(0), Line("/tree"), Escape];
    assert_snapshot!(Case::terminal(acts).see(&["-c"]));
}

#[test]
fn marks() {
    let acts = [
        Line("/hide"),
        Pick(0),
        Line("/hidden"),
        Line("/show"),
        Pick(0),
        Line("/show"),
        Escape,
        Line("/show t2"),
        Line("/show 0199a000-0006"),
        Line("/exclude"),
        Pick(1),
        Line("/include"),
        Pick(0),
        Line("/include t1"),
        Line("/hide t1"),
    ];
    assert_snapshot!(Case::terminal(acts).see(&["-c"]));
}

#[test]
fn names() {
    let acts = [
        Line("/label good"),
        Line("/label t1 the plan"),
        Line("/label t1 --remove"),
        Line("/label"),
        Line("/title My notes"),
        Line("/title --remove"),
        Line("/title"),
    ];
    assert_snapshot!(Case::terminal(acts).see(&["-c"]));
}

#[test]
fn looking() {
    let acts = [
        Line("/search --all --hidden notes AND x"),
        Line("/search notes"),
        Line("/search --rewound"),
        Line("/log 2"),
        Line("/ops"),
    ];
    assert_snapshot!(Case::terminal(acts).see(&["-c"]));
}

#[test]
fn models() {
    let acts = [Line("/model"), Pick(0), Line("/model openai/large"), Line("/model"), Escape, Line("hello")];
    assert_snapshot!(Case::terminal(acts).see(&[]));
}

#[test]
fn other_conversations() {
    let acts = [
        Line("/list"),
        Pick(1),
        Line("/fork Another way"),
        Line("/new"),
        Line("/list"),
        Escape,
        Line("hello"),
    ];
    assert_snapshot!(Case::terminal(acts).see(&["-c"]));
}

#[test]
fn export() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("notes.md");
    let command: &'static str = Box::leak(format!("/export {}", file.display()).into_boxed_str());
    let seen = Case::terminal([Line(command), Line("/export")]).see(&["-c"]);
    assert_eq!(std::fs::read_to_string(&file).expect("the export"), "first\nsecond\n");
    assert_snapshot!(seen.replace(&file.display().to_string(), "FILE"));
}

/// The conversation with this head.
fn info(head: &str) -> Result<Reply, Problem> {
    Ok(Reply::Conversation(Conversation { head: head.to_owned(), ..conversation() }))
}

#[test]
fn changes_of_another_client_are_reported_once() {
    let summary = r#"{"code":"moved","message":{"turn":1,"opens_turn":true,"words":"What is \u001bin"}}"#;
    let operation = format!(
        r#"{{"number":13,"head":"13.6","kind":"move","reason":"rewind","summary":{summary},"author":"bob","time_ms":0,
        "before":"12.6","undo_next":true,"redo_next":false}}"#
    );
    let operations = vec![serde_json::from_str(&operation).expect("an operation")];
    let page = Operations { head: "13.6".to_owned(), operations, more: false };
    let acts = [Line("hello"), Line("hello again"), Line("/quit")];
    let case = Case::terminal(acts)
        .reply("info", info("12.6"))
        .reply("info", info("13.6"))
        .reply("info", info("13.7"))
        .reply("ops", Ok(Reply::Operations(page)));
    assert_snapshot!(case.see(&["-c"]));
}

#[test]
fn own_steps_and_runs_are_not_reported_as_those_of_another_client() {
    let made = Receipt { operations: vec![13], ..receipt() };
    let model = "demo/echo".to_owned();
    let run = vec![
        RunEvent::Started { receipt: Some(Box::new(made.clone())), model },
        ended(Outcome::Succeeded, None),
    ];
    for case in [
        Case::terminal([Line("/redo"), Line("/quit")]).reply("apply", Ok(Reply::Receipt(made))),
        Case::terminal([Line("hello"), Line("/quit")]).run(Ok(run)),
    ] {
        let seen = case.reply("info", info("12.6")).reply("info", info("13.6")).see(&["-c"]);
        assert!(seen.matches(r#""request":"info""#).count() > 1, "it looks: {seen}");
        assert!(!seen.contains(r#""request":"ops""#), "{seen}");
    }
}

#[test]
fn operations_of_a_conversation_that_is_opened_are_no_changes_of_another_client() {
    let other = Conversation { id: OTHER.to_owned(), head: "40.1".to_owned(), ..conversation() };
    let case = Case::terminal([Line("/list"), Pick(1), Line("/quit")])
        .reply("info", info("12.6"))
        .reply("info", Ok(Reply::Conversation(other)));
    let seen = case.see(&["-c"]);
    assert!(seen.matches(r#""request":"info""#).count() > 1, "it looks: {seen}");
    assert!(!seen.contains(r#""request":"ops""#), "{seen}");
}

#[test]
fn a_plan_with_files_in_conflict_can_not_be_agreed_to() {
    let plan = Plan { files: Some(files_plan()), ..plan() };
    let case = Case::terminal([Line("/rewind t1"), Escape, Line("/quit")]);
    let seen = case.reply("plan", Ok(Reply::Plan(plan))).see(&["-c"]);
    for answer in ["│ y  both", "│ f  files only"] {
        let row = seen.lines().find(|line| line.starts_with(answer)).expect("an answer");
        assert!(row.ends_with("(choose for the files in conflict first)"), "{row}");
    }
    assert!(!seen.contains(r#""request":"apply""#), "{seen}");
}
