//! The full-screen face in a real terminal, with a real owner and a model whose words the test has written: what a person types,
//! and what the screen shows then. Must never look into the program in another way than a person does.

mod asked;
mod colours;
mod composer;
mod drafts;
mod editing;
mod given_back;
mod going_back;
mod history;
mod leaving;
mod lists;
mod messages;
mod mouse;
mod plans;
mod stopped;
mod tabs;
mod told;

use super::harness::{World, signal, until};
use super::model::{Answer, Model, call, half, words};
use super::tmux::Tmux;
use rustix::process::Signal;
use serde_json::json;

/// What the composer says when it is empty.
const EMPTY: &str = "Say something";

/// What the picker is called.
const PICKER: &str = "Rewind: go back to before a message";

/// The face of this world, where nothing is said and nothing typed.
fn open(world: &World) -> Tmux {
    let face = Tmux::face(world, "");
    face.shows(EMPTY);
    face
}

/// A world without files whose model gives these answers, and its face.
fn opened(model: &Model, answers: Vec<Answer>) -> (World, Tmux) {
    let world = model.world(&[]);
    model.then(answers);
    let face = open(&world);
    (world, face)
}

/// Says something, and waits until the answer is stored and nothing runs.
fn says(face: &Tmux, text: &str, answer: &str) {
    face.types(text);
    face.press("Enter");
    answered(face, answer);
}

/// Waits until an answer is stored and nothing runs: what is painted while it comes is not there yet.
fn answered(face: &Tmux, answer: &str) {
    face.until(answer, |screen| {
        screen.contains(answer) && screen.contains(EMPTY) && !screen.contains("Ctrl+C stops")
    });
}

/// Presses a key until the screen shows what comes of it: keys are passed over for a moment where something has just changed. It is
/// pressed again only where the question still stands, so that a slow machine does not send what comes next.
pub(super) fn answers(face: &Tmux, key: &str, expected: &str) {
    for _ in 0..20 {
        face.press(key);
        let stands = |screen: &str| screen.contains(" · Esc ") || screen.contains("may it run?");
        if face.comes(expected) || !stands(&face.screen()) {
            break;
        }
    }
    face.shows(expected);
}

/// A face with three turns, of which the second wrote a file.
fn three_turns(model: &Model) -> (World, Tmux) {
    let world = model.world(&[("a.txt", "one\n")]);
    model.then(vec![
        words("The first answer."),
        call("write", json!({"path": "new.txt", "content": "made\n"})),
        words("The second answer."),
        words("The third answer."),
    ]);
    let face = open(&world);
    face.types("/permissions allow-edits");
    face.press("Enter");
    face.shows("allow-edits");
    says(&face, "apples please", "The first answer.");
    says(&face, "pears please", "The second answer.");
    says(&face, "plums please", "The third answer.");
    (world, face)
}

#[test]
fn a_rewind_in_the_full_screen_program_shows_its_plan_and_can_be_undone() {
    let model = Model::start();
    let (world, face) = three_turns(&model);
    assert_eq!(world.read("new.txt").as_deref(), Some("made\n"));

    face.press("C-r");
    let screen = face.until("the turns", |screen| screen.contains(PICKER) && screen.contains("t1 "));
    let row = |text: &str| screen.lines().position(|line| line.contains(text)).expect("a row");
    assert!(row("plums please") < row("pears please"), "newest first: {screen}");
    assert!(
        !screen.contains("The third answer."),
        "the picker takes the place of the conversation: {screen}"
    );
    assert!(screen.contains("the keys go above"), "the composer stays, and is not written to: {screen}");

    // A filter finds a turn, and its plan is beside it.
    face.types("pears");
    face.until("only that turn", |screen| {
        screen.contains("pears please")
            && !screen.lines().any(|line| line.contains("t3") && line.contains("plums"))
    });
    face.shows("new.txt");
    face.press("Escape");
    face.hides(PICKER);
    face.shows("The third answer.");
    assert_eq!(world.read("new.txt").as_deref(), Some("made\n"), "Esc changes nothing");

    face.press("C-r");
    face.until("the turns", |screen| screen.contains(PICKER) && screen.contains("t1 "));
    face.press("Down");
    face.shows("new.txt");
    face.press("Enter");
    face.shows("Enter applies");
    assert_eq!(world.read("new.txt").as_deref(), Some("made\n"), "nothing is done before it is agreed to");
    face.press("Enter");
    face.until("what was done", |screen| {
        screen.contains("rewound") && screen.contains("/undo") && screen.contains("The first answer.")
    });
    face.until("the words in the composer", |screen| {
        screen.lines().rev().take(4).any(|line| line.contains("pears please"))
    });
    assert_eq!(world.read("new.txt"), None, "the file went along");
    let screen = face.until("what is left", |screen| {
        !screen.contains("The second answer.") && screen.trim_end().contains("pears please")
    });
    let (column, row, shown) = face.cursor();
    let line = screen.lines().nth(row).expect("the cursor's row");
    assert!(shown && line.contains("pears please"), "the cursor is in the composer: {screen}");
    assert_eq!(column, line.trim_end().chars().count(), "at the end of the words");

    // Nothing runs by itself: the model was asked four times, and not more.
    assert_eq!(model.asked().len(), 4);
    face.press("M-u");
    face.shows("Enter applies");
    answers(&face, "Enter", "undone");
    face.shows("The third answer.");
    assert_eq!(world.read("new.txt").as_deref(), Some("made\n"), "undo brings the file back");
    let screen = face.screen();
    assert!(screen.contains("pears please"), "the words in the composer stay: {screen}");
    face.leaves();
}

