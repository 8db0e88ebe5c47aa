//! Actions on a selected message, each with its plan first. Must never apply anything that was not shown.

use super::{EMPTY, answers, open, says, three_turns};
use crate::live::model::{Model, shell, words};
use crate::live::tmux::Tmux;

/// Selects the message with this text.
fn selects(client: &Tmux, text: &str) {
    let marked = |screen: &str| -> String { screen.lines().filter(|line| line.contains('▌')).collect() };
    // An incomplete answer is no message yet.
    client.until("nothing runs", |screen| !screen.contains("Ctrl+C stops"));
    client.press("M-Up");
    let mut at = marked(
        &client.until("a selected message", |screen| screen.contains("y copy") && screen.contains('▌')),
    );
    while !at.contains(text) {
        client.press("Up");
        at = marked(&client.until("the one before", |screen| screen.contains('▌') && marked(screen) != at));
    }
}

#[test]
fn a_message_is_excluded_from_the_prompt_and_included_again() {
    let model = Model::start();
    let (_world, client) = three_turns(&model);
    selects(&client, "The third answer.");
    client.press("x");
    client.shows("Enter applies");
    client.press("Escape");
    // One level back: the message is still selected, and nothing has changed.
    let screen = client.until("the selection", |screen| {
        screen.contains("y copy") && screen.lines().any(|line| line.contains("▌The third answer."))
    });
    assert!(!screen.contains("[excluded]"), "{screen}");
    client.press("x");
    client.shows("Enter applies");
    answers(&client, "Enter", "[excluded]");
    model.then(vec![words("The fourth answer."), words("The fifth answer.")]);
    says(&client, "cherries please", "The fourth answer.");
    let told = serde_json::Value::from(model.asked_last()).to_string();
    assert!(told.contains("The second answer.") && !told.contains("The third answer."), "{told}");
    selects(&client, "The third answer.");
    client.press("x");
    client.shows("Enter applies");
    answers(&client, "Enter", "included");
    says(&client, "dates please", "The fifth answer.");
    let told = serde_json::Value::from(model.asked_last()).to_string();
    assert!(told.contains("The third answer."), "{told}");
}

#[test]
fn a_message_has_a_name_and_a_turn_is_dropped_with_its_file() {
    let model = Model::start();
    let (world, client) = three_turns(&model);
    selects(&client, "The third answer.");
    client.press("l");
    client.shows("label:");
    client.types("the best");
    client.press("Enter");
    client.shows("[label the best]");
    selects(&client, "pears please");
    client.press("d");
    client.until("the plan", |screen| screen.contains("Drop") && screen.contains("new.txt"));
    assert_eq!(world.read("new.txt").as_deref(), Some("made\n"), "not before it is agreed to");
    client.shows("Enter applies");
    answers(&client, "Enter", "dropped");
    let screen = client.until("what is left", |screen| !screen.contains("The second answer."));
    assert!(screen.contains("The first answer.") && screen.contains("The third answer."), "{screen}");
    assert_eq!(world.read("new.txt"), None, "its file went along");
    client.press("M-u");
    client.shows("Enter applies");
    answers(&client, "Enter", "undid");
    client.shows("The second answer.");
    assert_eq!(world.read("new.txt").as_deref(), Some("made\n"));
}

#[test]
fn a_message_is_edited_and_answered_again() {
    let model = Model::start();
    let (world, client) = three_turns(&model);
    selects(&client, "plums please");
    client.press("e");
    client.until("the plan", |screen| screen.contains("Edit") && screen.contains("to edit: "));
    answers(&client, "Enter", "editing t");
    client.types(" now");
    client.shows("plums please now");
    model.then(vec![words("The answer after the edit."), words("Quite another answer.")]);
    client.press("Enter");
    client.until("the new answer", |screen| {
        screen.contains("The answer after the edit.") && !screen.contains("The third answer.")
    });
    client.shows(EMPTY);
    let told = serde_json::Value::from(model.asked_last()).to_string();
    assert!(told.contains("plums please now") && !told.contains("The third answer."), "{told}");
    selects(&client, "The answer after the edit.");
    client.press("r");
    client.shows("Retry");
    answers(&client, "Enter", "Quite another answer.");
    client.shows("[alternative 2 of 2]");
    // And back to the first one, with the key of alternatives.
    selects(&client, "Quite another answer.");
    client.press("a");
    client.until("both answers", |screen| screen.contains("Other answers") && screen.contains("❯ ● 2"));
    client.press("Up");
    client.press("Enter");
    client.until("the plan", |screen| screen.contains("Choose") && screen.contains("Enter applies"));
    answers(&client, "Enter", "[alternative 1 of 2]");
    assert!(world.texts().iter().any(|text| text == "The answer after the edit."));
}

#[test]
fn the_tail_of_long_output_is_shown_while_the_command_runs() {
    let model = Model::start();
    let world = model.world(&[]);
    model.then(vec![shell("seq 1 200000; sleep 60")]);
    let client = open(&world);
    client.types("/permissions allow-all");
    client.press("Enter");
    client.shows("mode ");
    client.types("count");
    client.press("Enter");
    client.until("its end", |screen| {
        screen.lines().any(|line| line.trim() == "200000") && screen.contains("Ctrl+C stops")
    });
    client.press("C-c");
    client.until("nothing runs", |screen| !screen.contains("Ctrl+C stops"));
}
