//! What every object store must do.

use retake_worktree::{MemoryObjects, Objects, WorktreeError, hash};

/// The rules of [`Objects`], for any store.
fn conforms(objects: &dyn Objects) {
    let bytes = [b"".as_slice(), b"a", &[0xff; 70_000]];
    for bytes in bytes {
        assert!(!objects.contains(&hash(bytes)));
        assert!(
            matches!(objects.get(&hash(bytes)), Err(WorktreeError::Missing(name)) if name == hash(bytes))
        );
        assert_eq!(objects.put(bytes).unwrap(), hash(bytes));
        assert_eq!(objects.put(bytes).unwrap(), hash(bytes));
        assert!(objects.contains(&hash(bytes)));
        assert_eq!(objects.get(&hash(bytes)).unwrap(), bytes);
    }
    objects.sync().unwrap();
}

#[test]
fn memory_conforms() {
    conforms(&MemoryObjects::default());
}
