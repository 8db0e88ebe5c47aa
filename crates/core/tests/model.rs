//! Every decision and every reading of core equals that of a naive model that copies lists, under any sequence of says,
//! actions, undos and forks. The records are in memory; the store's tests run the same model over its backends.

mod adoption;
mod checks;
mod found;
mod naive;
mod prompt_words;
mod requests;
mod rows;
mod steps;
mod tree;
mod verbs;
mod world;

use proptest::prelude::*;

use steps::Do;
use world::World;

/// Carries out the steps, for the sequences found earlier.
fn run_everywhere(steps: &[(u8, Do)]) {
    run(steps);
}

/// Carries out the steps. Compares what they touched after each, and everything at the end.
fn run(steps: &[(u8, Do)]) {
    let mut world = World::new();
    for (number, (talk, step)) in steps.iter().enumerate() {
        let touched = world.step(*talk, step);
        checks::at_a_glance(&world, touched);
        checks::one_of_many(&world, touched, number * 7919);
    }
    for at in 0..world.talks.all.len() {
        checks::everything(&world, at);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn core_agrees_with_a_model_that_copies_lists(steps in steps::steps()) {
        run(&steps);
    }
}