#[test]
fn escape_twice_in_an_empty_composer_opens_the_picker_and_never_while_something_runs() {
    let model = Model::start();
    let (_world, face) = opened(&model, vec![words("Hello."), half("And now I ")]);
    says(&face, "hello", "Hello.");
    face.types("a draft");
    face.shows("a draft");
    face.press("Escape");
    face.press("Escape");
    face.shows("a draft");
    assert!(!face.screen().contains(PICKER), "with words in the composer nothing opens");
    for _ in 0.."a draft".len() {
        face.press("BSpace");
    }
    face.shows(EMPTY);
    face.press("Escape");
    face.shows("Esc once more: back to an earlier message");
    face.press("Escape");
    face.shows(PICKER);
    face.press("Escape");
    face.hides(PICKER);
    face.types("go on");
    face.press("Enter");
    face.shows("And now I");
    for _ in 0..10 {
        face.press("Escape");
        if face.comes("the agent is at work") {
            break;
        }
    }
    face.shows("the agent is at work");
    assert!(!face.screen().contains(PICKER));
    // The picker says so, too, and offers to stop it.
    face.press("C-r");
    face.until("the turns", |screen| screen.contains(PICKER) && screen.contains("at work here"));
    face.press("Enter");
    face.shows("Ctrl+X");
    face.press("C-x");
    face.shows("applies");
    face.press("Enter");
    face.until("the words, back", |screen| {
        screen.contains("rewound") && screen.lines().rev().take(4).any(|line| line.contains("go on"))
    });
}

#[test]
fn typed_commands_and_several_names_lead_to_the_rewind() {
    let model = Model::start();
    let (_world, face) = opened(&model, vec![words("Hello.")]);
    says(&face, "hello", "Hello.");
    for command in ["/rewind", ":rewind", ":rollback"] {
        face.types(command);
        face.shows(command);
        face.press("Enter");
        face.shows(PICKER);
        face.press("Escape");
        face.hides(PICKER);
    }
    face.types("/nonsense");
    face.shows("/nonsense");
    face.press("Enter");
    face.shows("there is no command /nonsense");
}

#[test]
fn two_terminals_see_each_other_and_keep_their_own_drafts() {
    let model = Model::start();
    let (world, one) = three_turns(&model);
    let two = Tmux::face(&world, "-c");
    two.shows("The third answer.");
    one.types("half a thought");
    one.shows("half a thought");
    two.press("C-r");
    two.until("the turns", |screen| screen.contains(PICKER) && screen.contains("t1 "));
    two.press("Enter");
    two.shows("Enter applies");
    two.press("Enter");
    two.shows("rewound");
    let screen = one.hides("The third answer.");
    assert!(screen.contains("half a thought"), "its composer is its own: {screen}");
    assert!(!screen.contains("plums please"), "{screen}");
    // A list that is open is made anew when somebody else changes the conversation.
    one.press("C-r");
    one.shows(PICKER);
    two.press("M-u");
    two.shows("Enter applies");
    answers(&two, "Enter", "undone");
    one.until("the new list", |screen| screen.contains("plums please") && screen.contains("elsewhere"));
}

#[test]
fn the_terminal_is_restored_however_the_program_ends() {
    let model = Model::start();
    let world = model.world(&[]);
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_retake"));
    // Told to end.
    let face = open(&world);
    let pid = face.pid_of(program);
    signal(&pid, Signal::TERM);
    face.is_given_back();
    // Suspended, and taken up again.
    let face = open(&world);
    face.types("some words");
    face.shows("some words");
    face.press("C-z");
    face.until("the shell", |screen| !face.is_full_screen() && !screen.contains("some words"));
    face.types("fg");
    face.press("Enter");
    face.shows("some words");
    assert!(face.is_full_screen());
    // Left.
    face.leaves();
}

