//! Language servers: what they find is in the result of an edit, and what is wrong with them delays and breaks nothing.

use std::path::PathBuf;
use std::time::Duration;

use retake_tools::{AfterEdit, LanguageServer, ShellConfig};
use serde_json::json;

use super::stage::{Editing, confined, formatter, last, names};
use crate::stage::{Stage, until};

/// A small server whose argument sets its behaviour.
const SERVER: &str = include_str!("server.py");

/// How long an edit may wait for a server.
const WAIT: Duration = Duration::from_secs(3);

/// The log of the server in a workspace.
fn log_of(stage: &Stage) -> PathBuf {
    stage.root().with_file_name("log").join("log")
}

/// The log's lines with this beginning, without it.
fn log(editing: &Editing, beginning: &str) -> Vec<String> {
    let text = std::fs::read_to_string(log_of(&editing.stage)).unwrap_or_default();
    text.lines().filter_map(|line| line.strip_prefix(beginning)).map(str::to_owned).collect()
}

/// The entry of a server with this behaviour, for text files.
fn server(stage: &Stage, what: &str) -> LanguageServer {
    let program = stage.root().with_file_name("server.py");
    std::fs::write(&program, SERVER).expect("written");
    let folder = stage.root().with_file_name("log");
    std::fs::create_dir_all(&folder).expect("made");
    let command = ["python3".into(), program, what.into(), log_of(stage)];
    LanguageServer {
        name: "checker".to_owned(),
        files: names("*.txt"),
        command: command.map(|word: PathBuf| word.display().to_string()).to_vec(),
        language: Some("plain".to_owned()),
        options: Some(json!({ "strict": true })),
        write: vec![folder],
    }
}

/// A workspace with one server. Its clock stands still: nothing waits for a time limit, unless the test moves it on.
fn editing(what: &str) -> Editing {
    let stage = Stage::timeless();
    let servers = vec![server(&stage, what)];
    Editing::new(stage, AfterEdit { servers, shell: confined(), ..AfterEdit::default() })
}

/// What a report contains.
fn report(lines: &str) -> String {
    format!("[the language server checker found, as untrusted output:]\n```\n{lines}\n```")
}

#[tokio::test]
async fn errors_and_few_warnings_of_an_edit_are_in_its_result() {
    for what in ["good", "no-version", "pull"] {
        let editing = editing(what);
        let output = editing.write("a.txt", "fine\n  ERROR one\\e[2J\\n```\nWARN two\nHINT three\n").await;
        let found = report("a.txt:2:3: error: ERROR one[2J ```\na.txt:3:1: warning: WARN two");
        assert_eq!(output.content, format!("made a.txt: 4 lines, 47 B\n{found}"), "{what}");
        assert!(output.shown.expect("a diff").ends_with(&found), "{what}");
        let mended = editing.write("a.txt", "fine\n").await;
        assert_eq!(mended.content, "replaced a.txt: 1 line, 5 B", "{what}");
        assert_eq!(
            log(&editing, "has a.txt "),
            ["1 'fine\\n  ERROR one\\\\e[2J\\\\n```\\nWARN two\\nHINT three\\n'", "2 'fine\\n'"]
        );
        assert_eq!(log(&editing, "opens "), ["plain"]);
        assert_eq!(log(&editing, "options "), ["{\"strict\": true}"]);
        assert_eq!(log(&editing, "start ").len(), 1, "one process for all edits");
    }
}

#[tokio::test]
async fn a_server_that_cannot_answer_yet_is_asked_again() {
    let editing = editing("later");
    let asked_again = async {
        let again = Duration::from_millis(200);
        until("it waits", async || editing.stage.waits_for(again)).await;
        editing.stage.advance(again);
    };
    let (output, ()) = tokio::join!(editing.write("a.txt", "ERROR\n"), asked_again);
    assert!(output.content.ends_with(&report("a.txt:1:1: error: ERROR")), "{}", output.content);
}

#[tokio::test]
async fn new_errors_in_other_files_are_reported_once() {
    let editing = editing("good");
    let first = editing.write("a.txt", "BREAKS old.txt\n").await;
    assert_eq!(
        first.content, "made a.txt: 1 line, 15 B",
        "what was there before the first edit is not known"
    );
    let second = editing.write("a.txt", "BREAKS old.txt\nBREAKS new.txt\n").await;
    assert!(second.content.ends_with(&report("new.txt:1:1: error: it is broken")), "{}", second.content);
    let third = editing.write("a.txt", "BREAKS old.txt\nBREAKS new.txt\n\n").await;
    assert!(third.content.ends_with("B"), "{}", third.content);
}

