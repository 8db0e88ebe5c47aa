//! Lists in a real terminal: conversations, pickers, the tree, operations, the help. Must never rely on what a list is made of.

use super::{EMPTY, answers, open, opened, says, three_turns};
use crate::live::model::{Model, words};
use crate::live::tmux::{Tmux, width};

#[test]
fn a_conversation_is_renamed_and_archived_in_the_list() {
    let model = Model::start();
    let (world, face) = three_turns(&model);
    let title = || world.json(&["list", "--all"])["conversations"][0]["title"].clone();
    face.press("C-o");
    face.until("its rows", |screen| screen.contains("Conversations") && screen.contains("▸ apples please"));
    face.press("F2");
    face.shows("title: apples please");
    face.press("C-u");
    face.types("Fruit");
    face.press("Enter");
    face.until("the new name", |screen| screen.lines().any(|line| line.contains("▸ Fruit")));
    assert_eq!(title(), "Fruit");
    face.press("C-x");
    face.until("an empty list", |screen| !screen.contains("▸ Fruit"));
    face.press("C-a");
    face.until("the archived ones", |screen| screen.contains("Archived") && screen.contains("▸ Fruit"));
    face.press("C-x");
    face.until("none is archived", |screen| !screen.contains("▸ Fruit"));
    face.press("C-a");
    face.until("it is back", |screen| !screen.contains("Archived") && screen.contains("▸ Fruit"));
    face.press("Enter");
    face.shows("The third answer.");
}

#[test]
fn the_model_and_the_permissions_are_picked() {
    let model = Model::start();
    let (_world, face) = opened(&model, vec![words("Hello.")]);
    says(&face, "hello", "Hello.");
    face.press("M-p");
    face.shows("What the agent may do unasked");
    face.types("allow-all");
    face.until("only that", |screen| !screen.contains("allow-edits"));
    face.press("Enter");
    face.until("it is so", |screen| screen.contains(EMPTY) && screen.contains("allow-all"));
    face.press("M-m");
    face.shows("as the settings say");
    face.types("demo");
    face.until("the demonstration", |screen| {
        screen.lines().any(|line| line.contains("❯") && line.contains("demo"))
    });
    face.press("Enter");
    face.shows("the next answers come from demo");
    says(&face, "and you?", "This is turn 2; in the one before you said");
    assert_eq!(model.asked().len(), 1, "the other one was not asked");
}

#[test]
fn a_conversation_goes_on_with_the_model_that_was_chosen_for_it() {
    let model = Model::start();
    let (world, face) = opened(&model, vec![words("The first answer."), words("The second answer.")]);
    face.types("/model nowhere/x");
    face.press("Enter");
    face.shows("there is no model “nowhere/x”");
    face.types("/model here/other");
    face.press("Enter");
    face.shows("the next answers come from here/other");
    says(&face, "apples please", "The first answer.");
    face.leaves();
    let face = Tmux::face(&world, "-c");
    face.shows("here/other answers here, as before");
    says(&face, "pears please", "The second answer.");
    let log = world.json(&["log"]);
    let said = log["entries"].as_array().expect("entries").iter();
    let answers = said.filter(|entry| entry["role"] == "assistant");
    let authors: Vec<_> = answers.map(|entry| entry["author"].as_str().unwrap_or_default()).collect();
    assert_eq!(authors, ["here/other", "here/other"]);
}

#[test]
fn a_branch_is_named_in_the_tree_and_forked() {
    let model = Model::start();
    let (world, face) = three_turns(&model);
    face.press("M-t");
    face.shows("every branch");
    face.types("pears");
    face.shows("1 of 2");
    face.press("C-e");
    face.shows("label:");
    face.types("crossroads");
    face.press("Enter");
    face.shows("crossroads");
    face.press("C-b");
    face.shows("A new conversation begins with");
    face.press("Enter");
    face.until("two tabs", |screen| {
        screen.contains("1 apples please") && screen.contains("2 ⑂ apples please")
    });
    face.shows("[label crossroads]");
    let all = world.json(&["list", "--all"]);
    assert_eq!(all["conversations"].as_array().map(Vec::len), Some(2), "{all}");
}

#[test]
fn the_state_after_an_operation_is_restored() {
    let model = Model::start();
    let (world, face) = three_turns(&model);
    face.types("/rewind t2");
    face.press("Enter");
    face.shows("Enter applies");
    answers(&face, "Enter", "rewound");
    face.shows("› pears please");
    face.press("C-u");
    face.shows(EMPTY);
    model.then(vec![words("Another second answer.")]);
    says(&face, "grapes please", "Another second answer.");
    assert_eq!(world.read("new.txt"), None);
    face.press("M-o");
    face.shows("what was done to this conversation");
    face.types("rewind");
    face.until("the rewind", |screen| {
        screen.lines().any(|line| line.contains('❯') && line.contains("rewind"))
    });
    // As it was before the rewind.
    face.press("Enter");
    face.shows("Restore");
    face.shows("Enter applies");
    answers(&face, "Enter", "restored");
    let screen = face.until("what it left", |screen| screen.contains("The third answer."));
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
    let face = open(&world);
    face.press("F1");
    face.shows("Keys and commands");
    face.types("go back to before");
    face.until("the key of the settings", |screen| {
        screen.lines().any(|line| line.starts_with("F5 ") && line.contains("Go back to before a message"))
    });
    face.press("Escape");
    face.hides("Keys and commands");
    face.press("F5");
    face.shows("nothing has been said here yet");
}

#[test]
fn wide_and_right_to_left_words_keep_the_columns_in_line() {
    let model = Model::start();
    let (_world, face) = opened(
        &model,
        vec![words("漢字 👩‍👩‍👧 שלום עולם first"), words("| العربية | 漢字 |\n|---|---|\n| א | ב |\n\nsecond")],
    );
    says(&face, "漢字漢字 שלום", "first");
    says(&face, "مرحبا 🎉", "second");
    face.press("C-o");
    face.shows("Conversations");
    let screen =
        face.until("the preview", |screen| screen.matches('│').count() > 5 && screen.contains("second"));
    let borders: Vec<_> = screen.lines().filter_map(|line| Some(width(&line[..line.find('│')?]))).collect();
    assert!(borders.iter().all(|at| *at == borders[0]), "{borders:?} {screen}");
    face.press("Escape");
    // Together they would be a key with Alt.
    face.hides("Conversations");
    face.types("שלום 漢字");
    let (_, row) = face.place_of("› ");
    face.until("the cursor behind it", |screen| {
        let line = screen.lines().nth(row).unwrap_or_default().trim_end();
        line.contains("漢字") && face.cursor().0 == width(line)
    });
}
