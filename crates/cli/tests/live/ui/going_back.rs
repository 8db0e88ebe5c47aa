//! `/undo N`, `/redo` and restores as they are typed. Must never go further than was said.

use super::{EMPTY, answers, three_turns};
use crate::live::model::Model;

#[test]
fn several_turns_are_undone_and_redone_at_once() {
    let model = Model::start();
    let (world, face) = three_turns(&model);
    face.types("/undo 2");
    face.press("Enter");
    face.until("the plan", |screen| screen.contains("Undo") && screen.contains("new.txt"));
    face.shows("Enter applies");
    assert_eq!(world.read("new.txt").as_deref(), Some("made\n"), "not before it is agreed to");
    answers(&face, "Enter", "undone");
    let screen = face.until("the words of the earlier one", |screen| {
        screen.contains("› pears please") && !screen.contains("The second answer.")
    });
    assert!(screen.contains("The first answer."), "{screen}");
    assert_eq!(world.read("new.txt"), None);
    face.press("C-u");
    face.shows(EMPTY);
    face.types("/redo");
    face.press("Enter");
    face.shows("Redo");
    face.shows("Enter applies");
    answers(&face, "Enter", "redone");
    let screen = face.shows("The second answer.");
    assert!(!screen.contains("The third answer."), "one step: {screen}");
    assert_eq!(world.read("new.txt").as_deref(), Some("made\n"));
    face.types("/redo 5");
    face.press("Enter");
    face.until("what is there", |screen| screen.contains("Redo"));
    face.press("Escape");
    face.hides("Redo");
    face.shows("The second answer.");
    face.types("/undo some");
    face.press("Enter");
    face.shows("is not how many");
    assert_eq!(world.texts().iter().filter(|text| text.contains("answer")).count(), 2);
}

#[test]
fn several_steps_are_refused_if_a_file_has_changed_since_the_plan() {
    let model = Model::start();
    let (world, face) = three_turns(&model);
    face.types("/undo 2");
    face.press("Enter");
    face.until("the plan", |screen| screen.contains("deletes 1 file") && screen.contains("Enter applies"));
    world.write("new.txt", "by hand\n");
    face.press("Enter");
    face.shows("it has changed meanwhile, and nothing was done");
    face.shows("can't decide about 1 file");
    assert_eq!(world.read("new.txt").as_deref(), Some("by hand\n"));
    assert!(world.texts().iter().any(|text| text == "The third answer."));
}
