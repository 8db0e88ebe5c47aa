//! Whether a folder within a folder is entered, and as what: the rule of coverage on both sides, for
//! folders.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use retake_core::{FilePath, Record, WhyNot};

use super::coverage::CoverageChange;
use super::index::What;
use super::sweep::{Draft, InForce, Job, Side, Standing};
use super::visit::{Here, Visitor, ready};

/// The decision about a folder.
enum Entering {
    No(WhyNot),
    As(Standing),
}

impl Visitor<'_> {
    /// Decides about the folder at `self.path`, and queues it.
    pub(crate) fn folder(
        &mut self,
        here: &Here<'_>,
        name: &[u8],
        before: Option<usize>,
        inode: u64,
    ) -> Draft {
        let old = here.old(before);
        let entering = match here.standing {
            Standing::Arriving => self.arriving(here),
            Standing::Leaving(why) => self.leaving(here, old, why),
            Standing::Both => self.on_both_sides(here, old),
        };
        let standing = match entering {
            Entering::As(standing) => standing,
            Entering::No(why) => return self.uncovered(here, name, before, why),
        };
        let was_folder = old.and_then(What::known) == Some(&What::Folder);
        let alone = here.job.alone && old == Some(&What::Folder);
        let Ok(path) = FilePath::new(&self.path) else {
            return self.uncovered(here, name, before, WhyNot::TooDeep);
        };
        if alone {
            let known = self.context.index.folders.get(&Some(path));
            if known.is_none_or(|known| known.inode != inode) {
                self.context.not_enough.store(true, Ordering::Relaxed);
            }
        } else {
            self.queue(here, path, old, was_folder, standing);
        }
        match before {
            Some(at) if old == Some(&What::Folder) => Draft::Keep(at),
            _ => ready(name, Side::Both, What::Folder),
        }
    }

    fn queue(
        &mut self,
        here: &Here<'_>,
        path: FilePath,
        old: Option<&What>,
        was_folder: bool,
        standing: Standing,
    ) {
        let unknown = matches!(old, Some(What::Unknown(..)));
        let line = match (here.standing, standing) {
            (Standing::Both, Standing::Leaving(why)) => Some(CoverageChange::Lost(why)),
            (Standing::Both, Standing::Arriving) => Some(CoverageChange::Gained),
            (Standing::Both, _) if unknown => Some(CoverageChange::Gained),
            _ => None,
        };
        let place = Some(path);
        let folder = was_folder.then(|| self.context.index.folders.get(&place).cloned()).flatten();
        let before: Option<Record> = match &folder {
            Some(folder) => Some(folder.record()),
            None => old.and_then(What::known).and_then(What::record),
        };
        let in_force = match standing {
            Standing::Leaving(_) => InForce::unchanged(Arc::clone(&here.in_force.old)),
            _ => here.in_force.clone(),
        };
        let (old, before) = if standing == Standing::Arriving { (None, None) } else { (folder, before) };
        let late = here.job.late || unknown;
        self.jobs.push(Job { place, old, before, in_force, standing, late, line, alone: false });
    }

    fn arriving(&self, here: &Here<'_>) -> Entering {
        here.in_force.new.excludes(&self.path).map_or(Entering::As(Standing::Arriving), Entering::No)
    }

    fn leaving(&self, here: &Here<'_>, old: Option<&What>, why: WhyNot) -> Entering {
        match old {
            Some(What::Folder) => Entering::As(Standing::Leaving(why)),
            Some(What::Uncovered(why) | What::Unknown(why, _)) => Entering::No(*why),
            _ => here
                .in_force
                .old
                .excludes(&self.path)
                .map_or(Entering::As(Standing::Leaving(why)), Entering::No),
        }
    }

    fn on_both_sides(&self, here: &Here<'_>, old: Option<&What>) -> Entering {
        let now = match old {
            // With the same rules the decision is the same.
            Some(What::Folder) if here.same_rules => None,
            Some(What::Uncovered(why @ (WhyNot::Ignored | WhyNot::NodeModules))) if here.same_rules => {
                Some(*why)
            }
            _ => here.in_force.new.excludes(&self.path),
        };
        match (old, now) {
            (Some(What::Folder), None) => Entering::As(Standing::Both),
            (Some(What::Folder), Some(why)) => Entering::As(Standing::Leaving(why)),
            (Some(What::Unknown(_, Some(kept))), None) if **kept == What::Folder => {
                Entering::As(Standing::Both)
            }
            (Some(What::Unknown(..) | What::Uncovered(_)), None) => Entering::As(Standing::Arriving),
            (Some(What::Unknown(..) | What::Uncovered(_)), Some(why)) => Entering::No(why),
            // It did not exist, or it was something else.
            (None | Some(What::File(_) | What::Link(_)), now) => self.appeared(here, now),
        }
    }

    fn appeared(&self, here: &Here<'_>, now: Option<WhyNot>) -> Entering {
        let then = if here.in_force.is_unchanged() { now } else { here.in_force.old.excludes(&self.path) };
        match (then, now) {
            (None, None) => Entering::As(Standing::Both),
            (None, Some(why)) => Entering::As(Standing::Leaving(why)),
            (Some(_), None) => Entering::As(Standing::Arriving),
            (Some(_), Some(why)) => Entering::No(why),
        }
    }
}
