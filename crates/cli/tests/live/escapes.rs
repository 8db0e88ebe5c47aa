//! Control characters and escape sequences in text of people and models: every verb shows them without interpreting them, and
//! they are stored exactly.

use super::harness::{World, error, out};
use crate::term::pty::Pty;

/// Sets the title, clears the screen, writes the clipboard, colours by a C1 code, overwrites the line, rings, reorders.
const EVIL: &str = "word \u{1b}]0;pwned\u{7} \u{1b}[2J \u{1b}]52;c;aGk=\u{7} \u{9b}31m \u{90}q\u{9c} over\rwritten \u{8}\u{7f} \u{202e}desrever end";

/// The first character of a text that a terminal would interpret, apart from Retake's colours.
pub(super) fn acts(text: &str) -> Option<char> {
    let mut rest = text.to_owned();
    while let Some(at) = rest.find("\u{1b}[") {
        let end = rest[at + 2..].find(|c: char| !c.is_ascii_digit() && c != ';');
        match end.map(|end| at + 2 + end).filter(|end| rest[*end..].starts_with('m')) {
            Some(end) => rest.replace_range(at..=end, ""),
            None => return Some('\u{1b}'),
        }
    }
    rest.chars().find(|c| (c.is_control() && *c != '\n') || ('\u{202a}'..='\u{202e}').contains(c))
}

#[test]
fn the_test_detects_control_sequences() {
    assert_eq!(acts("\u{1b}[1;31mred\u{1b}[0m\n"), None);
    assert_eq!(acts("\u{1b}[2J"), Some('\u{1b}'));
    assert_eq!(acts("\u{1b}]0;x\u{7}"), Some('\u{1b}'));
    assert_eq!(acts("a\rb"), Some('\r'));
    assert_eq!(acts("\u{202e}"), Some('\u{202e}'));
}

/// A conversation with hostile text in everything that can hold text.
fn hostile() -> World {
    let world = World::new();
    world.does(&["ask", EVIL]);
    world.does(&["say", "--author", EVIL, "hello"]);
    world.does(&["say", "--role", "tool", EVIL]);
    for naming in [&["title", EVIL][..], &["label", "t1", EVIL]] {
        let refused = world.run(naming);
        assert!(error(&refused).contains("can't hold U+001B"), "{}", error(&refused));
        assert_eq!((refused.status.code(), acts(&error(&refused))), (Some(2), None));
    }
    world.does(&["exclude", "t2"]);
    world.does(&["fold", "--summary", EVIL, "--from", "t1", "--to", "t1"]);
    world.does(&["retry", "t1"]);
    world.does(&["fork"]);
    world
}

#[test]
fn no_verb_prints_a_control_sequence() {
    let world = hostile();
    let head = world.json(&["log"])["head"].as_str().expect("a head").to_owned();
    let verbs: [&[&str]; 24] = [
        &["list"],
        &["list", "--all"],
        &["log"],
        &["log", "--as", "prompt"],
        &["log", "--as", "export"],
        &["log", "--as", "scheduling"],
        &["log", "--at", &head],
        &["targets"],
        &["plan", "rewind", "t1"],
        &["tree"],
        &["ops"],
        &["search", "word"],
        &["search", "--include", "rewound", "--include", "hidden", "word"],
        &["choose", "@"],
        &["ask", EVIL],
        &["retry"],
        &["rewind", "t1"],
        &["undo"],
        &["redo"],
        &["undo"],
        &["rewind", EVIL],
        &["log", "--conversation", EVIL],
        &["ask", "--model", EVIL, "hello"],
        &["config", "get", EVIL],
    ];
    for verb in verbs {
        let mut coloured = vec!["--color", "always"];
        coloured.extend(verb);
        let output = world.run(&coloured);
        let shown = out(&output) + &error(&output);
        assert_eq!(acts(&shown), None, "{verb:?}: {shown:?}");
    }
}

#[test]
fn messages_are_stored_exactly() {
    let world = hostile();
    assert_eq!(world.texts()[0], EVIL);
    let raw = world.does(&["--json", "log"]);
    assert_eq!(acts(&raw), None, "JSON escapes them");
}

#[test]
fn the_line_conversation_shows_them_too() {
    let world = hostile();
    let config = world.config().display().to_string();
    let data = world.data().display().to_string();
    let variables = [("RETAKE_DATA_DIR", data.as_str()), ("RETAKE_CONFIG", config.as_str()), ("PAGER", "")];
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_retake"));
    let id = world.json(&["list", "--all"])["conversations"][0]["id"].as_str().expect("an id").to_owned();
    let pty = Pty::run(program, &["--plain", "-r", &id], &variables);
    pty.shows("␛]0;pwned␇");
    for command in ["/log", "/ops", "/search word", "/tree", "/rewind"] {
        pty.until("the prompt", |screen| screen.trim_end().ends_with("\n>"));
        pty.reads_keys();
        pty.send(format!("{command}\r"));
        pty.shows(command);
        if command == "/rewind" {
            pty.shows("number:");
            pty.reads_keys();
            pty.send("\r");
        }
    }
    pty.until("the prompt", |screen| screen.trim_end().ends_with("\n>"));
    for sequence in ["\u{1b}]0;pwned", "\u{1b}]52;", "\u{9b}31m", "\u{202e}"] {
        assert!(!pty.ever_printed(sequence), "{sequence:?}");
    }
}
