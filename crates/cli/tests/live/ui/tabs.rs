//! Conversations in several tabs of a real terminal. Must never show the events of one in another.

use super::{EMPTY, opened, says};
use crate::live::model::{Model, half, words};

#[test]
fn a_run_in_one_tab_goes_on_while_another_tab_is_used() {
    let model = Model::start();
    let (world, client) = opened(
        &model,
        vec![words("Hello."), half("And now I count: one two "), words("Hello in the other.")],
    );
    says(&client, "hello", "Hello.");
    client.types("count for me");
    client.press("Enter");
    client.shows("one two");
    client.press("C-t");
    client.until("a tab of its own", |screen| {
        screen.contains("2 new") && screen.contains(EMPTY) && !screen.contains("one two")
    });
    says(&client, "another thing", "Hello in the other.");
    assert!(!client.screen().contains("count for me"), "{}", client.screen());
    client.press("M-,");
    let screen =
        client.until("the run", |screen| screen.contains("one two") && screen.contains("Ctrl+C stops"));
    assert!(!screen.contains("Hello in the other."), "{screen}");
    client.press("C-c");
    client
        .until("it is stopped", |screen| screen.contains("interrupted") && !screen.contains("Ctrl+C stops"));
    client.press("M-,");
    let screen = client.shows("Hello in the other.");
    assert!(!screen.contains("interrupted"), "{screen}");
    let all = world.json(&["list", "--all"]);
    assert_eq!(all["conversations"].as_array().map(Vec::len), Some(2), "{all}");
}
