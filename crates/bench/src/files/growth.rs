//! What a checkpoint adds to the store, apart from the content of changed files.

use super::edits::Edits;
use super::ours::CaptureStore;
use crate::report::Report;

/// Files changed by each checkpoint.
const CHANGES: usize = 100;
/// The number of checkpoints.
const CHECKPOINTS: u64 = 50;
const GROWTH: &str = "checkpoint_kb";
const CONTENTS: &str = "checkpoint_contents_kb";
const INDEX: &str = "index_mb";
/// No other measurement uses edit numbers from here on.
const FIRST: u64 = 1 << 32;

/// Creates checkpoints, each with so many changes and a manifest of its own.
pub(super) fn measure(ours: &mut CaptureStore, edits: &Edits, report: &mut Report) -> anyhow::Result<()> {
    if !edits.can(CHANGES) {
        [GROWTH, CONTENTS, INDEX].into_iter().for_each(|name| report.missing(name));
        return Ok(());
    }
    ours.manifest()?;
    let begin = ours.bytes()?;
    let (mut found, mut contents) = (0, 0);
    for number in 0..CHECKPOINTS {
        edits.plan(FIRST + number, CHANGES)?.make()?;
        let before = ours.bytes()?.0;
        found += ours.capture()?.encode().len() as u64;
        contents += ours.bytes()?.0 - before;
        ours.manifest()?;
    }
    let end = ours.bytes()?;
    let kilobytes = |bytes: u64| bytes as f64 / CHECKPOINTS as f64 / 1e3;
    let manifests = end.0 - begin.0 - contents;
    let index = end.1.saturating_sub(begin.1);
    report.measure(GROWTH, kilobytes(found + manifests + index));
    report.measure(CONTENTS, kilobytes(contents));
    report.measure(INDEX, end.1 as f64 / 1e6);
    Ok(())
}
