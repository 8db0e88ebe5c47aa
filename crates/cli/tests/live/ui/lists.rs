//! Lists in a real terminal: conversations, pickers, the tree, operations, the help. Must never depend on how a list is built.

use super::{EMPTY, answers, open, opened, says, three_turns};
use crate::live::model::{Model, words};
use crate::live::tmux::{Tmux, width};

#[test]
fn a_conversation_is_renamed_and_archived_in_the_list() {
    let model = Model::start();
    let (world, client) = three_turns(&model);
    let title = || world.json(&["list", "--all"])["conversations"][0]["title"].clone();
    client.press("C-o");
    client.until("its rows", |screen| screen.contains("Conversations") && screen.contains("• apples please"));
    client.press("F2");
    client.shows("title: apples please");
    client.press("C-u");
    client.types("Fruit");
    client.press("Enter");
    client.until("the new name", |screen| screen.lines().any(|line| line.contains("• Fruit")));
    assert_eq!(title(), "Fruit");
    client.press("C-x");
    client.until("an empty list", |screen| !screen.contains("• Fruit"));
    client.press("C-a");
    client.until("the archived ones", |screen| screen.contains("Archived") && screen.contains("• Fruit"));
    client.press("C-x");
    client.until("none is archived", |screen| !screen.contains("• Fruit"));
    client.press("C-a");
    client.until("it is back", |screen| !screen.contains("Archived") && screen.contains("• Fruit"));
    client.press("Enter");
    client.shows("The third answer.");
}

#[test]
fn the_model_and_the_permissions_are_picked() {
    let model = Model::start();
    let (_world, client) = opened(&model, vec![words("Hello.")]);
    says(&client, "hello", "Hello.");
    client.press("M-p");
    client.shows("What the agent may do unasked");
    client.types("allow-all");
    client.until("only that", |screen| !screen.contains("allow-edits"));
    client.press("Enter");
    client.until("it is so", |screen| screen.contains(EMPTY) && screen.contains("allow-all"));
    client.press("M-m");
    client.shows("as the settings say");
    client.types("demo");
    client.until("the demonstration", |screen| {
        screen.lines().any(|line| line.contains("❯") && line.contains("demo"))
    });
    client.press("Enter");
    client.shows("the next answers come from demo");
    says(&client, "and you?", "This is turn 2; in the one before you said");
    assert_eq!(model.asked().len(), 1, "the other one was not asked");
}

#[test]
fn a_conversation_goes_on_with_the_model_that_was_chosen_for_it() {
    let model = Model::start();
    let (world, client) = opened(&model, vec![words("The first answer."), words("The second answer.")]);
    client.types("/model nowhere/x");
    client.press("Enter");
    client.shows("there is no model “nowhere/x”");
    client.types("/model here/other");
    client.press("Enter");
    client.shows("the next answers come from here/other");
    says(&client, "apples please", "The first answer.");
    client.leaves();
    let client = Tmux::client(&world, "-c");
    client.shows("here/other answers here, as before");
    says(&client, "pears please", "The second answer.");
    let log = world.json(&["log"]);
    let said = log["entries"].as_array().expect("entries").iter();
    let answers = said.filter(|entry| entry["role"] == "assistant");
    let authors: Vec<_> = answers.map(|entry| entry["author"].as_str().unwrap_or_default()).collect();
    assert_eq!(authors, ["here/other", "here/other"]);
}

#[test]
fn a_branch_is_named_in_the_tree_and_forked() {
    let model = Model::start();
    let (world, client) = three_turns(&model);
    client.press("M-t");
    client.shows("all branches");
    client.types("pears");
    client.shows("1 of 2");
    client.press("C-e");
    client.shows("label:");
    client.types("crossroads");
    client.press("Enter");
    client.shows("crossroads");
    client.press("C-b");
    client.shows("A new conversation begins with");
    client.press("Enter");
    client.until("two tabs", |screen| {
        screen.contains("1 apples please") && screen.contains("2 ⑂ apples please")
    });
    client.shows("[label crossroads]");
    let all = world.json(&["list", "--all"]);
    assert_eq!(all["conversations"].as_array().map(Vec::len), Some(2), "{all}");
}

#[test]
fn the_state_after_an_operation_is_restored() {
    let model = Model::start();
    let (world, client) = three_turns(&model);
    client.types("/rewind t2");
    client.press("Enter");
    client.shows("Enter applies");
    answers(&client, "Enter", "rewound");
    client.shows("› pears please");
    client.press("C-u");
    client.shows(EMPTY);
    model.then(vec![words("Another second answer.")]);
    says(&client, "grapes please", "Another second answer.");
    assert_eq!(world.read("new.txt"), None);
    client.press("M-o");
    client.shows("what was done to this conversation");
    client.types("rewind");
    client.until("the rewind", |screen| {
        screen.lines().any(|line| line.contains('❯') && line.contains("rewind"))
    });
    // The state before the rewind.
    client.press("Enter");
    client.shows("Restore");
    client.shows("Enter applies");
    answers(&client, "Enter", "restored");
    let screen = client.until("what it left", |screen| screen.contains("The third answer."));
    assert!(!screen.contains("Another second answer."), "{screen}");
    assert_eq!(world.read("new.txt").as_deref(), Some("made\n"));
}

#[test]
fn the_help_lists_the_current_keys_and_is_searched_by_typing() {
    let model = Model::start();
    let world = model.world(&[]);
    world.settings(&format!(
        "{}[face.keys]\nrewind = [\"f5\"]\n",
        std::fs::read_to_string(world.config()).expect("settings")
    ));
    let client = open(&world);
    client.press("F1");
    client.shows("Keys and commands");
    client.types("go back to before");
    client.until("the key of the settings", |screen| {
        screen.lines().any(|line| line.starts_with("F5 ") && line.contains("Go back to before a message"))
    });
    client.press("Escape");
    client.hides("Keys and commands");
    client.press("F5");
    client.shows("nothing has been said here yet");
}

#[test]
fn wide_and_right_to_left_words_keep_the_columns_in_line() {
    let model = Model::start();
    let (_world, client) = opened(
        &model,
        vec![words("漢字 👩‍👩‍👧 שלום עולם first"), words("| العربية | 漢字 |\n|---|---|\n| א | ב |\n\nsecond")],
    );
    says(&client, "漢字漢字 שלום", "first");
    says(&client, "مرحبا 🎉", "second");
    client.press("C-o");
    client.shows("Conversations");
    let screen =
        client.until("the preview", |screen| screen.matches('│').count() > 5 && screen.contains("second"));
    let borders: Vec<_> = screen.lines().filter_map(|line| Some(width(&line[..line.find('│')?]))).collect();
    assert!(borders.iter().all(|at| *at == borders[0]), "{borders:?} {screen}");
    client.press("Escape");
    // Together they would be a key with Alt.
    client.hides("Conversations");
    client.types("שלום 漢字");
    let (_, row) = client.place_of("› ");
    client.until("the cursor behind it", |screen| {
        let line = screen.lines().nth(row).unwrap_or_default().trim_end();
        line.contains("漢字") && client.cursor().0 == width(line)
    });
}
