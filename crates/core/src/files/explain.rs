//! What a plan and its receipt say of single paths: why a path is left alone, how the paths are listed, and how many files
//! change. Pure.

use std::collections::BTreeSet;
use std::mem::{Discriminant, discriminant};

use super::authorship::{BlockingAuthor, ChoiceOutcome};
use super::change::{FileChange, Uncertain, without_full_folders};
use super::choice::Choice;
use super::merge::Clash;
use super::plan::{FilePlan, PathMove, PathPlan, Verdict};
use super::record::Record;
use super::shown::DiffHunks;
use super::stack::DeltaId;
use super::why_not::UncoveredReason;

/// Why a path is left alone, or keeps changes of unknown authors. The same in a plan and in its receipt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathReason {
    /// A folder that no plan reaches stands where a file is to be.
    FolderInTheWay,
    /// Something other than a folder, or a path that is not covered, is in the place of its folder.
    NoParent {
        /// The turn's change, if a turn removed the folder.
        by: Option<BlockingAuthor>,
    },
    /// Another author's change is in the same place.
    Clash {
        /// The author.
        by: BlockingAuthor,
        /// What the author did.
        change: PathChange,
        /// Whether the change may be by somebody else.
        uncertain: bool,
    },
    /// The folder is needed by other paths of the plan.
    Needed,
    /// The folder holds files of another author.
    NotEmpty {
        /// The author.
        by: BlockingAuthor,
    },
    /// Another author has made it since.
    MadeSince {
        /// The author.
        by: BlockingAuthor,
    },
    /// The author of the change is unknown.
    Uncertain {
        /// When it changed.
        when: BTreeSet<Uncertain>,
    },
    /// A call moved it together with git's folder.
    MovedWithGit,
    /// It is what git's HEAD has, and a call moved HEAD.
    GitHead,
    /// Captures do not cover it.
    NotCovered(UncoveredReason),
    /// A person decides later.
    Undecided,
    /// A person keeps what is on the disk.
    ChosenDisk,
    /// The step changes it, and changes of unknown authors stay in it.
    KeepsUncertain {
        /// When they were made.
        when: BTreeSet<Uncertain>,
    },
}

/// What was done to a path that clashes with what is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathChange {
    /// The same place in a text was changed.
    SamePlace,
    /// The permissions were changed.
    Permissions,
    /// It became another kind of file.
    Kind,
    /// It was removed.
    Removed,
    /// It was made.
    Made,
    /// The folder that contains it was changed.
    Folder,
    /// It was changed.
    File,
}

/// How the paths of a plan are listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathList {
    /// Of each path, whether it is a folder whose content is listed under the same heading.
    pub full_folders: Vec<bool>,
    /// How many paths wait for a choice, without those folders.
    pub conflicts: u64,
    /// How many paths are left alone, without those folders.
    pub left: u64,
}

/// How many files a step changes. A folder that comes or goes with files in it is not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileTotals {
    /// Files that go.
    pub deleted: u64,
    /// Files that come back.
    pub recreated: u64,
    /// Files whose versions are merged.
    pub merged: u64,
    /// Files that get another version.
    pub reverted: u64,
}

/// The heading under which a path is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Heading {
    /// It waits for a choice.
    Waits,
    /// It is left alone, for this verdict.
    Left(Discriminant<Verdict>),
    /// It changes.
    Changes,
    /// It is as wanted already.
    Unchanged,
}

impl FileTotals {
    /// Counts the paths of one folder, from what is recorded of them, in their order.
    pub fn add<'a>(&mut self, moves: impl Iterator<Item = &'a PathMove>) {
        let changed = moves.filter(|made| made.change.before != made.change.after);
        for made in without_full_folders(changed.collect(), |made| &made.change) {
            match made.verdict() {
                Verdict::Delete => self.deleted += 1,
                Verdict::Recreate => self.recreated += 1,
                Verdict::Merge => self.merged += 1,
                _ => self.reverted += 1,
            }
        }
    }
}

