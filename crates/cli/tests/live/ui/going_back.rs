//! Typed `/undo N`, `/redo` and restores. Must never go further than announced.

use super::{EMPTY, answers, three_turns};
use crate::live::model::Model;

#[test]
fn several_turns_are_undone_and_redone_at_once() {
    let model = Model::start();
    let (world, client) = three_turns(&model);
    client.types("/undo 2");
    client.press("Enter");
    client.until("the plan", |screen| screen.contains("Undo") && screen.contains("new.txt"));
    client.shows("Enter applies");
    assert_eq!(world.read("new.txt").as_deref(), Some("made\n"), "not before it is agreed to");
    answers(&client, "Enter", "undid");
    let screen = client.until("the words of the earlier one", |screen| {
        screen.contains("› pears please") && !screen.contains("The second answer.")
    });
    assert!(screen.contains("The first answer."), "{screen}");
    assert_eq!(world.read("new.txt"), None);
    client.press("C-u");
    client.shows(EMPTY);
    client.types("/redo");
    client.press("Enter");
    client.shows("Redo");
    client.shows("Enter applies");
    answers(&client, "Enter", "redid");
    let screen = client.shows("The second answer.");
    assert!(!screen.contains("The third answer."), "one step: {screen}");
    assert_eq!(world.read("new.txt").as_deref(), Some("made\n"));
    client.types("/redo 5");
    client.press("Enter");
    client.until("what is there", |screen| screen.contains("Redo"));
    client.press("Escape");
    client.hides("Redo");
    client.shows("The second answer.");
    client.types("/undo some");
    client.press("Enter");
    client.shows("is not a number of steps");
    assert_eq!(world.texts().iter().filter(|text| text.contains("answer")).count(), 2);
}

#[test]
fn several_steps_are_refused_if_a_file_has_changed_since_the_plan() {
    let model = Model::start();
    let (world, client) = three_turns(&model);
    client.types("/undo 2");
    client.press("Enter");
    client.until("the plan", |screen| screen.contains("deletes 1 file") && screen.contains("Enter applies"));
    world.write("new.txt", "by hand\n");
    client.press("Enter");
    client.shows("something has changed, and nothing was done");
    client.shows("can't decide about 1 file");
    assert_eq!(world.read("new.txt").as_deref(), Some("by hand\n"));
    assert!(world.texts().iter().any(|text| text == "The third answer."));
}
