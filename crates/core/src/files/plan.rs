//! The file half of a plan: for each path what would be done, and what can be chosen instead (spec `rewind.md`, *Plan*). Pure.

use std::collections::{BTreeMap, BTreeSet};

use super::change::{FileChange, Grade};
use super::file_path::FilePath;
use super::hunks::{self, Unfit, WhyUnfit};
use super::merge::{Clash, MergeBytes};
use super::record::Record;
use super::renames;
use super::stack::{Clashed, DeltaId, Layer, Rebuilt, Stack};
use super::whose::{self, Against, Becomes};
use super::why_not::WhyNot;
use goal::{Doubt, Goal};
use moved::Moved;

pub use chosen::Chosen;
use chosen::offered;
pub use replay::Moves;

/// What a plan looks at.
pub trait Look {
    /// What merges the bytes of versions.
    fn bytes(&mut self) -> &mut dyn MergeBytes;
    /// What is at a path now.
    fn now(&mut self, path: &FilePath) -> Now;
    /// What is in a folder now, covered or not; `None` is something that no plan can reach, as git's own folder.
    fn children(&mut self, folder: &FilePath) -> Vec<Option<FilePath>>;
    /// The last version that somebody else wrote, where one is known.
    fn theirs(&mut self, path: &FilePath) -> Option<Option<Record>>;
    /// The last delta of the conversation that left this at a path, wherever that is in it, as far as that is known.
    fn left_by(&mut self, path: &FilePath, record: Option<&Record>) -> Option<DeltaId>;
    /// Whether what this delta did at a path was adopted, with all that it did or alone: it is the person's own.
    fn is_adopted(&mut self, path: &FilePath, delta: DeltaId) -> bool;
    /// Whether it is what git's HEAD has, which a call that is taken back has moved there (spec `rewind.md`, *Plan*).
    fn is_git_s(&mut self, path: &FilePath) -> bool;
}

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Now {
    /// This; `None`: nothing.
    Covered(Option<Record>),
    /// Nobody knows, and why: it is left alone.
    NotCovered(WhyNot),
}

