//! All or nothing while the process lives: failures at every step, an editor that saves in between, refusals.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::rc::Rc;

use retake_core::{FileChange, LeftReason};
use retake_worktree::failpoint::{FAILPOINTS, watch};
use retake_worktree::{NoteKind, Obstacle, Prepared, Root, StagedApply, StagingName, WorktreeError};

use super::kit::{Caller, Ended, Node, at, every_step, file, path, quick_dir, tree};

/// The failpoints that an apply of every step passes, in order.
pub(crate) fn points(in_steps: bool) -> Vec<&'static str> {
    let home = quick_dir();
    let (before, after) = every_step();
    let caller = Caller::with(home.path(), &before, &after);
    let passed = Rc::new(RefCell::new(Vec::new()));
    let seen = Rc::clone(&passed);
    let watch = watch(move |name| {
        seen.borrow_mut().push(name);
        unsupported(in_steps, name)
    });
    caller.apply().expect("done").applied();
    drop(watch);
    assert_eq!(caller.read(), after);
    passed.take()
}

/// An old system, and a file system without exchange, without a rename that refuses to replace, and without a
/// sync as a whole.
pub(crate) fn unsupported(in_steps: bool, name: &str) -> io::Result<()> {
    let unsupported = match name {
        "apply.exchange" | "apply.noreplace" => rustix::io::Errno::INVAL,
        "apply.syncfs" | "root.openat2" => rustix::io::Errno::NOSYS,
        _ => return Ok(()),
    };
    if in_steps { Err(unsupported.into()) } else { Ok(()) }
}

#[test]
fn every_kind_of_step_is_applied_and_reverted() {
    for in_steps in [false, true] {
        let home = quick_dir();
        let (before, after) = every_step();
        let mut caller = Caller::with(home.path(), &before, &after);
        let _watch = watch(move |name| unsupported(in_steps, name));
        let report = caller.apply().unwrap().applied();
        assert_eq!((report.done, report.left), (caller.changes.len(), vec![]));
        assert_eq!(caller.read(), after);
        caller.changes = caller.changes.iter().map(FileChange::inverse).collect();
        caller.apply().unwrap().applied();
        assert_eq!(caller.read(), before);
    }
}

#[test]
fn an_applied_root_is_reverted_when_another_root_was_interrupted() {
    for in_steps in [false, true] {
        let home = quick_dir();
        let (before, after) = every_step();
        let caller = Caller::with(home.path(), &before, &after);
        let times = |caller: &Caller| -> Vec<_> {
            let files = before.iter().filter(|(_, node)| matches!(node, Node::File(..)));
            let meta = files.map(|(path, _)| at(&caller.root, path).symlink_metadata().unwrap());
            meta.map(|meta| (meta.ino(), meta.mtime_nsec())).collect()
        };
        let was = times(&caller);
        let _watch = watch(move |name| unsupported(in_steps, name));
        let report = caller.carry_out_and_back(|| ()).unwrap();
        assert_eq!((report.done, report.left), (caller.changes.len(), vec![]));
        assert_eq!(caller.read(), before, "and no litter");
        assert_eq!(times(&caller), was, "they are the same files, as old as they were");
    }
    let home = quick_dir();
    let (before, after) = (tree([("a", file("1"))]), tree([("a", file("2"))]));
    let caller = Caller::with(home.path(), &before, &after);
    let mine = caller.root.join("a");
    let report = caller.carry_out_and_back(|| fs::write(&mine, "mine").unwrap()).unwrap();
    assert_eq!(report.left.iter().map(|left| left.why).collect::<Vec<_>>(), [LeftReason::Foreign]);
    assert_eq!(caller.read(), tree([("a", file("mine"))]), "what somebody wrote meanwhile stays");
}

#[test]
fn rewind_case_23_a_failure_at_any_step_leaves_all_files_unchanged() {
    for in_steps in [false, true] {
        let points = points(in_steps);
        let mut put_back = 0;
        for (failing, name) in points.iter().copied().enumerate() {
            // A failure of these has a fallback.
            if ["root.openat2", "apply.syncfs"].contains(&name) {
                continue;
            }
            let home = quick_dir();
            let (before, after) = every_step();
            let caller = Caller::with(home.path(), &before, &after);
            let count = Cell::new(0);
            let guard = watch(move |passed| {
                count.set(count.get() + 1);
                match count.get() == failing + 1 {
                    true => Err(io::Error::from_raw_os_error(5)),
                    false => unsupported(in_steps, passed),
                }
            });
            let ended = caller.apply();
            drop(guard);
            match ended {
                Ok(Ended::PutBack(report)) => {
                    assert!(report.is_closed() && report.left.is_empty(), "{name}: {report:?}");
                    put_back += 1;
                    assert_eq!(caller.read(), before, "{name}");
                }
                Ok(Ended::Refused(_)) => assert_eq!(caller.read(), before, "{name}"),
                // Nothing was staged, or all is applied and only the staging folder must be removed.
                Err(_) => {
                    caller.start().unwrap();
                    assert!([&before, &after].contains(&&caller.read()), "{name}");
                }
                Ok(Ended::Applied(_)) => panic!("{name}: a failure was passed over"),
            }
            assert_eq!(caller.intent(), None, "{name}");
        }
        assert!(put_back > 30, "{put_back}");
    }
}

