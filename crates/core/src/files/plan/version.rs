//! The plan of a path that gets its version from a checkpoint. A person requests it: the current version is replaced,
//! even if somebody else wrote it, and the plan shows this. A file that somebody else created since is removed only
//! if the request names it.

use super::super::hunks;
use super::{
    BadHunks, Choice, Chosen, CurrentPath, FileChange, FilePath, Grade, HunkDefect, PathMove, PathPlan,
    PlanInput, Record, Stack, Verdict, authorship,
};

pub(super) fn plan(
    path: FilePath,
    stack: Stack,
    record: Option<Record>,
    named: bool,
    chosen: &Chosen,
    look: &mut dyn PlanInput,
) -> Result<Option<PathPlan>, BadHunks> {
    let parts = matches!(chosen.of(&path), Some(Choice::Hunks(_)));
    let disk = match look.now(&path) {
        CurrentPath::Covered(disk) if disk == record => return Ok(None),
        CurrentPath::Covered(disk) => disk,
        CurrentPath::NotCovered(_) if parts => {
            return Err(BadHunks { path, why: HunkDefect::NotPlanned });
        }
        CurrentPath::NotCovered(why) => return Ok(Some(super::not_covered(path, stack, why))),
    };
    let theirs = look.theirs(&path);
    let foreign = super::is_foreign(&stack, disk.as_ref());
    let made = stack.layers().first().is_some_and(|first| first.before.is_none());
    let ambiguous = stack.layers().iter().any(|layer| layer.grade.is_ambiguous());
    let stays = record.is_none() && !named && (foreign || !made || ambiguous);
    let usual = if stays { Choice::Skip } else { Choice::Checkpoint };
    let choice = chosen.of(&path).filter(|choice| match choice {
        Choice::Yours => theirs.is_some(),
        Choice::Merge => false,
        _ => true,
    });
    let mut chosen_hunks = Vec::new();
    let then = match choice.unwrap_or(&usual) {
        Choice::Yours => theirs.clone().flatten(),
        Choice::Disk | Choice::Skip => disk.clone(),
        Choice::Checkpoint | Choice::Merge => record.clone(),
        Choice::Hunks(numbers) => {
            let part = hunks::part(disk.as_ref(), record.as_ref(), numbers, look.bytes());
            chosen_hunks.clone_from(numbers);
            Some(part.map_err(|why| BadHunks { path: path.clone(), why })?)
        }
    };
    let verdict = match choice {
        None if stays => Verdict::Foreign,
        Some(Choice::Hunks(_)) => Verdict::Part,
        _ => super::plain(disk.as_ref(), then.as_ref()),
    };
    let others = [(Choice::Checkpoint, true), (Choice::Yours, theirs.is_some()), (Choice::Skip, true)];
    let others = others.into_iter().filter(|(choice, offered)| *offered && *choice != usual);
    let choices = std::iter::once(usual.clone()).chain(others.map(|(choice, _)| choice)).collect();
    let stack_after = if then == disk { stack.clone() } else { stack.at_version(then.as_ref()) };
    let theirs = foreign && then != disk;
    let against = (verdict == Verdict::Foreign).then(|| authorship::who_left(&path, disk.as_ref(), look));
    let change = FileChange { path: path.clone(), before: disk, after: then };
    Ok(Some(PathPlan {
        path,
        verdict,
        grade: Grade::Written,
        out: Vec::new(),
        into: Vec::new(),
        step: PathMove { change, stack_before: stack, stack_after },
        choices,
        whole: record,
        choice: choice.cloned(),
        hunks: chosen_hunks,
        renamed: None,
        theirs,
        adopts: false,
        against,
        outcomes: Vec::new(),
    }))
}

#[cfg(test)]
mod tests;
