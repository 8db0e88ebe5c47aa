//! The conformance suite on every backend.

mod memory {
    use std::sync::Arc;

    use retake_store::{Memory, Store};

    fn open() -> (Arc<Store>, ()) {
        let memory = Memory::new();
        let rows = memory.writer();
        (Arc::new(Store::start(memory, rows).expect("started")), ())
    }

    retake_store::conformance!(open());
}

mod sqlite {
    use std::sync::Arc;
    use std::time::Duration;

    use retake_core::Time;
    use retake_store::{Sqlite, Store};
    use tempfile::TempDir;

    fn open() -> (Arc<Store>, TempDir) {
        let dir = tempfile::tempdir().expect("a directory");
        let opened = Sqlite::open(dir.path(), Time(1_700_000_000_000), Duration::ZERO).expect("opened");
        (Arc::new(Store::start(opened.readers, opened.writer).expect("started")), dir)
    }

    retake_store::conformance!(open());
}