#[test]
fn the_tests_pass_every_failpoint_of_an_apply() {
    let mut passed: BTreeSet<_> = points(true).into_iter().collect();
    let seen = Rc::new(RefCell::new(BTreeSet::new()));
    let home = quick_dir();
    let (before, after) = every_step();
    let caller = Caller::with(home.path(), &before, &after);
    let names = Rc::clone(&seen);
    let guard = watch(move |name| {
        names.borrow_mut().insert(name);
        if name == "apply.carried" { Err(io::Error::other("stop")) } else { Ok(()) }
    });
    caller.apply().unwrap().put_back();
    // The staged content is lost: it is staged again.
    fs::write(home.path().join("intent"), "forward").unwrap();
    caller.start().unwrap();
    drop(guard);
    assert_eq!(caller.read(), after);
    passed.extend(seen.take());
    let others = ["capture.", "index.", "objects."];
    let ours = FAILPOINTS.iter().filter(|name| !others.iter().any(|other| name.starts_with(other)));
    assert_eq!(passed, ours.copied().collect());
}

/// Does something at the n-th pass of a failpoint.
pub(crate) fn once_at(
    point: &'static str,
    nth: usize,
    act: impl FnOnce() + 'static,
) -> retake_worktree::failpoint::Watch {
    let mut act = Some(act);
    let mut left = nth;
    watch(move |name| {
        if name == point {
            left = left.saturating_sub(1);
            if left == 0
                && let Some(act) = act.take()
            {
                act();
            }
        }
        Ok(())
    })
}

fn save(path: PathBuf, atomically: bool) -> impl FnOnce() {
    move || {
        if atomically {
            let draft = path.with_extension("swp");
            fs::write(&draft, "theirs").expect("done");
            fs::rename(&draft, &path).expect("done");
        } else {
            fs::write(&path, "theirs").expect("done");
        }
    }
}

#[test]
fn rewind_case_22_an_editor_saves_during_the_apply() {
    for (point, nth) in
        [("apply.synced", 1), ("apply.exchange", 1), ("apply.exchange", 2), ("apply.carried", 1)]
    {
        for atomically in [false, true] {
            let home = quick_dir();
            let (before, after) = every_step();
            let caller = Caller::with(home.path(), &before, &after);
            let guard = once_at(point, nth, save(caller.root.join("bytes"), atomically));
            let ended = caller.apply().unwrap();
            drop(guard);
            let mode = 0o644;
            let theirs = Node::File(b"theirs".to_vec(), mode);
            let mut expected = match &ended {
                Ended::PutBack(report) => {
                    assert!(report.is_closed());
                    assert_eq!(report.left.len(), 1, "{report:?}");
                    assert_eq!(
                        (&report.left[0].path, report.left[0].why),
                        (&path("bytes"), LeftReason::Foreign)
                    );
                    before
                }
                // Saved after the path had its planned content: their work on top of it.
                Ended::Applied(_) => after,
                Ended::Refused(_) => panic!("{ended:?}"),
            };
            let late = [("apply.exchange", 2), ("apply.carried", 1)].contains(&(point, nth));
            assert_eq!(matches!(ended, Ended::Applied(_)), late, "{point} {nth}");
            expected.insert(path("bytes"), theirs);
            assert_eq!(caller.read(), expected, "{point} {nth}");
        }
    }
}

/// Another program saves at each of these passes of a failpoint, counted from 1.
fn saves_at(
    point: &'static str,
    path: PathBuf,
    passings: &'static [usize],
) -> retake_worktree::failpoint::Watch {
    let count = Cell::new(0);
    watch(move |name| {
        count.set(count.get() + usize::from(name == point));
        match passings.iter().position(|nth| *nth == count.get()) {
            Some(which) if name == point => fs::write(&path, format!("theirs {which}")),
            _ => Ok(()),
        }
    })
}

