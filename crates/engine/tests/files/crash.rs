//! A program killed in the middle of a rewind: after the next start everything is as before, or everything as after, in
//! the conversation and in the files. If it is killed during a call, the changes belong to the call, or are kept as
//! uncertain (`ARCHITECTURE.md`, invariants 7 and 8).

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::Command;

use retake_core::{Action, Choice, ConversationId, FilePath, Reason};
use retake_worktree::PackObjects;
use retake_worktree::failpoint::FAILPOINTS;

use super::{Yard, engine};

/// Tells the child what to work on; without it, the child's test only checks the set-up.
const WHERE: &str = "RETAKE_TEST_CRASH";

/// The set-up: two turns with deltas of all kinds.
pub(super) async fn two_turns() -> Yard {
    let yard = Yard::with(&[("a", "one\n"), ("gone", "dear\n"), ("deep/b", "b\n")]).await;
    yard.run("echo two > a; rm gone; mkdir new; echo x > new/x; chmod 600 deep/b").await;
    yard.run("echo three > a; ln -s a link; rm -r deep; echo file > deep").await;
    yard
}

/// The folder left by the parent, in the process to be killed; `None` in the test by itself.
async fn left() -> Option<Yard> {
    let dir = std::env::var_os(WHERE).map(PathBuf::from)?;
    let id: ConversationId = fs::read_to_string(dir.join("id")).expect("an id").parse().expect("an id");
    let held = tempfile::Builder::new().tempdir_in(&dir).expect("a folder");
    let engine = super::engine_at(&dir, u64::from(std::process::id()) << 16).await;
    Some(Yard { engine, id, dir: std::sync::Arc::new(held) })
}

/// Runs one of the tests below in a process of its own, and kills it the `nth` time it reaches a point; returns whether
/// it got there. The data that it leaves is opened again.
pub(super) async fn killed(yard: Yard, test: &str, point: &str, nth: usize) -> (Yard, bool) {
    let Yard { engine: old, id, dir } = yard;
    drop(old);
    fs::write(dir.path().join("id"), id.to_string()).expect("written");
    let killed = kill_at(&dir, test, point, nth);
    (Yard { engine: engine(&dir).await, id, dir }, killed)
}

/// The same, for this folder.
pub(super) fn kill_at(dir: &tempfile::TempDir, test: &str, point: &str, nth: usize) -> bool {
    let program = std::env::current_exe().expect("this program");
    let mut child = Command::new(program);
    child.args(["--exact", &format!("files::crash::{test}"), "--nocapture"]);
    child.env(WHERE, dir.path()).env("RETAKE_FAILPOINT", format!("{point}:{nth}"));
    let done = child.output().expect("it starts");
    let killed = done.status.signal() == Some(9);
    assert!(killed || done.status.success(), "{point}:{nth}: {done:?}");
    killed
}

impl Yard {
    /// Changes in captures since the first one that no call made.
    async fn nobodys(&self) -> Vec<String> {
        let workspaces = self.engine.kept().workspaces().await.expect("workspaces");
        let rows = self.engine.kept().captures(workspaces[0].no, None, usize::MAX).await.expect("captures");
        let changes = rows.into_iter().filter(|row| row.no > 1).flat_map(|row| row.changes);
        changes.map(|change| format!("{change:?}")).collect()
    }
}

/// The rewind that is killed.
#[tokio::test]
async fn a_rewind_to_be_killed() {
    match left().await {
        Some(yard) => drop(yard.back("t1").await),
        // By itself it only checks the set-up of the other test.
        None => assert_eq!(two_turns().await.turns().await, 2),
    }
}

#[tokio::test]
async fn killed_at_any_point_of_a_rewind_it_is_all_or_nothing() {
    let (mut before, mut after, mut points) = (0, 0, 0);
    // An apply passes the points of a capture, too: it captures before, and records what it wrote.
    for point in FAILPOINTS {
        for nth in [1, 2, 4] {
            let yard = two_turns().await;
            let (there, nobodys) = (yard.all(), yard.nobodys().await);
            let (yard, killed) = killed(yard, "a_rewind_to_be_killed", point, nth).await;
            if !killed {
                break;
            }
            points += 1;
            assert_eq!(
                yard.engine.settle_files().await.expect("settled"),
                Vec::<String>::new(),
                "{point}:{nth}"
            );
            assert!(yard.engine.kept().intents().await.expect("intents").is_empty(), "{point}:{nth}");
            match yard.turns().await {
                2 => {
                    assert_eq!(yard.all(), there, "{point}:{nth}: all before");
                    before += 1;
                    yard.back("t1").await;
                }
                turns => {
                    assert_eq!(turns, 0, "{point}:{nth}");
                    after += 1;
                }
            }
            assert_eq!(yard.names(), ["a", "deep", "gone"], "{point}:{nth}: all after, and no litter");
            yard.undo().await;
            assert_eq!(yard.all(), there, "{point}:{nth}: and it can be undone");
            assert_eq!(yard.nobodys().await, nobodys, "{point}:{nth}: nobody else has changed anything");
        }
    }
    assert!(before > 3 && after > 3 && points > 10, "{before} before, {after} after, of {points}");
}