#[test]
fn a_client_finds_another_owner_when_its_own_is_killed() {
    let model = Model::start();
    let world = model.world(&[]);
    model.then(vec![words("Hello."), words("Still here.")]);
    let mut owner = world.command(&["serve"]).spawn().expect("it starts");
    until("an owner", || world.run(&["status"]).status.success());
    let face = open(&world);
    says(&face, "hello", "Hello.");
    face.types("are you");
    face.shows("› are you");
    owner.kill().expect("killed");
    owner.wait().expect("it ends");
    // The face becomes the owner, and goes on with what is typed.
    face.types(" there?");
    face.shows("› are you there?");
    face.press("Enter");
    answered(&face, "Still here.");
    assert_eq!(world.texts().len(), 4);
    // What is typed from now on is kept by it.
    face.types("not sent");
    face.shows("› not sent");
    face.leaves();
    let face = Tmux::face(&world, "-c");
    face.shows("› not sent");
    assert_eq!(model.asked().len(), 2);
}

#[test]
fn untrusted_text_is_never_interpreted_by_the_terminal() {
    let model = Model::start();
    let (_world, face) = opened(
        &model,
        vec![words("before \u{1b}[2J\u{1b}]0;owned\u{7}\u{1b}[10;10H after \u{202e}turned\u{202c}")],
    );
    face.types("hello");
    face.press("Enter");
    let screen = face.until("the answer", |screen| screen.contains("before") && screen.contains("after"));
    assert!(screen.contains("hello"), "nothing was cleared: {screen}");
    face.pastes("pasted \u{1b}[31mred\nsecond line");
    let screen = face.shows("second line");
    assert!(screen.contains("pasted") && screen.contains("red"), "{screen}");
    assert_eq!(model.asked().len(), 1, "a pasted line break sends nothing");
    for (columns, rows) in [(20, 6), (200, 50), (40, 12)] {
        face.resize(columns, rows);
        face.until("the composer", |screen| screen.contains("second line") || screen.contains("pasted"));
    }
}

#[test]
fn a_selected_message_is_copied_hidden_and_forked() {
    let model = Model::start();
    let (world, face) = three_turns(&model);
    face.accepts_copies();
    face.press("M-Up");
    face.shows("y copy");
    face.press("y");
    face.shows("copied");
    assert_eq!(face.copied(), "The third answer.");
    face.press("h");
    face.shows("Enter applies");
    answers(&face, "Enter", "hidden");
    face.until("what is left", |screen| !screen.contains("The third answer."));
    assert!(world.texts().iter().all(|text| !text.contains("The third answer.")));
    face.press("M-u");
    face.shows("Enter applies");
    answers(&face, "Enter", "undone");
    face.shows("The third answer.");
    // A fork is a conversation beside this one.
    face.press("M-Up");
    face.shows("y copy");
    face.press("g");
    face.press("f");
    face.until("its plan", |screen| screen.contains("message t1, unanswered"));
    let all = |world: &World| world.json(&["list", "--all"])["conversations"].as_array().map(Vec::len);
    assert_eq!(all(&world), Some(1), "nothing is made before it is agreed to");
    face.press("Enter");
    face.until("two tabs", |screen| {
        screen.contains("1 apples please") && screen.contains("2 ⑂ apples please")
    });
    face.until("what was said up to there", |screen| {
        screen.contains("apples please") && !screen.contains("The second answer.")
    });
    face.press("M-,");
    face.shows("The third answer.");
}

#[test]
fn words_are_found_here_and_in_all_conversations() {
    let model = Model::start();
    let (_world, face) = three_turns(&model);
    face.press("C-f");
    face.types("ANSWER");
    face.shows("nothing found");
    face.press("Escape");
    face.hides("nothing found");
    face.press("C-f");
    face.types("answer");
    face.shows("of 3");
    face.press("Escape");
    face.hides("of 3");
    // A new conversation, and back by a word that was said in the other one.
    face.press("C-t");
    face.shows("2 new");
    face.press("C-o");
    face.shows("Conversations");
    face.types("second");
    face.until("a hit", |screen| screen.lines().any(|line| line.contains("The second answer")));
    face.press("Down");
    face.press("Enter");
    face.until("the message that was found", |screen| {
        screen.contains("The second answer.") && !screen.contains("type to filter")
    });
}

#[test]
fn branches_and_operations_are_shown_and_restored() {
    let model = Model::start();
    let (world, face) = three_turns(&model);
    face.types("/rewind t2");
    face.press("Enter");
    face.shows("Enter applies");
    answers(&face, "Enter", "rewound");
    face.press("M-t");
    face.shows("every branch");
    face.types("pears");
    face.until("the branch that was left", |screen| {
        !screen.contains("the beginning") && screen.contains("The third")
    });
    face.press("Enter");
    face.shows("Enter applies");
    answers(&face, "Enter", "/undo takes this back");
    face.shows("The third answer.");
    assert_eq!(world.read("new.txt").as_deref(), Some("made\n"), "files go along with a branch");
    face.press("M-o");
    face.shows("what was done to this conversation");
    let screen = face.shows("switch");
    assert!(screen.contains("rewind"), "{screen}");
    face.press("Escape");
    face.shows("The third answer.");
}
