//! Hidden messages shown again, steps listed individually, messages of another branch, and the way back through nested panes.
//! Must never depend on timing.

use super::{EMPTY, answers, says, three_turns};
use crate::live::harness::World;
use crate::live::model::{Model, words};
use crate::live::tmux::Tmux;

/// Types a line and sends it.
fn line(client: &Tmux, line: &str) {
    client.types(line);
    client.press("Enter");
}

/// Agrees to the shown plan.
fn agrees(client: &Tmux, expected: &str) {
    client.shows("Enter applies");
    answers(client, "Enter", expected);
}

/// Whether the owner has this message.
fn is_said(world: &World, words: &str) -> bool {
    world.texts().iter().any(|text| text.contains(words))
}

/// The selected row contains this.
fn selects(client: &Tmux, text: &str) -> String {
    client.until(text, |screen| screen.lines().any(|line| line.contains('❯') && line.contains(text)))
}

#[test]
fn hidden_messages_are_listed_and_shown_again_by_their_turn() {
    let model = Model::start();
    let (world, client) = three_turns(&model);
    line(&client, "/hide t3");
    agrees(&client, "/hidden lists it later");
    client.until("what is left", |screen| !screen.contains("plums please"));
    line(&client, "/exclude t1");
    agrees(&client, "[excluded]");
    // Later, when undo would revert something else: the list, a filter, the plan, and it is there again.
    line(&client, "/hidden");
    client.until("both", |screen| screen.contains("t3 hidden") && screen.contains("t1 excluded"));
    client.types("plums");
    client.until("the one that was typed", |screen| !screen.contains("t1 excluded"));
    selects(&client, "plums please");
    client.press("Enter");
    client.shows("shows 1 message");
    client.press("Escape");
    client.hides("shows 1 message");
    selects(&client, "plums please");
    client.press("Enter");
    agrees(&client, "shown: 1 message");
    client.until("the message", |screen| {
        screen.contains("┃ plums please") && screen.contains("The third answer.")
    });
    // All of a turn, with its first message, by its number.
    for message in ["t3", "@"] {
        line(&client, &format!("/hide {message}"));
        agrees(&client, "/hidden lists it later");
        client.shows(EMPTY);
    }
    assert!(!is_said(&world, "plums please") && !is_said(&world, "The third answer."), "{:?}", world.texts());
    line(&client, "/show t3");
    client.shows("shows 2 messages");
    agrees(&client, "shown: 2 messages");
    client.until("both", |screen| screen.contains("┃ plums please") && screen.contains("The third answer."));
    line(&client, "/include");
    selects(&client, "t1 excluded");
    client.press("Enter");
    agrees(&client, "included");
    client.until("no mark", |screen| !screen.contains("[excluded]"));
    line(&client, "/hidden");
    client.shows("nothing is hidden here");
    client.press("Escape");
    client.shows("The third answer.");
}

#[test]
fn several_steps_are_reported_one_by_one_and_counted_as_in_the_plan() {
    let model = Model::start();
    let (world, client) = three_turns(&model);
    line(&client, "/rewind t3");
    agrees(&client, "rewound");
    client.press("C-u");
    client.shows(EMPTY);
    line(&client, "/undo 3");
    client.shows("Undo 3 steps");
    client.shows("1. rewind to t3 “plums please”");
    client.shows("2. the turn t3 “plums please”");
    client.shows("3. the turn t2 “pears please”");
    let plan = client.shows("takes back 4 messages");
    assert!(!plan.contains("brings back"), "the third turn comes and goes on the way: {plan}");
    agrees(&client, "undid 3 steps");
    let screen = client.screen();
    assert!(!screen.contains("are back"), "{screen}");
    assert_eq!((world.read("new.txt"), is_said(&world, "pears")), (None, false));
}

#[test]
fn a_turn_shows_its_alternatives() {
    let model = Model::start();
    let (_world, client) = three_turns(&model);
    model.then(vec![words("A better answer.")]);
    line(&client, "/retry t3");
    client.shows("Enter asks again");
    answers(&client, "Enter", "A better answer.");
    client.until("it is stored", |screen| screen.contains("[alternative 2 of 2]") && screen.contains(EMPTY));
    line(&client, "/alternatives t3");
    client.until("both", |screen| {
        screen.contains("Other answers")
            && screen.contains("The third answer.")
            && screen.contains("A better answer.")
    });
    client.press("Up");
    selects(&client, "The third answer.");
    client.press("Enter");
    agrees(&client, "chosen");
    client.until("the first one", |screen| screen.contains("[alternative 1 of 2]"));
}

#[test]
fn the_tree_shows_other_branches_and_escape_closes_panes_one_by_one() {
    let model = Model::start();
    let (world, client) = three_turns(&model);
    line(&client, "/rewind t2");
    agrees(&client, "rewound");
    client.press("C-u");
    client.shows(EMPTY);
    model.then(vec![words("Grapes, then.")]);
    says(&client, "grapes please", "Grapes, then.");
    client.press("M-t");
    client.shows("all branches");
    client.types("third");
    selects(&client, "The third");
    // Beside the branch: where it leaves the current one, and its messages since.
    let said = client.until("what was said there", |screen| {
        ["branches off after", "pears please", "The second answer.", "plums please"]
            .iter()
            .all(|it| screen.contains(it))
    });
    assert!(!said.contains("apples please\n"), "what both have is not told again: {said}");
    client.press("C-d");
    client.until("what is different there", |screen| {
        screen.contains("only here") && screen.contains("only there") && screen.contains("new.txt")
    });
    client.press("C-d");
    client.shows("branches off after");
    // Its plan is in front of the tree, the tree in front of the conversation.
    client.press("Enter");
    client.until("the plan", |screen| screen.contains("Enter applies") && screen.contains("new.txt"));
    client.press("Escape");
    client.until("the tree as it was", |screen| {
        screen.contains("all branches") && screen.contains("branches off after")
    });
    client.press("Escape");
    client.until("the conversation", |screen| {
        !screen.contains("all branches") && screen.contains("Grapes, then.")
    });
    assert_eq!((world.read("new.txt"), is_said(&world, "plums")), (None, false), "nothing has changed");
}

#[test]
fn a_small_window_shows_one_half_of_the_tree_at_a_time() {
    let model = Model::start();
    let (_world, client) = three_turns(&model);
    line(&client, "/rewind t3");
    agrees(&client, "rewound");
    client.resize(50, 20);
    client.press("M-t");
    client.shows("The third");
    let list = client
        .until("the list alone", |screen| screen.contains("❯") && !screen.contains("branches off after"));
    assert!(list.contains("Tree"), "{list}");
    client.types("third");
    selects(&client, "The third");
    client.press("Tab");
    client
        .until("the preview alone", |screen| screen.contains("branches off after") && !screen.contains('❯'));
    client.press("Tab");
    selects(&client, "The third");
    client.press("Escape");
    client.shows("The second answer.");
}
