//! The full-screen client in a real terminal, with a real owner and a scripted model: what a person types, and what the screen
//! then shows. Must never inspect the program in another way than a person does.

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

use super::harness::{World, signal};
use super::model::{Answer, Model, call, half, words};
use super::tmux::Tmux;
use rustix::process::Signal;
use serde_json::json;

/// The text of an empty composer.
const EMPTY: &str = "Say something";

/// The title of the picker.
const PICKER: &str = "Rewind: go back to before a message";

/// The client of this world, with nothing said and nothing typed.
fn open(world: &World) -> Tmux {
    let client = Tmux::client(world, "");
    client.shows(EMPTY);
    client
}

/// A world without files whose model gives these answers, and its client.
fn opened(model: &Model, answers: Vec<Answer>) -> (World, Tmux) {
    let world = model.world(&[]);
    model.then(answers);
    let client = open(&world);
    (world, client)
}

/// Sets the mode of new conversations. A command does it, too, but its notice hides for seconds what is read below it.
pub(super) fn permits(world: &World, mode: &str) {
    let before = std::fs::read_to_string(world.config()).expect("settings");
    assert!(before.contains("[permissions]\n"), "{before}");
    world.settings(&before.replace("[permissions]\n", &format!("[permissions]\nmode = \"{mode}\"\n")));
}

/// Sends a message, and waits until the answer is stored and nothing runs.
fn says(client: &Tmux, text: &str, answer: &str) {
    client.types(text);
    client.press("Enter");
    answered(client, answer);
}

/// Waits until an answer is stored and nothing runs: text drawn while it arrives is not stored yet.
fn answered(client: &Tmux, answer: &str) {
    client.until(answer, |screen| {
        screen.contains(answer) && screen.contains(EMPTY) && !screen.contains("Ctrl+C stops")
    });
}

/// Presses a key until the screen shows its effect: keys are ignored for a moment after a change. It is pressed again only while
/// the question is shown, so that a slow machine does not send a later key.
pub(super) fn answers(client: &Tmux, key: &str, expected: &str) {
    let chooses = key.len() == 1 || key.starts_with("M-");
    if chooses {
        // What is pressed before anybody could read the request is no answer.
        for _ in 0..20 {
            client.press(key);
            if client.comes("no answer") {
                break;
            }
            if key.len() == 1 {
                client.press("BSpace");
            }
        }
    }
    for _ in 0..20 {
        client.press(if chooses { "Enter" } else { key });
        let stands = |screen: &str| screen.contains(" · Esc ") || screen.contains("may it run?");
        if client.comes(expected) || !stands(&client.screen()) {
            break;
        }
    }
    client.shows(expected);
}

/// A client with three turns, the second of which wrote a file.
fn three_turns(model: &Model) -> (World, Tmux) {
    let world = model.world(&[("a.txt", "one\n")]);
    model.then(vec![
        words("The first answer."),
        call("write", json!({"path": "new.txt", "content": "made\n"})),
        words("The second answer."),
        words("The third answer."),
    ]);
    permits(&world, "allow-edits");
    let client = open(&world);
    says(&client, "apples please", "The first answer.");
    says(&client, "pears please", "The second answer.");
    says(&client, "plums please", "The third answer.");
    (world, client)
}

#[test]
fn a_rewind_in_the_full_screen_program_shows_its_plan_and_can_be_undone() {
    let model = Model::start();
    let (world, client) = three_turns(&model);
    assert_eq!(world.read("new.txt").as_deref(), Some("made\n"));

    client.press("C-r");
    let screen = client.until("the turns", |screen| screen.contains(PICKER) && screen.contains("t1 "));
    let row = |text: &str| screen.lines().position(|line| line.contains(text)).expect("a row");
    assert!(row("plums please") < row("pears please"), "newest first: {screen}");
    assert!(
        !screen.contains("The third answer."),
        "the picker takes the place of the conversation: {screen}"
    );
    assert!(
        screen.contains("keys work in the view above"),
        "the composer stays, and is not written to: {screen}"
    );

    // A filter finds a turn, and its plan is beside it.
    client.types("pears");
    client.until("only that turn", |screen| {
        screen.contains("pears please")
            && !screen.lines().any(|line| line.contains("t3") && line.contains("plums"))
    });
    client.shows("new.txt");
    client.press("Escape");
    client.hides(PICKER);
    client.shows("The third answer.");
    assert_eq!(world.read("new.txt").as_deref(), Some("made\n"), "Esc changes nothing");

    client.press("C-r");
    client.until("the turns", |screen| screen.contains(PICKER) && screen.contains("t1 "));
    client.press("Down");
    client.shows("new.txt");
    client.press("Enter");
    client.shows("Enter applies");
    assert_eq!(world.read("new.txt").as_deref(), Some("made\n"), "nothing is done before it is agreed to");
    client.press("Enter");
    client.until("what was done", |screen| {
        screen.contains("rewound") && screen.contains("/undo") && screen.contains("The first answer.")
    });
    client.until("the words in the composer", |screen| {
        screen.lines().rev().take(4).any(|line| line.contains("pears please"))
    });
    assert_eq!(world.read("new.txt"), None, "the file went along");
    let screen = client.until("what is left", |screen| {
        !screen.contains("The second answer.") && screen.trim_end().contains("pears please")
    });
    let (column, row, shown) = client.cursor();
    let line = screen.lines().nth(row).expect("the cursor's row");
    assert!(shown && line.contains("pears please"), "the cursor is in the composer: {screen}");
    assert_eq!(column, line.trim_end().chars().count(), "at the end of the words");

    // Nothing runs by itself: the model was called exactly four times.
    assert_eq!(model.asked().len(), 4);
    client.press("M-u");
    client.shows("Enter applies");
    answers(&client, "Enter", "undid");
    client.shows("The third answer.");
    assert_eq!(world.read("new.txt").as_deref(), Some("made\n"), "undo brings the file back");
    let screen = client.screen();
    assert!(screen.contains("pears please"), "the words in the composer stay: {screen}");
    client.leaves();
}

