//! A full disk: a clear error, nothing lost, and work continues once there is room again.

use std::fs;

use retake_testkit::again::{Small, may_mount};
use retake_worktree::{Objects, PackObjects, WorktreeError};

use super::{noise, open};

pub(crate) fn is_full(result: Result<(), WorktreeError>) -> bool {
    matches!(result, Err(WorktreeError::Io { source, .. }) if source.kind() == std::io::ErrorKind::StorageFull)
}

#[test]
fn a_full_disk_loses_nothing() {
    if !may_mount("objects::full::a_full_disk_loses_nothing") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let small = Small::mount(dir.path().join("small"), "1m");
    let filler = small.path().join("filler");
    let data = small.path().join("objects");
    let pack = open(&data);
    let before = pack.put(&noise(0, 700)).unwrap();
    pack.sync().unwrap();
    assert!(fs::write(&filler, vec![0; 2 << 20]).is_err(), "it is full");

    // Some are stored in memory; then errors are returned, again and again, and memory takes no
    // more.
    let mut taken = Vec::new();
    let mut refused = 0;
    for number in 1..100 {
        match pack.put(&noise(number, 700)) {
            Ok(name) => taken.push((number, name)),
            Err(error) => {
                assert!(is_full(Err(error)));
                refused += 1;
            }
        }
    }
    assert!(refused > 80, "{refused}");
    assert!(is_full(pack.sync()) && is_full(pack.sync()));
    assert!(is_full(pack.put(&noise(500, 5000)).map(drop)), "nor a large one");
    assert_eq!(pack.get(&before).unwrap(), noise(0, 700));
    for (number, name) in &taken {
        assert_eq!(pack.get(name).unwrap(), noise(*number, 700), "what was taken is there");
    }
    // A process that ends now leaves only what was synced.
    fs::copy(data.join("00000000.pack"), dir.path().join("00000000.pack")).unwrap();
    assert_eq!(open(dir.path()).get(&before).unwrap(), noise(0, 700));

    fs::remove_file(&filler).unwrap();
    let after = pack.put(&noise(1000, 700)).unwrap();
    pack.sync().unwrap();
    drop(pack);
    let pack = open(&data);
    assert_eq!(pack.get(&after).unwrap(), noise(1000, 700));
    for (number, name) in taken {
        assert_eq!(pack.get(&name).unwrap(), noise(number, 700));
    }
    assert!(pack.check(&mut |_, _| {}).unwrap().damaged.is_empty());
}

#[test]
fn a_full_disk_stops_a_collection_and_an_erasure_without_harm() {
    if !may_mount("objects::full::a_full_disk_stops_a_collection_and_an_erasure_without_harm") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let small = Small::mount(dir.path().join("small"), "1m");
    let data = small.path().join("objects");
    let pack = PackObjects::open(&data).unwrap();
    let names: Vec<_> = (0..600).map(|number| pack.put(&noise(number, 700)).unwrap()).collect();
    pack.sync().unwrap();
    let filler = small.path().join("filler");
    assert!(fs::write(&filler, vec![0; 2 << 20]).is_err(), "it is full");
    let live = |name: &retake_core::ContentHash| names[..200].contains(name);
    assert!(is_full(pack.collect(&pack.guard(), &live, &mut |_, _| {}).map(drop)));
    assert!(is_full(pack.erase(&names[599..], &mut |_, _| {}).map(drop)));
    for (number, name) in names[..599].iter().enumerate() {
        assert_eq!(pack.get(name).unwrap(), noise(number as u64, 700));
    }
    // If nothing stays, no room is needed.
    fs::remove_file(&filler).unwrap();
    pack.erase(&names[599..], &mut |_, _| {}).unwrap();
    assert!(fs::write(&filler, vec![0; 2 << 20]).is_err(), "it is full again");
    pack.collect(&pack.guard(), &|_| false, &mut |_, _| {}).unwrap();
    assert_eq!(pack.count(), 0);
}
