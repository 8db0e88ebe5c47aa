//! Questions of the agent in a real terminal, while one types and while one does not. Must never give leave by another key than one that
//! a person would press for it.

use serde_json::json;

use super::{answered, answers, open, opened};
use crate::live::harness::World;
use crate::live::model::{Answer, Model, call, words};
use crate::live::tmux::Tmux;

fn write(content: &str) -> Answer {
    call("write", json!({"path": "n.txt", "content": content}))
}

/// Asked whether a file may be written.
fn asked(model: &Model, answers: Vec<Answer>) -> (World, Tmux) {
    let (world, face) = opened(model, answers);
    face.types("write it");
    face.press("Enter");
    face.shows("+one");
    (world, face)
}

#[test]
fn approvals_are_answered_by_keys_or_words() {
    let model = Model::start();
    let (world, face) =
        asked(&model, vec![write("one\n"), words("Written."), write("two\n"), words("As you wish.")]);
    face.shows("allow writing every file in this folder, for this conversation");
    assert_eq!(world.read("n.txt"), None);
    answers(&face, "y", "Written.");
    answered(&face, "Written.");
    assert_eq!(world.read("n.txt").as_deref(), Some("one\n"));
    face.types("again");
    face.press("Enter");
    face.shows("+two");
    answers(&face, "n", "no, because");
    face.types("not that file");
    face.press("Enter");
    face.shows("As you wish.");
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
    let (world, face) = asked(&model, vec![write("one\n"), words("Written.")]);
    // Each of these letters alone would be an answer, or begin one.
    face.types("yes, can any of");
    face.types(" you also try?");
    face.shows("› yes, can any of you also try?");
    face.shows("Alt+Y allows · Alt+N says no · Enter refuses with this");
    assert_eq!(world.read("n.txt"), None);
    answers(&face, "M-y", "Written.");
    assert_eq!(world.read("n.txt").as_deref(), Some("one\n"));
    let screen = face.shows("› yes, can any of you also try?");
    assert!(!screen.contains("may it run?"), "{screen}");
    assert_eq!(model.asked().len(), 2, "nothing was sent");
}

/// What stands at the end of a long line is what is agreed to, too.
#[test]
fn an_approval_shows_a_long_command_completely() {
    let model = Model::start();
    let world = model.world(&[]);
    let long = format!("echo {}; echo {}; rm -rf d; echo ok", "a".repeat(90), "b".repeat(90));
    model.then(vec![call("shell", json!({"command": long})), words("Refused.")]);
    let face = open(&world);
    face.types("do it");
    face.press("Enter");
    let screen =
        face.until("the question", |screen| screen.contains("may it run?") && screen.contains("n   refuse"));
    let all = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(all.contains(&format!("$ {long} · may it run?")), "{screen}");
    // Several commands have no narrow rule together: no key gives one for every command at once.
    assert!(screen.contains("w   wider: every command") && !screen.contains("c   allow"), "{screen}");
}