#[tokio::test]
async fn a_server_gets_what_the_formatter_made() {
    let stage = Stage::timeless();
    let after = AfterEdit {
        servers: vec![server(&stage, "good")],
        formatters: vec![formatter("*.txt", &["sed", "-i", "s/bad/ERROR/"])],
        shell: confined(),
    };
    let editing = Editing::new(stage, after);
    let output = editing.write("a.txt", "bad\n").await;
    assert!(output.content.contains("+ERROR"), "{}", output.content);
    assert!(output.content.ends_with(&report("a.txt:1:1: error: ERROR")), "{}", output.content);
}

#[tokio::test]
async fn a_server_sees_open_files_as_they_are_at_the_next_edit() {
    let editing = editing("good");
    for name in ["a.txt", "b.txt", "c.txt"] {
        editing.write(name, "one\n").await;
    }
    // As a rewind does it.
    std::fs::write(editing.stage.root().join("a.txt"), "zero\n").expect("written");
    std::fs::remove_file(editing.stage.root().join("b.txt")).expect("removed");
    editing.write("d.txt", "one\n").await;
    assert_eq!(log(&editing, "has a.txt "), ["1 'one\\n'", "4 'zero\\n'"]);
    assert_eq!(log(&editing, "has c.txt "), ["3 'one\\n'"]);
    assert_eq!(log(&editing, "closes "), ["b.txt"]);
    let gone = "--- a/c.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n";
    editing.done("patch", json!({ "patch": gone })).await;
    until("it knows that a file is gone", async || log(&editing, "event 3 ") == ["c.txt"]).await;
    assert_eq!(log(&editing, "closes "), ["b.txt", "c.txt"]);
    editing.write("c.txt", "ERROR\n").await;
    assert_eq!(log(&editing, "has c.txt "), ["3 'one\\n'", "6 'ERROR\\n'"], "a version is never used twice");
}

#[tokio::test]
async fn a_server_that_fails_leaves_the_edit_with_one_short_line() {
    let rows = [
        ("dead", "its process ended (exit code 3): no licence[2J"),
        ("crash", "its process ended (exit code 9): cannot go on"),
        ("garbage", "it sent a message without a length"),
        ("no-json", "it sent a message that is not JSON"),
        ("giant", "it sent a message of more than 8 MB"),
        ("flood", "it sent thousands of messages that nobody asked for"),
    ];
    for (what, why) in rows {
        // Its clock stands still: no edit waits until its time is over.
        let editing = editing(what);
        let output = editing.write("a.txt", "ERROR\n").await;
        let expected =
            format!("made a.txt: 1 line, 6 B\n[no diagnostics of the language server checker: {why}]");
        assert_eq!(output.content, expected, "{what}");
        ended(&editing).await;
    }
}

#[tokio::test]
async fn a_server_that_is_not_installed_leaves_the_edit_with_one_short_line() {
    let stage = Stage::timeless();
    let missing = LanguageServer { command: vec!["no-such-server".to_owned()], ..server(&stage, "good") };
    let editing =
        Editing::new(stage, AfterEdit { servers: vec![missing], shell: confined(), ..AfterEdit::default() });
    let output = editing.write("a.txt", "one\n").await;
    let lines: Vec<_> = output.content.lines().collect();
    assert!(lines.len() == 2 && lines[1].len() < 300, "{}", output.content);
    assert!(lines[1].contains("No such file"), "{}", lines[1]);
}

#[tokio::test]
async fn an_edit_waits_three_seconds_at_most() {
    let answers = "it gave no answer within 3 seconds";
    let rows = [("mute", answers), ("half", answers), ("deaf", answers), ("stuck", "it is still starting")];
    for (what, why) in rows {
        let editing = editing(what);
        let begins = if what == "stuck" || what == "deaf" { "start " } else { "has " };
        // More than a pipe takes.
        let text = "x".repeat(1 << 20);
        let time = async {
            until("it has begun", async || {
                !log(&editing, begins).is_empty() && editing.stage.waits_for(WAIT)
            })
            .await;
            editing.stage.advance(WAIT);
        };
        let (output, ()) = tokio::join!(editing.write("a.txt", &text), time);
        let said = if what == "deaf" { [answers, "it is still starting"] } else { [why, why] };
        let line = |why: &str| format!("[no diagnostics of the language server checker: {why}]");
        assert!(said.iter().any(|why| last(&output) == line(why)), "{what}: {}", last(&output));
        assert_eq!(output.content.lines().count(), 2, "{what}");
    }
}

#[tokio::test]
async fn a_server_that_fails_again_and_again_is_given_up() {
    let editing = editing("dead");
    for edit in 1..=5 {
        let output = editing.write("a.txt", &"one\n".repeat(edit)).await;
        let expected = match edit {
            1..=3 => Some("its process ended"),
            4 => Some("it ended 3 times and is not started again"),
            _ => None,
        };
        match expected {
            Some(why) => assert!(last(&output).contains(why), "{edit}: {}", output.content),
            None => assert_eq!(output.content.lines().count(), 1, "{edit}: {}", output.content),
        }
    }
    assert_eq!(log(&editing, "start ").len(), 3);
}

