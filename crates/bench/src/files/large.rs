//! What the change of one line adds to the store, in a text of five megabytes.

use std::fs;
use std::path::Path;

use super::disk;
use super::git::{Durable, Git};
use super::keeps::SnapshotProgram as _;
use super::ours::CaptureStore;
use crate::report::Report;

/// Retake; git's first form, an object for each version; and git after packing, each version as a difference.
pub(super) const NAMES: [&str; 3] = ["edit_5mb_kb", "git_edit_5mb_loose_kb", "git_edit_5mb_packed_kb"];
/// Lines of 50 bytes.
const LINES: usize = 100_000;
/// The lines changed, in order.
const CHANGED: [usize; 6] = [0, 20_000, 40_000, 60_000, 80_000, 99_999];

/// Stores the text and its versions: in Retake's store, and in git's, if there is git.
pub(super) fn measure(folder: &Path, with_git: bool, report: &mut Report) -> anyhow::Result<()> {
    let work = folder.join("large");
    fs::create_dir(&work)?;
    let mut rng = fastrand::Rng::with_seed(5);
    let mut word = || std::iter::repeat_with(|| rng.alphanumeric()).take(14).collect::<String>();
    let mut lines: Vec<String> =
        (0..LINES).map(|at| format!("{at:06} {}  {} {}", word(), word(), word())).collect();
    let mut ours = CaptureStore::new(&work, &folder.join("large-retake"));
    let mut git = Git::new(&work, &folder.join("large-git"), Durable::No);
    let text = work.join("text");
    fs::write(&text, lines.join("\n"))?;
    ours.fresh()?;
    ours.capture()?;
    let before = ours.bytes()?.0;
    let objects = folder.join("large-git/objects");
    let mut git_before = 0;
    if with_git {
        git.fresh()?;
        git.commit()?;
        git.pack()?;
        git_before = length(&objects)?;
    }
    for at in CHANGED {
        lines[at] = format!("changed {at}");
        fs::write(&text, lines.join("\n"))?;
        anyhow::ensure!(ours.capture()?.changes.len() == 1, "the change was not found");
        if with_git {
            git.commit()?;
        }
    }
    let each = |bytes: u64| bytes as f64 / CHANGED.len() as f64 / 1e3;
    report.measure(NAMES[0], each(ours.bytes()?.0 - before));
    if !with_git {
        NAMES[1..].iter().for_each(|name| report.missing(name));
        return Ok(());
    }
    report.measure(NAMES[1], each(length(&objects)?.saturating_sub(git_before)));
    git.pack()?;
    report.measure(NAMES[2], each(length(&objects)?.saturating_sub(git_before)));
    Ok(())
}

/// Bytes in the files below a folder. Disk blocks would hide what git adds after packing.
fn length(folder: &Path) -> anyhow::Result<u64> {
    let files = disk::files(folder)?.into_iter();
    files.map(|file| Ok(fs::metadata(folder.join(file))?.len())).sum()
}
