//! Requests of the agent in a real terminal, with and without typing. Must never approve by another key than a person would press
//! for it.

use serde_json::json;

use super::{answered, answers, open, opened};
use crate::live::harness::World;
use crate::live::model::{Answer, Model, call, words};
use crate::live::tmux::Tmux;

fn write(content: &str) -> Answer {
    call("write", json!({"path": "n.txt", "content": content}))
}

/// With an approval request to write a file.
fn asked(model: &Model, answers: Vec<Answer>) -> (World, Tmux) {
    let (world, client) = opened(model, answers);
    client.types("write it");
    client.press("Enter");
    client.shows("+one");
    (world, client)
}

#[test]
fn approvals_are_answered_by_keys_or_words() {
    let model = Model::start();
    let (world, client) =
        asked(&model, vec![write("one\n"), words("Written."), write("two\n"), words("As you wish.")]);
    client.shows("allow writing every file in this folder, for this conversation");
    assert_eq!(world.read("n.txt"), None);
    answers(&client, "y", "Written.");
    answered(&client, "Written.");
    assert_eq!(world.read("n.txt").as_deref(), Some("one\n"));
    client.types("again");
    client.press("Enter");
    client.shows("+two");
    client.types("not that file");
    client.shows("Enter refuses with this");
    answers(&client, "Enter", "As you wish.");
    assert_eq!(world.read("n.txt").as_deref(), Some("one\n"), "words are a no");
    let told = model.asked_last();
    assert!(
        told.iter().any(|message| message.to_string().contains("not that file")),
        "and the model reads them"
    );
}

#[test]
fn text_typed_when_a_question_appears_stays_whole_and_other_keys_answer() {
    let model = Model::start();
    let (world, client) = asked(&model, vec![write("one\n"), words("Written.")]);
    // Each of these letters alone would be an answer, or begin one.
    client.types("yes, can any of");
    client.types(" you also try?");
    client.shows("› yes, can any of you also try?");
    client.shows("Alt+Y allows · Alt+N refuses · Enter refuses with this");
    assert_eq!(world.read("n.txt"), None);
    answers(&client, "M-y", "Written.");
    assert_eq!(world.read("n.txt").as_deref(), Some("one\n"));
    let screen = client.shows("› yes, can any of you also try?");
    assert!(!screen.contains("may it run?"), "{screen}");
    assert_eq!(model.asked().len(), 2, "nothing was sent");
}

/// The end of a long line is approved, too, so it must be shown.
#[test]
fn an_approval_shows_a_long_command_completely() {
    let model = Model::start();
    let world = model.world(&[]);
    let long = format!("echo {}; echo {}; rm -rf d; echo ok", "a".repeat(90), "b".repeat(90));
    model.then(vec![call("shell", json!({"command": long})), words("Refused.")]);
    let client = open(&world);
    client.types("do it");
    client.press("Enter");
    let screen = client
        .until("the question", |screen| screen.contains("may it run?") && screen.contains("n Enter  refuse"));
    let all = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(all.contains(&format!("$ {long} · may it run?")), "{screen}");
    // Several commands have no common narrow rule: no key gives one for every command at once.
    assert!(
        screen.contains("w Enter  wider: every command") && !screen.contains("c Enter  allow"),
        "{screen}"
    );
}
