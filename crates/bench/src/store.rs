//! The benchmark of the store: loads a conversation, measures operations on it, and compares appends with a plain
//! loop over rusqlite. Works in a folder of its own that is removed afterwards.

mod append;
mod bare;
mod stage;

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use retake_core::{Action, Reason, SearchRequest};
use tempfile::TempDir;

use crate::report::Report;
use crate::samples::{REPETITIONS, median, median_of, timed};
use crate::text::MARKER;
use stage::{Stage, entry_id};

/// Operations of each kind, so that they add more than a page or two to the file.
const OPERATIONS: u64 = 100;
/// The number of turns and hits requested.
const SHOWN: usize = 20;

/// Measures everything, for each length. The operations that must not depend on the length alternate, so that a busy
/// disk slows down all of them.
pub(crate) fn run(folder: &Path, lengths: &[u64], writers: u64) -> anyhow::Result<Vec<Report>> {
    let mut runs = Vec::new();
    for entries in lengths {
        runs.push(Run::load(folder, *entries, writers)?);
    }
    operations(&mut runs)?;
    runs.into_iter().map(|run| run.finish(writers)).collect()
}

/// A store of one length, its measurements, and its folder, which is removed with it.
struct Run {
    stage: Stage,
    entries: u64,
    report: Report,
    folder: TempDir,
}

impl Run {
    fn load(folder: &Path, entries: u64, writers: u64) -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new().prefix("retake-bench-").tempdir_in(folder)?;
        let data = folder.path().join("store");
        let mut stage = Stage::create(&data)?;
        let (load, ()) = timed(|| stage.load(entries))?;
        drop(stage);
        let bytes = fs::metadata(data.join(bare::FILE))?.len();
        let mut report = Report::default();
        report.text("version", env!("CARGO_PKG_VERSION"));
        report.text("sqlite", rusqlite::version());
        report.count("entries", entries);
        report.count("writers", writers);
        report.measure("load_per_s", entries as f64 / load * 1e6);
        report.measure("file_bytes_per_entry", bytes as f64 / entries as f64);
        Ok(Self { stage: Stage::open(&data, entries)?, entries, report, folder })
    }

    /// The rest: reads, opening, appends.
    fn finish(self, writers: u64) -> anyhow::Result<Report> {
        let Self { stage, entries, mut report, folder } = self;
        let data = folder.path().join("store");
        reads(&stage, entries, &mut report)?;
        drop(stage);
        let opens = (0..REPETITIONS).map(|_| Ok(timed(|| Stage::open(&data, entries))?.0));
        report.measure("open_us", median(opens.collect::<anyhow::Result<_>>()?));
        let plain = folder.path().join("bare");
        fs::create_dir(&plain)?;
        fs::copy(data.join(bare::FILE), plain.join(bare::FILE))?;
        File::open(plain.join(bare::FILE))?.sync_all()?;
        let sync = sync_us(folder.path())?;
        report.measure("sync_us", sync);
        append::compare(Stage::open(&data, entries)?, &plain, writers, sync, &mut report)?;
        report.measure("rss_peak_mb", memory("VmHWM:")?);
        Ok(report)
    }

    /// A change of the state; `number` counts them.
    fn operation(&mut self, name: &str, number: u64) -> anyhow::Result<()> {
        let stage = &mut self.stage;
        match name {
            // The start of a turn, so that its text would return to the composer.
            "rewind" => stage.apply(Action::Rewind(entry_id((self.entries / 2) | 1))),
            "undo" => stage.apply(Action::Undo(1)),
            "fork" => stage.fork(),
            _ => {
                // Spread over the conversation, never two neighbours: each is a mark of its own.
                let entries = vec![entry_id(1 + number * (self.entries / OPERATIONS).max(1))];
                stage.apply(Action::Mark { verb: Reason::Hide, entries, range: false, seen: None })
            }
        }
    }
}

/// Rewind to the middle, undo, fork, hide: the time, and the growth of the file, amortised. Rewind and undo
/// alternate, so they share the growth.
fn operations(runs: &mut [Run]) -> anyhow::Result<()> {
    const KINDS: [(&[Operation], u64); 3] = [
        (&[("rewind", "rewind_us", "rewind_bytes"), ("undo", "undo_us", "undo_bytes")], 2 * OPERATIONS),
        (&[("fork", "fork_us", "fork_bytes")], OPERATIONS),
        (&[("hide", "hide_us", "hide_bytes")], OPERATIONS),
    ];
    for (kinds, operations) in KINDS {
        let before = runs.iter().map(|run| run.stage.file_bytes()).collect::<anyhow::Result<Vec<_>>>()?;
        let mut times = vec![vec![Vec::new(); kinds.len()]; runs.len()];
        for number in 0..OPERATIONS {
            for (at, (name, ..)) in kinds.iter().enumerate() {
                for (run, times) in runs.iter_mut().zip(&mut times) {
                    times[at].push(timed(|| run.operation(name, number))?.0);
                }
            }
        }
        for ((run, before), times) in runs.iter_mut().zip(before).zip(times) {
            let bytes = run.stage.file_bytes()?.saturating_sub(before) as f64 / operations as f64;
            for ((_, time, growth), times) in kinds.iter().zip(times) {
                run.report.measure(time, median(times));
                run.report.measure(growth, bytes);
            }
        }
    }
    Ok(())
}

/// An operation, and the names of its measurements.
type Operation = (&'static str, &'static str, &'static str);

/// Targets, the prompt, a search.
fn reads(stage: &Stage, entries: u64, report: &mut Report) -> anyhow::Result<()> {
    let targets = median_of(REPETITIONS, |_| {
        let targets = stage.wait(stage.store().targets(stage.id(), None, SHOWN))?;
        anyhow::ensure!(targets.len() == SHOWN, "{} targets are not {SHOWN}", targets.len());
        Ok(())
    })?;
    report.measure("targets_us", targets);
    let request = SearchRequest {
        query: MARKER.to_owned(),
        conversation: Some(stage.id()),
        limit: SHOWN,
        ..SearchRequest::default()
    };
    let search = |request: &SearchRequest| {
        median_of(REPETITIONS, |_| {
            let hits = stage.wait(stage.store().search(request.clone()))?.hits;
            let expected = SHOWN.min(usize::try_from(entries / crate::text::MARKER_EVERY)?);
            anyhow::ensure!(hits.len() >= expected.min(4), "{} hits", hits.len());
            Ok(())
        })
    };
    report.measure("search_us", search(&request)?);
    let everywhere = SearchRequest { conversation: None, ..request };
    report.measure("search_everywhere_us", search(&everywhere)?);
    report.measure("rss_mb", memory("VmRSS:")?);
    let prompt = median_of(REPETITIONS, |_| {
        let messages = stage.wait(stage.store().prompt(stage.id(), None))?;
        anyhow::ensure!(messages.len() as u64 > entries / 2, "{} messages", messages.len());
        Ok(())
    })?;
    report.measure("prompt_us", prompt);
    Ok(())
}

/// The time to sync one page here.
fn sync_us(folder: &Path) -> anyhow::Result<f64> {
    let mut file = File::create(folder.join("sync"))?;
    median_of(REPETITIONS, |_| {
        file.write_all(&[7; 4096])?;
        Ok(file.sync_data()?)
    })
}

/// Memory of this process, in megabytes, if the system reports it in files.
pub(crate) fn memory(name: &str) -> io::Result<f64> {
    let status = match fs::read_to_string("/proc/self/status") {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0.0),
        status => status?,
    };
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    Ok(kilobytes.unwrap_or(0.0) / 1024.0)
}
