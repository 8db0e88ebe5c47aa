//! The file half of a plan: for each path the verdict and the possible choices (spec `rewind.md`, *Plan*). Pure.

use std::collections::{BTreeMap, BTreeSet};

use super::authorship::{self, BlockingAuthor, ChoiceOutcome};
use super::change::{FileChange, Grade};
use super::choice::Choice;
use super::file_path::FilePath;
use super::hunks::{self, BadHunks, HunkDefect};
use super::merge::{Clash, MergeBytes};
use super::record::Record;
use super::renames;
use super::stack::{Clashed, DeltaId, Layer, Rebuilt, Stack};
use super::why_not::UncoveredReason;
use goal::{Goal, UncertainOutcome};
use moved::Moved;

pub use chosen::Chosen;
use chosen::offered;
pub use replay::Moves;

/// The input of a plan.
pub trait PlanInput {
    /// Merges the bytes of versions.
    fn bytes(&mut self) -> &mut dyn MergeBytes;
    /// The current version of a path.
    fn now(&mut self, path: &FilePath) -> CurrentPath;
    /// The current content of a folder, covered or not; `None` is an entry that no plan can change, such as git's own folder.
    fn children(&mut self, folder: &FilePath) -> Vec<Option<FilePath>>;
    /// The last version that somebody else wrote, if known.
    fn theirs(&mut self, path: &FilePath) -> Option<Option<Record>>;
    /// The last delta of the conversation that left this version at a path, in any place of its layers, if known.
    fn left_by(&mut self, path: &FilePath, record: Option<&Record>) -> Option<DeltaId>;
    /// Whether this delta's change of a path was adopted, alone or with all its changes.
    fn is_adopted(&mut self, path: &FilePath, delta: DeltaId) -> bool;
    /// Whether this ambiguous delta goes by default: the step reverts every call that may have made it.
    fn is_certain(&mut self, _delta: DeltaId) -> bool {
        false
    }
    /// Whether the current version is that of git's HEAD, and a reverted call moved HEAD there (spec `rewind.md`, *Plan*).
    fn is_git_s(&mut self, path: &FilePath) -> bool;
}

/// The current state of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CurrentPath {
    /// This version; `None` if it is absent.
    Covered(Option<Record>),
    /// It is not known, for this reason: it is left alone.
    NotCovered(UncoveredReason),
}

/// The wanted version of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedPath {
    /// The path.
    pub path: FilePath,
    /// Its current layers.
    pub stack: Stack,
    /// What is wanted of it.
    pub want: DesiredState,
}

/// What is wanted of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DesiredState {
    /// Exactly these layers, in path order.
    Layers(Vec<Layer>),
    /// Steps on it are reverted, last first.
    Back {
        /// The moves of operations, in the order in which they are reversed.
        reversed: Vec<PathMove>,
        /// The deltas that must leave it.
        without: Vec<DeltaId>,
        /// The deltas that came since and stay.
        staying: Vec<DeltaId>,
    },
    /// The version with exactly these layers; its own layers stay.
    PutBack(Vec<Layer>),
    /// The version at a checkpoint.
    Version {
        /// The version.
        record: Option<Record>,
        /// Whether the request names the path: a file that somebody else created since is removed only then.
        named: bool,
    },
}

/// An operation's move of a path: its change, with the layers before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathMove {
    /// The version before and after.
    pub change: FileChange,
    /// The layers before.
    pub stack_before: Stack,
    /// The layers after.
    pub stack_after: Stack,
}

impl PathMove {
    /// Whether its versions come from layers alone, without changes of other authors.
    fn is_of_layers_alone(&self) -> bool {
        let (before, after) = (&self.stack_before, &self.stack_after);
        before.is_just(self.change.before.as_ref(), after)
            && after.is_just(self.change.after.as_ref(), before)
    }