#[test]
fn an_editor_saves_while_it_is_put_back() {
    let trees = || (tree([("a", file("old"))]), tree([("a", file("new"))]));
    // Saved before the exchange, and again when theirs is about to return: the newest stays, the older is kept.
    let home = quick_dir();
    let (before, after) = trees();
    let caller = Caller::with(home.path(), &before, &after);
    let guard = saves_at("apply.exchange", caller.root.join("a"), &[1, 2]);
    let report = caller.apply().unwrap().put_back();
    drop(guard);
    let kept = report.left[0].kept[0].clone();
    let found = caller.read();
    assert_eq!((&found[&path("a")], &found[&kept]), (&file("theirs 1"), &file("theirs 0")));
    // Saved during the exchange of a recovery.
    let home = quick_dir();
    let caller = Caller::with(home.path(), &before, &after);
    fs::write(home.path().join("intent"), "forward").unwrap();
    let guard = saves_at("apply.exchange", caller.root.join("a"), &[1]);
    let report = caller.start().unwrap().expect("an open intent");
    drop(guard);
    assert_eq!((report.left[0].why, &report.left[0].kept), (LeftReason::Foreign, &vec![]));
    assert_eq!(caller.read(), tree([("a", file("theirs 0"))]));
}

#[test]
fn a_state_other_than_planned_is_refused_before_anything_changes() {
    type Act = fn(PathBuf);
    let foreign: [(&str, Act); 6] = [
        ("bytes", |at| fs::write(at, "other").unwrap()),
        ("mode", |at| super::kit::set_mode(&at, 0o600)),
        ("goes", |at| fs::remove_file(at).unwrap()),
        ("comes", |at| fs::write(at, "there").unwrap()),
        ("link", |at| {
            fs::remove_file(&at).unwrap();
            std::os::unix::fs::symlink("elsewhere", at).unwrap();
        }),
        ("modes", |at| fs::remove_dir(at).unwrap()),
    ];
    for (name, act) in foreign {
        let home = quick_dir();
        let (before, after) = every_step();
        let caller = Caller::with(home.path(), &before, &after);
        act(caller.root.join(name));
        let found = caller.read();
        let refusals = caller.apply().unwrap().refused();
        assert!(refusals.iter().any(|refusal| refusal.path == path(name)), "{name}: {refusals:?}");
        assert!(matches!(refusals[0].why, Obstacle::Changed), "{name}: {refusals:?}");
        assert_eq!(caller.read(), found, "{name}");
    }
}

#[test]
fn a_folder_goes_only_when_it_is_empty() {
    let home = quick_dir();
    let before = tree([("a", Node::Folder(0o555)), ("a/b", Node::Folder(0o755)), ("a/b/c", file("c"))]);
    let caller = Caller::with(home.path(), &before, &tree([]));
    fs::write(caller.root.join("a/b/theirs"), "theirs").unwrap();
    let report = caller.apply().unwrap().applied();
    let left: Vec<_> = report.left.iter().map(|left| (left.path.to_string(), left.why)).collect();
    assert_eq!(left, [("a/b".to_owned(), LeftReason::NotEmpty), ("a".to_owned(), LeftReason::NotEmpty)]);
    let expected =
        tree([("a", Node::Folder(0o555)), ("a/b", Node::Folder(0o755)), ("a/b/theirs", file("theirs"))]);
    assert_eq!(caller.read(), expected);
    // Nothing else may take its place.
    let home = quick_dir();
    let caller = Caller::with(home.path(), &tree([("a", Node::Folder(0o755))]), &tree([("a", file("a"))]));
    fs::write(caller.root.join("a/theirs"), "theirs").unwrap();
    let refusals = caller.apply().unwrap().refused();
    assert!(matches!(refusals[0].why, Obstacle::NotEmpty), "{refusals:?}");
}

#[test]
fn rewind_case_26_files_that_could_not_be_reverted_are_reported_and_reverted_later() {
    let home = quick_dir();
    let (before, after) = every_step();
    let caller = Caller::with(home.path(), &before, &after);
    // It fails from the middle on, and keeps failing.
    let steps = Cell::new(0);
    let guard = watch(move |name| {
        steps.set(steps.get() + usize::from(name == "apply.moved"));
        if steps.get() >= 8 { Err(io::Error::from_raw_os_error(5)) } else { Ok(()) }
    });
    let report = caller.apply().unwrap().put_back();
    drop(guard);
    assert!(!report.is_closed() && report.failed.len() > 3, "{report:?}");
    assert_eq!(caller.intent().as_deref(), Some("back"));
    let report = caller.start().unwrap().expect("an open intent");
    assert!(report.is_closed() && report.left.is_empty(), "{report:?}");
    assert_eq!(caller.read(), before);
}

#[test]
fn rewind_case_28_staged_files_are_discarded_without_a_decision() {
    let home = quick_dir();
    let (before, after) = every_step();
    let caller = Caller::with(home.path(), &before, &after);
    let lock = Root::open(&caller.root).unwrap().lock().unwrap();
    let name = StagingName::new("b2").unwrap();
    let staged = StagedApply::prepare(&lock, &name, caller.changes.clone(), &caller.objects).unwrap();
    let Prepared::Ready(staging) = staged else { panic!("{staged:?}") };
    assert!(caller.root.join(".retake-b2").is_dir());
    staging.discard().unwrap();
    assert_eq!(caller.read(), before);
    retake_worktree::discard(&lock, &name).unwrap();
}

