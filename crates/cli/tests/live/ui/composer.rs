//! Typing in a real terminal: the person's own editor, pastes, undo, completion. Must never send anything without
//! Enter.

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
    let client = open(&world);
    client.types("some words");
    client.shows("some words");
    client.press("C-g");
    client.until("what was written", |screen| {
        screen.contains("some words and more") && screen.contains("in a second line")
    });
    assert!(client.is_full_screen());
    // Keys are read as before, and nothing of the editor is left.
    client.types("!");
    let screen = client.shows("in a second line!");
    assert!(!screen.contains("in the editor"), "{screen}");
    assert!(model.asked().is_empty());
    // Commands of the agent can write in the folder for temporary files, and not where the text was.
    let file = std::fs::read_to_string(world.home().join("where")).expect("written");
    assert!(std::path::Path::new(&file).starts_with(world.data()), "{file}");
    assert!(!std::path::Path::new(&file).exists(), "{file}");
}

#[test]
fn an_editor_that_fails_leaves_the_words() {
    let model = Model::start();
    let world = model.world(&[]).with("VISUAL", "false");
    let client = open(&world);
    client.types("some words");
    client.shows("some words");
    client.press("C-g");
    let screen = client.shows("failed: your text has not changed");
    assert!(screen.contains("some words"), "{screen}");
}

#[test]
fn a_long_paste_is_folded_and_sent_in_full() {
    let model = Model::start();
    let (_world, client) = opened(&model, vec![words("So many lines.")]);
    let long: Vec<String> = (1..=300).map(|number| format!("line {number}")).collect();
    // Both may arrive in one piece.
    client.types("look: ");
    client.pastes(&long.join("\n"));
    let screen = client.shows("300 lines]");
    assert!(screen.contains("look: [pasted") && !screen.contains("line 7"), "{screen}");
    assert!(model.asked().is_empty(), "a pasted line break sends nothing");
    client.press("Enter");
    client.shows("So many lines.");
    let told = serde_json::Value::from(model.asked_last()).to_string();
    assert!(told.contains("line 1\\nline 2") && told.contains("line 300"), "{told}");
}

#[test]
fn typing_is_undone_and_redone_and_earlier_prompts_are_recalled() {
    let model = Model::start();
    let (_world, client) = opened(&model, vec![words("Hello.")]);
    says(&client, "first words", "Hello.");
    client.types("one two three");
    client.shows("› one two three");
    client.press("M-z");
    client.until("less", |screen| !screen.contains("one two three"));
    client.press("M-Z");
    client.shows("› one two three");
    client.press("C-u");
    client.shows(EMPTY);
    client.press("M-z");
    client.shows("› one two three");
    client.press("C-u");
    client.shows(EMPTY);
    client.press("Up");
    client.shows("› first words");
    client.press("Down");
    client.shows(EMPTY);
}

#[test]
fn paths_and_commands_are_completed() {
    let model = Model::start();
    let world = model.world(&[("notes.txt", "buy milk\n"), ("northern lights.md", "\n")]);
    let client = open(&world);
    client.types("look at @note");
    client.until("the path", |screen| screen.lines().any(|line| line.trim() == "❯ notes.txt"));
    client.press("Tab");
    client.until("it is written", |screen| screen.contains("› look at @notes.txt"));
    client.press("C-u");
    client.shows(EMPTY);
    client.types("/perm");
    client.shows("What the agent may do unasked");
    client.press("Tab");
    client.shows("› /permissions ");
    client.press("C-u");
    client.shows(EMPTY);
    // Enter picks the completion, and a second one runs it.
    client.types("/hel");
    client.shows("Show keys and commands");
    client.press("Tab");
    client.shows("› /help");
    client.press("Enter");
    client.shows("Keys and commands");
}

#[test]
fn other_sizes_while_an_answer_comes_lose_nothing() {
    let model = Model::start();
    let (world, client) = opened(&model, vec![words("Before it."), half("And now I count: one two three ")]);
    says(&client, "hello", "Before it.");
    client.types("go on");
    client.press("Enter");
    client.shows("one two three");
    client.types("meanwhile");
    client.shows("meanwhile");
    for (columns, rows) in [(24, 8), (160, 40), (50, 10), (100, 30)] {
        client.resize(columns, rows);
        let screen = client.until("words in the composer, and the answer", |screen| {
            let lines: Vec<_> = screen.lines().collect();
            lines.len() == usize::from(rows)
                && lines.iter().rev().take(3).any(|line| line.contains("› meanwhile"))
                && screen.contains("three")
        });
        assert!(screen.lines().all(|line| line.chars().count() <= usize::from(columns)), "{screen}");
    }
    let screen = client.shows("one two three");
    assert!(screen.contains("Before it.") && screen.contains("hello"), "{screen}");
    // The model never ends this answer, and its owner waits for it.
    world.does(&["stop"]);
}

#[test]
fn keys_with_alt_are_keys_however_the_terminal_sends_them() {
    let model = Model::start();
    let (_world, client) = opened(&model, vec![words("Hello.")]);
    says(&client, "hello", "Hello.");
    for sent in ["\x1b\x1b[A", "\x1b[1;3A"] {
        client.sends(sent);
        let screen = client.shows("y copy");
        assert!(screen.contains("› a message is selected"), "nothing of it is typed: {screen}");
        client.press("Escape");
        client.shows(EMPTY);
    }
}

#[test]
fn emoji_of_several_code_points_leave_no_artefacts_on_the_screen() {
    let model = Model::start();
    let (_world, client) = opened(&model, vec![words("From 🇩🇪🇫🇷 with 👩‍👩‍👧 and ❤️ it ends.")]);
    let before = client.shows("in the settings answers");
    client.types("🇩🇪👩‍👩‍👧👍🏽❤️1️⃣");
    let typed = |screen: &str| screen.contains("› DE") && screen.contains("1");
    client.until("what was typed", typed);
    for _ in 0..5 {
        client.press("BSpace");
    }
    client.until("the screen as it was", |screen| screen == before);
    // The sent text is the typed text.
    says(&client, "🇩🇪 for the 👩‍👩‍👧", "it ends.");
    let screen = client.shows("From DEFR with 👩 and ❤  it ends.");
    assert!(screen.contains("┃ DE for the 👩"), "{screen}");
    assert!(model.asked_last().iter().any(|said| said["content"] == "🇩🇪 for the 👩‍👩‍👧"));
}
