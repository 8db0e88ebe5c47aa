//! The file half of a plan: for each path what would be done, and what can be chosen instead (spec `rewind.md`, *Plan*).
//! A pure function of what is wanted and what is there.

use std::collections::BTreeMap;

use super::change::{FileChange, Grade};
use super::file_path::FilePath;
use super::merge::{Clash, MergeBytes, merge};
use super::record::Record;
use super::stack::{DeltaNo, Layer, Rebuilt, Stack};

/// What a plan looks at.
pub trait Look: MergeBytes {
    /// What is at a path now.
    fn now(&mut self, path: &FilePath) -> Now;
    /// What is in a folder now, covered or not; `None` is something that no plan can reach, as git's own folder.
    fn children(&mut self, folder: &FilePath) -> Vec<Option<FilePath>>;
    /// The last version that somebody else wrote, where one is known.
    fn theirs(&mut self, path: &FilePath) -> Option<Option<Record>>;
    /// Whether it is what git's HEAD has, which a call that is taken back has moved there (spec `rewind.md`, *Plan*).
    fn is_git_s(&mut self, path: &FilePath) -> bool;
}

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Now {
    /// This; `None`: nothing.
    Covered(Option<Record>),
    /// Nobody knows, and why: it is left alone.
    NotCovered(String),
}

/// What a path is to become.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    /// Which path.
    pub path: FilePath,
    /// The layers that are in it now.
    pub stack: Stack,
    /// What is wanted of it.
    pub want: Want,
}

/// What is wanted of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Want {
    /// Exactly these layers, in path order.
    Layers(Vec<Layer>),
    /// What was done to it is taken back, last first.
    Back {
        /// What operations did to it, in the order in which they are reversed.
        reversed: Vec<PathMove>,
        /// The deltas that are to leave it.
        without: Vec<DeltaNo>,
    },
}

/// What an operation did to a path: its own delta, with the layers before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathMove {
    /// What it found and what it left.
    pub change: FileChange,
    /// The layers that it found.
    pub stack_before: Stack,
    /// The layers that it left.
    pub stack_after: Stack,
}

/// What can be chosen for a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Choice {
    /// What is on the disk is kept, and counts as somebody else's from now on.
    Disk,
    /// The last version that somebody else wrote.
    Yours,
    /// Exactly as it was there, whatever others wrote since.
    Checkpoint,
    /// What others wrote since is merged with it.
    Merge,
    /// It is left as it is, and asked about again the next time.
    Skip,
}

/// What would be done to a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It gets an earlier (or a later) version.
    Revert,
    /// It goes: the agent made it.
    Delete,
    /// It comes back: the agent removed it.
    Recreate,
    /// It gets another version that holds what others wrote since.
    Merge,
    /// It is left alone until somebody chooses.
    Conflict(Clash),
    /// It is so already.
    Unchanged,
    /// It is left alone: nobody knows whose the change is.
    Kept,
    /// It is left alone: a call moved git's HEAD, and this is what HEAD has.
    GitHas,
    /// A folder that others have put something into stays.
    NotEmpty,
    /// It is left alone, for this reason.
    NotCovered(String),
}

/// A path of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathPlan {
    /// Which path.
    pub path: FilePath,
    /// What would be done.
    pub verdict: Verdict,
    /// How sure it is that what is taken back is the agent's: the least sure of it.
    pub grade: Grade,
    /// The deltas that leave it, last first.
    pub out: Vec<DeltaNo>,
    /// The deltas that come into it, first first.
    pub into: Vec<DeltaNo>,
    /// What is there, what is to be there, and the layers of both.
    pub step: PathMove,
    /// What can be chosen, the default first.
    pub choices: Vec<Choice>,
    /// Where somebody has renamed it, or the agent had: the path that its content goes with.
    pub renamed: Option<FilePath>,
}

/// The file half of a plan, in the order of the paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilePlan {
    /// The paths.
    pub paths: Vec<PathPlan>,
}

impl FilePlan {
    /// Whether nothing is left to be chosen.
    pub fn is_clean(&self) -> bool {
        !self.paths.iter().any(|path| matches!(path.verdict, Verdict::Conflict(_)))
    }

