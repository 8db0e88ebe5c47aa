//! What every object store must do.

use retake_worktree::{MemoryObjects, Objects, PackObjects, WorktreeError, hash};

/// The rules of [`Objects`], for any store.
fn conforms(objects: &dyn Objects) {
    let bytes = [b"".as_slice(), b"a", &[0xff; 70_000]];
    for bytes in bytes {
        assert!(!objects.contains(&hash(bytes)));
        assert!(
            matches!(objects.get(&hash(bytes)), Err(WorktreeError::Missing(name)) if name == hash(bytes))
        );
        assert_eq!(objects.put(bytes).expect("put"), hash(bytes));
        assert_eq!(objects.put(bytes).expect("put"), hash(bytes));
        assert!(objects.contains(&hash(bytes)));
        assert_eq!(objects.get(&hash(bytes)).expect("got"), bytes);
    }
    objects.sync().expect("synced");
}

#[test]
fn memory_conforms() {
    conforms(&MemoryObjects::default());
}

#[test]
fn pack_conforms() {
    let dir = tempfile::tempdir().unwrap();
    conforms(&PackObjects::open(dir.path().join("objects")).unwrap());
    let again = PackObjects::open(dir.path().join("objects")).unwrap();
    assert_eq!(again.count(), 3);
    assert_eq!(again.get(&hash(&[0xff; 70_000])).unwrap(), [0xff; 70_000]);
}