/// The call that is killed.
#[tokio::test]
async fn a_call_to_be_killed() {
    match left().await {
        Some(yard) => yard.run(CALL).await,
        None => assert_eq!(one_turn().await.turns().await, 1),
    }
}

/// What the killed call does.
const CALL: &str =
    "echo three > a; rm deep/b; mkdir new; head -c 300000 /dev/urandom > new/x; chmod 600 keep";

/// A turn, and then an edit by the user.
async fn one_turn() -> Yard {
    let yard = Yard::with(&[("a", "one\n"), ("mine", "one\n"), ("deep/b", "b\n"), ("keep", "k\n")]).await;
    yard.run("echo two > a; echo made > made").await;
    yard.write("mine", "two\n");
    yard
}

/// The paths that the call changes.
const CHANGED: [&str; 5] = ["a Revert", "deep/b Recreate", "keep Revert", "new Delete", "new/x Delete"];

#[tokio::test]
async fn killed_at_any_point_of_a_capture_what_was_changed_is_the_calls_or_kept() {
    let (mut calls, mut kept, mut never_ran) = (0, 0, 0);
    let mut passed = BTreeSet::new();
    let ours = |point: &&&str| ["capture.", "index.", "objects."].iter().any(|our| point.starts_with(our));
    for point in FAILPOINTS.iter().filter(ours) {
        for nth in [1, 2, 4] {
            let yard = one_turn().await;
            let (before, when) = (yard.all(), format!("{point}:{nth}"));
            let (yard, killed) = killed(yard, "a_call_to_be_killed", point, nth).await;
            if !killed {
                break;
            }
            passed.insert(point);
            assert_eq!(yard.engine.settle_files().await.expect("settled"), Vec::<String>::new(), "{when}");
            let there = yard.all();
            let ran = there != before;
            yard.engine.kept().prompt(yard.id, None).await.expect("readable");
            let asked = yard.turns().await > 1;
            // The next call owns only its own changes.
            yard.run("echo next > next").await;
            let last = format!("t{}", yard.turns().await);
            assert_eq!(yard.verdicts(&last).await, ["next Delete"], "{when}");
            yard.back(&last).await;
            assert_eq!(yard.all(), there, "{when}: what is on the disk is as it was left");
            let own = if asked { yard.verdicts("t2").await } else { Vec::new() };
            if own == CHANGED {
                calls += 1;
            } else if ran {
                // The end of the call was not seen: changes found later have an unknown author.
                assert_eq!(
                    own,
                    CHANGED.map(|line| format!("{} Kept", &line[..line.find(' ').unwrap()])),
                    "{when}"
                );
                kept += 1;
            } else {
                assert_eq!(own, Vec::<String>::new(), "{when}");
                never_ran += 1;
            }
            if asked {
                yard.back("t2").await;
                assert_eq!(yard.all(), if own == CHANGED { before } else { there.clone() }, "{when}");
                yard.undo().await;
                assert_eq!(yard.all(), there, "{when}");
            }
            first_turn(&yard, ran && own != CHANGED, &when).await;
            sound(yard, &when);
        }
    }
    assert!(
        calls > 0 && kept > 3 && never_ran > 3,
        "{calls} the call's, {kept} ambiguous, {never_ran} never ran"
    );
    let other: Vec<_> = FAILPOINTS.iter().filter(ours).filter(|point| !passed.contains(point)).collect();
    // The tests of captures themselves pass the points of another segment.
    assert_eq!(other, [&"objects.created", &"objects.sealed"]);
}

/// A rewind to before the first turn works, and leaves uncertain changes; or reports clearly that they conflict.
async fn first_turn(yard: &Yard, uncertain: bool, when: &str) {
    let there = yard.all();
    let done = yard.apply(yard.rewind("t1").await, super::FileOptions::default()).await;
    match done {
        Err(error) => {
            assert!(uncertain && error.code == "conflict", "{when}: {error}");
            assert_eq!(yard.all(), there, "{when}");
        }
        Ok(_) => {
            let a = if uncertain { "three\n" } else { "one\n" };
            assert_eq!((yard.read("a").as_deref(), yard.read("made")), (Some(a), None), "{when}");
        }
    }
    assert_eq!(yard.read("mine").as_deref(), Some("two\n"), "{when}: the user's stays");
}

/// The call that is killed after the test's change.
#[tokio::test]
async fn a_call_on_lines_to_be_killed() {
    if let Some(yard) = left().await {
        yard.run("sh ../edit.sh").await;
    }
}