impl FilePlan {
    /// How its paths are listed.
    pub fn list(&self) -> PathList {
        let headings: Vec<Heading> = self.paths.iter().map(PathPlan::heading).collect();
        let mut list = PathList::default();
        for (at, path) in self.paths.iter().enumerate() {
            let below = self.paths[at + 1..].iter().take_while(|other| other.path.is_within(&path.path));
            let full = path.is_folder() && below.zip(&headings[at + 1..]).any(|(_, it)| *it == headings[at]);
            match headings[at] {
                _ if full => {}
                Heading::Waits => list.conflicts += 1,
                Heading::Left(_) => list.left += 1,
                Heading::Changes | Heading::Unchanged => {}
            }
            list.full_folders.push(full);
        }
        list
    }

    /// Whether the step changes a path, or leaves one alone.
    pub fn concerns_files(&self) -> bool {
        self.paths.iter().any(|path| path.verdict != Verdict::Unchanged)
    }
}

impl PathPlan {
    /// Why it is left alone; nothing, if it is not and keeps no change of an unknown author.
    pub fn reason(&self) -> Option<PathReason> {
        let by = self.against;
        let author = by.unwrap_or(BlockingAuthor::Others);
        Some(match &self.verdict {
            Verdict::Conflict(Clash::Sealed) => PathReason::FolderInTheWay,
            Verdict::Conflict(Clash::Parent) => {
                PathReason::NoParent { by: by.filter(|by| by.delta().is_some()) }
            }
            Verdict::Conflict(clash) => {
                let (change, uncertain) = self.clashing_change(*clash);
                PathReason::Clash { by: author, change, uncertain }
            }
            Verdict::NotEmpty => by.map_or(PathReason::Needed, |by| PathReason::NotEmpty { by }),
            Verdict::Foreign => PathReason::MadeSince { by: author },
            Verdict::Kept => PathReason::Uncertain { when: self.uncertain() },
            Verdict::GitHas if by == Some(BlockingAuthor::Git) => PathReason::MovedWithGit,
            Verdict::GitHas => PathReason::GitHead,
            Verdict::NotCovered(why) => PathReason::NotCovered(*why),
            Verdict::Unchanged if self.choice == Some(Choice::Skip) => PathReason::Undecided,
            Verdict::Unchanged if self.choice == Some(Choice::Disk) => PathReason::ChosenDisk,
            Verdict::Unchanged
            | Verdict::Revert
            | Verdict::Delete
            | Verdict::Recreate
            | Verdict::Merge
            | Verdict::Part => {
                let when = self.uncertain();
                return (!when.is_empty()).then_some(PathReason::KeepsUncertain { when });
            }
        })
    }

    /// The author whose work keeps it from what is wanted, for the verdicts that depend on an author.
    pub fn opponent(&self) -> Option<BlockingAuthor> {
        let names = matches!(self.verdict, Verdict::Conflict(_) | Verdict::NotEmpty | Verdict::Foreign);
        self.against.filter(|_| names)
    }

    /// The verdict that its receipt will give, from what is recorded.
    pub fn recorded_verdict(&self) -> Verdict {
        match &self.verdict {
            Verdict::Revert | Verdict::Merge => self.step.verdict(),
            other => other.clone(),
        }
    }

    /// The choices that a plan explains, with what the file is after each: where an author stands in the way.
    pub fn explained(&self) -> impl Iterator<Item = (&Choice, ChoiceOutcome)> {
        let explains = match self.verdict {
            Verdict::Conflict(_) => true,
            Verdict::NotEmpty | Verdict::Foreign | Verdict::NotCovered(_) => false,
            // Something was chosen for it.
            _ => self.against.is_some(),
        };
        let choices = self.choices.iter().filter(move |_| explains);
        choices.filter_map(|choice| Some((choice, self.becomes(choice)?)))
    }

    /// The deltas that a plan names for it: nothing, where no author stands in the way.
    pub fn named_deltas(&self) -> impl Iterator<Item = DeltaId> {
        let against = self.against.into_iter();
        against.flat_map(|against| {
            let layers = self.step.stack_before.layers().iter().map(|layer| layer.delta);
            let outcomes = self.outcomes.iter().filter_map(|(_, becomes)| becomes.delta());
            against.delta().into_iter().chain(layers).chain(outcomes)
        })
    }

