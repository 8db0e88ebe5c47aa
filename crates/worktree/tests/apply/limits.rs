//! Things that the system does not let an apply do: detected before anything changes. This binary runs again, without root's
//! rights or with mounts of its own, according to its environment.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use retake_core::{ContentHash, FileChange};
use retake_worktree::failpoint::watch;
use retake_worktree::{
    CaptureScope, Mark, MemoryObjects, Objects as _, Obstacle, Permission, Prepared, Root, Rules,
    StagedApply, StagingName,
};

use retake_testkit::again::{self, Small, for_everybody, may_mount, this_program};

use super::kit::{Caller, Node, Tree, file, is_root, path, quick_dir, set_mode, tree};

/// The folder of the child.
const HOME: &str = "RETAKE_LIMITS_HOME";
/// A user who owns nothing.
pub(super) const NOBODY: u32 = 65_534;

fn told() -> Option<PathBuf> {
    std::env::var_os(HOME).map(PathBuf::from)
}

/// Runs one test of the applies again in a folder, as another user if one is given.
pub(super) fn again(test: &str, home: &Path, uid: Option<u32>) {
    let myself = this_program();
    let mut command = match uid {
        Some(uid) => {
            let mut command = Command::new(for_everybody(&myself, home));
            command.uid(uid).gid(uid);
            command
        }
        None => Command::new(myself),
    };
    command.env(HOME, home);
    again::again(command, &format!("apply::{test}"));
}

/// A folder that any user can work in.
pub(super) fn open_home() -> tempfile::TempDir {
    let home = tempfile::tempdir().expect("done");
    set_mode(home.path(), 0o777);
    home
}

fn refused(
    home: &Path,
    name: &str,
    before: &Tree,
    after: &Tree,
    prepare: impl FnOnce(&Path),
) -> Vec<(String, Obstacle)> {
    let home = home.join(name);
    fs::create_dir(&home).expect("done");
    let caller = Caller::with(&home, before, after);
    prepare(&caller.root);
    let names = || fs::read_dir(&caller.root).map_or(0, Iterator::count);
    let found = names();
    let refusals = caller.apply().expect("done").refused();
    assert_eq!(names(), found, "{name}");
    refusals.into_iter().map(|refusal| (refusal.path.to_string(), refusal.why)).collect()
}

#[test]
fn rewind_case_25_without_permission_nothing_changes() {
    let test = "limits::rewind_case_25_without_permission_nothing_changes";
    let Some(home) = told() else {
        let home = open_home();
        if is_root() {
            // Another user's file, in a folder in which anyone may move it.
            fs::create_dir_all(home.path().join("owned/root")).unwrap();
            for folder in ["owned", "owned/root"] {
                set_mode(&home.path().join(folder), 0o777);
            }
            fs::write(home.path().join("owned/root/a"), "old").unwrap();
        }
        return again(test, home.path(), is_root().then_some(NOBODY));
    };
    let deep =
        |mode, bytes: &str| tree([("d", Node::Folder(mode)), ("d/a", file(bytes)), ("z", file(bytes))]);
    let found = refused(&home, "folder", &deep(0o555, "old"), &deep(0o555, "new"), |_| {});
    assert!(matches!(&found[..], [(path, Obstacle::Protected)] if path == "d/a"), "{found:?}");
    let flat = |bytes: &str| tree([("a", file(bytes))]);
    let found = refused(&home, "locked", &flat("old"), &flat("new"), |root| set_mode(&root.join("a"), 0));
    assert!(matches!(found[0].1, Obstacle::Changed | Obstacle::Unreadable), "{found:?}");
    let found = refused(&home, "root", &flat("old"), &flat("new"), |root| set_mode(root, 0o555));
    assert!(matches!(found[0].1, Obstacle::Protected), "{found:?}");
    let owned = home.join("owned");
    if owned.exists() {
        let caller = Caller::planned(&owned, &flat("old"), &flat("new"));
        let found = caller.apply().unwrap().refused();
        assert!(matches!(found[0].why, Obstacle::Attributes("owner")), "{found:?}");
        assert_eq!(caller.read(), flat("old"));
    }
    // A folder of the plan itself is opened during the apply, in both directions.
    let closing = tree([
        ("d", Node::Folder(0o755)),
        ("d/a", file("a")),
        ("e", Node::Folder(0o555)),
        ("e/b", file("b")),
    ]);
    let closed = tree([
        ("d", Node::Folder(0o555)),
        ("d/a", file("b")),
        ("f", Node::Folder(0o500)),
        ("f/c", file("c")),
    ]);
    fs::create_dir(home.join("closing")).unwrap();
    let mut caller = Caller::with(&home.join("closing"), &closing, &closed);
    for expected in [&closed, &closing] {
        caller.apply().unwrap().applied();
        assert_eq!(caller.read(), *expected);
        caller.changes = caller.changes.iter().map(FileChange::inverse).collect();
    }
}

#[test]
fn trial_01_a_folder_that_lost_its_permissions_during_the_apply_is_opened_again() {
    let test = "limits::trial_01_a_folder_that_lost_its_permissions_during_the_apply_is_opened_again";
    let Some(home) = told() else {
        return again(test, open_home().path(), is_root().then_some(NOBODY));
    };
    let sides = |mode, bytes: &str| tree([("d", Node::Folder(mode)), ("d/a", file(bytes))]);
    for intent in ["forward", "back"] {
        let home = home.join(intent);
        fs::create_dir(&home).unwrap();
        let mut caller = Caller::with(&home, &sides(0o755, "old"), &sides(0o555, "new"));
        if intent == "back" {
            caller.changes = caller.changes.iter().map(FileChange::inverse).collect();
        }
        fs::write(home.join("intent"), intent).unwrap();
        let guard = watch(|name| match name {
            "apply.exchange" => Err(std::io::Error::from_raw_os_error(5)),
            _ => Ok(()),
        });
        let report = caller.start().unwrap().expect("an open intent");
        drop(guard);
        assert!(!report.is_closed(), "{report:?}");
        let report = caller.start().unwrap().expect("an open intent");
        assert!(report.is_closed() && report.left.is_empty(), "{intent}: {report:?}");
        assert_eq!(caller.read(), sides(0o555, "new"));
    }
}

