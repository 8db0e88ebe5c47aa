//! One round: every measurement once for each program, in an order that rotates. The changes of one program are
//! repaired, and known to the others, before those are measured.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use super::edits::Edits;
use super::git::Git;
use super::keeps::SnapshotProgram;
use super::ours::CaptureStore;
use super::{COPY, EDITS, Edited, FIRST, NAMES, REOPENED, STAT_SWEEP, STORE, UNCHANGED, disk};
use crate::report::Report;
use crate::samples::{median, timed};

/// How often quick steps are measured per round.
const OFTEN: usize = 5;

/// All measurements, by name.
#[derive(Default)]
pub(super) struct Times(HashMap<&'static str, Vec<f64>>);

impl Times {
    fn take(&mut self, name: &'static str, value: f64) {
        self.0.entry(name).or_default().push(value);
    }

    /// Adds the medians and the ranges to the report.
    pub(super) fn tell(mut self, report: &mut Report) {
        let names = (0..3).flat_map(|who| NAMES.map(|names| names[who]));
        let mut spread = serde_json::Map::new();
        for name in names.chain([REOPENED, STAT_SWEEP, COPY]) {
            let Some(values) = self.0.remove(name) else {
                report.missing(name);
                continue;
            };
            let ends = [f64::min, f64::max].map(|end| values.iter().copied().reduce(end));
            let rounded = ends.map(|end| end.map(|end| (end * 10.0).round() / 10.0));
            spread.insert(name.to_owned(), rounded.to_vec().into());
            report.measure(name, median(values));
        }
        report.spread(spread);
    }
}

/// One round.
pub(super) struct Rounds<'a> {
    pub folder: &'a Path,
    pub work: &'a Path,
    pub edits: &'a Edits,
    pub number: u64,
    pub times: &'a mut Times,
}

/// A program, and the index of its names.
type IndexedProgram<'a> = (usize, &'a mut dyn SnapshotProgram);

impl Rounds<'_> {
    /// Measures.
    pub(super) fn run(mut self, ours: &mut CaptureStore, gits: &mut [&mut Git]) -> anyhow::Result<()> {
        let mut all: Vec<IndexedProgram<'_>> = vec![(0, ours)];
        all.extend(gits.iter_mut().zip(1..).map(|(git, who)| (who, &mut **git as &mut dyn SnapshotProgram)));
        let turn = usize::try_from(self.number)? % all.len();
        all.rotate_left(turn);
        for (who, keeper) in &mut all {
            keeper.fresh()?;
            self.measured(FIRST, *who, || keeper.snapshot())?;
            disk::sync(self.folder)?;
            self.times.take(named(STORE, *who), keeper.usage()? as f64 / 1e6);
        }
        self.unchanged(&mut all)?;
        for edited in EDITS.iter().filter(|edited| self.edits.can(edited.files)) {
            self.edited(edited, &mut all)?;
        }
        drop(all);
        for _ in 0..OFTEN {
            ours.close();
            self.measured(REOPENED, 0, || ours.snapshot())?;
        }
        self.copied()
    }

    /// Measures one step, in milliseconds, after earlier writes are synced.
    fn measured(
        &mut self,
        name: &'static str,
        who: usize,
        run: impl FnOnce() -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        disk::sync(self.folder)?;
        let (time, ()) = timed(run)?;
        self.times.take(named(name, who), time / 1e3);
        Ok(())
    }

    fn unchanged(&mut self, all: &mut [IndexedProgram<'_>]) -> anyhow::Result<()> {
        // A program that distrusts files as young as the first snapshot reads them again here.
        known(all)?;
        for _ in 0..OFTEN {
            for (who, keeper) in &mut *all {
                self.measured(UNCHANGED, *who, || keeper.snapshot())?;
            }
            let work = self.work;
            self.measured(STAT_SWEEP, 0, || Ok(disk::stat_sweep(work).map(drop)?))?;
        }
        Ok(())
    }

    fn edited(&mut self, edited: &Edited, all: &mut [IndexedProgram<'_>]) -> anyhow::Result<()> {
        let edit = self.edits.plan(self.number, edited.files)?;
        edit.make()?;
        for (who, keeper) in &mut *all {
            self.measured(edited.snapshot, *who, || keeper.snapshot())?;
        }
        for at in 0..all.len() {
            let (who, keeper) = &mut all[at];
            keeper.before_restore()?;
            self.measured(edited.restore, *who, || keeper.restore())?;
            edit.check_undone()?;
            if at + 1 < all.len() {
                edit.make()?;
                known(&mut all[at + 1..])?;
            }
        }
        // Some programs restore the very files that another one had restored before.
        known(all)
    }

    fn copied(&mut self) -> anyhow::Result<()> {
        let copy = self.folder.join("copy");
        let work = self.work;
        self.measured(COPY, 0, || {
            disk::copy(work, &copy)?;
            Ok(disk::sync(work)?)
        })?;
        Ok(fs::remove_dir_all(copy)?)
    }
}

/// Every program knows the current files.
fn known(all: &mut [IndexedProgram<'_>]) -> anyhow::Result<()> {
    all.iter_mut().try_for_each(|(_, keeper)| keeper.snapshot())
}

/// The name of a measurement for this program.
fn named(name: &'static str, who: usize) -> &'static str {
    NAMES.iter().find(|names| names[0] == name).map_or(name, |names| names[who])
}
