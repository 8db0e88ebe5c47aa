//! The index: which entries are trusted, which are read again, and the state after a crash or damage.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use retake_core::ContentHash;
use retake_worktree::{
    CaptureScope, KnownPath, Manifest, MemoryObjects, Objects, Permission, Progress, Result, Tree,
    WorktreeError, hash,
};

use super::{World, file_path, lines, open, write};

const NOTHING: [&str; 0] = [];

/// An object store that counts, and fails on demand.
#[derive(Default)]
struct Counting {
    inner: MemoryObjects,
    puts: AtomicU64,
    /// The new ones among them.
    new: AtomicU64,
    syncs: AtomicU64,
    no_puts: AtomicBool,
    no_syncs: AtomicBool,
}

impl Objects for Counting {
    fn put(&self, bytes: &[u8]) -> Result<ContentHash> {
        if self.no_puts.load(Ordering::Relaxed) {
            return Err(WorktreeError::Missing(ContentHash([0; 32])));
        }
        self.puts.fetch_add(1, Ordering::Relaxed);
        let is_new = !self.inner.contains(&hash(bytes));
        self.new.fetch_add(u64::from(is_new), Ordering::Relaxed);
        self.inner.put(bytes)
    }

    fn contains(&self, hash: &ContentHash) -> bool {
        self.inner.contains(hash)
    }

    fn get(&self, hash: &ContentHash) -> Result<Vec<u8>> {
        self.inner.get(hash)
    }

    fn sync(&self) -> Result<()> {
        if self.no_syncs.load(Ordering::Relaxed) {
            return Err(WorktreeError::Missing(ContentHash([0; 32])));
        }
        self.syncs.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

fn indexes(world: &World) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(world.dir.path().join("data")).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

fn look(tree: &Tree) -> retake_worktree::Capture {
    tree.capture(&CaptureScope::Whole, Permission::Ask, &|_| ()).unwrap()
}

#[test]
fn unchanged_files_are_neither_put_nor_saved() {
    let world = World::with(|root| {
        for number in 0..2_000 {
            write(root, &format!("d{}/f{number}", number % 50), number.to_string());
        }
    });
    let objects = Arc::new(Counting::default());
    let mut tree = open(&world.dir, &world.rules, objects.clone(), None).unwrap();
    let capture = look(&tree);
    assert_eq!(capture.stats.read, 2_000);
    let first = capture.mark();
    tree.accept(capture).unwrap();
    assert_eq!((objects.puts.load(Ordering::Relaxed), objects.syncs.load(Ordering::Relaxed)), (2_000, 1));
    let deadline = std::time::Duration::from_secs(10);
    let mut waited = std::time::Duration::ZERO;
    let capture = loop {
        let capture = look(&tree);
        // Apart from the youngest few, which may be mapped, nothing is read once time stamps are
        // decisive.
        if capture.stats.doubted <= 512 {
            break capture;
        }
        let pause = std::time::Duration::from_millis(5);
        std::thread::park_timeout(pause);
        waited += pause;
        assert!(waited < deadline, "{:?}", capture.stats);
        tree.accept(capture).unwrap();
    };
    assert_eq!(capture.stats.read, 0);
    assert_eq!((capture.stats.folders, capture.stats.names), (51, 2_050));
    assert_eq!(capture.mark(), first);
    assert_eq!((objects.puts.load(Ordering::Relaxed), objects.syncs.load(Ordering::Relaxed)), (2_000, 1));
    fs::write(world.at("d7/f7"), "changed").unwrap();
    let capture = look(&tree);
    assert_eq!((capture.stats.read, lines(&capture.findings)), (1, vec!["~ d7/f7".to_owned()]));
    assert_eq!((objects.puts.load(Ordering::Relaxed), objects.syncs.load(Ordering::Relaxed)), (2_001, 2));
}

#[test]
fn changes_of_a_capture_that_was_not_kept_are_found_again() {
    let mut world = World::with(|root| write(root, "a", "1"));
    world.write("a", "2");
    for _ in 0..3 {
        assert_eq!(lines(&world.look().unwrap().findings), ["~ a"]);
        world.reopen();
    }
    assert_eq!(world.lines(), ["~ a"]);
    world.reopen();
    assert_eq!(world.lines(), NOTHING);
    assert_eq!(indexes(&world).len(), 1, "older ones are removed");
}

#[test]
fn a_capture_that_found_nothing_and_was_dropped_leaves_no_trace() {
    let mut world = World::with(|root| {
        let kind = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, root.join("pipe"), kind, 0o644.into(), 0).unwrap();
    });
    fs::remove_file(world.at("pipe")).unwrap();
    assert!(world.look().unwrap().findings.is_empty());
    world.reopen();
    world.write("pipe", "x");
    assert_eq!(world.lines(), ["gained pipe"], "till now nobody knew that it was gone");
}

#[test]
fn a_capture_that_was_kept_and_not_accepted_is_in_force() {
    let mut world = World::with(|root| write(root, "a", "1"));
    world.write("a", "2");
    let capture = world.look().unwrap();
    world.mark = Some(capture.mark());
    world.reopen();
    assert_eq!(world.lines(), NOTHING);
    assert_eq!(world.kept("a"), b"2");
}

#[test]
fn a_damaged_index_counts_as_missing() {
    let mut world = World::with(|root| write(root, "a", "1"));
    let manifest = world.tree.manifest().unwrap();
    let mark = world.mark.unwrap();
    let file = indexes(&world).pop().unwrap();
    let whole = fs::read(&file).unwrap();
    world.write("a", "2");
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        fs::write(&file, damaged).unwrap();
        world.reopen();
        assert!(!world.tree.is_known(), "byte {at}");
    }
    for len in 0..whole.len() {
        fs::write(&file, &whole[..len]).unwrap();
        world.reopen();
        assert!(!world.tree.is_known(), "{len} bytes");
    }
    assert_eq!(lines(&world.look().unwrap().findings), NOTHING, "nothing is known to have changed");
    world.tree.rebase(manifest, mark).unwrap();
    assert_eq!(world.lines(), ["~ a"]);
}

