//! The whole program in a real pseudo-terminal, with its own store and the built-in model. Must never reach a network or the data
//! of the person who runs it.

mod agent;
mod bad;
mod choices;
mod compact;
mod crash;
mod detached;
mod document;
mod escapes;
mod files;
mod folder;
mod followed;
mod gateway;
mod guarded;
mod guide;
mod halfway;
mod harness;
mod hook_server;
mod hooks;
mod json;
mod keep;
mod killed;
mod lacking;
mod logged;
mod mcp;
mod memory;
mod model;
mod moved;
mod old;
mod older;
mod owned;
mod paused;
mod plain;
mod planted;
mod restore;
mod rewound;
mod serving_chats;
mod several;
mod silent;
mod small;
mod struck;
mod subagents;
mod theirs;
mod tmux;
mod ui;
mod waits;
mod whole;
mod written;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::term::pty::Pty;
use harness::HomeDir;

const ENTER: &str = "\r";
const CTRL_C: &str = "\x03";
const CTRL_D: &str = "\x04";
const CTRL_Z: &str = "\x1a";

/// A home of its own.
struct Home(HomeDir);

impl Home {
    fn new() -> Self {
        let home = HomeDir::new();
        std::fs::write(home.path().join("config.toml"), "").expect("written");
        Self(home)
    }

    fn start(&self, arguments: &[&str]) -> Pty {
        let mut all = vec!["--plain", "--model", "demo"];
        all.extend(arguments);
        self.run(Path::new(env!("CARGO_BIN_EXE_retake")), &all)
    }

    fn run(&self, program: &Path, arguments: &[&str]) -> Pty {
        let home = self.0.path().display().to_string();
        let config = self.0.path().join("config.toml");
        let config = config.display().to_string();
        let variables = [
            ("HOME", home.as_str()),
            ("RETAKE_DATA_DIR", home.as_str()),
            ("RETAKE_CONFIG", config.as_str()),
            ("PAGER", ""),
        ];
        Pty::run(program, arguments, &variables)
    }

    /// Sends a message in a new conversation, and waits for the answer.
    fn talking(&self) -> Pty {
        let pty = self.start(&[]);
        prompt(&pty);
        say(&pty, "one apple", 1);
        say(&pty, "two pears", 2);
        pty
    }
}

/// A script: no terminal, this on standard input.
fn script(home: &Home, arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_retake"))
        .args(arguments)
        .current_dir(home.0.path())
        .env("RETAKE_DATA_DIR", home.0.path())
        .env("RETAKE_CONFIG", home.0.path().join("config.toml"))
        .env("RETAKE_IDLE_S", "0")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(input.as_bytes()).expect("written");
    drop(stdin);
    child.wait_with_output().expect("it ends")
}

/// Sends a message and waits until the demo has answered it in this turn.
fn say(pty: &Pty, text: &str, turn: usize) {
    pty.send(text);
    pty.send(ENTER);
    answered(pty, text, turn);
}

fn answered(pty: &Pty, text: &str, turn: usize) {
    pty.shows(&format!("You said \"{text}\". This is turn {turn};"));
    prompt(pty);
}

/// Waits for an empty line to type into.
fn prompt(pty: &Pty) {
    pty.until("the prompt", |screen| screen.trim_end().ends_with("\n>"));
    pty.reads_keys();
}

#[test]
fn rewind_shows_asks_and_gives_the_words_back_and_undo_takes_it_back() {
    let home = Home::new();
    let mut pty = home.talking();
    pty.send("/rewind\r");
    pty.shows("  1  t2 two pears");
    pty.shows("  2  t1 one apple");
    pty.shows("number:");
    pty.reads_keys();
    pty.send("2\r");
    pty.shows("Go back? [y/N]");
    pty.reads_keys();
    pty.send("y");
    pty.shows("rewound: 4 messages (2 turns) taken back");
    pty.until("the old words", |screen| screen.trim_end().ends_with("\n> one apple"));
    pty.reads_keys();
    pty.send(" pie\r");
    answered(&pty, "one apple pie", 1);
    pty.send("/undo\r");
    pty.until("the words that were taken back", |screen| screen.trim_end().ends_with("\n> one apple pie"));
    pty.reads_keys();
    pty.send(CTRL_C);
    pty.shows("cleared");
    pty.send("/undo\r");
    pty.shows("4 messages (2 turns) are back");
    prompt(&pty);
    pty.send(CTRL_D);
    pty.shows("to continue: retake -c");
    assert!(pty.ended());
    assert!(pty.is_restored());
}

#[test]
fn a_no_changes_nothing() {
    let home = Home::new();
    let pty = home.talking();
    pty.send("/rewind t1\r");
    pty.shows("Go back? [y/N]");
    pty.reads_keys();
    pty.send("n");
    pty.shows("nothing has changed");
    prompt(&pty);
    say(&pty, "three plums", 3);
}

#[test]
fn an_edit_replaces_the_old_message() {
    let home = Home::new();
    let pty = home.talking();
    pty.send("/edit t2\r");
    pty.until("the words", |screen| screen.trim_end().ends_with("edit> two pears"));
    pty.reads_keys();
    pty.send(" more\r");
    answered(&pty, "two pears more", 2);
}

