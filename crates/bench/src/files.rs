//! Captures and restores compared with git: a copy of a tree is edited and restored, by each program in turn and with
//! equally warm caches. Works in a folder of its own that is removed afterwards, and never writes to the given tree.

pub(crate) mod disk;
mod edits;
mod git;
mod growth;
mod keeps;
mod large;
mod ours;
mod program;
mod rounds;
mod watched;

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::FilesArguments;
use crate::report::Report;
use edits::Edits;
use git::{Durable, Git};
use ours::CaptureStore;
use rounds::{Rounds, Times};

/// The numbers of files edited together.
const EDITS: [Edited; 2] = [
    Edited { files: 100, snapshot: "changed_100_snapshot_ms", restore: "restore_100_ms" },
    Edited { files: 5000, snapshot: "changed_5000_snapshot_ms", restore: "restore_5000_ms" },
];
const FIRST: &str = "first_snapshot_ms";
const UNCHANGED: &str = "unchanged_snapshot_ms";
const STORE: &str = "store_mb";
const REOPENED: &str = "reopened_snapshot_ms";
const STAT_SWEEP: &str = "stat_sweep_ms";
const COPY: &str = "copy_ms";

/// An edit, and the names of its measurements.
struct Edited {
    files: usize,
    snapshot: &'static str,
    restore: &'static str,
}

/// The measurements of each program: Retake, git, and git without syncing, in the order shown.
const NAMES: [[&str; 3]; 7] = [
    [FIRST, "git_first_snapshot_ms", "git_first_snapshot_unsynced_ms"],
    [UNCHANGED, "git_unchanged_snapshot_ms", "git_unchanged_snapshot_unsynced_ms"],
    [EDITS[0].snapshot, "git_changed_100_snapshot_ms", "git_changed_100_snapshot_unsynced_ms"],
    [EDITS[1].snapshot, "git_changed_5000_snapshot_ms", "git_changed_5000_snapshot_unsynced_ms"],
    [EDITS[0].restore, "git_restore_100_ms", "git_restore_100_unsynced_ms"],
    [EDITS[1].restore, "git_restore_5000_ms", "git_restore_5000_unsynced_ms"],
    [STORE, "git_store_mb", "git_store_unsynced_mb"],
];

/// Measures everything, and returns what could not be measured.
pub(crate) fn run(arguments: &FilesArguments) -> anyhow::Result<(Report, Vec<String>)> {
    let FilesArguments { tree, dir, runs, rewinds, .. } = arguments;
    let dir = dir.as_deref();
    let tree = tree.canonicalize().with_context(|| format!("cannot open {}", tree.display()))?;
    let dir = dir.or(tree.parent()).context("name a folder for the copy: --dir")?;
    let folder = crate::own_folder(dir)?;
    let folder_path = folder.path().canonicalize()?;
    anyhow::ensure!(
        !folder_path.starts_with(&tree),
        "the copy would lie in the tree; choose --dir elsewhere"
    );
    let (of, retake) = ((*runs, git::version()), crate::start::beside());
    match rewinds {
        true => rewinds_only(&tree, &folder_path, of, retake.as_deref()),
        false => measure(&tree, &folder_path, of, retake.as_deref()),
    }
}

/// The start of the report: the version, the files and their size, the repetitions.
fn begun(files: &[PathBuf], root: &Path, runs: u64) -> anyhow::Result<Report> {
    let bytes = files.iter().map(|file| Ok(fs::metadata(root.join(file))?.len()));
    let bytes = bytes.sum::<anyhow::Result<u64>>()?;
    let mut report = Report::default();
    report.text("version", env!("CARGO_PKG_VERSION"));
    report.count("files", files.len() as u64);
    report.measure("tree_mb", bytes as f64 / 1e6);
    report.count("runs", runs);
    Ok(report)
}

fn rewinds_only(
    tree: &Path,
    folder: &Path,
    (runs, git): (u64, Option<String>),
    retake: Option<&Path>,
) -> anyhow::Result<(Report, Vec<String>)> {
    let files = disk::files(tree)?;
    let mut report = begun(&files, tree, runs)?;
    let missing = program::measure(retake, (tree, &files), folder, (runs, git.is_some()), &mut report)?;
    Ok((report, missing))
}

