//! A process killed at any step: after the next start everything is as before, or everything as after.
//!
//! The killed process is this test binary again; environment variables tell it where to work and when to die.

use std::cell::Cell;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use retake_worktree::Report;
use retake_worktree::failpoint::{die, watch};

use super::atomic::unsupported;
use super::kit::{Caller, Node, Tree, every_step, path};

/// The child's folder `HOME`, and its work: `VERB VARIANT DIES_AT`.
const HOME: &str = "RETAKE_APPLY_HOME";
const WORK: &str = "RETAKE_APPLY_WORK";

/// The event in addition to the kill.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Variant {
    Plain,
    InSteps,
    /// Another program saves in between, so that everything is reverted.
    Foreign,
    ForeignInSteps,
}

const VARIANTS: [Variant; 4] = [Variant::Plain, Variant::InSteps, Variant::Foreign, Variant::ForeignInSteps];

fn in_steps(variant: Variant) -> bool {
    matches!(variant, Variant::InSteps | Variant::ForeignInSteps)
}

fn foreign(variant: Variant) -> bool {
    matches!(variant, Variant::Foreign | Variant::ForeignInSteps)
}

fn caller(home: &Path) -> Caller {
    let (before, after) = every_step();
    Caller::planned(home, &before, &after)
}

/// Does the given work, until it dies.
fn work(home: &Path, told: &str) {
    let words: Vec<&str> = told.split(' ').collect();
    let [verb, variant, dies_at] = words.as_slice() else { panic!("{told}") };
    let variant = VARIANTS[variant.parse::<usize>().expect("done")];
    let dies_at: usize = dies_at.parse().expect("done");
    let caller = caller(home);
    let saved = caller.root.join("bytes");
    let passed = Cell::new(0);
    let _watch = watch(move |name| {
        passed.set(passed.get() + 1);
        if passed.get() == dies_at {
            die()?;
        }
        if foreign(variant) && name == "apply.synced" {
            fs::write(&saved, "theirs")?;
        }
        unsupported(in_steps(variant), name)
    });
    match *verb {
        "apply" => drop(caller.apply().expect("done")),
        _ => drop(caller.start().expect("done")),
    }
}

/// Runs this binary again; returns whether it was killed.
fn killed(home: &Path, verb: &str, variant: Variant, dies_at: usize) -> bool {
    let number = VARIANTS.iter().position(|other| *other == variant).expect("done");
    let mut command = Command::new(std::env::current_exe().expect("done"));
    let test = "apply::crash::rewind_case_24_an_apply_killed_at_any_step_is_recovered";
    command.args(["--exact", test, "--test-threads=1"]);
    command.env(HOME, home).env(WORK, format!("{verb} {number} {dies_at}"));
    let status =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::inherit()).status().expect("done");
    assert!(status.success() || status.signal() == Some(9), "{variant:?} at {dies_at}: {status}");
    status.signal() == Some(9)
}

/// Kills the apply at one point, and the recovery at another; the next start completes it.
fn kill_at(variant: Variant, dies_at: usize, seen: &mut [bool; 2]) -> bool {
    let home = super::kit::quick_dir();
    let (before, after) = every_step();
    drop(Caller::with(home.path(), &before, &after));
    let was_killed = killed(home.path(), "apply", variant, dies_at);
    if killed(home.path(), "start", variant, 1 + dies_at * 7 % 90) && !was_killed {
        panic!("{variant:?}: an apply that ended left an intent");
    }
    let caller = caller(home.path());
    let report = caller.start().expect("done");
    assert!(report.as_ref().is_none_or(Report::is_closed), "{variant:?} at {dies_at}: {report:?}");
    assert_eq!(caller.intent(), None);
    let sides = [with_theirs(&before, variant), with_theirs(&after, variant), before, after];
    let found = caller.read();
    let side = sides.iter().position(|side| *side == found);
    let side = side.unwrap_or_else(|| panic!("{variant:?} at {dies_at}: {found:#?}"));
    seen[side % 2] = true;
    was_killed
}

/// A side, with a saved file of another program.
fn with_theirs(side: &Tree, variant: Variant) -> Tree {
    let mut side = side.clone();
    if foreign(variant) {
        side.insert(path("bytes"), Node::File(b"theirs".to_vec(), 0o644));
    }
    side
}

#[test]
fn rewind_case_24_an_apply_killed_at_any_step_is_recovered() {
    if let (Some(home), Ok(told)) = (std::env::var_os(HOME), std::env::var(WORK)) {
        return work(&PathBuf::from(home), &told);
    }
    let run = |variant: Variant| {
        let (mut dies_at, mut seen) = (1, [false; 2]);
        while kill_at(variant, dies_at, &mut seen) {
            dies_at += 1;
        }
        assert!(dies_at > 80, "{variant:?} passed only {dies_at} points");
        assert_eq!(seen, [true; 2], "{variant:?} ended on one side only");
    };
    std::thread::scope(|scope| {
        for variant in VARIANTS {
            scope.spawn(move || run(variant));
        }
    });
}

#[test]
fn rewind_case_27_a_second_recovery_gives_the_same_result() {
    for stop in ["apply.opened", "apply.stepped", "apply.carried", "apply.swept"] {
        for intent in ["forward", "back"] {
            let home = super::kit::quick_dir();
            let (before, after) = every_step();
            let caller = Caller::with(home.path(), &before, &after);
            crashed(&caller, stop);
            fs::write(home.path().join("intent"), intent).unwrap();
            let mut found = Vec::new();
            for _ in 0..3 {
                let report = caller.start().unwrap().expect("an open intent");
                found.push((caller.read(), report.done, report.left));
                fs::write(home.path().join("intent"), intent).unwrap();
            }
            assert_eq!(found[0], found[1]);
            assert_eq!(found[0], found[2]);
            // A file that was removed already is staged again from the object store.
            assert_eq!(found[0].0, if intent == "forward" { after } else { before }, "{stop} {intent}");
        }
    }
}

/// An apply that ends at a point as if the process had ended.
pub(crate) fn crashed(caller: &Caller, stop: &'static str) {
    let mut left = 5;
    let guard = watch(move |name| {
        left -= usize::from(name == stop && left > 0);
        if name == stop && (left == 0 || stop != "apply.stepped") {
            // Like a kill, but the caller lives: nothing more is done.
            std::panic::resume_unwind(Box::new("killed"));
        }
        Ok(())
    });
    let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| caller.apply()));
    drop(guard);
    assert!(ended.is_err(), "{stop} was not passed");
}

#[test]
fn a_change_between_crash_and_recovery_is_kept() {
    for intent in ["forward", "back"] {
        let home = super::kit::quick_dir();
        let (before, after) = every_step();
        let caller = Caller::with(home.path(), &before, &after);
        crashed(&caller, "apply.stepped");
        fs::write(home.path().join("intent"), intent).unwrap();
        fs::write(caller.root.join("bytes"), "theirs").unwrap();
        let report = caller.start().unwrap().expect("an open intent");
        assert_eq!(report.left.iter().map(|left| left.path.to_string()).collect::<Vec<_>>(), ["bytes"]);
        let mut expected = if intent == "forward" { after } else { before };
        expected.insert(path("bytes"), super::kit::file("theirs"));
        assert_eq!(caller.read(), expected);
    }
}