/// What a path is to become.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedPath {
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
        without: Vec<DeltaId>,
        /// The deltas that came into it since, and stay.
        staying: Vec<DeltaId>,
    },
    /// As exactly these layers make it; those that it has stay its layers.
    PutBack(Vec<Layer>),
    /// What was there at a checkpoint.
    Version {
        /// It.
        record: Option<Record>,
        /// Whether the path was named in the request: what somebody else made since goes only then.
        named: bool,
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

impl PathMove {
    /// Whether it found and left just what layers say: nothing that others wrote.
    fn is_of_layers_alone(&self) -> bool {
        let (before, after) = (&self.stack_before, &self.stack_after);
        before.is_just(self.change.before.as_ref(), after)
            && after.is_just(self.change.after.as_ref(), before)
    }

    /// What it does to the path. What no call has left or found holds what others wrote, also where that comes back just as
    /// it was. A plan and the receipt of what it did say the same of it.
    pub fn verdict(&self) -> Verdict {
        let all = || self.stack_before.layers().iter().chain(self.stack_after.layers());
        // One that does nothing only says that what was put back is there.
        let layers = || all().filter(|layer| layer.before != layer.after);
        let after = &self.change.after;
        let is_theirs = layers().next().is_some()
            && layers().all(|layer| layer.before != *after && layer.after != *after);
        match plain(self.change.before.as_ref(), after.as_ref()) {
            Verdict::Revert if is_theirs => Verdict::Merge,
            verdict => verdict,
        }
    }
}

/// What can be chosen for a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
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
    /// Only these hunks, from 1, of what would be done; the others are left as they are, and asked about again the next time.
    Hunks(Vec<u32>),
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
    /// It gets some hunks of another version.
    Part,
    /// It is left alone until somebody chooses.
    Conflict(Clash),
    /// It is so already.
    Unchanged,
    /// It is left alone: nobody knows whose the change is.
    Kept,
    /// It is left alone: a call moved git's HEAD, and this is what HEAD has; or a call moved the folder in which git keeps something.
    GitHas,
    /// A folder that others have put something into stays.
    NotEmpty,
    /// It is left alone: somebody else has made it since.
    Foreign,
    /// It is left alone, for this reason.
    NotCovered(WhyNot),
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
    pub out: Vec<DeltaId>,
    /// The deltas that come into it, first first.
    pub into: Vec<DeltaId>,
    /// What is there, what is to be there, and the layers of both.
    pub step: PathMove,
    /// What can be chosen, the default first.
    pub choices: Vec<Choice>,
    /// What it would be if nothing were chosen for it alone, and no clash or doubt kept it as it is: hunks are counted from what
    /// is there to this.
    pub whole: Option<Record>,
    /// What was chosen for it, where something was.
    pub choice: Option<Choice>,
    /// Which hunks were chosen; none: none were.
    pub hunks: Vec<u32>,
    /// Where somebody has renamed it, or the agent had: the path that its content goes with.
    pub renamed: Option<FilePath>,
    /// What somebody else wrote goes with it.
    pub theirs: bool,
    /// Whose work keeps it from what is wanted, where something does, also where a choice settles it.
    pub against: Option<Against>,
    /// Whether a person has chosen that what is there after the step is the person's own (spec `rewind.md`, *Adoption*).
    pub adopts: bool,
    /// What it is after each choice that is offered; not of what is put back from a checkpoint.
    pub outcomes: Vec<(Choice, Becomes)>,
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

    /// The paths that a person has chosen to keep, each with the deltas that would have left it or come into it.
    pub fn adopted(&self) -> impl Iterator<Item = (DeltaId, FilePath)> {
        let paths = self.paths.iter().filter(|path| path.adopts);
        paths.flat_map(|path| path.out.iter().chain(&path.into).map(|delta| (*delta, path.path.clone())))
    }

    /// Plans: what is wanted, as it can be done, with what was chosen. Hunks that there are not are refused; every other choice
    /// that does not fit is left out, and what waited for it waits on.
    pub fn new(wanted_paths: Vec<WantedPath>, chosen: &Chosen, look: &mut dyn Look) -> Result<Self, Unfit> {
        let mut paths = BTreeMap::new();
        let mut moves = moved::follow(&wanted_paths, look);
        let names = moved::names(&moves);
        let (chosen, carried) = renames::choose_both(&wanted_paths, &names, chosen, look);
        let (pairs, again) = (renames::pairs(&wanted_paths), renames::again(&wanted_paths));
        for wanted_path in wanted_paths {
            let moved = moves.remove(&wanted_path.path).unwrap_or_default();
            if let Some(path) = one(wanted_path, moved, &chosen, look)? {
                paths.insert(path.path.clone(), path);
            }
        }
        chosen.fits(|path| paths.contains_key(path))?;
        renames::follow(&mut paths, look.bytes());
        renames::follow_again(&mut paths, &again);
        renames::wait(&mut paths, &pairs);
        renames::removed(&mut paths, &pairs, look);
        moved::wait(&mut paths, &names);
        let both = names.into_iter().flat_map(|(old, new)| [(old.clone(), new.clone()), (new, old)]);
        for (name, other) in carried.into_iter().chain(both) {
            paths.entry(name).and_modify(|path| path.renamed = Some(other));
        }
        super::tree::fit_folders(&mut paths, look);
        Ok(Self { paths: paths.into_values().collect() })
    }

    /// What lies in folders that are to make way, as it was chosen for them, and that nothing is planned of: it is to go with them.
    pub fn in_the_way(&self, chosen: &Chosen, look: &mut dyn Look) -> Vec<FilePath> {
        let chosen = |path: &&PathPlan| chosen.of(&path.path) == Some(&Choice::Checkpoint);
        let folders = self.paths.iter().filter(|path| super::tree::is_in_place(path)).filter(chosen);
        let below: BTreeSet<_> =
            folders.filter_map(|folder| super::tree::below(&folder.path, look)).flatten().collect();
        let planned = |path: &FilePath| self.paths.binary_search_by(|plan| plan.path.cmp(path)).is_ok();
        below.into_iter().filter(|path| !planned(path)).collect()
    }
}