#[test]
fn ctrl_c_stops_an_answer_and_the_conversation_goes_on() {
    let home = Home::new();
    let pty = home.start(&[]);
    prompt(&pty);
    pty.send("hello\r");
    pty.shows("I am the demo");
    pty.send(CTRL_C);
    pty.shows("interrupted, partial answer stored");
    prompt(&pty);
    say(&pty, "still there", 2);
}

#[test]
fn a_conversation_goes_on_where_it_was_left() {
    let home = Home::new();
    let mut first = home.talking();
    first.send(CTRL_D);
    assert!(first.ended());
    let pty = home.start(&["-c"]);
    prompt(&pty);
    assert!(pty.ever_printed("“one apple” · 4 messages (2 turns)"), "{}", pty.screen());
    say(&pty, "three plums", 3);
    pty.send("/undo\r");
    pty.until("the words", |screen| screen.trim_end().ends_with("\n> three plums"));
}

#[test]
fn a_script_asks_looks_rewinds_and_undoes() {
    let home = Home::new();
    let text = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
    let asked = script(&home, &["--model", "demo"], "one apple\n");
    assert!(text(&asked).contains("You said \"one apple\""), "{asked:?}");
    let rewound = script(&home, &["rewind", "t1"], "");
    let stays = "! files stay as they are: these messages changed none\n";
    let expected = format!("rewound: 2 messages (1 turn) taken back\n{stays}to edit: “one apple”\n");
    assert_eq!(text(&rewound), expected);
    let undone = script(&home, &["undo"], "");
    assert_eq!(
        text(&undone),
        format!("undid the rewind to t1 “one apple”: 2 messages (1 turn) are back\n{stays}")
    );
    let stale = script(&home, &["--json", "undo", "--head", "0.1"], "");
    assert_eq!(stale.status.code(), Some(5));
    assert!(text(&stale).starts_with("{\"code\":\"stale_head\""), "{stale:?}");
    let missing = script(&home, &["rewind", "t7"], "");
    assert_eq!(missing.status.code(), Some(3));
    assert_eq!(text(&missing), "");
}

#[test]
fn a_reader_that_closes_the_pipe_is_no_failure() {
    let home = Home::new();
    let mut child = Command::new(env!("CARGO_BIN_EXE_retake"))
        .args(["completions", "zsh"])
        .current_dir(home.0.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn text_typed_during_an_answer_waits_and_runs_nothing() {
    let home = Home::new();
    std::fs::write(home.0.path().join("config.toml"), "[demo]\nword_delay_ms = 60\n").expect("written");
    let mut pty = home.start(&[]);
    prompt(&pty);
    pty.send("hello\r");
    pty.shows("I am the demo");
    pty.send("typed\rahead");
    // Enter did not submit: both lines wait to be edited, and the answer waits for them.
    pty.until("the words", |screen| screen.trim_end().ends_with("meanwhile> typed\n         · ahead"));
    pty.reads_keys();
    pty.send(CTRL_C);
    pty.shows("cleared");
    pty.send("\r");
    pty.shows("This is turn 1; I see none before it.");
    pty.until("the prompt", |screen| screen.trim_end().ends_with("\n>"));
    pty.reads_keys();
    pty.send("gone");
    pty.shows("> gone");
    pty.reads_keys();
    pty.send(CTRL_C);
    pty.shows("cleared");
    pty.send(CTRL_D);
    assert!(pty.ended());
    assert!(pty.is_restored());
}

#[test]
fn typed_keys_are_not_echoed_after_ctrl_z_and_fg() {
    let home = Home::new();
    std::fs::write(home.0.path().join("config.toml"), "[demo]\nword_delay_ms = 60\n").expect("written");
    let mut pty = home.run(Path::new("/bin/bash"), &["--norc", "--noprofile"]);
    pty.send(format!("PS1='sh: '; clear; '{}' --plain --model demo\r", env!("CARGO_BIN_EXE_retake")));
    pty.until("the prompt", |screen| screen.trim_end().ends_with("\n>"));
    pty.reads_keys();
    pty.send("hello\r");
    pty.shows("I am the demo");
    pty.send(CTRL_Z);
    pty.shows("Stopped");
    pty.until("the shell", |screen| screen.trim_end().ends_with("sh:"));
    pty.send("fg\r");
    // Text printed after it was woken: its other work is done by then.
    pty.shows("GEMINI_API_KEY");
    pty.send("unseen");
    let screen = pty.until("the words", |screen| screen.trim_end().ends_with("> unseen"));
    assert_eq!(screen.matches("unseen").count(), 1, "{screen}");
    pty.reads_keys();
    pty.send(CTRL_C);
    pty.shows("cleared");
    // The answer may wait for the line that was begun meanwhile.
    pty.send("\r");
    pty.until("the prompt", |screen| screen.trim_end().ends_with("\n>"));
    pty.reads_keys();
    pty.send(CTRL_D);
    pty.until("the shell", |screen| screen.trim_end().ends_with("sh:"));
    pty.send("exit\r");
    assert!(pty.ended());
}
