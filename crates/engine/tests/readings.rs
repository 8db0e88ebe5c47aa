//! How often the store is read for one request: each read is a state of its own, and waits for its turn behind other reads. Reads
//! are counted, never timed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use retake_core::{Action, Apply, ConversationId, Part, Role, SayRequest, SeenState};
use retake_engine::clock::ManualClock;
use retake_engine::{Engine, FileOptions};
use retake_store::rows::Rows;
use retake_store::{Backend, Memory, Result, Store};
use retake_testkit::{Puppet, conversation, start};

/// A memory store that counts its reads.
struct Counted(Memory, Arc<AtomicU64>);

impl Backend for Counted {
    fn read(&self, reader: &mut dyn FnMut(&dyn Rows)) -> Result<()> {
        self.1.fetch_add(1, Ordering::SeqCst);
        self.0.read(reader)
    }
}

struct Desk {
    engine: Arc<Engine>,
    id: ConversationId,
    readings: Arc<AtomicU64>,
}

impl Desk {
    async fn with_turns(turns: usize) -> Self {
        let (memory, readings) = (Memory::new(), Arc::<AtomicU64>::default());
        let rows = memory.writer();
        let counted = Counted(memory, Arc::clone(&readings));
        let store = Arc::new(Store::start(counted, rows).expect("started"));
        let engine =
            start(&store, &ManualClock::new(1_700_000_000_000), &Arc::new(Puppet::default()), 1).await;
        let id = conversation(&engine).await;
        let says = (0..2 * turns).map(|number| {
            SayRequest::new(
                engine.new_entry_id(),
                if number % 2 == 0 { Role::User } else { Role::Assistant },
                vec![Part::text(format!("message {number}"))],
                engine.by(None),
            )
        });
        store.say_all(id, says.collect()).await.expect("said");
        Self { engine, id, readings }
    }

    /// The number of reads for this.
    async fn costs<T>(&self, asked: impl Future<Output = T>) -> (T, u64) {
        let before = self.readings.load(Ordering::SeqCst);
        let answer = asked.await;
        (answer, self.readings.load(Ordering::SeqCst) - before)
    }
}

#[tokio::test]
async fn a_rewind_that_takes_no_files_is_a_reading_and_a_commit() {
    let desk = Desk::with_turns(20).await;
    let (id, engine) = (desk.id, &desk.engine);
    let name = id.to_string();
    assert_eq!(desk.costs(engine.conversation(&name)).await.1, 0, "it is in memory");
    let (entry, readings) = desk.costs(engine.entry(id, "t11")).await;
    assert_eq!(readings, 1);
    let rewind = Action::Rewind(entry.expect("turn 11"));
    let (planned, readings) = desk.costs(engine.plan_both(id, rewind.clone(), FileOptions::default())).await;
    assert_eq!((planned.expect("planned").effects.count, readings), (0, 1));
    for action in [rewind, Action::Undo(1)] {
        let apply = Apply { action, seen: SeenState::Anything, by: engine.by(None) };
        let (applied, readings) = desk.costs(engine.apply_both(id, apply, FileOptions::default())).await;
        let receipt = applied.expect("applied").receipt;
        assert_eq!((receipt.unchanged, readings), (false, 1));
        let (_, readings) = desk.costs(engine.kept().receipt_details(&receipt)).await;
        assert_eq!(readings, 1);
    }
}
