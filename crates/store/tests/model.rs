//! Design invariant 5: after any sequence of says, actions, undos and forks, every reading equals that of a naive model that
//! copies lists. The model itself is core's: `core/tests/model`.

mod checks;
#[path = "../../core/tests/model/found.rs"]
mod found;
#[path = "../../core/tests/model/naive.rs"]
mod naive;
#[path = "../../core/tests/model/prompt_words.rs"]
mod prompt_words;
#[path = "../../core/tests/model/requests.rs"]
mod requests;
#[path = "../../core/tests/model/steps.rs"]
mod steps;
mod tree;
#[path = "../../core/tests/model/verbs.rs"]
mod verbs;
mod world;

use std::collections::HashMap;

use proptest::prelude::*;
use retake_core::{ConversationId, Revision};
use retake_store::Memory;

use checks::Memory as Remembered;
use steps::Do;
pub(crate) use world::Home;
use world::World;

/// Does the steps in every backend.
fn run_everywhere(steps: &[(u8, Do)]) {
    run(Home::Memory(Memory::new()), steps);
    run(Home::sqlite(), steps);
}

/// Does the steps, and checks everything after each.
fn run(home: Home, steps: &[(u8, Do)]) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        let mut world = World::new(home).await;
        let mut memories: HashMap<ConversationId, Vec<Remembered>> = HashMap::new();
        for (number, (talk, step)) in steps.iter().enumerate() {
            let touched = world.step(*talk, step).await;
            checks::memory(world.store(), &world.talks.all).await;
            for talk in &world.talks.all {
                let memory = memories.entry(talk.id).or_default();
                let revision = Revision(talk.revision);
                if memory.last().is_none_or(|(last, _)| *last != revision) {
                    memory.push((revision, checks::seen(talk)));
                }
                if talk.id == world.talks.all[touched].id {
                    checks::now(world.store(), talk).await;
                    checks::one_of_many(world.store(), talk, memory, number * 7919).await;
                    checks::everywhere(world.store(), &world.talks.all, talk, number * 7919).await;
                } else {
                    checks::glance(world.store(), talk).await;
                }
            }
        }
        for talk in &world.talks.all {
            let memory = &memories[&talk.id];
            for chance in 0..memory.len().max(talk.said.len()).max(talk.heads.len()) {
                checks::one_of_many(world.store(), talk, memory, chance).await;
            }
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        // Core compares its decisions with this model in every case. Here each case costs a hundred times as much, and shows that
        // the backends store the decisions: a sixteenth of the cases, or as many as PROPTEST_CASES says.
        cases: ProptestConfig::default().cases / 16,
        ..ProptestConfig::default()
    })]

    #[test]
    fn memory_agrees_with_a_model_that_copies_lists(steps in steps::steps()) {
        run(Home::Memory(Memory::new()), &steps);
    }

    #[test]
    fn sqlite_agrees_with_a_model_that_copies_lists(steps in steps::steps()) {
        run(Home::sqlite(), &steps);
    }
}