/// The plan of one path; nothing where nothing is wanted of it.
fn one(
    wanted_path: WantedPath,
    moved: Moved,
    chosen: &Chosen,
    look: &mut dyn Look,
) -> Result<Option<PathPlan>, Unfit> {
    let WantedPath { path, stack, want } = wanted_path;
    if let Want::Version { record, named } = want {
        return version::plan(path, stack, record, named, chosen, look);
    }
    let goal = Goal::new(&stack, want, moved, look.bytes());
    if goal.stack == stack && goal.reversed.is_empty() && goal.moved.below.is_empty() {
        return Ok(None);
    }
    let (out, into) = goal.difference(&stack);
    let touched = stack.layers().iter().filter(|layer| out.contains(&layer.delta));
    let grade = touched.map(|layer| layer.grade).max().unwrap_or(Grade::Written);
    let choice = chosen.of(&path);
    let hunks = if let Some(Choice::Hunks(hunks)) = choice { hunks.clone() } else { Vec::new() };
    let disk = match look.now(&path) {
        Now::Covered(disk) => disk,
        Now::NotCovered(_) if !hunks.is_empty() => return Err(Unfit { path, why: WhyUnfit::NotPlanned }),
        Now::NotCovered(why) => {
            return Ok(Some(PathPlan { grade, out, into, ..not_covered(path, stack, why) }));
        }
    };
    let stays = goal.stays;
    let merged = goal.merged(&stack, disk.as_ref(), look.bytes());
    let changes = merged.as_ref().map_or(true, |merged| merged.record != disk);
    let git_has = changes && !out.is_empty() && look.is_git_s(&path);
    let doubt = goal.doubt(&stack, &out, disk.as_ref(), look.bytes());
    let (theirs, exact) = (look.theirs(&path), goal.exact(&stack, look.bytes()));
    let fork = Fork { theirs, goal, stack, disk, merged, exact, doubt, git_has };
    let unchosen = fork.outcome(chosen.others.as_ref(), look.bytes());
    let (mut whole, whole_stack) = fork.whole(&unchosen);
    let (verdict, record, stack_after) = if !hunks.is_empty() {
        let part = hunks::part(fork.disk.as_ref(), whole.as_ref(), &hunks, look.bytes());
        let part = part.map_err(|why| Unfit { path: path.clone(), why })?;
        let stack = fork.partly(&part, (whole.as_ref(), whole_stack), chosen.others.is_none(), look.bytes());
        whole = whole.map(|whole| with_mode_of(whole, &part));
        (Some(Verdict::Part), Some(part), stack)
    } else if choice == chosen.others.as_ref() {
        unchosen
    } else {
        fork.outcome(choice, look.bytes())
    };
    let stack_after = match stays {
        true => fork.stack.put_back(stack_after, record.as_ref()),
        false => stack_after,
    };
    let adopts = !stays && choice.is_some_and(|choice| choice.adopts(fork.theirs.is_some()));
    let theirs = choice.is_some() && fork.disk != record && is_foreign(&fork.stack, fork.disk.as_ref());
    let verdict = verdict.unwrap_or_else(|| fork.verdict(record.as_ref(), choice, &stack_after, &out));
    let mut choices = offered(&verdict, fork.merged.is_ok(), fork.theirs.is_some());
    if matches!(verdict, Verdict::Conflict(_)) && fork.exact_record() == fork.disk.as_ref() {
        // It would change nothing.
        choices.retain(|choice| *choice != Choice::Checkpoint);
    }
    // Also where something is chosen: what is there is told with the choice.
    let clashed = match &fork.doubt {
        Some(Doubt::Takes(Err(clashed))) => Some(clashed),
        _ => fork.merged.as_ref().err(),
    };
    let against = clashed.map(|clashed| whose::against(&path, &clashed.by, &fork.goal.stack, look));
    // A folder that is in the way makes a conflict of it later.
    let outcomes =
        choices.iter().map(|choice| (choice.clone(), fork.becomes(choice, look.bytes()))).collect();
    let change = FileChange { path: path.clone(), before: fork.disk, after: record };
    let step = PathMove { change, stack_before: fork.stack, stack_after };
    let (renamed, choice) = (None, choice.cloned());
    Ok(Some(PathPlan {
        path,
        verdict,
        grade,
        out,
        into,
        step,
        choices,
        whole,
        choice,
        hunks,
        renamed,
        theirs,
        adopts,
        against,
        outcomes,
    }))
}

/// A path that is left alone, as nobody knows what is there.
fn not_covered(path: FilePath, stack: Stack, why: WhyNot) -> PathPlan {
    let change = FileChange { path: path.clone(), before: None, after: None };
    PathPlan {
        path,
        verdict: Verdict::NotCovered(why),
        grade: Grade::Written,
        out: Vec::new(),
        into: Vec::new(),
        step: PathMove { change, stack_after: stack.clone(), stack_before: stack },
        choices: vec![Choice::Skip],
        whole: None,
        choice: None,
        hunks: Vec::new(),
        renamed: None,
        theirs: false,
        adopts: false,
        against: None,
        outcomes: Vec::new(),
    }
}

/// Whether what is there is not as the layers left it: somebody else has written it.
fn is_foreign(stack: &Stack, disk: Option<&Record>) -> bool {
    disk.is_some() && stack.layers().last().is_none_or(|last| last.after.as_ref() != disk)
}

/// A path where it is to be decided which way it goes.
struct Fork {
    goal: Goal,
    stack: Stack,
    disk: Option<Record>,
    theirs: Option<Option<Record>>,
    merged: Result<Rebuilt, Clashed>,
    /// What it is exactly, where what leaves it can be told from what stays.
    exact: Option<Rebuilt>,
    /// What is done where nobody is sure of what is to leave it.
    doubt: Option<Doubt>,
    git_has: bool,
}