    /// The verdict of the move. A version that no call left or found contains changes of other authors, even if it returns
    /// unchanged. A plan and its receipt give the same verdict.
    pub fn verdict(&self) -> Verdict {
        let all = || self.stack_before.layers().iter().chain(self.stack_after.layers());
        // A layer without a change only records that the restored version is there.
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

/// What a step would do to a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It gets an earlier (or a later) version.
    Revert,
    /// It is removed: the agent created it.
    Delete,
    /// It is restored: the agent removed it.
    Recreate,
    /// It gets another version that contains later changes by other authors.
    Merge,
    /// It gets some hunks of another version.
    Part,
    /// It is left alone until a person chooses.
    Conflict(Clash),
    /// It has the wanted version already.
    Unchanged,
    /// It is left alone: the author of the change is not known.
    Kept,
    /// It is left alone: a call moved git's HEAD, which has this version; or a call moved the folder of a repository.
    GitHas,
    /// A folder stays that contains somebody else's files.
    NotEmpty,
    /// It is left alone: somebody else has created it since.
    Foreign,
    /// It is left alone, for this reason.
    NotCovered(UncoveredReason),
}

/// A path of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathPlan {
    /// The path.
    pub path: FilePath,
    /// The verdict.
    pub verdict: Verdict,
    /// The grade of what is reverted: the least certain one.
    pub grade: Grade,
    /// The deltas that leave it, last first.
    pub out: Vec<DeltaId>,
    /// The deltas that enter it, first first.
    pub into: Vec<DeltaId>,
    /// The current and the wanted version, with the layers of both.
    pub step: PathMove,
    /// The possible choices, the default first.
    pub choices: Vec<Choice>,
    /// The version without a choice for it alone, if no clash or doubt prevented it: hunks are counted from the current version
    /// to this one.
    pub whole: Option<Record>,
    /// The choice for it, if any.
    pub choice: Option<Choice>,
    /// The chosen hunks; empty without such a choice.
    pub hunks: Vec<u32>,
    /// If somebody renamed it, or the agent had: the path that its content goes with.
    pub renamed: Option<FilePath>,
    /// Whether changes of somebody else are lost with it.
    pub theirs: bool,
    /// Whose changes prevent the wanted version, if any, even if a choice settles it.
    pub against: Option<BlockingAuthor>,
    /// Whether a person has chosen to adopt its version after the step (spec `rewind.md`, *Adoption*).
    pub adopts: bool,
    /// Its version after each possible choice; not for a restore from a checkpoint.
    pub outcomes: Vec<(Choice, ChoiceOutcome)>,
}

/// The file half of a plan, in the order of the paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilePlan {
    /// The paths.
    pub paths: Vec<PathPlan>,
}

impl FilePlan {
    /// Whether no choice is open.
    pub fn is_clean(&self) -> bool {
        !self.paths.iter().any(|path| matches!(path.verdict, Verdict::Conflict(_)))
    }

    /// The changes on disk, in the order of the paths.
    pub fn changes(&self) -> impl Iterator<Item = &FileChange> {
        self.paths.iter().map(|path| &path.step.change).filter(|change| change.before != change.after)
    }

    /// The paths that a person has chosen to keep, each with the deltas that would have left it or entered it.
    pub fn adopted(&self) -> impl Iterator<Item = (DeltaId, FilePath)> {
        let paths = self.paths.iter().filter(|path| path.adopts);
        paths.flat_map(|path| path.out.iter().chain(&path.into).map(|delta| (*delta, path.path.clone())))
    }

