//! Design invariant 7, and `rewind.md` on plans. Under any sequence of calls, users, another conversation, git, rewinds,
//! undos, redos, drops and crashes, files and conversation equal those of a naive model. Every line has a unique name that
//! gives its author, and the model says which lines must exist. The model itself is core's, whose own test runs it in memory:
//! `core/tests/files`.

mod acts;
#[path = "../../../core/tests/files/chosen.rs"]
mod chosen;
mod disk;
#[path = "../../../core/tests/files/expect.rs"]
mod expect;
mod faults;
mod found;
#[path = "../../../core/tests/files/ideal.rs"]
mod ideal;
#[path = "../../../core/tests/files/moved.rs"]
mod moved;
#[expect(dead_code, reason = "core's own test uses all of it")]
#[path = "../../../core/tests/files/naive.rs"]
mod naive;
#[expect(dead_code, reason = "core's own test uses all of it")]
#[path = "../../../core/tests/files/short.rs"]
mod short;
#[path = "../../../core/tests/files/steps.rs"]
mod steps;
#[path = "../../../core/tests/files/text.rs"]
mod text;
#[path = "../../../core/tests/files/told.rs"]
mod told;
#[path = "../../../core/tests/files/truth.rs"]
mod truth;
#[path = "../../../core/tests/files/view.rs"]
mod view;
mod world;

use proptest::prelude::*;

use faults::Faults;
use steps::{Do, Edit};
use world::World;

/// Runs the steps in a folder after these edits, and checks everything after each.
fn run(edits: &[Edit], steps: &[(u8, Do)]) {
    let faults = Faults::default();
    let mut runtime = faults.runtime();
    let mut world = runtime.block_on(World::new(faults.clone(), edits));
    for (talk, step) in steps {
        if matches!(step, Do::Kill) {
            world.dies();
            // As if the program were killed: nothing of it continues.
            runtime.shutdown_timeout(world::PATIENCE);
            runtime = faults.runtime();
        }
        runtime.block_on(async {
            world.step(usize::from(*talk) % 2, step).await;
            world.check(step).await;
        });
    }
    runtime.block_on(world.close());
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        // Programs are started and databases opened: a fifth of the usual number of cases, or as many as PROPTEST_CASES says.
        cases: ProptestConfig::default().cases / 5,
        ..ProptestConfig::default()
    })]

    #[test]
    fn files_and_conversation_agree_with_a_model_that_copies_maps(case in steps::cases()) {
        run(&case.0, &case.1);
    }
}
