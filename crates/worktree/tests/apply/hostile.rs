//! Deliberate obstacles: links and folders exchanged at any moment, FIFOs and sockets, long and odd names, files with
//! special bits. Nothing outside the root is ever written.

use std::cell::Cell;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use retake_core::{FileChange, FilePath};
use retake_worktree::failpoint::watch;
use retake_worktree::{Obstacle, Prepared, Root, StagedApply, StagingName, WorktreeError};
use rustix::fs::{CWD, FileType, Mode, RenameFlags, XattrFlags};

use super::atomic::unsupported;
use super::kit::{Caller, Ended, Node, Tree, file, path, quick_dir, read, tree, write};

fn in_a_folder() -> (Tree, Tree) {
    let before = tree([
        ("d", Node::Folder(0o755)),
        ("d/changes", file("old")),
        ("d/goes", file("old")),
        ("d/mode", file("old")),
        ("d/sub", Node::Folder(0o755)),
        ("d/sub/changes", file("old")),
        ("z", file("old")),
    ]);
    let after = tree([
        ("d", Node::Folder(0o755)),
        ("d/changes", file("new")),
        ("d/comes", Node::Folder(0o755)),
        ("d/comes/in", file("new")),
        ("d/mode", Node::File(b"old".to_vec(), 0o600)),
        ("d/sub", Node::Folder(0o755)),
        ("d/sub/changes", Node::Link(b"/nowhere".to_vec())),
        ("z", file("new")),
    ]);
    (before, after)
}

/// The same names outside of the root, with the content that the plan expects.
fn outside(home: &Path, before: &Tree) -> Tree {
    let outside = home.join("outside");
    fs::create_dir(&outside).expect("done");
    let inner = before.iter().filter_map(|(path, node)| {
        Some((FilePath::new(path.as_bytes().strip_prefix(b"d/")?).expect("done"), node.clone()))
    });
    write(&outside, &inner.collect());
    read(&outside)
}

#[test]
fn rewind_case_30_an_ancestor_becomes_a_link_at_any_moment() {
    for in_steps in [false, true] {
        let mut moment = 0;
        let mut stopped = 0;
        loop {
            let home = quick_dir();
            let (before, after) = in_a_folder();
            let outer = outside(home.path(), &before);
            let caller = Caller::with(home.path(), &before, &after);
            moment += 1;
            let passed = Cell::new(0);
            let (root, place) = (caller.root.clone(), home.path().to_path_buf());
            let guard = watch(move |name| {
                passed.set(passed.get() + 1);
                if passed.get() == moment {
                    fs::rename(root.join("d"), place.join("moved"))?;
                    symlink(place.join("outside"), root.join("d"))?;
                }
                unsupported(in_steps, name)
            });
            let ended = caller.apply().unwrap();
            drop(guard);
            assert_eq!(read(&home.path().join("outside")), outer, "at {moment}");
            let moved = home.path().join("moved");
            if !moved.exists() {
                break;
            }
            let found = caller.read();
            assert_eq!(
                found[&path("d")],
                Node::Link(home.path().join("outside").into_os_string().into_encoded_bytes())
            );
            let z = if matches!(ended, Ended::Applied(_)) { "new" } else { "old" };
            assert_eq!((found.len(), &found[&path("z")]), (2, &file(z)), "at {moment}: {ended:?}");
            stopped += usize::from(z == "old");
        }
        assert!(stopped > 20, "{stopped}");
    }
}