impl Fork {
    /// What becomes of it with a choice, or without one.
    fn outcome(&self, choice: Option<&Choice>, bytes: &mut dyn MergeBytes) -> Outcome {
        let (goal, stack, disk) = (&self.goal, &self.stack, self.disk.as_ref());
        let choice = choice.filter(|choice| match choice {
            Choice::Merge => self.merged.is_ok(),
            Choice::Yours => self.theirs.is_some(),
            Choice::Hunks(_) => false,
            Choice::Checkpoint => self.exact.is_some(),
            Choice::Disk | Choice::Skip => true,
        });
        if let (Some(Choice::Checkpoint), Some(exact)) = (choice, &self.exact) {
            return (None, exact.record.clone(), exact.stack.clone());
        }
        match (choice, &self.doubt, &self.merged) {
            (Some(Choice::Disk), ..) => (None, disk.cloned(), goal.settled(stack, bytes)),
            (Some(Choice::Skip), ..) => (None, disk.cloned(), stack.clone()),
            (Some(Choice::Yours), ..) => (None, self.theirs.clone().flatten(), goal.settled(stack, bytes)),
            (None, ..) if self.git_has => (Some(Verdict::GitHas), disk.cloned(), stack.clone()),
            (None, Some(Doubt::Keeps), _) => (Some(Verdict::Kept), disk.cloned(), stack.clone()),
            (None, Some(Doubt::Takes(rebuilt)), _) | (_, _, rebuilt) => match rebuilt {
                Ok(merged) => {
                    let verdict = merged.mixed.then_some(Verdict::Merge);
                    (verdict, merged.record.clone(), merged.stack.clone())
                }
                Err(clashed) => (Some(Verdict::Conflict(clashed.clash)), disk.cloned(), stack.clone()),
            },
        }
    }

    fn exact_record(&self) -> Option<&Record> {
        self.exact.as_ref().map_or(self.disk.as_ref(), |exact| exact.record.as_ref())
    }

    /// What the path is after a choice. The layers are made only of what is chosen.
    fn becomes(&self, choice: &Choice, bytes: &mut dyn MergeBytes) -> Becomes {
        let record = match choice {
            Choice::Disk | Choice::Skip => self.disk.clone(),
            Choice::Yours => self.theirs.clone().flatten(),
            Choice::Checkpoint => self.exact_record().cloned(),
            Choice::Merge | Choice::Hunks(_) => self.outcome(Some(choice), bytes).1,
        };
        whose::becomes((choice, record.as_ref()), self.disk.as_ref(), (&self.stack, &self.goal.stack))
    }

    /// What it would be if no clash and no doubt kept it as this outcome says, and the layers of that.
    fn whole(&self, (verdict, record, stack): &Outcome) -> (Option<Record>, Stack) {
        let waits = matches!(verdict, Some(Verdict::Conflict(_) | Verdict::Kept | Verdict::GitHas));
        match (waits, &self.merged, &self.exact) {
            (true, Ok(whole), _) | (true, Err(_), Some(whole)) => (whole.record.clone(), whole.stack.clone()),
            (true, Err(_), None) => (self.disk.clone(), self.stack.clone()),
            (false, ..) => (record.clone(), stack.clone()),
        }
    }

    /// The layers when it gets only a part of what it would be. Where that is a merge, the part holds all that others wrote,
    /// and the rest of it is the deltas' alone. Otherwise the layers say what the deltas did, as before, and whatever
    /// differs from that is somebody's.
    fn partly(
        &self,
        part: &Record,
        (whole, stack): (Option<&Record>, Stack),
        merges: bool,
        bytes: &mut dyn MergeBytes,
    ) -> Stack {
        if Some(part) == whole {
            return stack;
        }
        let merges = merges && self.merged.is_ok() && self.goal.reversed.is_empty();
        let parted = merges.then(|| self.stack.partly(self.disk.as_ref(), stack.layers(), part, bytes).ok());
        parted.flatten().unwrap_or_else(|| self.stack.together(stack.layers()))
    }
}

/// A record with the permission bits of another: hunks are of bytes only.
fn with_mode_of(record: Record, other: &Record) -> Record {
    match (record, other) {
        (Record::File { hash, len, .. }, Record::File { mode, .. }) => {
            Record::File { hash, len, mode: *mode }
        }
        (record, _) => record,
    }
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

type Outcome = (Option<Verdict>, Option<Record>, Stack);

mod chosen;
mod goal;
mod moved;
pub(super) mod replay;
mod version;

#[cfg(test)]
mod authors;
#[cfg(test)]
pub(super) mod tests;