    /// The deltas that did what is shown of it, the last first. What comes back in the place of what goes was taken back before,
    /// and is no earlier call of the same change.
    pub fn shown_deltas(&self) -> impl Iterator<Item = DeltaId> {
        let into = self.into.iter().rev().filter(|_| self.out.is_empty());
        self.out.iter().chain(into).copied()
    }

    /// Whether the turn of the delta that names an outcome changed the file in several calls, of which one is meant.
    pub fn is_partly(&self, becomes: ChoiceOutcome, same_turn: impl Fn(DeltaId, DeltaId) -> bool) -> bool {
        let Some(no) = becomes.delta() else { return false };
        let layers = self.step.stack_before.layers();
        let place = layers.iter().position(|layer| layer.delta == no).unwrap_or(layers.len());
        let side = match becomes {
            ChoiceOutcome::Before(_) => &layers[..place],
            _ => &layers[place..],
        };
        side.iter().any(|layer| layer.delta != no && same_turn(layer.delta, no))
    }

    /// The change that its diff shows, and which hunks of it.
    pub fn shown_change(&self) -> (FileChange, DiffHunks) {
        let (after, hunks) = match &self.verdict {
            Verdict::Part => {
                (&self.whole, DiffHunks::Only(self.hunks.iter().map(|hunk| *hunk as usize).collect()))
            }
            Verdict::Conflict(_) | Verdict::Kept => (&self.whole, DiffHunks::Numbered),
            _ => (&self.step.change.after, DiffHunks::Numbered),
        };
        (FileChange { after: after.clone(), ..self.step.change.clone() }, hunks)
    }

    /// Whether it waits for a choice.
    pub fn waits(&self) -> bool {
        matches!(self.verdict, Verdict::Conflict(_))
    }

    fn heading(&self) -> Heading {
        match self.recorded_verdict() {
            Verdict::Conflict(_) => Heading::Waits,
            // It was chosen so.
            verdict @ Verdict::Unchanged if self.reason().is_some() => Heading::Left(discriminant(&verdict)),
            Verdict::Unchanged => Heading::Unchanged,
            Verdict::Revert | Verdict::Delete | Verdict::Recreate | Verdict::Merge | Verdict::Part => {
                Heading::Changes
            }
            left => Heading::Left(discriminant(&left)),
        }
    }

    /// Whether it is only a folder, as far as the plan knows.
    fn is_folder(&self) -> bool {
        let change = &self.step.change;
        let layers = self.step.stack_before.layers().iter().flat_map(|layer| [&layer.before, &layer.after]);
        let mut known = layers.chain([&change.before, &change.after, &self.whole]).flatten().peekable();
        known.peek().is_some() && known.all(|record| matches!(record, Record::Folder { .. }))
    }

    /// What was done to it that clashes with what is wanted, and whether that is uncertain.
    fn clashing_change(&self, clash: Clash) -> (PathChange, bool) {
        let by_clash = match clash {
            Clash::Bytes => PathChange::SamePlace,
            Clash::Mode => PathChange::Permissions,
            Clash::Kind => PathChange::Kind,
            Clash::Removed => PathChange::Removed,
            Clash::Made => PathChange::Made,
            Clash::Parent | Clash::Sealed => PathChange::Folder,
        };
        match self.against {
            Some(BlockingAuthor::Later(no)) => {
                let layers = self.step.stack_before.layers();
                let layer = layers.iter().rev().find(|layer| layer.delta == no);
                let change = match layer.map(|layer| (&layer.before, &layer.after)) {
                    Some((_, None)) => PathChange::Removed,
                    Some((None, _)) => PathChange::Made,
                    _ if clash == Clash::Removed => PathChange::File,
                    _ => by_clash,
                };
                (change, layer.is_some_and(|layer| layer.grade.is_ambiguous()))
            }
            Some(BlockingAuthor::There(_)) if self.step.change.before.is_none() => {
                (PathChange::Removed, false)
            }
            _ => (by_clash, false),
        }
    }
}

impl FileChange {
    /// Whether single hunks of it can be chosen: of what comes or goes none can.
    pub fn has_hunks_to_choose(&self) -> bool {
        matches!((&self.before, &self.after), (Some(Record::File { .. }), Some(Record::File { .. })))
    }
}

#[cfg(test)]
mod tests;
