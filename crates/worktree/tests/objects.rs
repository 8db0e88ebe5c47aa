//! The object stores: the rules for each, and the guarantees of the pack on disk.

mod chunks;
mod collect;
mod crash;
mod damage;
mod find;
pub(crate) mod full;
mod golden;
mod model;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use retake_core::ContentHash;
use retake_worktree::{MemoryObjects, Objects, PackObjects, PackSizes, WorktreeError, hash};

/// So small that a few objects make several blocks and segments, and one of 3,000 bytes several chunks.
const SMALL: PackSizes = PackSizes { block: 2_000, segment: 20_000, whole: 3_000, chunk: 512 };

fn open(dir: &Path) -> PackObjects {
    PackObjects::open_sized(dir, SMALL).expect("opened")
}

/// Incompressible bytes, different for each number.
pub(crate) fn noise(number: u64, len: usize) -> Vec<u8> {
    let mut rng = fastrand::Rng::with_seed(number);
    std::iter::repeat_with(|| rng.u8(..)).take(len).collect()
}

/// Compressible bytes.
fn text(number: u64, len: usize) -> Vec<u8> {
    format!("line {number} of a text\n").into_bytes().into_iter().cycle().take(len).collect()
}

/// The files with this extension, oldest first.
fn files(dir: &Path, extension: &str) -> Vec<PathBuf> {
    let paths = fs::read_dir(dir).expect("a folder").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<_> = paths.filter(|path| path.extension().is_some_and(|is| is == extension)).collect();
    files.sort();
    files
}

/// Whether any file of the folder contains these bytes.
fn on_disk(dir: &Path, bytes: &[u8]) -> bool {
    let mut paths = fs::read_dir(dir).expect("a folder").map(|entry| entry.expect("an entry").path());
    paths.any(|path| fs::read(path).expect("read").windows(bytes.len()).any(|window| window == bytes))
}

fn put_all(pack: &PackObjects, numbers: impl Iterator<Item = u64>) -> Vec<ContentHash> {
    numbers.map(|number| pack.put(&noise(number, 700)).expect("put")).collect()
}

/// The rules of [`Objects`], for any store.
fn conforms(objects: &dyn Objects) {
    let bytes = [b"".as_slice(), b"a", &[0xff; 70_000], &noise(1, 300_000)];
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
    for bytes in bytes {
        assert_eq!(objects.get(&hash(bytes)).expect("got"), bytes);
    }
    together(objects);
}

/// Several threads put the same and different objects, and read each other's before any sync.
fn together(objects: &dyn Objects) {
    let (of, threads) = (200, 4);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || {
                for number in 0..of {
                    let bytes = text(number / 2 * 2 + (number % 2) * (thread + 1), 50 + number as usize * 7);
                    let name = objects.put(&bytes).expect("put");
                    assert_eq!(objects.get(&name).expect("got"), bytes);
                    if number % 64 == thread {
                        objects.sync().expect("synced");
                    }
                }
            });
        }
    });
    for number in (0..of).step_by(2) {
        let bytes = text(number, 50 + number as usize * 7);
        assert_eq!(objects.get(&hash(&bytes)).expect("got"), bytes);
    }
}

#[test]
fn memory_conforms() {
    conforms(&MemoryObjects::default());
}

#[test]
fn pack_conforms() {
    let dir = tempfile::tempdir().unwrap();
    for (name, sizes) in [("usual", PackSizes::default()), ("small", SMALL)] {
        let dir = dir.path().join("below").join(name);
        let pack = PackObjects::open_sized(&dir, sizes).unwrap();
        conforms(&pack);
        let (count, names) = (pack.count(), [hash(b""), hash(&noise(1, 300_000))]);
        pack.close().unwrap();
        let again = PackObjects::open_sized(&dir, sizes).unwrap();
        assert_eq!(again.count(), count);
        assert_eq!(again.get(&names[1]).unwrap(), noise(1, 300_000));
        assert_eq!(again.get(&names[0]).unwrap(), b"");
        assert_eq!(again.check(&mut |_, _| {}).unwrap().sound, count);
    }
}

#[test]
fn the_order_is_that_of_the_disk() {
    let dir = tempfile::tempdir().unwrap();
    let pack = open(dir.path());
    let names = put_all(&pack, 0..100);
    pack.sync().unwrap();
    assert!(names.is_sorted_by_key(|name| pack.order(name)));
    let places: HashSet<u64> = names.iter().map(|name| pack.order(name)).collect();
    assert!(places.len() > 10, "several blocks: {}", places.len());
    assert!(files(dir.path(), "pack").len() > 2, "several segments");
}

#[test]
fn a_pack_has_one_owner() {
    let dir = tempfile::tempdir().unwrap();
    let pack = open(dir.path());
    let second = PackObjects::open(dir.path()).unwrap_err();
    assert!(matches!(&second, WorktreeError::InUse(path) if path == dir.path()), "{second}");
    drop(pack);
    open(dir.path());
}

#[test]
fn a_closed_pack_is_opened_without_reading_its_segments() {
    let dir = tempfile::tempdir().unwrap();
    let pack = open(dir.path());
    let names = put_all(&pack, 0..100);
    pack.close().unwrap();
    // The packs are not read: the index files have the places.
    for path in files(dir.path(), "pack") {
        let len = fs::metadata(&path).unwrap().len();
        fs::write(&path, vec![0; usize::try_from(len).unwrap()]).unwrap();
    }
    let pack = open(dir.path());
    assert!(names.iter().all(|name| pack.contains(name)));
    assert!(matches!(pack.get(&names[0]), Err(WorktreeError::Damaged(name)) if name == names[0]));
}