#[tokio::test]
async fn rewind_case_54_trial_07_what_is_known_goes_and_what_a_killed_call_left_stays() {
    let text = |five: &str, twenty: &str| {
        let line = |no| match no {
            5 => format!("{five}\n"),
            20 => format!("{twenty}\n"),
            _ => format!("{no}\n"),
        };
        (1..=30).map(line).collect::<String>()
    };
    for overlaps in [false, true] {
        let (mut seen, line) = (0, if overlaps { "known" } else { "20" });
        for nth in 1..=8 {
            let yard = Yard::with(&[("f", &text("5", "20"))]).await;
            yard.run("sed -i 's/^5$/known/' f; echo made > made").await;
            fs::write(yard.path("../edit.sh"), format!("sed -i 's/^{line}$/uncertain/' f")).expect("written");
            let (yard, killed) = killed(yard, "a_call_on_lines_to_be_killed", "capture.swept", nth).await;
            if !killed {
                break;
            }
            yard.engine.settle_files().await.expect("settled");
            let there = yard.read("f").expect("it");
            if !there.contains("uncertain") || yard.verdicts("t2").await != ["f Kept"] {
                continue;
            }
            seen += 1;
            assert_eq!(yard.uncertain("t2").await, ["f CutOff"]);
            if overlaps {
                assert_eq!(yard.verdicts("t1").await, ["f Conflict(Bytes)", "made Delete"]);
                let action = yard.rewind("t1").await;
                let refused = yard.apply(action.clone(), Default::default()).await.expect_err("refused");
                assert_eq!((refused.code, yard.turns().await), ("conflict", 2));
                yard.apply(action, super::choose("f", retake_core::Choice::Checkpoint)).await.expect("done");
                assert_eq!(yard.read("f"), Some(text("5", "20")));
            } else {
                assert_eq!(yard.uncertain("t1").await, ["f CutOff"]);
                yard.back("t1").await;
                assert_eq!(yard.read("f"), Some(text("5", "uncertain")));
            }
            assert_eq!((yard.read("made"), yard.turns().await), (None, 0));
            yard.undo().await;
            assert_eq!((yard.read("f"), yard.turns().await), (Some(there), 2));
        }
        assert!(seen > 0, "{overlaps}: the call was killed after it had written");
    }
}

/// The drop after which its program is killed.
#[tokio::test]
async fn a_drop_that_changes_no_file_to_be_killed() {
    let Some(yard) = left().await else { return assert_eq!(two_turns().await.turns().await, 2) };
    let deltas = yard.engine.kept().deltas(yard.id).await.expect("deltas");
    let (opener, last) = (yard.engine.entry(yard.id, "t2").await.expect("a turn"), deltas[2].1);
    let entries = vec![opener, last];
    let drop = Action::Mark { verb: Reason::Drop, entries, range: true, seen: None };
    yard.apply(drop, super::choose("f", Choice::Disk)).await.expect("done");
    rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL).expect("killed");
}

#[tokio::test]
async fn trial_06_objects_of_layers_are_durable_before_a_step_is_acknowledged() {
    let text: String = (0..60).map(|line| format!("line {line}\n")).collect();
    let yard = Yard::with(&[("f", &text)]).await;
    for script in ["s/ 14$/ A1/", "s/ 30$/ A2/;s/ 50$/ A3/", "15a A4", "s/ A2$/ A5/"] {
        yard.run(&format!("sed -i '{script}' f")).await;
    }
    let (yard, killed) = killed(yard, "a_drop_that_changes_no_file_to_be_killed", "none", 1).await;
    assert!(killed && yard.turns().await == 2);
    let store = yard.engine.kept();
    let no = store.workspaces().await.expect("workspaces")[0].no;
    let stacks = store.layers(yard.id, no, vec![FilePath::new(b"f").expect("a path")]).await.expect("layers");
    let Yard { engine, dir, .. } = yard;
    drop(engine);
    let objects = PackObjects::open(dir.path().join("data/objects")).expect("opened");
    let layers = stacks.iter().flat_map(|(_, stack)| stack.layers());
    let versions: Vec<_> = layers.flat_map(|layer| [&layer.before, &layer.after]).flatten().collect();
    assert_eq!(versions.len(), 4);
    for version in versions {
        assert!(version.hash().is_some_and(|hash| objects.has(&hash)), "a version is lost: {version:?}");
    }
}

/// Checks that no object is damaged.
fn sound(yard: Yard, when: &str) {
    let Yard { engine, dir, .. } = yard;
    drop(engine);
    let objects = PackObjects::open(dir.path().join("data/objects")).expect("opened");
    assert!(objects.check(&mut |_, _| {}).expect("checked").damaged.is_empty(), "{when}");
}
