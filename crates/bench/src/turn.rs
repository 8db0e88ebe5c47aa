//! The cost of a turn beyond model and tools: both take no time here, so only Retake's own time is measured. The engine, the
//! store and the disk are real; what a turn stores is synced before it is acknowledged. Works in a folder of its own that is
//! removed afterwards.

mod desk;

use std::path::Path;

use crate::report::Report;
use crate::sample_tree;
use crate::samples::{median, timed};
use crate::store::memory;
pub(crate) use desk::Desk;
use desk::Idle;

/// Calls in a turn with tools.
const CALLS: u64 = 10;

/// Measures everything.
pub(crate) fn run(dir: &Path, files: u64, entries: u64, runs: u64) -> anyhow::Result<Report> {
    let folder = crate::own_folder(dir)?;
    let mut report = Report::default();
    report.text("version", env!("CARGO_PKG_VERSION"));
    report.count("files", files);
    report.count("entries", entries);
    report.count("runs", runs);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let _entered = runtime.enter();
    let desk = Desk::open(&folder.path().join("data"))?;
    let talk = runtime.block_on(desk.begin(None))?;
    let turn = Turns { desk: &desk, runtime: &runtime, runs };
    let words = turn.times(talk, None)?;
    report.measure("turn_overhead_us", median(words.clone()));
    report.measure("turn_overhead_p99_us", high(words.clone()));
    report.measure("tool_overhead_us", per_call(&turn.times(talk, Some(Idle::Looks))?, &words));
    let work = folder.path().join("work");
    sample_tree::make(&work, files)?;
    let own = runtime.block_on(desk.begin(Some(&work)))?;
    // The first capture reads everything; `files` measures that.
    turn.one(own, Some(Idle::Writes))?;
    let words = turn.times(own, None)?;
    report.measure("turn_overhead_snapshots_us", median(words.clone()));
    report.measure("tool_overhead_snapshots_us", per_call(&turn.times(own, Some(Idle::Writes))?, &words));
    report.measure("subagent_overhead_us", per_call(&turn.times(own, Some(Idle::Delegates))?, &words));
    drop(desk);
    let before = memory("VmRSS:")?;
    let desk = Desk::open(&folder.path().join("long"))?;
    let long = runtime.block_on(desk.import(entries))?;
    let turn = Turns { desk: &desk, runtime: &runtime, runs };
    turn.one(long, None)?;
    report.measure("rss_mb", memory("VmRSS:")?);
    report.measure("rss_before_mb", before);
    // The model takes no time, so this is how long people wait for Retake itself.
    let (pause, ()) = timed(|| runtime.block_on(desk.compact(long)))?;
    report.measure("compaction_pause_us", pause);
    Ok(report)
}

/// Turns, timed.
struct Turns<'a> {
    desk: &'a Desk,
    runtime: &'a tokio::runtime::Runtime,
    runs: u64,
}

impl Turns<'_> {
    /// A turn with these calls, in microseconds.
    fn one(&self, of: retake_core::ConversationId, tool: Option<Idle>) -> anyhow::Result<f64> {
        let (time, ()) = timed(|| self.runtime.block_on(self.desk.turn(of, tool, CALLS)))?;
        Ok(time)
    }

    fn times(&self, of: retake_core::ConversationId, tool: Option<Idle>) -> anyhow::Result<Vec<f64>> {
        (0..self.runs).map(|_| self.one(of, tool)).collect()
    }
}

/// The cost of one call: a turn with calls includes one more request to the model.
fn per_call(with: &[f64], without: &[f64]) -> f64 {
    (median(with.to_vec()) - median(without.to_vec())) / CALLS as f64
}

/// The 99th percentile.
fn high(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples.get((samples.len() * 99 / 100).min(samples.len().saturating_sub(1))).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    #[test]
    fn everything_is_measured() {
        let folder = tempfile::tempdir().unwrap();
        let json = super::run(folder.path(), 20, 50, 3).unwrap().json();
        for name in [
            "turn_overhead_us",
            "turn_overhead_p99_us",
            "tool_overhead_us",
            "turn_overhead_snapshots_us",
            "tool_overhead_snapshots_us",
            "subagent_overhead_us",
            "rss_mb",
            "compaction_pause_us",
        ] {
            assert!(json.get(name).is_some_and(|value| value.is_number()), "{name}: {json}");
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left");
    }
}
