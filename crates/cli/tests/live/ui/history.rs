//! What is hidden and comes back, steps told one by one, what was said on another branch, and the way back through panes that opened
//! one another. Must never rely on how long anything takes.

use super::{EMPTY, answers, says, three_turns};
use crate::live::harness::World;
use crate::live::model::{Model, words};
use crate::live::tmux::Tmux;

/// Types a line and sends it.
fn line(face: &Tmux, line: &str) {
    face.types(line);
    face.press("Enter");
}

/// Agrees to the plan on the screen.
fn agrees(face: &Tmux, expected: &str) {
    face.shows("Enter applies");
    answers(face, "Enter", expected);
}

/// Whether something was said, as the owner knows it.
fn is_said(world: &World, words: &str) -> bool {
    world.texts().iter().any(|text| text.contains(words))
}

/// The row that is selected holds this.
fn selects(face: &Tmux, text: &str) -> String {
    face.until(text, |screen| screen.lines().any(|line| line.contains('❯') && line.contains(text)))
}

#[test]
fn hidden_messages_are_listed_and_shown_again_by_their_turn() {
    let model = Model::start();
    let (world, face) = three_turns(&model);
    line(&face, "/hide t3");
    agrees(&face, "/hidden lists it later");
    face.until("what is left", |screen| !screen.contains("plums please"));
    line(&face, "/exclude t1");
    agrees(&face, "[excluded]");
    // Later, when undo would take back something else: the list, a filter, the plan, and it is there again.
    line(&face, "/hidden");
    face.until("both", |screen| screen.contains("t3 hidden") && screen.contains("t1 excluded"));
    face.types("plums");
    face.until("the one that was typed", |screen| !screen.contains("t1 excluded"));
    selects(&face, "plums please");
    face.press("Enter");
    face.shows("shows 1 message");
    face.press("Escape");
    face.hides("shows 1 message");
    selects(&face, "plums please");
    face.press("Enter");
    agrees(&face, "shown: 1 message");
    face.until("the message", |screen| {
        screen.contains("> plums please") && screen.contains("The third answer.")
    });
    // All of a turn, its first message included, by its number.
    for message in ["t3", "@"] {
        line(&face, &format!("/hide {message}"));
        agrees(&face, "/hidden lists it later");
        face.shows(EMPTY);
    }
    assert!(!is_said(&world, "plums please") && !is_said(&world, "The third answer."), "{:?}", world.texts());
    line(&face, "/show t3");
    face.shows("shows 2 messages");
    agrees(&face, "shown: 2 messages");
    face.until("both", |screen| screen.contains("> plums please") && screen.contains("The third answer."));
    line(&face, "/include");
    selects(&face, "t1 excluded");
    face.press("Enter");
    agrees(&face, "included");
    face.until("no mark", |screen| !screen.contains("[excluded]"));
    line(&face, "/hidden");
    face.shows("nothing is hidden here");
    face.press("Escape");
    face.shows("The third answer.");
}

#[test]
fn several_steps_are_reported_one_by_one_and_counted_as_in_the_plan() {
    let model = Model::start();
    let (world, face) = three_turns(&model);
    line(&face, "/rewind t3");
    agrees(&face, "rewound");
    face.press("C-u");
    face.shows(EMPTY);
    line(&face, "/undo 3");
    face.shows("Undo 3 steps");
    face.shows("1. rewind to t3 “plums please”");
    face.shows("2. the turn t3 “plums please”");
    face.shows("3. the turn t2 “pears please”");
    let plan = face.shows("takes back 4 messages");
    assert!(!plan.contains("brings back"), "the third turn comes and goes on the way: {plan}");
    agrees(&face, "undone: 4 messages");
    let screen = face.screen();
    assert!(!screen.contains("brought back"), "{screen}");
    assert_eq!((world.read("new.txt"), is_said(&world, "pears")), (None, false));
}

#[test]
fn a_turn_shows_its_alternatives() {
    let model = Model::start();
    let (_world, face) = three_turns(&model);
    model.then(vec![words("A better answer.")]);
    line(&face, "/retry t3");
    face.shows("Enter asks again");
    answers(&face, "Enter", "A better answer.");
    face.until("it is stored", |screen| screen.contains("[alternative 2 of 2]") && screen.contains(EMPTY));
    line(&face, "/alternatives t3");
    face.until("both", |screen| {
        screen.contains("Other answers")
            && screen.contains("The third answer.")
            && screen.contains("A better answer.")
    });
    face.press("Up");
    selects(&face, "The third answer.");
    face.press("Enter");
    agrees(&face, "chosen");
    face.until("the first one", |screen| screen.contains("[alternative 1 of 2]"));
}

#[test]
fn the_tree_shows_other_branches_and_escape_closes_panes_one_by_one() {
    let model = Model::start();
    let (world, face) = three_turns(&model);
    line(&face, "/rewind t2");
    agrees(&face, "rewound");
    face.press("C-u");
    face.shows(EMPTY);
    model.then(vec![words("Grapes, then.")]);
    says(&face, "grapes please", "Grapes, then.");
    face.press("M-t");
    face.shows("every branch");
    face.types("third");
    selects(&face, "The third");
    // Beside the branch: where it leaves what is here, and what was said there since.
    let said = face.until("what was said there", |screen| {
        ["leaves what is here", "pears please", "The second answer.", "plums please"]
            .iter()
            .all(|it| screen.contains(it))
    });
    assert!(!said.contains("apples please\n"), "what both have is not told again: {said}");
    face.press("C-d");
    face.until("what is different there", |screen| {
        screen.contains("only here") && screen.contains("only there") && screen.contains("new.txt")
    });
    face.press("C-d");
    face.shows("leaves what is here");
    // Its plan stands on the tree, the tree on the conversation.
    face.press("Enter");
    face.until("the plan", |screen| screen.contains("Enter applies") && screen.contains("new.txt"));
    face.press("Escape");
    face.until("the tree as it was", |screen| {
        screen.contains("every branch") && screen.contains("leaves what is here")
    });
    face.press("Escape");
    face.until("the conversation", |screen| {
        !screen.contains("every branch") && screen.contains("Grapes, then.")
    });
    assert_eq!((world.read("new.txt"), is_said(&world, "plums")), (None, false), "nothing has changed");
}

#[test]
fn a_small_window_shows_one_half_of_the_tree_at_a_time() {
    let model = Model::start();
    let (_world, face) = three_turns(&model);
    line(&face, "/rewind t3");
    agrees(&face, "rewound");
    face.resize(50, 20);
    face.press("M-t");
    face.shows("The third");
    let list = face
        .until("the list alone", |screen| screen.contains("❯") && !screen.contains("leaves what is here"));
    assert!(list.contains("Tree"), "{list}");
    face.types("third");
    selects(&face, "The third");
    face.press("Tab");
    face.until("the preview alone", |screen| screen.contains("leaves what is here") && !screen.contains('❯'));
    face.press("Tab");
    selects(&face, "The third");
    face.press("Escape");
    face.shows("The second answer.");
}
