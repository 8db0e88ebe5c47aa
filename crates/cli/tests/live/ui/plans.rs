//! The files of a plan, and the choices in it. Must never lose a person's text.

use super::{EMPTY, PICKER, answers, open, permits, three_turns};
use crate::live::harness::{World, until};
use crate::live::model::{Model, shell, words};
use crate::live::tmux::Tmux;

/// The picker at the second turn, whose file a person has changed by hand.
fn changed_by_hand(model: &Model) -> (World, Tmux) {
    let (world, client) = three_turns(model);
    world.write("new.txt", "by hand\n");
    client.press("C-r");
    client.until("the turns", |screen| screen.contains(PICKER) && screen.contains("t1 "));
    client.press("Down");
    client.until("the plan", |screen| screen.contains("pears please") && screen.contains("new.txt"));
    (world, client)
}

/// Chooses the outcome with this name for the file.
fn chooses(client: &Tmux, outcome: &str) {
    client.press("Right");
    client.shows("Ctrl+D choose");
    client.press("C-d");
    let at = |screen: &str| {
        screen.lines().find(|line| line.contains("❯ ○") || line.contains("❯ ●")).map(str::to_owned)
    };
    let mut now = at(&client.until("the choices", |screen| at(screen).is_some()));
    while !now.as_ref().is_some_and(|line| line.contains(outcome)) {
        client.press("Down");
        now = at(&client.until("the next choice", |screen| at(screen).is_some() && at(screen) != now));
    }
    client.press("Enter");
    client.until("it is chosen", |screen| screen.contains(&format!("[{outcome}]")));
}

/// Continues to the final question, and applies.
fn applies(client: &Tmux) {
    client.press("Enter");
    client.shows("Enter applies");
    answers(client, "Enter", "rewound");
    client
        .until("the words", |screen| screen.lines().rev().take(4).any(|line| line.contains("pears please")));
}

#[test]
fn a_persons_concurrent_changes_are_shown_and_kept() {
    let model = Model::start();
    let (world, client) = changed_by_hand(&model);
    client.shows("can't decide about 1 file");
    client.shows("you or another program changed the same place");
    // Without a choice nothing is done.
    client.press("Enter");
    client.shows("choose");
    assert!(!client.screen().contains("Enter applies"));
    chooses(&client, "keep mine");
    applies(&client);
    assert_eq!(world.read("new.txt").as_deref(), Some("by hand\n"));
}

#[test]
fn a_person_chooses_another_outcome_for_a_file() {
    let model = Model::start();
    let (world, client) = changed_by_hand(&model);
    chooses(&client, "remove it");
    applies(&client);
    assert_eq!(world.read("new.txt"), None, "it was not there then");
    client.press("M-u");
    client.shows("Enter applies");
    answers(&client, "Enter", "undid");
    client.until("it is back", |_| world.read("new.txt").as_deref() == Some("by hand\n"));
}

#[test]
fn diffs_are_paged_through_and_a_key_changes_the_scope() {
    let model = Model::start();
    let (world, client) = three_turns(&model);
    client.press("C-r");
    client.until("the turns", |screen| screen.contains(PICKER) && screen.contains("t1 "));
    client.press("Down");
    client.until("the plan", |screen| screen.contains("[both]") && screen.contains("new.txt"));
    client.press("Right");
    client.until("its diff", |screen| screen.contains("-made"));
    client.press("C-s");
    client.until("words only", |screen| screen.contains("[conversation]") && !screen.contains("-made"));
    applies(&client);
    assert_eq!(world.read("new.txt").as_deref(), Some("made\n"), "files were not touched");
    client.press("C-u");
    client.shows(EMPTY);
    assert_eq!(world.texts().len(), 2);
}

/// The stop itself makes the agreed plan stale: the run has written and said more until then.
#[test]
fn files_that_a_command_writes_until_it_is_stopped_are_reverted_with_its_turn() {
    let model = Model::start();
    let world = model.world(&[]);
    permits(&world, "allow-all");
    model.then(vec![shell("for i in $(seq 2000); do echo $i >> r.txt; sleep 0.05; done"), words("Counted.")]);
    let client = open(&world);
    client.types("count to many");
    client.press("Enter");
    until("the command writes", || world.read("r.txt").is_some_and(|text| text.contains("3\n")));
    client.press("C-r");
    // The plan that is agreed to names the file: only then the run adds nothing else until its end.
    let is_planned = |screen: &str| screen.contains(PICKER) && screen.contains("- r.txt");
    client.until("the plan", |screen| is_planned(screen) && screen.contains("Ctrl+X"));
    client.press("C-x");
    client
        .until("the question", |screen| is_planned(screen) && screen.contains("Enter stops it and applies"));
    client.press("Enter");
    client.until("it is done", |screen| screen.contains("rewound") && screen.contains("› count to many"));
    assert_eq!(world.read("r.txt"), None);
    assert!(world.texts().iter().all(|text| !text.contains("count to many")), "{:?}", world.texts());
}
