//! Conversations side by side in a real terminal. Must never let what one of them does be seen in another.

use super::{EMPTY, opened, says};
use crate::live::model::{Model, half, words};

#[test]
fn a_run_in_one_tab_goes_on_while_another_tab_is_used() {
    let model = Model::start();
    let (world, face) = opened(
        &model,
        vec![words("Hello."), half("And now I count: one two "), words("Hello in the other.")],
    );
    says(&face, "hello", "Hello.");
    face.types("count for me");
    face.press("Enter");
    face.shows("one two");
    face.press("C-t");
    face.until("a tab of its own", |screen| {
        screen.contains("2 new") && screen.contains(EMPTY) && !screen.contains("one two")
    });
    says(&face, "another thing", "Hello in the other.");
    assert!(!face.screen().contains("count for me"), "{}", face.screen());
    face.press("M-,");
    let screen =
        face.until("the run", |screen| screen.contains("one two") && screen.contains("Ctrl+C stops"));
    assert!(!screen.contains("Hello in the other."), "{screen}");
    face.press("C-c");
    face.until("it is stopped", |screen| screen.contains("interrupted") && !screen.contains("Ctrl+C stops"));
    face.press("M-,");
    let screen = face.shows("Hello in the other.");
    assert!(!screen.contains("interrupted"), "{screen}");
    let all = world.json(&["list", "--all"]);
    assert_eq!(all["conversations"].as_array().map(Vec::len), Some(2), "{all}");
}
