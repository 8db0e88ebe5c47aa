//! Collection and erasure: unneeded content goes; needed content and content just being captured stays.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};

use retake_core::ContentHash;
use retake_worktree::{Objects, WorktreeError, hash};

use super::{files, noise, on_disk, open, put_all, text};

fn nothing(_: u64, _: u64) {}

#[test]
fn a_collection_removes_only_unclaimed_objects() {
    let dir = tempfile::tempdir().unwrap();
    let pack = open(dir.path());
    let names = put_all(&pack, 0..200);
    pack.sync().unwrap();
    let before = pack.size().unwrap();
    let live: HashSet<ContentHash> = names.iter().copied().step_by(5).collect();
    let mut steps = Vec::new();
    let guard = pack.guard();
    let collected =
        pack.collect(&guard, &|name| live.contains(name), &mut |done, total| steps.push((done, total)));
    let collected = collected.unwrap();
    drop(guard);
    assert_eq!(collected.moved, live.len());
    assert!(collected.damaged.is_empty());
    assert!(pack.size().unwrap() < before / 3, "{} of {before}", pack.size().unwrap());
    assert!(steps.len() > 2 && steps.is_sorted() && steps.last().is_some_and(|(done, total)| done == total));
    for again in 0..2 {
        let reopened;
        let pack = if again == 0 {
            &pack
        } else {
            reopened = reopen(dir.path(), &pack);
            &reopened
        };
        for (number, name) in names.iter().enumerate() {
            if live.contains(name) {
                assert_eq!(pack.get(name).unwrap(), noise(number as u64, 700));
            } else {
                assert!(matches!(pack.get(name), Err(WorktreeError::Missing(_))));
            }
        }
    }
}

/// The pack as after a crash, in a folder of its own.
fn reopen(dir: &std::path::Path, pack: &retake_worktree::PackObjects) -> retake_worktree::PackObjects {
    pack.sync().expect("synced");
    let copy = dir.join("copy");
    std::fs::create_dir_all(&copy).expect("a folder");
    for path in files(dir, "pack") {
        std::fs::copy(&path, copy.join(path.file_name().expect("a name"))).expect("copied");
    }
    open(&copy)
}

#[test]
fn a_second_collection_finds_nothing_to_do() {
    let dir = tempfile::tempdir().unwrap();
    let pack = open(dir.path());
    let names = put_all(&pack, 0..200);
    let live = |name: &ContentHash| name.0[0].is_multiple_of(2);
    pack.sync().unwrap();
    assert!(pack.collect(&pack.guard(), &live, &mut nothing).unwrap().moved > 50);
    assert_eq!(pack.collect(&pack.guard(), &live, &mut nothing).unwrap().moved, 0);
    assert!(names.iter().filter(|name| live(name)).all(|name| pack.get(name).is_ok()));
}

#[test]
fn a_collection_removes_no_object_that_a_capture_puts_or_finds() {
    let dir = tempfile::tempdir().unwrap();
    let pack = open(dir.path());
    let names = put_all(&pack, 0..60);
    pack.sync().unwrap();
    let capture = pack.guard();
    assert!(pack.contains(&names[3]));
    pack.put(&noise(7, 700)).unwrap();
    let fresh = pack.put(&noise(1000, 700)).unwrap();
    let collection = pack.guard();
    let late = AtomicBool::new(false);
    // While the live objects are determined, another capture finds one more.
    let live = |_: &ContentHash| {
        if !late.swap(true, Ordering::Relaxed) {
            assert!(pack.contains(&names[5]));
        }
        false
    };
    pack.collect(&collection, &live, &mut nothing).unwrap();
    drop(collection);
    for name in [names[3], names[5], names[7], fresh] {
        assert!(pack.get(&name).is_ok(), "{name}");
    }
    assert!(!pack.contains(&names[4]));
    // No longer guarded.
    drop(capture);
    pack.collect(&pack.guard(), &|_| false, &mut nothing).unwrap();
    assert!([names[3], names[5], names[7], fresh].iter().all(|name| !pack.contains(name)));
}

#[test]
fn an_object_that_is_found_at_the_last_moment_is_not_collected() {
    let dir = tempfile::tempdir().unwrap();
    let pack = open(dir.path());
    let names = put_all(&pack, 0..60);
    // Whenever a segment has been copied and is about to be removed.
    let mut found = HashSet::new();
    let mut find = |_: u64, _: u64| {
        found.extend(names.iter().skip(found.len() * 7).find(|name| pack.contains(name)));
    };
    pack.collect(&pack.guard(), &|_| false, &mut find).unwrap();
    assert!(found.len() > 3 && pack.count() < names.len(), "{} of {}", found.len(), pack.count());
    assert!(found.iter().all(|name| pack.get(name).is_ok()));
}

#[test]
fn an_object_that_is_put_again_during_its_erasure_stays() {
    let dir = tempfile::tempdir().unwrap();
    let pack = open(dir.path());
    let names = put_all(&pack, 0..60);
    let mut again = false;
    let mut put = |_: u64, _: u64| {
        if !std::mem::replace(&mut again, true) {
            put_all(&pack, 30..31);
            pack.sync().unwrap();
        }
    };
    assert!(pack.erase(&names[30..32], &mut put).unwrap().segments > 0);
    assert_eq!(pack.get(&names[30]).unwrap(), noise(30, 700));
    assert!(!pack.contains(&names[31]));
}

