//! Formatters: their changes belong to the edit, and their failures change nothing of it.

use retake_tools::{AfterEdit, ShellConfig};
use serde_json::json;

use super::stage::{Editing, confined, formatter, last};
use crate::stage::{Stage, tool};

#[tokio::test]
async fn the_model_knows_what_a_formatter_made_of_its_edit() {
    let editing = Editing::formatted(Stage::new(), formatter("*.txt", &["sed", "-i", "s/ *= */ = /"]));
    let output = editing.write("a.txt", "a=1\nb=2\n").await;
    assert_eq!(editing.text("a.txt"), "a = 1\nb = 2\n");
    assert_eq!(
        output.content,
        "made a.txt: 2 lines, 8 B\n[the formatter tidy changed a.txt, and you know its result:]\n@@ -1,2 +1,2 @@\n-a=1\n\
         -b=2\n+a = 1\n+b = 2"
    );
    assert_eq!(output.written, [editing.stage.root().join("a.txt")]);
    let shown = output.shown.expect("a diff");
    assert!(shown.contains("+a=1\n") && shown.ends_with("+a = 1\n+b = 2"), "{shown}");
    // No other read is needed.
    editing.edit("a.txt", "b = 2", "b=3").await;
    assert_eq!(editing.text("a.txt"), "a = 1\nb = 3\n");
    let same = editing.edit("a.txt", "b = 3", "b = 4").await;
    assert!(
        !same.content.contains("tidy"),
        "a formatter that changes nothing is not reported: {}",
        same.content
    );
}

#[tokio::test]
async fn a_formatted_file_of_which_not_all_is_shown_is_read_again_before_the_next_edit() {
    let editing = Editing::formatted(Stage::new(), formatter("*.txt", &["sed", "-i", "s/=/ = /"]));
    let text: String = (0..100).map(|line| format!("a{line}=1\n")).collect();
    let output = editing.write("a.txt", &text).await;
    assert!(
        output.content.ends_with("[the formatter tidy changed a.txt: read it before you edit it]"),
        "{}",
        output.content
    );
    let edit = json!({ "path": "a.txt", "edits": [{ "old": "a7 = 1", "new": "b" }] });
    let refused = editing.stage.call(&tool(&editing.tools, "edit"), edit).await;
    assert!(refused.content.contains("read"), "{}", refused.content);
    assert_eq!(editing.text("a.txt").lines().nth(7), Some("a7 = 1"));
}

#[tokio::test]
async fn a_formatter_gets_all_fitting_files_of_a_patch_and_no_others() {
    let command = ["sh", "-c", "for file; do echo formatted >> \"$file\"; done; echo $# > count", "sh"];
    let editing = Editing::formatted(Stage::new(), formatter("src/*.txt", &command));
    let made = |name: &str| format!("--- /dev/null\n+++ b/{name}\n@@ -0,0 +1 @@\n+one\n");
    let patch = ["src/a b.txt", "src/b.txt", "c.txt", "src/d.rs"].map(made).concat();
    editing.done("patch", json!({ "patch": patch })).await;
    assert_eq!(editing.text("count"), "2\n");
    for (name, text) in [("src/a b.txt", "one\nformatted\n"), ("c.txt", "one\n"), ("src/d.rs", "one\n")] {
        assert_eq!(editing.text(name), text, "{name}");
    }
}

#[tokio::test]
async fn a_formatter_that_fails_leaves_the_edit_with_one_line_about_it() {
    let rows: [(&[&str], &str); 4] = [
        (
            &["sh", "-c", "echo no such style >&2; exit 3"],
            "[the formatter tidy failed, and the edit stays: it ended with exit code 3: no such style]",
        ),
        (&["no-such-formatter"], "no-such-formatter"),
        (
            &["sh", "-c", "printf '\\033[31mred\\a'; exit 1"],
            "[the formatter tidy failed, and the edit stays: it ended with exit code 1: red]",
        ),
        (&["sh", "-c", "kill -9 $$"], "it ended with exit code 137"),
    ];
    for (command, expected) in rows {
        let editing = Editing::formatted(Stage::new(), formatter("*", command));
        let output = editing.write("a.txt", "one\n").await;
        let lines: Vec<_> = output.content.lines().collect();
        assert!(lines.len() == 2 && lines[1].contains(expected), "{:?}", output.content);
        assert_eq!(editing.text("a.txt"), "one\n");
        editing.edit("a.txt", "one", "two").await;
    }
}