#[test]
fn a_root_is_locked_and_recognised_when_it_is_opened_again() {
    let home = quick_dir();
    let caller = Caller::new(home.path());
    let root = Root::open(&caller.root).unwrap();
    let lock = root.lock().unwrap();
    assert!(matches!(Root::open(&caller.root).unwrap().lock(), Err(WorktreeError::RootBusy(_))));
    drop(lock);
    drop(root.lock().unwrap());
    fs::rename(&caller.root, home.path().join("moved")).unwrap();
    assert!(matches!(root.check(), Err(WorktreeError::RootMissing(_))));
    fs::create_dir(&caller.root).unwrap();
    assert!(matches!(Root::open_known(&caller.root, root.id()), Err(WorktreeError::RootOther(_))));
}

#[test]
fn an_apply_on_a_removed_root_stays_open() {
    let home = quick_dir();
    let (before, after) = every_step();
    let caller = Caller::with(home.path(), &before, &after);
    let guard = once_at("apply.synced", 1, {
        let (root, moved) = (caller.root.clone(), home.path().join("moved"));
        move || fs::rename(root, moved).unwrap()
    });
    assert!(matches!(caller.apply(), Err(WorktreeError::RootMissing(_))));
    drop(guard);
    assert_eq!(caller.intent().as_deref(), Some("forward"));
    assert!(matches!(caller.start(), Err(WorktreeError::RootMissing(_))));
    fs::rename(home.path().join("moved"), &caller.root).unwrap();
    assert!(caller.start().unwrap().expect("an open intent").left.is_empty());
    assert_eq!(caller.read(), after);
}

#[test]
fn a_broken_hard_link_is_reported() {
    let home = quick_dir();
    let caller = Caller::with(home.path(), &tree([("a", file("old"))]), &tree([("a", file("new"))]));
    fs::hard_link(caller.root.join("a"), home.path().join("other")).unwrap();
    let lock = Root::open(&caller.root).unwrap().lock().unwrap();
    let name = StagingName::new("x").unwrap();
    let staged = StagedApply::prepare(&lock, &name, caller.changes.clone(), &caller.objects).unwrap();
    let Prepared::Ready(staging) = staged else { panic!("{staged:?}") };
    let notes = retake_worktree::link_notes(lock.root(), caller.changes.clone()).unwrap();
    assert_eq!(notes.iter().map(|note| note.kind).collect::<Vec<_>>(), [NoteKind::LinkBreaks]);
    staging.discard().unwrap();
    drop(lock);
    caller.apply().unwrap().applied();
    assert_eq!(fs::read(home.path().join("other")).unwrap(), b"old");
}

#[test]
fn permission_bits_change_only_under_the_names_in_the_plan() {
    let old = |mode| Node::File(b"bytes".to_vec(), mode);
    let before = tree([("a", old(0o600)), ("b", old(0o600)), ("c", old(0o600))]);
    let goes = tree([("a", old(0o644)), ("c", old(0o600))]);
    let all = tree([("a", old(0o644)), ("b", old(0o644)), ("c", old(0o644))]);
    for (after, links) in [(goes, 1), (all, 3)] {
        let home = quick_dir();
        let caller = Caller::with(home.path(), &before, &after);
        for name in ["b", "c"] {
            fs::remove_file(caller.root.join(name)).unwrap();
            fs::hard_link(caller.root.join("a"), caller.root.join(name)).unwrap();
        }
        caller.carry_out_and_back(|| ()).unwrap();
        assert_eq!(caller.read(), before);
        caller.apply().unwrap().applied();
        assert_eq!(caller.read(), after);
        assert_eq!(
            fs::metadata(caller.root.join("a")).unwrap().nlink(),
            links,
            "no link breaks without need"
        );
    }
}

#[test]
fn written_files_have_the_current_time() {
    let home = quick_dir();
    let (before, after) = every_step();
    let caller = Caller::with(home.path(), &before, &after);
    let marker = home.path().join("marker");
    let guard = once_at("apply.synced", 1, {
        let marker = marker.clone();
        move || fs::write(marker, "").unwrap()
    });
    caller.apply().unwrap().applied();
    drop(guard);
    let time = |meta: fs::Metadata| (meta.mtime(), meta.mtime_nsec());
    let staged = time(fs::metadata(marker).unwrap());
    let written = time(fs::metadata(at(&caller.root, &path("bytes"))).unwrap());
    assert!(written >= staged, "{written:?} is older than {staged:?}");
}