    /// Plans the wanted versions, with the choices. Hunks that do not exist are refused; any other choice that does not apply is
    /// ignored, and its path stays undecided.
    pub fn new(wanted: Vec<WantedPath>, chosen: &Chosen, look: &mut dyn PlanInput) -> Result<Self, BadHunks> {
        let mut paths = BTreeMap::new();
        let mut moves = moved::follow(&wanted, look);
        let names = moved::names(&moves);
        let (chosen, carried) = renames::choose_both(&wanted, &names, chosen, look);
        let (pairs, again) = (renames::pairs(&wanted), renames::again(&wanted));
        for wanted_path in wanted {
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
        super::folders::fit_folders(&mut paths, look);
        Ok(Self { paths: paths.into_values().collect() })
    }

    /// The content of folders that must make way, by a choice for them, and that is not planned: it goes with them.
    pub fn in_the_way(&self, chosen: &Chosen, look: &mut dyn PlanInput) -> Vec<FilePath> {
        let chosen = |path: &&PathPlan| chosen.of(&path.path) == Some(&Choice::Checkpoint);
        let folders = self.paths.iter().filter(|path| super::folders::is_in_place(path)).filter(chosen);
        let below: BTreeSet<_> =
            folders.filter_map(|folder| super::folders::below(&folder.path, look)).flatten().collect();
        let planned = |path: &FilePath| self.paths.binary_search_by(|plan| plan.path.cmp(path)).is_ok();
        below.into_iter().filter(|path| !planned(path)).collect()
    }
}

/// The plan of one path; `None` if nothing is wanted of it.
fn one(
    WantedPath { path, stack, want }: WantedPath,
    moved: Moved,
    chosen: &Chosen,
    look: &mut dyn PlanInput,
) -> Result<Option<PathPlan>, BadHunks> {
    if let DesiredState::Version { record, named } = want {
        return version::plan(path, stack, record, named, chosen, look);
    }
    let goal = Goal::new(&stack, want, moved, look.bytes());
    if goal.stack == stack && goal.reversed.is_empty() && goal.moved.below.is_empty() {
        return Ok(None);
    }
    let (out, into) = goal.difference(&stack);
    let certain: Vec<DeltaId> = out.iter().copied().filter(|delta| look.is_certain(*delta)).collect();
    let grade = grade_of(&stack, &out, &certain);
    let choice = chosen.of(&path);
    let hunks = if let Some(Choice::Hunks(hunks)) = choice { hunks.clone() } else { Vec::new() };
    let disk = match look.now(&path) {
        CurrentPath::Covered(disk) => disk,
        CurrentPath::NotCovered(_) if !hunks.is_empty() => {
            return Err(BadHunks { path, why: HunkDefect::NotPlanned });
        }
        CurrentPath::NotCovered(why) => {
            return Ok(Some(PathPlan { grade, out, into, ..not_covered(path, stack, why) }));
        }
    };
    let merged = goal.merged(&stack, disk.as_ref(), look.bytes());
    let changes = merged.as_ref().map_or(true, |merged| merged.record != disk);
    let git_has = changes && !out.is_empty() && look.is_git_s(&path);
    let doubt = goal.doubt(&stack, (&out, &certain), disk.as_ref(), look.bytes());
    let (theirs, exact, stays) = (look.theirs(&path), goal.exact(&stack, look.bytes()), goal.stays);
    let fork = Fork { theirs, goal, stack, disk, merged, exact, doubt, git_has };
    let unchosen = fork.outcome(chosen.others.as_ref(), look.bytes());
    let (mut whole, whole_stack) = fork.whole(&unchosen);
    let (verdict, record, stack_after) = if !hunks.is_empty() {
        let part = hunks::part(fork.disk.as_ref(), whole.as_ref(), &hunks, look.bytes());
        let part = part.map_err(|why| BadHunks { path: path.clone(), why })?;
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
    // Even with a choice: the conflict is shown with it.
    let clashed = match &fork.doubt {
        Some(UncertainOutcome::Takes(Err(clashed))) => Some(clashed),
        _ => fork.merged.as_ref().err(),
    };
    let against = clashed.map(|clashed| authorship::against(&path, &clashed.by, &fork.goal.stack, look));
    // A folder in the way makes it a conflict later.
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

/// The least certain grade of the layers that leave.
fn grade_of(stack: &Stack, out: &[DeltaId], certain: &[DeltaId]) -> Grade {
    let grade = |layer: &Layer| match certain.contains(&layer.delta) {
        true => layer.grade.min(Grade::Seen),
        false => layer.grade,
    };
    let touched = stack.layers().iter().filter(|layer| out.contains(&layer.delta));
    touched.map(grade).max().unwrap_or(Grade::Written)
}

/// A path that is left alone because its state is not known.
fn not_covered(path: FilePath, stack: Stack, why: UncoveredReason) -> PathPlan {
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

/// Whether the current version differs from its layers: somebody else has written it.
fn is_foreign(stack: &Stack, disk: Option<&Record>) -> bool {
    disk.is_some() && stack.layers().last().is_none_or(|last| last.after.as_ref() != disk)
}

/// A path with a decision about its version.
struct Fork {
    goal: Goal,
    stack: Stack,
    disk: Option<Record>,
    theirs: Option<Option<Record>>,
    merged: Result<Rebuilt, Clashed>,
    /// The exact version, if the leaving changes can be separated from the staying ones.
    exact: Option<Rebuilt>,
    /// The alternative if the author of a leaving change is not certain.
    doubt: Option<UncertainOutcome>,
    git_has: bool,
}

impl Fork {
    /// The outcome with a choice, or without one.
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
            (None, Some(UncertainOutcome::Keeps), _) => (Some(Verdict::Kept), disk.cloned(), stack.clone()),
            (None, Some(UncertainOutcome::Takes(rebuilt)), _) | (_, _, rebuilt) => match rebuilt {
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

    /// The version after a choice. Its layers contain only what is chosen.
    fn becomes(&self, choice: &Choice, bytes: &mut dyn MergeBytes) -> ChoiceOutcome {
        let record = match choice {
            Choice::Disk | Choice::Skip => self.disk.clone(),
            Choice::Yours => self.theirs.clone().flatten(),
            Choice::Checkpoint => self.exact_record().cloned(),
            Choice::Merge | Choice::Hunks(_) => self.outcome(Some(choice), bytes).1,
        };
        authorship::becomes((choice, record.as_ref()), self.disk.as_ref(), (&self.stack, &self.goal.stack))
    }

    /// The version and its layers if no clash and no doubt prevented it.
    fn whole(&self, (verdict, record, stack): &Outcome) -> (Option<Record>, Stack) {
        let waits = matches!(verdict, Some(Verdict::Conflict(_) | Verdict::Kept | Verdict::GitHas));
        match (waits, &self.merged, &self.exact) {
            (true, Ok(whole), _) | (true, Err(_), Some(whole)) => (whole.record.clone(), whole.stack.clone()),
            (true, Err(_), None) => (self.disk.clone(), self.stack.clone()),
            (false, ..) => (record.clone(), stack.clone()),
        }
    }

    /// The layers when only a part of a change is applied. For a merge, the part contains all changes by other authors, and the
    /// rest belongs to the deltas alone. Otherwise the layers stay as the deltas made them, and a difference from them belongs
    /// to somebody else.
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

/// The verdict when one record replaces another.
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