#[test]
fn collections_beside_captures_lose_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let pack = open(dir.path());
    let done = AtomicBool::new(false);
    let capture = |thread: u64| {
        for round in 0..60 {
            let guard = pack.guard();
            // Some of each round are new, some are from an earlier round, which may be collected at this
            // moment.
            let numbers: Vec<u64> = (0..8).map(|number| (round / 3) * 8 + number + thread * 4).collect();
            let names = put_all(&pack, numbers.iter().copied());
            pack.sync().unwrap();
            for (number, name) in numbers.iter().zip(&names) {
                assert_eq!(pack.get(name).unwrap(), noise(*number, 700));
            }
            drop(guard);
        }
    };
    std::thread::scope(|scope| {
        let collector = scope.spawn(|| {
            let mut rounds = 0;
            while !done.load(Ordering::Relaxed) || rounds < 3 {
                pack.collect(&pack.guard(), &|_| false, &mut nothing).unwrap();
                rounds += 1;
            }
        });
        let captures = [0, 1].map(|thread| scope.spawn(move || capture(thread)));
        let captures = captures.map(std::thread::ScopedJoinHandle::join);
        done.store(true, Ordering::Relaxed);
        collector.join().unwrap();
        assert!(captures.iter().all(Result::is_ok));
    });
    assert!(pack.check(&mut nothing).unwrap().damaged.is_empty());
}

#[test]
fn a_damaged_object_that_is_needed_is_not_collected() {
    let dir = tempfile::tempdir().unwrap();
    let pack = open(dir.path());
    let names = put_all(&pack, 0..12);
    pack.sync().unwrap();
    let path = files(dir.path(), "pack").remove(0);
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.windows(700).position(|window| window == noise(4, 700)).unwrap();
    bytes[at] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let collected = pack.collect(&pack.guard(), &|name| *name == names[4], &mut nothing).unwrap();
    assert_eq!(collected.damaged, [names[4]]);
    assert!(matches!(pack.get(&names[4]), Err(WorktreeError::Damaged(_))));
    pack.put(&noise(4, 700)).unwrap();
    assert!(pack.collect(&pack.guard(), &|name| *name == names[4], &mut nothing).unwrap().damaged.is_empty());
    assert_eq!(pack.get(&names[4]).unwrap(), noise(4, 700));
    assert!(!path.exists());
}

#[test]
fn erased_bytes_are_not_on_the_disk() {
    let dir = tempfile::tempdir().unwrap();
    let pack = open(dir.path());
    let names = put_all(&pack, 0..60);
    pack.sync().unwrap();
    // A second copy of one, as after a crash in a collection or a repair.
    let copy = dir.path().join("00000900.pack");
    std::fs::copy(&files(dir.path(), "pack")[0], &copy).unwrap();
    drop(pack);
    let pack = open(dir.path());
    let pending = pack.put(&noise(2000, 700)).unwrap();
    let secrets = [names[1], names[40], pending, hash(b"never there")];
    assert!(on_disk(dir.path(), &noise(1, 700)));
    let erased = pack.erase(&secrets, &mut nothing).unwrap();
    assert!(erased.segments >= 3 && erased.lost.is_empty(), "{erased:?}");
    for number in [1, 40, 2000] {
        assert!(!on_disk(dir.path(), &noise(number, 700)[..64]), "{number}");
        assert!(!on_disk(dir.path(), &hash(&noise(number, 700)).0), "not even its hash");
    }
    for (number, name) in names.iter().enumerate() {
        if secrets.contains(name) {
            assert!(matches!(pack.get(name), Err(WorktreeError::Missing(_))));
        } else {
            assert_eq!(pack.get(name).unwrap(), noise(number as u64, 700));
        }
    }
    // An erasure does not ban content: the same bytes can be stored again.
    pack.put(&noise(1, 700)).unwrap();
    drop(pack);
    assert_eq!(open(dir.path()).get(&names[1]).unwrap(), noise(1, 700));
}

#[test]
fn an_erasure_that_was_cut_off_is_finished_at_the_next_start() {
    let dir = tempfile::tempdir().unwrap();
    drop(open(dir.path()));
    std::fs::write(dir.path().join("00000003.erased"), text(1, 5000)).unwrap();
    std::fs::write(dir.path().join("00000004.new"), b"half an index").unwrap();
    std::fs::write(dir.path().join("00000005.index"), b"an index of nothing").unwrap();
    std::fs::write(dir.path().join("notes.txt"), b"someone's").unwrap();
    drop(open(dir.path()));
    let left: Vec<_> =
        std::fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "the lock and what is someone's: {left:?}");
}

#[test]
fn a_stopped_collection_leaves_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    let pack = open(dir.path());
    let names = put_all(&pack, 0..200);
    pack.sync().unwrap();
    let segments = files(dir.path(), "pack").len();
    let (guard, stop) = (pack.guard(), AtomicBool::new(false));
    let mut told = |_, _| stop.store(true, Ordering::Relaxed);
    let kept = &names[..5];
    pack.collect_until(&stop, &guard, &|name| kept.contains(name), &mut told).unwrap();
    let left = files(dir.path(), "pack").len();
    assert!(left + 1 >= segments && left > 3, "one of {segments} at most, {left} are left");
    for name in kept {
        pack.get(name).unwrap();
    }
}