/// Prints the current long step to standard error.
fn progress(what: &str) {
    // Standard error may be closed.
    let _ = writeln!(io::stderr(), "{what}");
}

fn measure(
    tree: &Path,
    folder: &Path,
    (runs, git): (u64, Option<String>),
    retake: Option<&Path>,
) -> anyhow::Result<(Report, Vec<String>)> {
    let work = folder.join("work");
    disk::copy(tree, &work).with_context(|| format!("cannot copy {}", tree.display()))?;
    let files = disk::files(&work)?;
    let mut report = begun(&files, &work, runs)?;
    let edits = Edits::of(&work, files)?;
    let mut missing: Vec<String> = EDITS
        .iter()
        .filter(|edit| !edits.can(edit.files))
        .map(|edit| format!("the tree is too small for {} changed files; make one with `tree`", edit.files))
        .collect();
    let mut ours = CaptureStore::new(&work, &folder.join("retake"));
    let mut synced = Git::new(&work, &folder.join("git"), Durable::Yes);
    let mut unsynced = Git::new(&work, &folder.join("git-unsynced"), Durable::No);
    let mut gits: Vec<&mut Git> = Vec::new();
    match &git {
        Some(version) => {
            report.text("git", version);
            gits.extend([&mut synced, &mut unsynced]);
        }
        None => {
            report.missing("git");
            missing.push("git is not installed, so there is nothing to compare with".to_owned());
        }
    }
    let mut times = Times::default();
    for number in 0..runs {
        progress(&format!("captures and restores, round {} of {runs}", number + 1));
        Rounds { folder, work: &work, edits: &edits, number, times: &mut times }.run(&mut ours, &mut gits)?;
    }
    times.tell(&mut report);
    watched::measure(&mut ours, &edits, &mut report)?;
    growth::measure(&mut ours, &edits, &mut report)?;
    large::measure(folder, git.is_some(), &mut report)?;
    let of = (tree, edits.files());
    missing.extend(program::measure(retake, of, folder, (runs, git.is_some()), &mut report)?);
    Ok((report, missing))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{NAMES, measure};

    fn measured(files: u64, git: Option<&str>) -> (serde_json::Value, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let tree = folder.path().join("tree");
        crate::sample_tree::make(&tree, files).unwrap();
        let (report, missing) = measure(&tree, folder.path(), (1, git.map(str::to_owned)), None).unwrap();
        (report.json(), missing)
    }

    fn nulls(json: &serde_json::Value) -> BTreeSet<&str> {
        let object = json.as_object().unwrap();
        object.iter().filter(|(_, value)| value.is_null()).map(|(name, _)| name.as_str()).collect()
    }

    #[test]
    fn everything_is_measured_but_what_a_tiny_tree_is_too_small_for() {
        let version = super::git::version();
        let (json, missing) = measured(150, version.as_deref());
        for name in NAMES.as_flattened().iter().chain(&["stat_sweep_ms", "copy_ms", "reopened_snapshot_ms"]) {
            assert!(json.get(name).is_some(), "{name} is not there");
        }
        let gits = if version.is_some() { 1 } else { 0 };
        assert_eq!(missing.len(), 3 - gits, "{missing:?}");
        let programs: BTreeSet<_> = super::program::all_names().collect();
        let small =
            nulls(&json).into_iter().filter(|name| !name.contains("5000") && !programs.contains(name));
        let small = small.collect::<Vec<_>>();
        assert_eq!(small.is_empty(), version.is_some(), "{small:?}");
        assert!(json["edit_5mb_kb"].as_f64().unwrap() < 64.0, "{json}");
    }

    #[test]
    fn without_git_its_numbers_are_null_and_said_to_be() {
        let (json, missing) = measured(20, None);
        let expected = NAMES.iter().flat_map(|[_, synced, unsynced]| [*synced, *unsynced]);
        let small = NAMES[2..6].iter().map(|[ours, ..]| *ours).chain([
            "git",
            "checkpoint_kb",
            "checkpoint_contents_kb",
            "index_mb",
        ]);
        let programs = super::program::all_names().chain(super::large::NAMES[1..].iter().copied());
        assert_eq!(nulls(&json), expected.chain(small).chain(programs).collect());
        assert_eq!(missing.len(), 4);
    }
}
