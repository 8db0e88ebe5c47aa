//! Appends with the store and with the plain loop, alternating by round, so that a machine that slows down does so
//! for both.

use std::path::Path;
use std::sync::Arc;

use retake_core::{EntryId, SayRequest};

use super::bare;
use super::stage::Stage;
use crate::report::Report;
use crate::samples::{median, timed};
use crate::text::MARKER;

/// Rounds of each; medians are taken over them.
const ROUNDS: u64 = 30;
/// The most appends of a run, and the fewest.
const APPENDS: (f64, f64) = (6000.0, 900.0);
/// About how long the plain loop may wait for the disk, in microseconds.
const PATIENCE: f64 = 8e6;

/// Measures both.
pub(super) fn compare(
    mut stage: Stage,
    plain: &Path,
    writers: u64,
    sync_us: f64,
    report: &mut Report,
) -> anyhow::Result<()> {
    let appends = (PATIENCE / sync_us).clamp(APPENDS.1, APPENDS.0) as u64;
    let each = (appends / ROUNDS / writers).max(1);
    let reader = stage.reader()?;
    let bare = bare::open(plain)?;
    let mut last = bare::last_key(&reader)?;
    let (mut store_times, mut bare_times, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    let commits = stage.commits();
    for _ in 0..ROUNDS {
        let says = (0..writers).map(|_| (0..each).map(|_| stage.next_say()).collect());
        let says = says.collect::<anyhow::Result<Vec<Vec<SayRequest>>>>()?;
        let (store_time, ()) = timed(|| say(&stage, says))?;
        let rows = bare::rows(&reader, last)?;
        anyhow::ensure!(rows.len() as u64 == each * writers, "{} rows were appended", rows.len());
        last = bare::last_key(&reader)?;
        let (bare_time, ()) = timed(|| Ok(bare::append(&bare, &rows)?))?;
        store_times.push(store_time);
        bare_times.push(bare_time);
        ratios.push(bare_time / store_time);
    }
    let (here, there) = (bare::found(&reader, MARKER)?, bare::found(&bare, MARKER)?);
    anyhow::ensure!(here == there, "the full-text indexes differ: {here} and {there} entries have the word");
    let round = (each * writers) as f64;
    report.measure("append_per_s", round / median(store_times) * 1e6);
    report.measure("bare_append_per_s", round / median(bare_times) * 1e6);
    report.measure("append_ratio", median(ratios));
    report.count("appends", ROUNDS * each * writers);
    let commits = stage.commits() - commits;
    report.measure("commits_per_append", commits as f64 / (ROUNDS * each * writers) as f64);
    Ok(())
}

/// Every writer sends its messages in order, each after the one before is durable.
fn say(stage: &Stage, says: Vec<Vec<SayRequest>>) -> anyhow::Result<()> {
    let id = stage.id();
    stage.wait(async {
        let mut writers = tokio::task::JoinSet::new();
        for says in says {
            let store = Arc::clone(stage.store());
            writers.spawn(async move {
                let mut seen: Option<EntryId> = None;
                for say in says {
                    let receipt = store.say(id, SayRequest { seen, ..say }).await?;
                    seen = receipt.entries.first().copied();
                }
                anyhow::Ok(())
            });
        }
        while let Some(done) = writers.join_next().await {
            done??;
        }
        anyhow::Ok(())
    })
}