#[test]
fn escape_twice_in_an_empty_composer_opens_the_picker_and_never_while_something_runs() {
    let model = Model::start();
    let (_world, client) = opened(&model, vec![words("Hello."), half("And now I ")]);
    says(&client, "hello", "Hello.");
    client.types("a draft");
    client.shows("a draft");
    client.press("Escape");
    client.press("Escape");
    client.shows("a draft");
    assert!(!client.screen().contains(PICKER), "with words in the composer nothing opens");
    for _ in 0.."a draft".len() {
        client.press("BSpace");
    }
    client.shows(EMPTY);
    client.press("Escape");
    client.shows("Esc again: back to an earlier message");
    client.press("Escape");
    client.shows(PICKER);
    client.press("Escape");
    client.hides(PICKER);
    client.types("go on");
    client.press("Enter");
    client.shows("And now I");
    for _ in 0..10 {
        client.press("Escape");
        if client.comes("the agent is at work") {
            break;
        }
    }
    client.shows("the agent is at work");
    assert!(!client.screen().contains(PICKER));
    // The picker says so, too, and offers to stop it.
    client.press("C-r");
    client.until("the turns", |screen| screen.contains(PICKER) && screen.contains("at work here"));
    client.press("Enter");
    client.shows("Ctrl+X");
    client.press("C-x");
    client.shows("applies");
    client.press("Enter");
    client.until("the words, back", |screen| {
        screen.contains("rewound") && screen.lines().rev().take(4).any(|line| line.contains("go on"))
    });
}

#[test]
fn typed_commands_and_several_names_lead_to_the_rewind() {
    let model = Model::start();
    let (_world, client) = opened(&model, vec![words("Hello.")]);
    says(&client, "hello", "Hello.");
    for command in ["/rewind", ":rewind", ":rollback"] {
        client.types(command);
        client.shows(command);
        client.press("Enter");
        client.shows(PICKER);
        client.press("Escape");
        client.hides(PICKER);
    }
    client.types("/nonsense");
    client.shows("/nonsense");
    client.press("Enter");
    client.shows("there is no command /nonsense");
}

#[test]
fn two_terminals_see_each_other_and_keep_their_own_drafts() {
    let model = Model::start();
    let (world, one) = three_turns(&model);
    let two = Tmux::client(&world, "-c");
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
    assert!(!screen.contains("┃ plums please"), "{screen}");
    one.shows("changed in another client by ada: the rewind to t3 “plums please”");
    assert!(!two.screen().contains("changed in another client"), "its own: {}", two.screen());
    // An open list is renewed when another client changes the conversation.
    one.press("C-r");
    one.shows(PICKER);
    two.press("M-u");
    two.shows("Enter applies");
    answers(&two, "Enter", "undid");
    one.until("the new list", |screen| screen.contains("plums please") && screen.contains("elsewhere"));
}

#[test]
fn the_terminal_is_restored_however_the_program_ends() {
    let model = Model::start();
    let world = model.world(&[]);
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_retake"));
    // Asked to end.
    let client = open(&world);
    let pid = client.pid_of(program);
    signal(&pid, Signal::TERM);
    client.is_given_back();
    // Suspended, and resumed.
    let client = open(&world);
    client.types("some words");
    client.shows("some words");
    client.press("C-z");
    client.until("the shell", |screen| !client.is_full_screen() && !screen.contains("some words"));
    client.types("fg");
    client.press("Enter");
    client.shows("some words");
    assert!(client.is_full_screen());
    // Quit.
    client.leaves();
}

