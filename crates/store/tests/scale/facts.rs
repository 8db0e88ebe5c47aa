//! Remembered facts that a step takes back: the cost of its plan does not depend on facts that it does not touch elsewhere.

use retake_core::{Fact, FactsChanged, MemoryId, MemoryScope};

use super::*;

/// The entries of the conversation; each remembers a fact.
const OWN: u64 = 40;

/// An entry that remembers its words.
fn remembers(seq: u64) -> SayRequest {
    let mut say = say(seq);
    let fact = Fact::remembering(&MemoryId::of(say.id), MemoryScope::Everywhere);
    say.parts.push(Part::Facts(vec![fact]));
    say
}

/// Statements, rows and steps of a plan and a receipt that take back ten facts, with this many facts in other conversations.
async fn costs(elsewhere: u64) -> [u64; 3] {
    let stage = Stage::with(OWN, remembers).await;
    for number in 1..=elsewhere {
        let id = ConversationId::new(Uuid::from_u128(4 << 64 | u128::from(number)));
        let new = NewConversation { id, folder: None, title: None, by: by() };
        stage.store.create(new).await.expect("created");
        stage.store.say(id, remembers(OWN + number)).await.expect("said");
    }
    let before = stage.work.counts();
    let back = Action::Rewind(entry_id(OWN - 9));
    let ten = FactsChanged { gone: 10, came: 0 };
    assert_eq!(stage.store.plan(conversation(), back.clone()).await.expect("planned").facts, ten);
    let between = stage.work.counts();
    let apply = Apply { action: back, seen: SeenState::Anything, by: by() };
    let done = stage.store.apply(conversation(), apply).await.expect("applied");
    let applied = stage.work.counts();
    let told = stage.store.facts_changed(conversation(), done.ops[0], done.head).await;
    assert_eq!(told.expect("read"), ten);
    let after = stage.work.counts();
    [0, 1, 2].map(|count| between[count] - before[count] + after[count] - applied[count])
}

#[tokio::test]
async fn facts_of_a_step_cost_the_same_among_many_facts_of_other_conversations() {
    let (few, many) = (costs(1).await, costs(500).await);
    assert_eq!(many[..2], few[..2], "statements and rows: {few:?} and {many:?}");
    assert!(many[2] <= few[2] + few[2] / 10, "steps: {few:?} and {many:?}");
}