#[tokio::test]
async fn a_formatter_that_hangs_is_ended_with_all_its_processes() {
    let hang = ["sh", "-c", "echo half > \"$1\"; sleep 1000 & sleep 1000", "sh"];
    let editing = Editing::formatted(Stage::hurried(), formatter("*", &hang));
    let output = editing.write("a.txt", "one\n").await;
    assert!(last(&output).contains("its time limit has passed"), "{}", output.content);
    // What it changed before belongs to the edit, too.
    assert!(output.content.contains("+half"), "{}", output.content);
    editing.edit("a.txt", "half", "two").await;
}

#[tokio::test]
async fn no_process_of_a_formatter_stays() {
    let editing = Editing::formatted(Stage::new(), formatter("*", &["sh", "-c", "sleep 1000 &"]));
    // The stage checks that no process of the call is left.
    let output = editing.write("a.txt", "one\n").await;
    assert_eq!(output.content, "made a.txt: 1 line, 4 B");
}

#[tokio::test]
async fn what_a_formatter_puts_in_the_place_of_a_file_is_not_trusted() {
    let rows = ["rm \"$1\"", "rm \"$1\"; mkfifo \"$1\"", "rm \"$1\"; ln -s /etc/passwd \"$1\""];
    for row in rows {
        let editing = Editing::formatted(Stage::new(), formatter("*", &["sh", "-c", row, "sh"]));
        let output = editing.write("a.txt", "one\n").await;
        assert_eq!(last(&output), "[the formatter tidy removed a.txt]", "{row}");
        let known = format!("read/{}", editing.stage.root().join("a.txt").display());
        assert_eq!(
            output.facts.last().map(|fact| (&fact.key, fact.value.as_str())),
            Some((&known, "")),
            "{row}"
        );
    }
}

#[tokio::test]
async fn a_formatter_writes_in_the_workspace_only_and_has_no_network() {
    let attack = "touch ../outside; touch inside; echo x > /dev/tcp/127.0.0.1/1 && touch network; exit 0";
    let editing = Editing::formatted(Stage::apart(), formatter("*", &["bash", "-c", attack]));
    editing.write("a.txt", "one\n").await;
    let root = editing.stage.root();
    assert!(root.join("inside").exists());
    assert!(!root.join("network").exists() && !root.with_file_name("outside").exists());
}

#[tokio::test]
async fn no_formatter_runs_without_a_full_sandbox() {
    let after = AfterEdit {
        formatters: vec![formatter("*", &["touch", "ran"])],
        shell: ShellConfig { sandbox: None, ..confined() },
        ..AfterEdit::default()
    };
    let editing = Editing::new(Stage::new(), after);
    let output = editing.write("a.txt", "one\n").await;
    assert!(last(&output).contains("without the full sandbox"), "{}", output.content);
    assert!(!editing.stage.root().join("ran").exists());
}

#[tokio::test]
async fn rustfmt_formats_an_edit() {
    let editing = Editing::formatted(Stage::new(), formatter("*.rs", &["rustfmt", "--edition", "2024"]));
    let output = editing.write("src/main.rs", "fn main(){println!(\"a\")}\n").await;
    assert_eq!(editing.text("src/main.rs"), "fn main() {\n    println!(\"a\")\n}\n", "{}", output.content);
    let broken = editing.write("src/main.rs", "fn main( {\n").await;
    let expected = "[the formatter tidy failed, and the edit stays: it ended with exit code 1: error: this file contains an unclosed delimiter]";
    assert_eq!(last(&broken), expected);
}