#[test]
fn trial_01_only_root_changes_files_of_an_inaccessible_folder() {
    // A user who may mount is root, at least of a namespace.
    if !may_mount("apply::limits::trial_01_only_root_changes_files_of_an_inaccessible_folder") {
        return;
    }
    let home = quick_dir();
    let sides = |bytes: &str| tree([("d", Node::Folder(0o555)), ("d/a", file(bytes))]);
    let caller = Caller::with(home.path(), &sides("old"), &sides("new"));
    caller.apply().unwrap().applied();
    assert_eq!(caller.read(), sides("new"));
}

/// The capture's knowledge of a folder in which a file is removed, if it exists.
fn seen_removed(home: &Path) -> retake_worktree::Tree {
    let objects = std::sync::Arc::new(MemoryObjects::default());
    // A version whose bytes are gone is forgotten.
    objects.put(b"old").unwrap();
    let (root, rules) = (home.join("root"), Rules::default());
    let kept = home.join("mark");
    let mark = fs::read(&kept).ok().map(|mark| Mark(ContentHash(mark.try_into().unwrap())));
    let mut seen = retake_worktree::Tree::open(&root, &home.join("index"), rules, objects, mark).unwrap();
    let mut look = || {
        let capture = seen.capture(&CaptureScope::Whole, Permission::Ask, &|_| ()).unwrap();
        fs::write(&kept, capture.mark().0.0).unwrap();
        seen.accept(capture).unwrap();
    };
    look();
    if fs::remove_file(root.join("a")).is_ok() {
        look();
    }
    seen
}

/// Only root can give a file to another user. So if root runs the test, a plain user meets root's file. Otherwise the test runs in
/// a namespace that does not know this user, and the captures recognise the user's own file by its setuid bit.
#[test]
fn trial_08_a_file_that_can_not_get_its_owner_back_is_refused() {
    let test = "limits::trial_08_a_file_that_can_not_get_its_owner_back_is_refused";
    let Some(home) = told() else {
        let home = open_home();
        for folder in ["root", "index"] {
            fs::create_dir(home.path().join(folder)).unwrap();
            set_mode(&home.path().join(folder), 0o777);
        }
        fs::write(home.path().join("root/a"), "old").unwrap();
        if is_root() {
            return again(test, home.path(), Some(NOBODY));
        }
        set_mode(&home.path().join("root/a"), 0o4644);
        drop(seen_removed(home.path()));
        let mut command = Command::new("unshare");
        command.arg("--map-root-user").arg(this_program()).env(HOME, home.path());
        return again::again(command, &format!("apply::{test}"));
    };
    let caller = Caller::planned(&home, &tree([]), &tree([("a", file("old"))]));
    let (seen, root) = (seen_removed(&home), home.join("root"));
    let lock = Root::open(&root).unwrap().lock().unwrap();
    let name = StagingName::new("a1").unwrap();
    let changes = seen.to_apply(caller.changes.clone());
    let prepared = StagedApply::prepare(&lock, &name, changes, &caller.objects).unwrap();
    let Prepared::Refused(refusals) = prepared else { panic!("{prepared:?}") };
    assert!(
        matches!(&refusals[..], [one] if matches!(one.why, Obstacle::Attributes("owner"))),
        "{refusals:?}"
    );
    assert_eq!(fs::read_dir(&root).unwrap().count(), 0);
}

#[test]
fn rewind_case_25_a_full_disk_is_detected_before_anything_changes() {
    if !may_mount("apply::limits::rewind_case_25_a_full_disk_is_detected_before_anything_changes") {
        return;
    }
    let home = quick_dir();
    let small = Small::mount(home.path().join("small"), "256k");
    let big = |byte: u8| Node::File(vec![byte; 100_000], 0o644);
    let before = tree([("a", big(b'a')), ("b", big(b'b')), ("c", file("c"))]);
    let after = tree([("a", big(b'c')), ("b", big(b'd')), ("c", file("new"))]);
    let caller = Caller::with(small.path(), &before, &after);
    let refusals = caller.apply().unwrap().refused();
    assert!(matches!(refusals[0].why, Obstacle::Full), "{refusals:?}");
    assert_eq!(caller.read(), before);
}

#[test]
fn another_device_below_the_root_is_refused() {
    if !may_mount("apply::limits::another_device_below_the_root_is_refused") {
        return;
    }
    let home = quick_dir();
    let sides = |bytes: &str| tree([("m", Node::Folder(0o755)), ("m/a", file(bytes)), ("z", file(bytes))]);
    let caller = Caller::with(home.path(), &sides("old"), &sides("new"));
    let _small = Small::mount(caller.root.join("m"), "1m");
    fs::write(caller.root.join("m/a"), "old").unwrap();
    let refusals = caller.apply().unwrap().refused();
    assert_eq!(refusals.len(), 1);
    assert!(matches!((&refusals[0].path, &refusals[0].why), (at, Obstacle::Elsewhere) if *at == path("m/a")));
    assert_eq!(caller.read(), sides("old"));
}