#[test]
fn bytes_that_are_missing_in_the_object_store_are_put_again() {
    let mut world = World::with(|root| {
        write(root, "a", "1");
        write(root, ".gitignore", "out/\n");
        write(root, "out/a", "1");
    });
    world.objects = Arc::default();
    world.reopen();
    assert_eq!(world.lines(), NOTHING);
    assert_eq!(world.kept("a"), b"1");
    assert_eq!(world.kept(".gitignore"), b"out/\n");
    assert_eq!(world.uncovered(), ["out: ignored"]);
}

#[test]
fn objects_that_could_not_be_put_or_synced_are_not_claimed() {
    let world = World::with(|root| write(root, "a", "1"));
    let objects = Arc::new(Counting::default());
    let tree = open(&world.dir, &world.rules, objects.clone(), None).unwrap();
    for refuse in [&objects.no_puts, &objects.no_syncs] {
        refuse.store(true, Ordering::Relaxed);
        assert!(tree.capture(&CaptureScope::Whole, Permission::Ask, &|_| ()).is_err());
        assert_eq!(indexes(&world), Vec::<std::path::PathBuf>::new());
        refuse.store(false, Ordering::Relaxed);
    }
    let capture = look(&tree);
    assert_eq!(indexes(&world).len(), 1);
    assert_eq!(capture.stats.read, 1);
}

#[test]
fn manifests_share_the_folders_that_did_not_change() {
    let world = World::with(|root| {
        for number in 0..100 {
            write(root, &format!("d{number}/deep/file"), number.to_string());
        }
    });
    let objects = Arc::new(Counting::default());
    let mut tree = open(&world.dir, &world.rules, objects.clone(), None).unwrap();
    let manifest = |tree: &mut Tree| {
        let capture = look(tree);
        tree.accept(capture).unwrap();
        let before = objects.new.load(Ordering::Relaxed);
        let name = tree.manifest().unwrap();
        (name, objects.new.load(Ordering::Relaxed) - before)
    };
    let (first, new) = manifest(&mut tree);
    assert_eq!(new, 202, "two for each of 100, the root and the manifest itself");
    assert_eq!(manifest(&mut tree), (first, 0));
    fs::write(world.at("d7/deep/file"), "changed").unwrap();
    let (second, new) = manifest(&mut tree);
    assert_eq!(new, 4, "the folders up to the root, and the manifest itself");
    let read = |name| Manifest::read(&*objects, name).unwrap();
    assert_eq!(read(second).records, tree.records());
    let path = file_path("d7/deep/file");
    assert_eq!(tree.known(&path), KnownPath::Is(read(second).records[&path].clone()));
    assert_ne!(read(first).records[&path], read(second).records[&path]);
    for name in read(first).objects {
        assert!(objects.contains(&name));
    }
}

#[test]
fn progress_of_a_capture_is_reported() {
    let world = World::new();
    for number in 0..10 {
        world.write(&format!("d{number}/file"), number.to_string());
    }
    let told = std::sync::Mutex::new(Vec::new());
    let tell = |progress| told.lock().unwrap().push(progress);
    let capture = world.tree.capture(&CaptureScope::Whole, Permission::Ask, &tell).unwrap();
    assert_eq!(capture.stats.read, 10);
    let told = told.into_inner().unwrap();
    let all = [Progress::Looked(11), Progress::Read { done: 10, of: 10 }];
    assert!(all.iter().all(|one| told.contains(one)), "{told:?}");
}
