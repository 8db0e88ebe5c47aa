//! The conformance suite on every backend.

mod memory {
    use std::sync::Arc;

    use retake_store::{Keeper, Memory, Store};

    fn open() -> (Arc<dyn Store>, ()) {
        let memory = Memory::new();
        let rows = memory.writer();
        (Arc::new(Keeper::start(memory, rows).expect("started")), ())
    }

    retake_store::conformance!(open());
}
