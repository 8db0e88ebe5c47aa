//! Harmful content, and files that keep changing.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use retake_core::{FilePath, UncoveredReason};
use retake_worktree::{CaptureScope, MemoryObjects, Permission, Rules, Tree, WorktreeError};

use super::{World, write};

#[test]
fn file_names_of_any_bytes_are_captured() {
    let mut world = World::new();
    let long = [b'n'; 255];
    let names: [&[u8]; 7] = [b"\xff\xfe", b"two\nlines", b" ", b"a.TXT", b"a.txt", b"...", &long];
    for name in names {
        fs::write(world.root().join(OsStr::from_bytes(name)), name).unwrap();
    }
    let capture = world.look().unwrap();
    let found = world.accept(capture);
    assert_eq!(found.changes.len(), names.len());
    world.reopen();
    assert!(world.lines().is_empty());
    for name in names {
        let record = world.tree.records()[&FilePath::new(name).unwrap()].clone();
        assert_eq!(record.hash(), Some(retake_worktree::hash(name)));
    }
    fs::rename(world.at("a.TXT"), world.at("A.txt")).unwrap();
    assert_eq!(world.lines(), ["+ A.txt", "- a.TXT"]);
}

#[test]
fn a_huge_sparse_file_is_not_read() {
    let mut world = World::new();
    fs::File::create(world.at("huge")).unwrap().set_len(10 << 30).unwrap();
    let capture = world.look().unwrap();
    assert_eq!((capture.stats.read, capture.stats.bytes), (0, 0));
    assert!(world.accept(capture).is_empty());
}

/// The cost of a plan grows at least with the square of the depth.
#[test]
fn trial_24_thousands_of_nested_folders_are_named_and_not_covered() {
    let world = World::new();
    let mut at = fs::File::open(world.root()).unwrap();
    for _ in 0..1500 {
        rustix::fs::mkdirat(&at, "d", 0o755.into()).unwrap();
        let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::DIRECTORY;
        at = rustix::fs::openat(&at, "d", flags, rustix::fs::Mode::empty()).unwrap().into();
    }
    let capture = world.look().unwrap();
    assert_eq!((capture.uncovered.len(), capture.findings.changes.len()), (1, 257));
    assert_eq!(capture.uncovered[0].why.name(), "too_deep");
}

#[test]
fn a_path_too_long_for_the_system_is_named_by_its_folder() {
    let world = World::new();
    // Deeper than one path can express: each step starts from inside the last.
    let mut at = fs::File::open(world.root()).unwrap();
    let name = "d".repeat(200);
    for _ in 0..25 {
        rustix::fs::mkdirat(&at, &name, 0o755.into()).unwrap();
        let flags = rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::DIRECTORY;
        at = rustix::fs::openat(&at, &name, flags, rustix::fs::Mode::empty()).unwrap().into();
    }
    let capture = world.look().unwrap();
    assert_eq!(capture.uncovered.len(), 1);
    assert_eq!(capture.uncovered[0].why.name(), "too_deep");
    assert_eq!(capture.findings.changes.len(), 4095 / 201);
}

/// Ends the other thread even if a test fails.
struct Stopping<'a>(&'a AtomicBool);

impl Drop for Stopping<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn a_folder_that_becomes_a_link_leads_nowhere() {
    let mut world = World::with(|root| write(root, "inner/file", "x"));
    let outside = world.dir.path().join("outside");
    write(&outside, "file", "secret");
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                fs::rename(world.at("inner"), world.dir.path().join("aside")).unwrap();
                symlink(&outside, world.at("inner")).unwrap();
                fs::remove_file(world.at("inner")).unwrap();
                fs::rename(world.dir.path().join("aside"), world.at("inner")).unwrap();
            }
        });
        let _stopping = Stopping(&stop);
        for _ in 0..300 {
            let capture = world.look().unwrap();
            for change in &capture.findings.changes {
                let hash = change.after.as_ref().and_then(retake_core::Record::hash);
                assert_ne!(hash, Some(retake_worktree::hash(b"secret")), "{change:?}");
            }
        }
    });
    assert!(world.lines().is_empty());
}