    /// What is to be done on the disk: changes, in the order of the paths.
    pub fn changes(&self) -> impl Iterator<Item = &FileChange> {
        self.paths.iter().map(|path| &path.step.change).filter(|change| change.before != change.after)
    }

    /// Plans: what is wished, as it can be done, with what was chosen.
    pub fn new(wishes: Vec<Wish>, chosen: &Chosen, look: &mut dyn Look) -> Self {
        let paths = wishes.into_iter().filter_map(|wish| one(wish, chosen, look));
        let mut paths: BTreeMap<_, _> = paths.map(|path| (path.path.clone(), path)).collect();
        super::tree::follow_renames(&mut paths);
        super::tree::fit_folders(&mut paths, look);
        Self { paths: paths.into_values().collect() }
    }
}

/// What somebody has chosen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// For these paths.
    pub paths: BTreeMap<FilePath, Choice>,
    /// For all others.
    pub others: Option<Choice>,
}

impl Chosen {
    fn of(&self, path: &FilePath) -> Option<Choice> {
        self.paths.get(path).copied().or(self.others)
    }
}

/// The plan of one path; nothing where nothing is wanted of it.
fn one(wish: Wish, chosen: &Chosen, look: &mut dyn Look) -> Option<PathPlan> {
    let Wish { path, stack, want } = wish;
    let goal = Goal::new(&stack, want);
    if goal.stack == stack && goal.reversed.is_empty() {
        return None;
    }
    let (out, into) = stack.difference(goal.stack.layers());
    let touched = stack.layers().iter().filter(|layer| out.contains(&layer.delta));
    let grade = touched.map(|layer| layer.grade).max().unwrap_or(Grade::Written);
    let disk = match look.now(&path) {
        Now::Covered(disk) => disk,
        Now::NotCovered(why) => {
            let change = FileChange { path: path.clone(), before: None, after: None };
            let step = PathMove { change, stack_after: stack.clone(), stack_before: stack };
            let (verdict, choices, renamed) = (Verdict::NotCovered(why), vec![Choice::Skip], None);
            return Some(PathPlan { path, verdict, grade, out, into, step, choices, renamed });
        }
    };
    let theirs = look.theirs(&path);
    let merged = goal.merged(&stack, disk.as_ref(), look);
    let choice = chosen.of(&path).filter(|choice| match choice {
        Choice::Merge => merged.is_ok(),
        Choice::Yours => theirs.is_some(),
        _ => true,
    });
    let changes = merged.as_ref().map_or(true, |merged| merged.record != disk);
    let settled = || stack.settled(goal.stack.layers());
    let (verdict, record, stack_after) = match (choice, &merged) {
        (Some(Choice::Disk), _) => (None, disk.clone(), settled()),
        (Some(Choice::Skip), _) => (None, disk.clone(), stack.clone()),
        (Some(Choice::Yours), _) => (None, theirs.clone().flatten(), settled()),
        (Some(Choice::Checkpoint), _) => (None, goal.checkpoint(&stack), goal.stack.clone()),
        (None, _) if changes && !out.is_empty() && look.is_git_s(&path) => {
            (Some(Verdict::GitHas), disk.clone(), stack.clone())
        }
        (None, _) if goal.is_doubtful(&stack, &out) => goal.without_ambiguous(&stack, disk.as_ref(), look),
        (_, Ok(merged)) => {
            let verdict = merged.mixed.then_some(Verdict::Merge);
            (verdict, merged.record.clone(), merged.stack.clone())
        }
        (_, Err(clash)) => (Some(Verdict::Conflict(*clash)), disk.clone(), stack.clone()),
    };
    let verdict = verdict.unwrap_or_else(|| plain(disk.as_ref(), record.as_ref()));
    let choices = offered(&verdict, merged.is_ok(), theirs.is_some());
    let change = FileChange { path: path.clone(), before: disk, after: record };
    let step = PathMove { change, stack_before: stack, stack_after };
    Some(PathPlan { path, verdict, grade, out, into, step, choices, renamed: None })
}

/// What is done when one record takes another's place.
fn plain(disk: Option<&Record>, record: Option<&Record>) -> Verdict {
    match (disk, record) {
        _ if disk == record => Verdict::Unchanged,
        (_, None) => Verdict::Delete,
        (None, Some(_)) => Verdict::Recreate,
        (Some(_), Some(_)) => Verdict::Revert,
    }
}

