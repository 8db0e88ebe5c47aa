//! Typing in a real terminal: the person's own editor, pastes, undo, completion. Must never send what was not sent.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use super::{EMPTY, open, opened, says};
use crate::live::model::{Model, half, words};

#[test]
fn a_message_is_written_in_the_persons_editor() {
    let model = Model::start();
    let world = model.world(&[]);
    let editor = world.home().join("editor");
    std::fs::write(
        &editor,
        "#!/bin/sh\necho in the editor\nprintf %s \"$1\" > \"$HOME/where\"\nprintf ' and more\\nin a second line' >> \"$1\"\n",
    )
    .expect("written");
    std::fs::set_permissions(&editor, Permissions::from_mode(0o755)).expect("executable");
    let world = world.with("VISUAL", &editor.display().to_string());
    let face = open(&world);
    face.types("some words");
    face.shows("some words");
    face.press("C-g");
    face.until("what was written", |screen| {
        screen.contains("some words and more") && screen.contains("in a second line")
    });
    assert!(face.is_full_screen());
    // Keys are read as before, and nothing of the editor is left.
    face.types("!");
    let screen = face.shows("in a second line!");
    assert!(!screen.contains("in the editor"), "{screen}");
    assert!(model.asked().is_empty());
    // Commands of the agent write in the folder for temporary files, and not where the words were.
    let file = std::fs::read_to_string(world.home().join("where")).expect("written");
    assert!(std::path::Path::new(&file).starts_with(world.data()), "{file}");
    assert!(!std::path::Path::new(&file).exists(), "{file}");
}

#[test]
fn an_editor_that_fails_leaves_the_words() {
    let model = Model::start();
    let world = model.world(&[]).with("VISUAL", "false");
    let face = open(&world);
    face.types("some words");
    face.shows("some words");
    face.press("C-g");
    let screen = face.shows("failed: your text has not changed");
    assert!(screen.contains("some words"), "{screen}");
}

#[test]
fn a_long_paste_is_folded_and_sent_in_full() {
    let model = Model::start();
    let (_world, face) = opened(&model, vec![words("So many lines.")]);
    let long: Vec<String> = (1..=300).map(|number| format!("line {number}")).collect();
    // Both may come in one piece.
    face.types("look: ");
    face.pastes(&long.join("\n"));
    let screen = face.shows("300 lines]");
    assert!(screen.contains("look: [pasted") && !screen.contains("line 7"), "{screen}");
    assert!(model.asked().is_empty(), "a pasted line break sends nothing");
    face.press("Enter");
    face.shows("So many lines.");
    let told = serde_json::Value::from(model.asked_last()).to_string();
    assert!(told.contains("line 1\\nline 2") && told.contains("line 300"), "{told}");
}

#[test]
fn typing_is_undone_and_redone_and_earlier_prompts_are_recalled() {
    let model = Model::start();
    let (_world, face) = opened(&model, vec![words("Hello.")]);
    says(&face, "first words", "Hello.");
    face.types("one two three");
    face.shows("› one two three");
    face.press("M-z");
    face.until("less", |screen| !screen.contains("one two three"));
    face.press("M-Z");
    face.shows("› one two three");
    face.press("C-u");
    face.shows(EMPTY);
    face.press("M-z");
    face.shows("› one two three");
    face.press("C-u");
    face.shows(EMPTY);
    face.press("Up");
    face.shows("› first words");
    face.press("Down");
    face.shows(EMPTY);
}

#[test]
fn paths_and_commands_are_completed() {
    let model = Model::start();
    let world = model.world(&[("notes.txt", "buy milk\n"), ("northern lights.md", "\n")]);
    let face = open(&world);
    face.types("look at @note");
    face.until("the path", |screen| screen.lines().any(|line| line.trim() == "› notes.txt"));
    face.press("Tab");
    face.until("it is written", |screen| screen.contains("› look at @notes.txt"));
    face.press("C-u");
    face.shows(EMPTY);
    face.types("/perm");
    face.shows("What the agent may do unasked");
    face.press("Tab");
    face.shows("› /permissions ");
    face.press("C-u");
    face.shows(EMPTY);
    // Enter takes what is offered, and a second one does it.
    face.types("/hel");
    face.shows("Show keys and commands");
    face.press("Tab");
    face.shows("› /help");
    face.press("Enter");
    face.shows("Keys and commands");
}

#[test]
fn other_sizes_while_an_answer_comes_lose_nothing() {
    let model = Model::start();
    let (world, face) = opened(&model, vec![words("Before it."), half("And now I count: one two three ")]);
    says(&face, "hello", "Before it.");
    face.types("go on");
    face.press("Enter");
    face.shows("one two three");
    face.types("meanwhile");
    face.shows("meanwhile");
    for (columns, rows) in [(24, 8), (160, 40), (50, 10), (100, 30)] {
        face.resize(columns, rows);
        let screen = face.until("words in the composer, and the answer", |screen| {
            let lines: Vec<_> = screen.lines().collect();
            lines.len() == usize::from(rows)
                && lines.iter().rev().take(3).any(|line| line.contains("› meanwhile"))
                && screen.contains("three")
        });
        assert!(screen.lines().all(|line| line.chars().count() <= usize::from(columns)), "{screen}");
    }
    let screen = face.shows("one two three");
    assert!(screen.contains("Before it.") && screen.contains("hello"), "{screen}");
    // The model never ends this answer, and its owner waits for it.
    world.does(&["stop"]);
}

#[test]
fn keys_with_alt_are_keys_however_the_terminal_sends_them() {
    let model = Model::start();
    let (_world, face) = opened(&model, vec![words("Hello.")]);
    says(&face, "hello", "Hello.");
    for sent in ["\x1b\x1b[A", "\x1b[1;3A"] {
        face.sends(sent);
        let screen = face.shows("y copy");
        assert!(screen.contains("› a message is selected"), "nothing of it is typed: {screen}");
        face.press("Escape");
        face.shows(EMPTY);
    }
}

#[test]
fn emoji_of_several_code_points_leave_no_artefacts_on_the_screen() {
    let model = Model::start();
    let (_world, face) = opened(&model, vec![words("From 🇩🇪🇫🇷 with 👩‍👩‍👧 and ❤️ it ends.")]);
    let before = face.shows("in the settings answers");
    face.types("🇩🇪👩‍👩‍👧👍🏽❤️1️⃣");
    let typed = |screen: &str| screen.contains("› DE") && screen.contains("1");
    face.until("what was typed", typed);
    for _ in 0..5 {
        face.press("BSpace");
    }
    face.until("the screen as it was", |screen| screen == before);
    // What is sent is what was typed.
    says(&face, "🇩🇪 for the 👩‍👩‍👧", "it ends.");
    let screen = face.shows("From DEFR with 👩 and ❤  it ends.");
    assert!(screen.contains("> DE for the 👩"), "{screen}");
    assert!(model.asked_last().iter().any(|said| said["content"] == "🇩🇪 for the 👩‍👩‍👧"));
}
