//! Consecutive calls in one long-lived process: the time of the captures around a call, with a watch and without.

use retake_worktree::CaptureScope;

use super::edits::Edits;
use super::ours::CaptureStore;
use crate::report::Report;
use crate::samples::{median, timed};

/// Measured calls of each kind.
const CALLS: u64 = 20;
/// No other measurement uses edit numbers from here on.
const FIRST: u64 = 1 << 40;

/// Measures a call that changes nothing, and one that changes a file.
pub(super) fn measure(ours: &mut CaptureStore, edits: &Edits, report: &mut Report) -> anyhow::Result<()> {
    let whole = calls(ours, edits, &CaptureScope::Whole, FIRST)?;
    let (begun, ()) = timed(|| ours.watch())?;
    ours.capture()?;
    let watched = calls(ours, edits, &CaptureScope::Watched, FIRST + CALLS)?;
    report.measure("call_of_nothing_ms", whole.0);
    report.measure("watched_call_of_nothing_ms", watched.0);
    report.measure("call_of_one_file_ms", whole.1);
    report.measure("watched_call_of_one_file_ms", watched.1);
    report.measure("watch_ms", begun / 1e3);
    ours.close();
    Ok(())
}

/// The medians of both kinds, of the captures before and after the call together.
fn calls(
    ours: &mut CaptureStore,
    edits: &Edits,
    sweep: &CaptureScope,
    first: u64,
) -> anyhow::Result<(f64, f64)> {
    let (mut nothing, mut one) = (Vec::new(), Vec::new());
    for number in first..first + CALLS {
        let (before, _) = timed(|| ours.capture_where(sweep))?;
        let (after, found) = timed(|| ours.capture_where(sweep))?;
        anyhow::ensure!(found.is_empty(), "a call of nothing changed {} files", found.changes.len());
        nothing.push((before + after) / 1e3);
        let (before, _) = timed(|| ours.capture_where(sweep))?;
        edits.plan(number, 1)?.make()?;
        let (after, found) = timed(|| ours.capture_where(sweep))?;
        anyhow::ensure!(found.changes.len() == 1, "{} files were found for one", found.changes.len());
        one.push((before + after) / 1e3);
    }
    Ok((median(nothing), median(one)))
}