#[test]
fn a_file_that_is_written_to_all_the_time_is_never_recorded_half() {
    const LEN: usize = 4 << 20;
    let mut world = World::with(|root| write(root, "busy", vec![0; LEN]));
    let stop = AtomicBool::new(false);
    let file = fs::OpenOptions::new().write(true).open(world.at("busy")).unwrap();
    let busy = "lost busy: unstable";
    std::thread::scope(|scope| {
        scope.spawn(|| {
            use std::os::unix::fs::FileExt as _;
            for turn in 0_u64.. {
                file.write_at(&turn.to_le_bytes(), turn % LEN as u64).unwrap();
                file.set_len(LEN as u64 + turn % 5).unwrap();
                if stop.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        let _stopping = Stopping(&stop);
        let lost = (0..200).any(|_| {
            let capture = world.look().unwrap();
            let named = capture.uncovered.iter().any(|one| one.why == UncoveredReason::Unstable);
            let found = super::lines(&world.accept(capture));
            assert!(!found.iter().any(|line| line.starts_with('-')), "{found:?}");
            assert_eq!(found.iter().any(|line| line == busy), named, "{found:?}");
            named
        });
        assert!(lost, "it never changed while it was read");
    });
    // Once it stops changing, it is known again.
    assert_eq!(world.lines().last().unwrap(), "gained busy");
    assert_eq!(world.kept("busy"), fs::read(world.at("busy")).unwrap());
}

#[test]
fn a_file_with_an_ambiguous_time_stamp_is_read_again() {
    // A program with a mapped file writes to it without a new time stamp until the kernel has written the page to
    // the disk; so a file this young is read each time.
    let mut world = World::with(|root| write(root, "young", "0000"));
    for _ in 0..3 {
        let capture = world.look().unwrap();
        assert_eq!((capture.stats.read, capture.stats.doubted), (0, 1));
        world.accept(capture);
    }
}

#[test]
fn other_mounted_file_systems_are_not_captured() {
    let device = fs::metadata("/dev").unwrap().dev();
    let mounted: Vec<_> = ["pts", "shm", "mqueue"]
        .into_iter()
        .filter(|name| fs::metadata(Path::new("/dev").join(name)).is_ok_and(|meta| meta.dev() != device))
        .collect();
    assert!(!mounted.is_empty(), "a system without a file system mounted below /dev");
    let data = tempfile::tempdir().unwrap();
    let objects = Arc::new(MemoryObjects::default());
    let tree = Tree::open(Path::new("/dev"), data.path(), Rules::default(), objects, None).unwrap();
    let capture = tree.capture(&CaptureScope::Whole, Permission::Ask, &|_| ()).unwrap();
    for name in mounted {
        let named = capture.uncovered.iter().find(|one| one.path.to_string() == name).unwrap();
        assert_eq!(named.why.name(), "other_file_system");
    }
}

#[test]
fn unsuitable_roots_are_refused() {
    let world = World::with(|root| {
        write(root, "repository/.git/HEAD", "x");
        write(root, "bare/HEAD", "x");
        fs::create_dir_all(root.join("bare/objects")).unwrap();
        fs::create_dir_all(root.join("bare/refs")).unwrap();
        fs::create_dir_all(root.join("home/me")).unwrap();
    });
    let rules = Rules { home: Some(world.at("home/me")), ..Rules::default() };
    let data = world.dir.path().join("data");
    fs::create_dir(data.join("inner")).unwrap();
    let try_root = |root: &Path| {
        Tree::open(root, &data, rules.clone(), Arc::new(MemoryObjects::default()), None).map(|_| ())
    };
    for root in [
        Path::new("/"),
        &world.at("home/me"),
        &world.at("home"),
        &world.root(),
        &world.at("repository/.git"),
        &world.at("bare"),
        &data,
        &data.join("inner"),
    ] {
        let refused = try_root(root);
        assert!(matches!(refused, Err(WorktreeError::RootRefused { .. })), "{root:?}: {refused:?}");
    }
    assert!(matches!(try_root(&world.at("nowhere")), Err(WorktreeError::RootMissing(_))));
    assert!(try_root(&world.at("repository")).is_ok());
}

#[test]
fn a_removed_or_replaced_root_reports_no_changes() {
    let mut world = World::with(|root| write(root, "file", "x"));
    let aside = world.dir.path().join("aside");
    fs::rename(world.root(), &aside).unwrap();
    let error = world.look().unwrap_err();
    assert!(matches!(error, WorktreeError::RootMissing(_)), "{error}");
    fs::create_dir(world.root()).unwrap();
    let error = world.look().unwrap_err();
    assert!(matches!(error, WorktreeError::RootOther(_)), "{error}");
    fs::remove_dir(world.root()).unwrap();
    fs::rename(&aside, world.root()).unwrap();
    assert!(world.lines().is_empty());
}

#[test]
fn staged_files_of_an_apply_are_not_captured() {
    let mut world = World::new();
    world.write(".retake-1/0", "staged");
    assert!(world.lines().is_empty());
    world.write("below/.retake-1", "somebody's");
    assert_eq!(world.lines().len(), 2);
}

#[test]
fn our_own_data_is_not_covered_when_it_lies_inside() {
    let world = World::with(|root| {
        write(root, "retake/packs/pack", "x");
        fs::create_dir(root.join("index")).unwrap();
    });
    let rules = Rules { own: Some(world.at("retake")), ..Rules::default() };
    let open = |root: &Path| {
        let objects = Arc::new(MemoryObjects::default());
        Tree::open(root, &world.at("index"), rules.clone(), objects, None)
    };
    let mut tree = open(&world.root()).unwrap();
    let capture = tree.capture(&CaptureScope::Whole, Permission::Ask, &|_| ()).unwrap();
    let named: Vec<_> =
        capture.uncovered.iter().map(|one| format!("{}: {}", one.path, one.why.name())).collect();
    assert_eq!(named, ["index: data_folder", "retake: data_folder"]);
    tree.accept(capture).unwrap();
    assert!(tree.records().is_empty());
    let refused = open(&world.at("retake/packs"));
    assert!(matches!(refused, Err(WorktreeError::RootRefused { .. })), "{refused:?}");
}