#[test]
fn a_client_finds_another_owner_when_its_own_is_killed() {
    let model = Model::start();
    let world = model.world(&[]);
    model.then(vec![words("Hello."), words("Still here.")]);
    let mut owner = world.serves();
    let client = open(&world);
    says(&client, "hello", "Hello.");
    client.types("are you");
    client.shows("› are you");
    owner.kill().expect("killed");
    owner.wait().expect("it ends");
    // The client becomes the owner, and keeps what is typed.
    client.types(" there?");
    client.shows("› are you there?");
    client.press("Enter");
    answered(&client, "Still here.");
    assert_eq!(world.texts().len(), 4);
    // Text typed from now on is stored by it.
    client.types("not sent");
    client.shows("› not sent");
    client.leaves();
    let client = Tmux::client(&world, "-c");
    client.shows("› not sent");
    assert_eq!(model.asked().len(), 2);
}

#[test]
fn untrusted_text_is_never_interpreted_by_the_terminal() {
    let model = Model::start();
    let (_world, client) = opened(
        &model,
        vec![words("before \u{1b}[2J\u{1b}]0;owned\u{7}\u{1b}[10;10H after \u{202e}turned\u{202c}")],
    );
    client.types("hello");
    client.press("Enter");
    let screen = client.until("the answer", |screen| screen.contains("before") && screen.contains("after"));
    assert!(screen.contains("hello"), "nothing was cleared: {screen}");
    client.pastes("pasted \u{1b}[31mred\nsecond line");
    let screen = client.shows("second line");
    assert!(screen.contains("pasted") && screen.contains("red"), "{screen}");
    assert_eq!(model.asked().len(), 1, "a pasted line break sends nothing");
    for (columns, rows) in [(20, 6), (200, 50), (40, 12)] {
        client.resize(columns, rows);
        client.until("the composer", |screen| screen.contains("second line") || screen.contains("pasted"));
    }
}

#[test]
fn a_selected_message_is_copied_hidden_and_forked() {
    let model = Model::start();
    let (world, client) = three_turns(&model);
    client.accepts_copies();
    client.press("M-Up");
    client.shows("y copy");
    client.press("y");
    client.shows("sent to the terminal's clipboard");
    assert_eq!(client.copied(), "The third answer.");
    client.press("h");
    client.shows("Enter applies");
    answers(&client, "Enter", "hidden");
    client.until("what is left", |screen| !screen.contains("The third answer."));
    assert!(world.texts().iter().all(|text| !text.contains("The third answer.")));
    client.press("M-u");
    client.shows("Enter applies");
    answers(&client, "Enter", "undid");
    client.shows("The third answer.");
    // A fork is a separate conversation.
    client.press("M-Up");
    client.shows("y copy");
    client.press("g");
    client.press("f");
    client.until("its plan", |screen| screen.contains("message t1, unanswered"));
    let all = |world: &World| world.json(&["list", "--all"])["conversations"].as_array().map(Vec::len);
    assert_eq!(all(&world), Some(1), "nothing is made before it is agreed to");
    client.press("Enter");
    client.until("two tabs", |screen| {
        screen.contains("1 apples please") && screen.contains("2 ⑂ apples please")
    });
    client.until("what was said up to there", |screen| {
        screen.contains("apples please") && !screen.contains("The second answer.")
    });
    client.press("M-,");
    client.shows("The third answer.");
}

#[test]
fn words_are_found_here_and_in_all_conversations() {
    let model = Model::start();
    let (_world, client) = three_turns(&model);
    client.press("C-f");
    client.types("ANSWER");
    client.shows("nothing found");
    client.press("Escape");
    client.hides("nothing found");
    client.press("C-f");
    client.types("answer");
    client.shows("of 3");
    client.press("Escape");
    client.hides("of 3");
    // A new conversation, and back with a search for a word of the other one.
    client.press("C-t");
    client.shows("2 new");
    client.press("C-o");
    client.shows("Conversations");
    client.types("second");
    client.until("a hit", |screen| screen.lines().any(|line| line.contains("The second answer")));
    client.press("Down");
    client.press("Enter");
    client.until("the message that was found", |screen| {
        screen.contains("The second answer.") && !screen.contains("type to filter")
    });
}

#[test]
fn branches_and_operations_are_shown_and_restored() {
    let model = Model::start();
    let (world, client) = three_turns(&model);
    client.types("/rewind t2");
    client.press("Enter");
    client.shows("Enter applies");
    answers(&client, "Enter", "rewound");
    client.press("M-t");
    client.shows("all branches");
    client.types("pears");
    client.until("the branch that was left", |screen| {
        !screen.contains("the beginning") && screen.contains("The third")
    });
    client.press("Enter");
    client.shows("Enter applies");
    answers(&client, "Enter", "/undo takes this back");
    client.shows("The third answer.");
    assert_eq!(world.read("new.txt").as_deref(), Some("made\n"), "files go along with a branch");
    client.press("M-o");
    client.shows("what was done to this conversation");
    let screen = client.shows("switch");
    assert!(screen.contains("rewind"), "{screen}");
    client.press("Escape");
    client.shows("The third answer.");
}