/// What can be chosen, the default first.
fn offered(verdict: &Verdict, merges: bool, theirs: bool) -> Vec<Choice> {
    let first = match verdict {
        Verdict::Merge => Choice::Merge,
        Verdict::Conflict(_) | Verdict::Kept | Verdict::GitHas => Choice::Skip,
        _ => Choice::Checkpoint,
    };
    let others = [
        (Choice::Checkpoint, true),
        (Choice::Merge, merges),
        (Choice::Yours, theirs),
        (Choice::Disk, true),
        (Choice::Skip, true),
    ];
    let others = others.into_iter().filter(|(choice, offered)| *offered && *choice != first);
    std::iter::once(first).chain(others.map(|(choice, _)| choice)).collect()
}

/// What a path is to become, as layers.
struct Goal {
    stack: Stack,
    /// What is reversed on the way, in this order.
    reversed: Vec<PathMove>,
}

type Outcome = (Option<Verdict>, Option<Record>, Stack);

impl Goal {
    fn new(stack: &Stack, want: Want) -> Self {
        match want {
            Want::Layers(layers) => Self { stack: Stack::new(layers), reversed: Vec::new() },
            Want::Back { reversed, without } => {
                let last = reversed.last().map_or(stack, |made| &made.stack_before);
                Self { stack: last.without(&without), reversed }
            }
        }
    }

    fn merged(&self, stack: &Stack, disk: Option<&Record>, look: &mut dyn Look) -> Result<Rebuilt, Clash> {
        let (mut now, mut stack, mut mixed) = (disk.cloned(), stack, false);
        for made in &self.reversed {
            // What was done upon it since goes first.
            let there = stack.rebuild(now.as_ref(), made.stack_after.layers(), look)?;
            let (base, theirs) = (made.change.after.as_ref(), made.change.before.as_ref());
            let merged = merge(base, there.record.as_ref(), theirs, look)?;
            mixed |= there.mixed || merged.mixed;
            (now, stack) = (merged.record, &made.stack_before);
        }
        let rebuilt = stack.rebuild(now.as_ref(), self.stack.layers(), look)?;
        Ok(Rebuilt { mixed: rebuilt.mixed || mixed, ..rebuilt })
    }

    fn checkpoint(&self, stack: &Stack) -> Option<Record> {
        match self.reversed.last() {
            Some(made) if made.stack_before == self.stack => made.change.before.clone(),
            Some(made) => made.stack_before.checkpoint(self.stack.layers()),
            None => stack.checkpoint(self.stack.layers()),
        }
    }

    /// Whether one of these deltas is to leave that nobody is sure of. What an operation had put there itself is sure.
    fn is_doubtful(&self, stack: &Stack, out: &[DeltaNo]) -> bool {
        let reversed = self.reversed.iter().flat_map(|made| made.stack_after.layers());
        let sure: Vec<DeltaNo> = reversed.map(|layer| layer.delta).collect();
        stack.layers().iter().any(|layer| {
            layer.grade == Grade::Ambiguous && out.contains(&layer.delta) && !sure.contains(&layer.delta)
        })
    }

    /// What is done unless somebody chooses: ambiguous layers stay, the others go.
    fn without_ambiguous(&self, stack: &Stack, disk: Option<&Record>, look: &mut dyn Look) -> Outcome {
        let mut layers = self.stack.layers().to_vec();
        let staying = stack.layers().iter().filter(|layer| layer.grade == Grade::Ambiguous);
        let known: Vec<_> = layers.iter().map(|layer| layer.delta).collect();
        layers.extend(staying.filter(|layer| !known.contains(&layer.delta)).cloned());
        layers.sort_by_key(|layer| layer.delta);
        let unchanged =
            layers.iter().map(|layer| layer.delta).eq(stack.layers().iter().map(|layer| layer.delta));
        let kept = (Some(Verdict::Kept), disk.cloned(), stack.clone());
        if unchanged {
            return kept;
        }
        match stack.rebuild(disk, &layers, look) {
            Ok(merged) => (merged.mixed.then_some(Verdict::Merge), merged.record, merged.stack),
            Err(_) => kept,
        }
    }
}

#[cfg(test)]
mod tests;
