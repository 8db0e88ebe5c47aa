//! The summary of another branch: the tree lets the model write it, and the conversation says where it is.

use retake_wire::{Ended, Outcome, RunStart};

use super::*;

#[test]
fn key_in_the_tree_lets_the_model_summarise_another_branch() {
    let mut app = talking(Theme::default());
    let acts = press(&mut app, "alt+t", NOW_MS);
    answer(&mut app, acts, &owner);
    // The branch of now is selected.
    drop(press(&mut app, "ctrl+g", NOW_MS + LATER));
    assert!(looks(&mut app).contains("you are here: there is nothing to carry over"));
    drop(press(&mut app, "down", NOW_MS + LATER));
    let acts = press(&mut app, "ctrl+g", NOW_MS + 2 * LATER);
    let run = acts.iter().find_map(|act| match act {
        Act::Run(_, run) => Some(run),
        _ => None,
    });
    let run = run.unwrap_or_else(|| panic!("a run: {acts:?}"));
    let is_of_branch = matches!(&run.start, RunStart::Compact { branch: Some(leaf), .. } if leaf == "last1");
    assert!(is_of_branch, "{run:?}");
    let entry = snapshot().entries.pop();
    let ended = Ended { outcome: Outcome::Succeeded, receipt: None, entry, problem: None };
    app.compacted(TabId(1), &ended);
    assert!(looks(&mut app).contains("summarised: the summary of the branch is the last message here"));
}
