//! Editing a message, and a rewind in a small window. Must never take back anything that was not announced.

use super::{EMPTY, answers, three_turns};
use crate::live::model::{Model, words};

#[test]
fn a_sent_edit_reports_what_it_reverted_and_is_undone_in_two_steps() {
    let model = Model::start();
    let (world, client) = three_turns(&model);
    model.then(vec![words("Another answer.")]);
    client.types("/edit t1");
    client.press("Enter");
    client.until("the plan", |screen| screen.contains("new.txt") && screen.contains("to edit: "));
    client.shows("edits its words");
    client.press("Enter");
    client.shows("editing t1: sending takes back 3 turns, 1 file");
    assert_eq!(world.read("new.txt").as_deref(), Some("made\n"), "not before it is sent");
    client.types(" today");
    client.shows("apples please today");
    client.press("Enter");
    let screen = client.until("what was done", |screen| {
        screen.contains("Another answer.") && screen.contains(EMPTY) && !screen.contains("Ctrl+C stops")
    });
    for said in
        ["edited: ", "(3 turns, 1 tool call) taken back", "files: 1 deleted", "or /undo brings them back"]
    {
        assert!(screen.contains(said), "{said}: {screen}");
    }
    assert!(!screen.contains("editing t1"), "{screen}");
    assert_eq!(world.read("new.txt"), None, "the file went along");
    // One step: the new message goes, and the old one comes back with its files.
    client.press("M-u");
    client.until("the plan", |screen| screen.contains("new.txt") && screen.contains("Enter applies"));
    answers(&client, "Enter", "The third answer.");
    client.until("its file", |_| world.read("new.txt").as_deref() == Some("made\n"));
}

#[test]
fn an_edit_is_given_up_by_escape() {
    let model = Model::start();
    let (world, client) = three_turns(&model);
    client.types("/edit t2");
    client.press("Enter");
    client.until("the plan", |screen| screen.contains("Edit") && screen.contains("to edit: "));
    client.press("Enter");
    client.shows("editing t2: sending takes back 2 turns, 1 file");
    client.press("Escape");
    client.hides("editing t2");
    client.shows(EMPTY);
    assert_eq!(world.read("new.txt").as_deref(), Some("made\n"));
}

#[test]
fn a_rewind_is_confirmed_in_a_small_window() {
    let model = Model::start();
    for (columns, rows) in [(40, 10), (30, 8)] {
        let (world, client) = three_turns(&model);
        client.resize(columns, rows);
        client.press("C-r");
        client.until("the turns", |screen| screen.contains("Rewind") && screen.contains("❯ t3"));
        client.press("Down");
        client.shows("❯ t2");
        client.press("Enter");
        let screen = client.until("the question", |screen| screen.contains("Enter applies"));
        assert!(screen.contains("takes back") && screen.contains("2 turns"), "{screen}");
        assert!(screen.contains("deleted") || screen.contains("1 file"), "{screen}");
        assert_eq!(world.read("new.txt").as_deref(), Some("made\n"), "not before it is agreed to");
        client.press("Enter");
        client.until("the words", |screen| screen.contains("› pears please"));
        client.until("the file, gone", |_| world.read("new.txt").is_none());
    }
}
