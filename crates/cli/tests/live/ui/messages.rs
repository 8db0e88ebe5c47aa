//! What can be done to a selected message, each with its plan first. Must never apply what was not shown.

use super::{EMPTY, answers, opened, says, three_turns};
use crate::live::model::{Model, shell, words};
use crate::live::tmux::Tmux;

/// Selects the message with these words.
fn selects(face: &Tmux, text: &str) {
    let marked = |screen: &str| -> String { screen.lines().filter(|line| line.contains('▌')).collect() };
    // What is still being said is no message yet.
    face.until("nothing runs", |screen| !screen.contains("Ctrl+C stops"));
    face.press("M-Up");
    let mut at =
        marked(&face.until("a selected message", |screen| screen.contains("y copy") && screen.contains('▌')));
    while !at.contains(text) {
        face.press("Up");
        at = marked(&face.until("the one before", |screen| screen.contains('▌') && marked(screen) != at));
    }
}

#[test]
fn a_message_is_excluded_from_the_prompt_and_included_again() {
    let model = Model::start();
    let (_world, face) = three_turns(&model);
    selects(&face, "The third answer.");
    face.press("x");
    face.shows("Enter applies");
    face.press("Escape");
    // One level back: the message is still selected, and nothing has changed.
    let screen = face.until("the selection", |screen| {
        screen.contains("y copy") && screen.lines().any(|line| line.contains("▌The third answer."))
    });
    assert!(!screen.contains("[excluded]"), "{screen}");
    face.press("x");
    face.shows("Enter applies");
    answers(&face, "Enter", "[excluded]");
    model.then(vec![words("The fourth answer."), words("The fifth answer.")]);
    says(&face, "cherries please", "The fourth answer.");
    let told = serde_json::Value::from(model.asked_last()).to_string();
    assert!(told.contains("The second answer.") && !told.contains("The third answer."), "{told}");
    selects(&face, "The third answer.");
    face.press("x");
    face.shows("Enter applies");
    answers(&face, "Enter", "included");
    says(&face, "dates please", "The fifth answer.");
    let told = serde_json::Value::from(model.asked_last()).to_string();
    assert!(told.contains("The third answer."), "{told}");
}

#[test]
fn a_message_has_a_name_and_a_turn_is_dropped_with_its_file() {
    let model = Model::start();
    let (world, face) = three_turns(&model);
    selects(&face, "The third answer.");
    face.press("l");
    face.shows("label:");
    face.types("the best");
    face.press("Enter");
    face.shows("[label the best]");
    selects(&face, "pears please");
    face.press("d");
    face.until("the plan", |screen| screen.contains("Drop") && screen.contains("new.txt"));
    assert_eq!(world.read("new.txt").as_deref(), Some("made\n"), "not before it is agreed to");
    face.shows("Enter applies");
    answers(&face, "Enter", "dropped");
    let screen = face.until("what is left", |screen| !screen.contains("The second answer."));
    assert!(screen.contains("The first answer.") && screen.contains("The third answer."), "{screen}");
    assert_eq!(world.read("new.txt"), None, "its file went along");
    face.press("M-u");
    face.shows("Enter applies");
    answers(&face, "Enter", "undone");
    face.shows("The second answer.");
    assert_eq!(world.read("new.txt").as_deref(), Some("made\n"));
}

#[test]
fn a_message_is_edited_and_answered_again() {
    let model = Model::start();
    let (world, face) = three_turns(&model);
    selects(&face, "plums please");
    face.press("e");
    face.until("the plan", |screen| screen.contains("Edit") && screen.contains("to edit: "));
    answers(&face, "Enter", "editing t");
    face.types(" now");
    face.shows("plums please now");
    model.then(vec![words("The answer after the edit."), words("Quite another answer.")]);
    face.press("Enter");
    face.until("the new answer", |screen| {
        screen.contains("The answer after the edit.") && !screen.contains("The third answer.")
    });
    face.shows(EMPTY);
    let told = serde_json::Value::from(model.asked_last()).to_string();
    assert!(told.contains("plums please now") && !told.contains("The third answer."), "{told}");
    selects(&face, "The answer after the edit.");
    face.press("r");
    face.shows("Retry");
    answers(&face, "Enter", "Quite another answer.");
    face.shows("[alternative 2 of 2]");
    // And back to the first one, by the key of alternatives.
    selects(&face, "Quite another answer.");
    face.press("a");
    face.shows("Other answers");
    face.press("Up");
    face.press("Enter");
    face.until("the plan", |screen| screen.contains("Choose") && screen.contains("Enter applies"));
    answers(&face, "Enter", "[alternative 1 of 2]");
    assert!(world.texts().iter().any(|text| text == "The answer after the edit."));
}

#[test]
fn the_tail_of_long_output_is_shown_while_the_command_runs() {
    let model = Model::start();
    let (_world, face) = opened(&model, vec![shell("seq 1 200000; sleep 60")]);
    face.types("/permissions allow-all");
    face.press("Enter");
    face.shows("allow-all");
    face.types("count");
    face.press("Enter");
    face.until("its end", |screen| {
        screen.lines().any(|line| line.trim() == "200000") && screen.contains("Ctrl+C stops")
    });
    face.press("C-c");
    face.shows(EMPTY);
}