#[test]
fn an_ancestor_that_is_a_link_from_time_to_time_leads_nowhere() {
    let home = quick_dir();
    let (before, after) = in_a_folder();
    let outer = outside(home.path(), &before);
    let mut caller = Caller::with(home.path(), &before, &after);
    let (one, other) = (caller.root.join("d"), home.path().join("other"));
    symlink(home.path().join("outside"), &other).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                rustix::fs::renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE).unwrap();
            }
        });
        for _ in 0..300 {
            // In any case it stays inside; the next one plans from the state that this one should have left.
            if matches!(caller.apply(), Ok(Ended::Applied(_))) {
                caller.changes = caller.changes.iter().map(FileChange::inverse).collect();
            }
            if caller.intent().is_some() {
                caller.start().unwrap();
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(read(&home.path().join("outside")), outer);
}

#[test]
fn a_link_within_a_path_is_refused() {
    let home = quick_dir();
    let (before, after) = in_a_folder();
    let outer = outside(home.path(), &before);
    let caller = Caller::planned(home.path(), &before, &after);
    symlink(home.path().join("outside"), caller.root.join("d")).unwrap();
    fs::write(caller.root.join("z"), "old").unwrap();
    let refusals = caller.apply().unwrap().refused();
    assert_eq!(refusals.len(), caller.changes.len() - 1);
    assert!(refusals.iter().all(|refusal| matches!(refusal.why, Obstacle::Linked)), "{refusals:?}");
    assert_eq!(read(&home.path().join("outside")), outer);
    assert_eq!(fs::read(caller.root.join("z")).unwrap(), b"old");
}

#[test]
fn special_files_are_refused_and_not_opened() {
    type Make = fn(&Path);
    let strange: [(&str, Make); 2] = [
        ("FIFO", |at| rustix::fs::mknodat(CWD, at, FileType::Fifo, Mode::RWXU, 0).unwrap()),
        ("socket", |at| drop(UnixListener::bind(at).unwrap())),
    ];
    for (kind, make) in strange {
        for (before, after) in
            [(tree([("a", file("old"))]), tree([])), (tree([]), tree([("a", file("new"))]))]
        {
            let home = quick_dir();
            let caller = Caller::planned(home.path(), &before, &after);
            make(&caller.root.join("a"));
            let refusals = caller.apply().unwrap().refused();
            assert!(matches!(refusals[0].why, Obstacle::Strange(found) if found == kind), "{refusals:?}");
            assert_eq!(fs::read_dir(&caller.root).unwrap().count(), 1);
        }
    }
}

#[test]
fn a_fifo_that_replaces_a_file_during_the_apply_does_not_block() {
    let home = quick_dir();
    let caller = Caller::with(home.path(), &tree([("a", file("old"))]), &tree([("a", file("new"))]));
    let at = caller.root.join("a");
    let guard = super::atomic::once_at("apply.exchange", 1, move || {
        fs::remove_file(&at).unwrap();
        rustix::fs::mknodat(CWD, &at, FileType::Fifo, Mode::RWXU, 0).unwrap();
    });
    let report = caller.apply().unwrap().put_back();
    drop(guard);
    assert_eq!(report.left.len(), 1);
    assert_eq!(caller.read(), tree([("a", Node::Link(b"(strange)".to_vec()))]));
}

#[test]
fn an_apply_handles_long_and_unusual_names() {
    let long = "x".repeat(255);
    let odd = path(b"\xff\xfe \n$(rm)".as_slice());
    let twins = [("twin", file("one")), ("TWIN", file("other"))];
    let mut after = tree([(&long, file("long")), ("-rf", file("a")), ("CON", Node::Folder(0o755))]);
    after.extend(tree(twins));
    after.insert(odd.clone(), file("odd"));
    after.insert(path("CON").join(long.as_bytes()).unwrap(), file("deep"));
    let home = quick_dir();
    let mut caller = Caller::with(home.path(), &tree([]), &after);
    caller.apply().unwrap().applied();
    assert_eq!(caller.read(), after);
    caller.changes = caller.changes.iter().map(FileChange::inverse).collect();
    caller.apply().unwrap().applied();
    assert_eq!(caller.read(), tree([]));
    let longer = "x".repeat(256);
    let caller = Caller::planned(home.path(), &tree([]), &tree([(&longer, file("long"))]));
    assert_eq!(caller.apply().unwrap().refused().len(), 1);
}

#[test]
fn a_huge_file_in_the_way_is_refused_and_not_read() {
    let home = quick_dir();
    let caller = Caller::with(home.path(), &tree([("a", file("old"))]), &tree([("a", file("new"))]));
    let at = caller.root.join("a");
    // Reading it would take too long for a test.
    fs::File::create(&at).unwrap().set_len(10 << 40).unwrap();
    let refusals = caller.apply().unwrap().refused();
    assert!(matches!(refusals[0].why, Obstacle::Changed), "{refusals:?}");
    assert_eq!(fs::metadata(&at).unwrap().len(), 10 << 40);
}

#[test]
fn trial_08_permissions_and_attributes_of_replaced_files_stay() {
    // Not in memory: some systems store no attributes there.
    let home = tempfile::tempdir().unwrap();
    let mut caller = Caller::with(
        home.path(),
        &tree([("a", Node::File(b"old".to_vec(), 0o755))]),
        &tree([("a", file("new"))]),
    );
    let at = caller.root.join("a");
    rustix::fs::setxattr(&at, "user.note", b"keep", XattrFlags::empty()).unwrap();
    // A program that runs as its owner does so only with this content.
    fs::set_permissions(&at, fs::Permissions::from_mode(0o4755)).unwrap();
    let refusals = caller.apply().unwrap().refused();
    assert!(matches!(&refusals[..], [one] if matches!(one.why, Obstacle::RunsAsOwner)), "{refusals:?}");
    fs::set_permissions(&at, fs::Permissions::from_mode(0o1755)).unwrap();
    caller.apply().unwrap().applied();
    let mut note = [0; 8];
    let length = rustix::fs::getxattr(&at, "user.note", note.as_mut_slice()).unwrap();
    assert_eq!(&note[..length], b"keep");
    assert_eq!(fs::metadata(&at).unwrap().mode() & 0o7777, 0o1644);
    // A change of only the bits keeps the file itself, and its special bits.
    let inode = fs::metadata(&at).unwrap().ino();
    fs::set_permissions(&at, fs::Permissions::from_mode(0o4644)).unwrap();
    let (before, after) = (tree([("a", file("new"))]), tree([("a", Node::File(b"new".to_vec(), 0o755))]));
    caller.changes = super::kit::changes(&before, &after, &caller.objects);
    caller.apply().unwrap().applied();
    assert_eq!(
        (fs::metadata(&at).unwrap().mode() & 0o7777, fs::metadata(&at).unwrap().ino()),
        (0o4755, inode)
    );
}

#[test]
fn a_file_gets_the_group_of_its_setgid_folder() {
    let home = quick_dir();
    let caller = Caller::with(
        home.path(),
        &tree([("d", Node::Folder(0o755))]),
        &tree([("d", Node::Folder(0o755)), ("d/in", Node::Folder(0o755)), ("d/in/a", file("a"))]),
    );
    fs::set_permissions(caller.root.join("d"), fs::Permissions::from_mode(0o2755)).unwrap();
    caller.apply().unwrap().applied();
    let group = fs::metadata(caller.root.join("d")).unwrap().gid();
    for name in ["d/in", "d/in/a"] {
        assert_eq!(fs::metadata(caller.root.join(name)).unwrap().gid(), group);
    }
    assert_eq!(fs::metadata(caller.root.join("d/in")).unwrap().mode() & 0o7777, 0o2755);
}

#[test]
fn a_foreign_folder_with_the_name_of_the_staging_folder_is_not_touched() {
    let home = quick_dir();
    let caller = Caller::with(home.path(), &tree([]), &tree([("a", file("a"))]));
    let lock = Root::open(&caller.root).unwrap().lock().unwrap();
    let name = StagingName::new("taken").unwrap();
    fs::create_dir(caller.root.join(name.as_str())).unwrap();
    fs::write(caller.root.join(name.as_str()).join("theirs"), "theirs").unwrap();
    let found = caller.read();
    let prepared = StagedApply::prepare(&lock, &name, caller.changes.clone(), &caller.objects);
    assert!(matches!(prepared, Err(WorktreeError::Io { .. })), "{prepared:?}");
    assert!(retake_worktree::discard(&lock, &name).is_err());
    assert_eq!(caller.read(), found);
    for bad in ["", "a/b", "..", "a b"] {
        assert!(StagingName::new(bad).is_err(), "{bad}");
    }
    let inside = tree([(".retake-x", Node::Folder(0o700))]);
    let changes = super::kit::changes(&tree([]), &inside, &caller.objects);
    let name = StagingName::new("x").unwrap();
    let refused: retake_worktree::Result<Prepared> =
        StagedApply::prepare(&lock, &name, changes, &caller.objects);
    assert!(matches!(refused, Err(WorktreeError::BadPlan { .. })));
}