#[tokio::test]
async fn a_server_that_never_answers_is_ended_and_started_again() {
    let editing = editing("mute");
    for edit in 1..=5 {
        let text = "one\n".repeat(edit);
        let time = async {
            // The fourth edit finds that it does not answer any more, and waits for nothing.
            if edit != 4 {
                let seen = if edit < 4 { edit } else { 4 };
                until("it has the text", async || log(&editing, "has ").len() == seen).await;
                until("the edit waits", async || editing.stage.waits_for(WAIT)).await;
                editing.stage.advance(WAIT);
            }
        };
        let (output, ()) = tokio::join!(editing.write("a.txt", &text), time);
        let why = if edit == 4 { "it gave no answer after 3 edits" } else { "within 3 seconds" };
        assert!(last(&output).contains(why), "{edit}: {}", output.content);
    }
    assert_eq!(log(&editing, "start ").len(), 2);
}

#[tokio::test]
async fn a_server_reads_the_workspace_and_has_no_network() {
    let stage = Stage::apart();
    let servers = vec![server(&stage, "attack")];
    let editing = Editing::new(stage, AfterEdit { servers, shell: confined(), ..AfterEdit::default() });
    until("it answers", async || {
        let output = editing.write("a.txt", "ERROR\n").await;
        output.content.contains("a.txt:1:1: error: ERROR") || output.content.contains("nothing to do")
    })
    .await;
    until("it has tried all", async || log(&editing, "TRIED").len() == 3).await;
    assert_eq!(log(&editing, "DID"), Vec::<String>::new());
}

#[tokio::test]
async fn no_server_runs_without_a_full_sandbox() {
    let stage = Stage::timeless();
    let servers = vec![server(&stage, "good")];
    let shell = ShellConfig { sandbox: None, ..confined() };
    let editing = Editing::new(stage, AfterEdit { servers, shell, ..AfterEdit::default() });
    let output = editing.write("a.txt", "one\n").await;
    assert!(last(&output).contains("without the full sandbox"), "{}", output.content);
    assert_eq!(log(&editing, "start ").len(), 0);
}

#[tokio::test]
async fn a_server_ends_with_its_owner() {
    let editing = editing("good");
    editing.write("a.txt", "one\n").await;
    assert!(!running(&editing).is_empty());
    let Editing { stage, tools } = editing;
    drop(tools);
    ended(&Editing { stage, tools: Vec::new() }).await;
}

#[tokio::test]
async fn a_server_that_could_read_a_new_file_with_secrets_is_started_again() {
    let mut editing = editing("good");
    editing.write("a.txt", "one\n").await;
    let processes = running(&editing).len();
    let secret = editing.stage.root().join("secret.env");
    std::fs::write(&secret, "KEY=1\n").expect("written");
    editing.stage.hide.push(secret);
    for edit in 2..7 {
        let output = editing.write("a.txt", &"ERROR\n".repeat(edit)).await;
        assert!(output.content.contains("a.txt:1:1: error: ERROR"), "{}", output.content);
    }
    assert_eq!(log(&editing, "start ").len(), 2, "once");
    until("the first one has ended", async || running(&editing).len() == processes).await;
}

#[tokio::test]
async fn at_most_eight_servers_run() {
    let mut stage = Stage::timeless();
    let folder = |at: usize| stage.root().with_file_name(format!("work-{at}"));
    let folders: Vec<PathBuf> = (0..9).map(folder).collect();
    for folder in &folders {
        std::fs::create_dir(folder).expect("made");
    }
    stage.roots.extend(folders.clone());
    let servers = vec![server(&stage, "good")];
    let editing = Editing::new(stage, AfterEdit { servers, shell: confined(), ..AfterEdit::default() });
    let mut processes = 0;
    for folder in &folders {
        editing.write(&folder.join("a.txt").display().to_string(), "one\n").await;
        processes = processes.max(running(&editing).len() / log(&editing, "start ").len());
    }
    assert_eq!(log(&editing, "start ").len(), 9);
    until("one has ended", async || running(&editing).len() == 8 * processes).await;
    // The second one still runs, the first one was used longest ago.
    for (at, starts) in [(1, 9), (0, 10)] {
        editing.write(&folders[at].join("a.txt").display().to_string(), "two\n").await;
        assert_eq!(log(&editing, "start ").len(), starts, "{at}");
    }
}

/// The processes of the workspace's servers.
fn running(editing: &Editing) -> Vec<String> {
    let folder = editing.stage.root().with_file_name("server.py").display().to_string();
    let all = std::fs::read_dir("/proc").expect("processes").flatten();
    let lines = all.filter_map(|entry| std::fs::read_to_string(entry.path().join("cmdline")).ok());
    lines.filter(|line| line.contains(&folder)).collect()
}

/// Waits until the workspace's servers have ended.
async fn ended(editing: &Editing) {
    until("no server is left", async || running(editing).is_empty()).await;
}
