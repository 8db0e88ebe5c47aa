//! Other words in the place of a message, and a rewind in a small window. Must never take back what was not said before.

use super::{EMPTY, answers, three_turns};
use crate::live::model::{Model, words};

#[test]
fn a_sent_edit_reports_what_it_reverted_and_is_undone_in_two_steps() {
    let model = Model::start();
    let (world, face) = three_turns(&model);
    model.then(vec![words("Another answer.")]);
    face.types("/edit t1");
    face.press("Enter");
    face.until("the plan", |screen| screen.contains("new.txt") && screen.contains("to edit: "));
    face.shows("edits its words");
    face.press("Enter");
    face.shows("editing t1: sending takes back 3 turns, 1 file");
    assert_eq!(world.read("new.txt").as_deref(), Some("made\n"), "not before it is sent");
    face.types(" today");
    face.shows("apples please today");
    face.press("Enter");
    let screen = face.until("what was done", |screen| {
        screen.contains("Another answer.") && screen.contains(EMPTY) && !screen.contains("Ctrl+C stops")
    });
    for said in
        ["edited: ", "(3 turns, 1 tool call) taken back", "files: 1 deleted", "or /undo brings them back"]
    {
        assert!(screen.contains(said), "{said}: {screen}");
    }
    assert!(!screen.contains("editing t1"), "{screen}");
    assert_eq!(world.read("new.txt"), None, "the file went along");
    // One step: the new words go, and the old ones come back with their files.
    face.press("M-u");
    face.until("the plan", |screen| screen.contains("new.txt") && screen.contains("Enter applies"));
    answers(&face, "Enter", "The third answer.");
    face.until("its file", |_| world.read("new.txt").as_deref() == Some("made\n"));
}

#[test]
fn an_edit_is_given_up_by_escape() {
    let model = Model::start();
    let (world, face) = three_turns(&model);
    face.types("/edit t2");
    face.press("Enter");
    face.until("the plan", |screen| screen.contains("Edit") && screen.contains("to edit: "));
    face.press("Enter");
    face.shows("editing t2: sending takes back 2 turns, 1 file");
    face.press("Escape");
    face.hides("editing t2");
    face.shows(EMPTY);
    assert_eq!(world.read("new.txt").as_deref(), Some("made\n"));
}

#[test]
fn a_rewind_is_confirmed_in_a_small_window() {
    let model = Model::start();
    for (columns, rows) in [(40, 10), (30, 8)] {
        let (world, face) = three_turns(&model);
        face.resize(columns, rows);
        face.press("C-r");
        face.until("the turns", |screen| screen.contains("Rewind") && screen.contains("▸ t3"));
        face.press("Down");
        face.shows("▸ t2");
        face.press("Enter");
        let screen = face.until("the question", |screen| screen.contains("Enter applies"));
        assert!(screen.contains("takes back") && screen.contains("2 turns"), "{screen}");
        assert!(screen.contains("deleted") || screen.contains("1 file"), "{screen}");
        assert_eq!(world.read("new.txt").as_deref(), Some("made\n"), "not before it is agreed to");
        face.press("Enter");
        face.until("the words", |screen| screen.contains("› pears please"));
        face.until("the file, gone", |_| world.read("new.txt").is_none());
    }
}
