//! Whether a folder within a folder is entered, and as what: the rule of coverage on both sides, for
//! folders.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use retake_core::{FilePath, Record, UncoveredReason};

use super::coverage::CoverageChange;
use super::index::NameState;
use super::sweep::{Coverage, Draft, InForce, Job, Side};
use super::visit::{VisitedFolder, Visitor, ready};

/// The decision about a folder.
enum Entering {
    No(UncoveredReason),
    As(Coverage),
}

impl Visitor<'_> {
    /// Decides about the folder at `self.path`, and queues it.
    pub(crate) fn folder(
        &mut self,
        here: &VisitedFolder<'_>,
        name: &[u8],
        before: Option<usize>,
        inode: u64,
    ) -> Draft {
        let old = here.old(before);
        let entering = match here.coverage {
            Coverage::Arriving => self.arriving(here),
            Coverage::Leaving(why) => self.leaving(here, old, why),
            Coverage::Both => self.on_both_sides(here, old),
        };
        let coverage = match entering {
            Entering::As(coverage) => coverage,
            Entering::No(why) => return self.uncovered(here, name, before, why),
        };
        let was_folder = old.and_then(NameState::known) == Some(&NameState::Folder);
        let alone = here.job.alone && old == Some(&NameState::Folder);
        let Ok(path) = FilePath::new(&self.path) else {
            return self.uncovered(here, name, before, UncoveredReason::TooDeep);
        };
        if alone {
            let known = self.context.index.folders.get(&Some(path));
            if known.is_none_or(|known| known.inode != inode) {
                self.context.not_enough.store(true, Ordering::Relaxed);
            }
        } else {
            self.queue(here, path, old, was_folder, coverage);
        }
        match before {
            Some(at) if old == Some(&NameState::Folder) => Draft::Keep(at),
            _ => ready(name, Side::Both, NameState::Folder),
        }
    }

    fn queue(
        &mut self,
        here: &VisitedFolder<'_>,
        path: FilePath,
        old: Option<&NameState>,
        was_folder: bool,
        coverage: Coverage,
    ) {
        let unknown = matches!(old, Some(NameState::Unknown(..)));
        let line = match (here.coverage, coverage) {
            (Coverage::Both, Coverage::Leaving(why)) => Some(CoverageChange::Lost(why)),
            (Coverage::Both, Coverage::Arriving) => Some(CoverageChange::Gained),
            (Coverage::Both, _) if unknown => Some(CoverageChange::Gained),
            _ => None,
        };
        let place = Some(path);
        let folder = was_folder.then(|| self.context.index.folders.get(&place).cloned()).flatten();
        let before: Option<Record> = match &folder {
            Some(folder) => Some(folder.record()),
            None => old.and_then(NameState::known).and_then(NameState::record),
        };
        let in_force = match coverage {
            Coverage::Leaving(_) => InForce::unchanged(Arc::clone(&here.in_force.old)),
            _ => here.in_force.clone(),
        };
        let (old, before) = if coverage == Coverage::Arriving { (None, None) } else { (folder, before) };
        let late = here.job.late || unknown;
        self.jobs.push(Job { place, old, before, in_force, coverage, late, line, alone: false });
    }

    fn arriving(&self, here: &VisitedFolder<'_>) -> Entering {
        here.in_force.new.excludes(&self.path).map_or(Entering::As(Coverage::Arriving), Entering::No)
    }

    fn leaving(&self, here: &VisitedFolder<'_>, old: Option<&NameState>, why: UncoveredReason) -> Entering {
        match old {
            Some(NameState::Folder) => Entering::As(Coverage::Leaving(why)),
            Some(NameState::Uncovered(why) | NameState::Unknown(why, _)) => Entering::No(*why),
            _ => here
                .in_force
                .old
                .excludes(&self.path)
                .map_or(Entering::As(Coverage::Leaving(why)), Entering::No),
        }
    }

    fn on_both_sides(&self, here: &VisitedFolder<'_>, old: Option<&NameState>) -> Entering {
        let now =
            match old {
                // With the same rules the decision is the same.
                Some(NameState::Folder) if here.same_rules => None,
                Some(NameState::Uncovered(
                    why @ (UncoveredReason::Ignored | UncoveredReason::NodeModules),
                )) if here.same_rules => Some(*why),
                _ => here.in_force.new.excludes(&self.path),
            };
        match (old, now) {
            (Some(NameState::Folder), None) => Entering::As(Coverage::Both),
            (Some(NameState::Folder), Some(why)) => Entering::As(Coverage::Leaving(why)),
            (Some(NameState::Unknown(_, Some(kept))), None) if **kept == NameState::Folder => {
                Entering::As(Coverage::Both)
            }
            (Some(NameState::Unknown(..) | NameState::Uncovered(_)), None) => {
                Entering::As(Coverage::Arriving)
            }
            (Some(NameState::Unknown(..) | NameState::Uncovered(_)), Some(why)) => Entering::No(why),
            // It did not exist, or it was something else.
            (None | Some(NameState::File(_) | NameState::Link(_)), now) => self.appeared(here, now),
        }
    }

    fn appeared(&self, here: &VisitedFolder<'_>, now: Option<UncoveredReason>) -> Entering {
        let then = if here.in_force.is_unchanged() { now } else { here.in_force.old.excludes(&self.path) };
        match (then, now) {
            (None, None) => Entering::As(Coverage::Both),
            (None, Some(why)) => Entering::As(Coverage::Leaving(why)),
            (Some(_), None) => Entering::As(Coverage::Arriving),
            (Some(_), Some(why)) => Entering::No(why),
        }
    }
}
