//! The plan of a path that is to be what it was at a checkpoint. Somebody asks for it: what is there goes, also where
//! somebody else wrote it, and the plan says so; what somebody else made since goes only when it is named.

use super::{
    Choice, Chosen, FileChange, FilePath, Grade, Look, Now, PathMove, PathPlan, Record, Stack, Verdict,
};

pub(super) fn plan(
    path: FilePath,
    stack: Stack,
    record: Option<Record>,
    named: bool,
    chosen: &Chosen,
    look: &mut dyn Look,
) -> Option<PathPlan> {
    let disk = match look.now(&path) {
        Now::Covered(disk) if disk == record => return None,
        Now::Covered(disk) => disk,
        Now::NotCovered(why) => return Some(super::not_covered(path, stack, why)),
    };
    let theirs = look.theirs(&path);
    let foreign = super::is_foreign(&stack, disk.as_ref());
    let made = stack.layers().first().is_some_and(|first| first.before.is_none());
    let ambiguous = stack.layers().iter().any(|layer| layer.grade == Grade::Ambiguous);
    let stays = record.is_none() && !named && (foreign || !made || ambiguous);
    let usual = if stays { Choice::Skip } else { Choice::Checkpoint };
    let choice = chosen.of(&path).filter(|choice| match choice {
        Choice::Yours => theirs.is_some(),
        Choice::Merge => false,
        _ => true,
    });
    let then = match choice.unwrap_or(usual) {
        Choice::Yours => theirs.clone().flatten(),
        Choice::Disk | Choice::Skip => disk.clone(),
        _ => record,
    };
    let verdict = match choice {
        None if stays => Verdict::Foreign,
        _ => super::plain(disk.as_ref(), then.as_ref()),
    };
    let others = [(Choice::Checkpoint, true), (Choice::Yours, theirs.is_some()), (Choice::Skip, true)];
    let others = others.into_iter().filter(|(choice, offered)| *offered && *choice != usual);
    let choices = std::iter::once(usual).chain(others.map(|(choice, _)| choice)).collect();
    let stack_after = if then == disk { stack.clone() } else { stack.at_version(then.as_ref()) };
    let (out, grade) = (Vec::new(), Grade::Written);
    let theirs = foreign && then != disk;
    let change = FileChange { path: path.clone(), before: disk, after: then };
    let step = PathMove { change, stack_before: stack, stack_after };
    Some(PathPlan { path, verdict, grade, out, into: Vec::new(), step, choices, renamed: None, theirs })
}
