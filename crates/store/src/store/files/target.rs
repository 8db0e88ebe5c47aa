//! The wanted deltas after an action, and those that an undo or a redo reverts. Reads only.

use std::collections::BTreeSet;

use retake_core::{
    Action, Commit, Conversation, DeltaId, DeltaLine, LogNo, OpNo, Operation, Path, Pos, Reason,
    Records as _, Step,
};

use super::super::decide::{decide, locate, undecided};
use super::super::load::Loaded;
use crate::error::Result;
use crate::files::{GitTaken, NeededFiles, WantedFiles};
use crate::rows::Rows;

/// The files that an action wants: a call's changes are wanted while its entry is on the path and not dropped. An undo
/// or a redo affects only what it reverts.
pub(super) fn wanted(rows: &dyn Rows, loaded: &Loaded, action: Action) -> Result<NeededFiles> {
    let goes_along_the_history = matches!(action, Action::Undo(_) | Action::Redo(_) | Action::Compensate(_));
    let commit = decide(rows, loaded, &undecided(action))?;
    wanted_by(rows, loaded, commit, goes_along_the_history)
}

/// The same for a commit.
pub(super) fn wanted_by(
    rows: &dyn Rows,
    loaded: &Loaded,
    commit: Commit,
    goes_along_the_history: bool,
) -> Result<NeededFiles> {
    let records = &loaded.records(rows);
    let after = loaded.conversation.after(records, &commit)?;
    let log = loaded.row.log;
    let mut running = rows.calls()?;
    running.retain(|call| call.conversation == loaded.row.id);
    let seqs = running.iter().map(|call| Ok(loaded.key(locate(rows, loaded, call.entry)?)?.seq));
    let mut seqs = seqs.collect::<Result<Vec<u64>>>()?.into_iter();
    running.retain(|_| seqs.next().is_some_and(|seq| !is_wanted(&after, seq)));
    running.dedup_by(|next, call| next.id == call.id);
    let git = rows.git_moves(log)?.into_iter().filter(|(seq, ..)| !is_wanted(&after, *seq));
    let taken = |(seq, workspace, moved)| {
        let earlier = !is_wanted(&loaded.conversation, seq);
        GitTaken { workspace, moved, earlier }
    };
    let git = git.map(taken).collect();
    let redone = redone(rows, loaded, &commit.ops)?;
    let files = if goes_along_the_history && is_whole(rows, loaded, &redone)? {
        back(rows, loaded, commit.ops.clone(), &redone)?
    } else {
        let lines = rows.deltas(log)?.into_iter();
        WantedFiles::Path(lines.map(|line| (line, is_wanted(&after, line.seq))).collect())
    };
    let depth = after.tree.depth();
    let kept = after.state.kept.paths.iter().filter(|path| path.entry.depth == depth).cloned().collect();
    let (adopted, returned) = (
        path_count(rows, loaded, &loaded.conversation.adopted_by(records, &commit)?)?,
        path_count(rows, loaded, &loaded.conversation.returned_by(records, &commit)?)?,
    );
    let certain = certain(rows, log, &after)?;
    Ok(NeededFiles { files, running, git, kept, certain, adopted, returned })
}

/// The deltas that only calls may have made which are reverted.
fn certain(rows: &dyn Rows, log: LogNo, after: &Conversation) -> Result<BTreeSet<DeltaId>> {
    let candidates = rows.candidates(log)?;
    let stays = candidates.iter().filter(|(_, seq)| is_wanted(after, *seq));
    let stays: BTreeSet<DeltaId> = stays.map(|(delta, _)| *delta).collect();
    Ok(candidates.into_iter().map(|(delta, _)| delta).filter(|delta| !stays.contains(delta)).collect())
}

/// The number of files that the deltas of these entries have changed, and that contain them.
fn path_count(rows: &dyn Rows, loaded: &Loaded, entries: &Path) -> Result<usize> {
    if entries.is_empty() {
        return Ok(0);
    }
    let (log, depth) = (loaded.row.log, loaded.conversation.tree.depth());
    let mut paths = BTreeSet::new();
    for line in rows.deltas(log)?.into_iter().filter(|line| entries.contains(Pos::new(depth, line.seq))) {
        paths.extend(rows.delta(line.id)?.into_iter().map(|(path, _)| (line.workspace, path)));
    }
    Ok(paths.len())
}

fn is_wanted(conversation: &Conversation, seq: u64) -> bool {
    conversation.wants_files_of(Pos::new(conversation.tree.depth(), seq))
}

/// The undos that redos revert, in this order.
fn redone(rows: &dyn Rows, loaded: &Loaded, ops: &[Operation]) -> Result<Vec<Operation>> {
    let mut undos: Vec<Operation> = Vec::new();
    for _ in ops.iter().filter(|op| matches!(op.reason, Reason::Redo(_))) {
        let history = undos.last().map_or(&*loaded.conversation.history, |last| &last.history_before);
        undos.extend(history.undone.map(|no| loaded.records(rows).op(no)).transpose()?);
    }
    Ok(undos)
}

/// Whether these are all the steps of one undo: their file changes are stored together, and cannot be separated.
fn is_whole(rows: &dyn Rows, loaded: &Loaded, undos: &[Operation]) -> Result<bool> {
    let is_there = |no: &u64| (1..=loaded.conversation.head.op.0).contains(no);
    for undo in undos {
        for near in [undo.no.0 - 1, undo.no.0 + 1].into_iter().filter(is_there) {
            let taken = undos.iter().any(|other| other.no.0 == near);
            if !taken && loaded.records(rows).op(OpNo(near))?.revision == undo.revision {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// What undos or redos revert: each step's own file changes, and those of the entries that followed it.
fn back(rows: &dyn Rows, loaded: &Loaded, ops: Vec<Operation>, redone: &[Operation]) -> Result<WantedFiles> {
    let (records, log) = (loaded.records(rows), loaded.row.log);
    let (mut steps, mut since) = (Vec::new(), u64::MAX);
    let mut states = vec![loaded.conversation.clone()];
    for op in ops {
        match op.reason {
            Reason::Undo(Step::Turn(opener)) | Reason::Compensate(Step::Turn(opener)) => {
                since = since.min(opener.seq);
            }
            Reason::Undo(Step::Op(no)) | Reason::Compensate(Step::Op(no)) => {
                steps.push(no);
                since = since.min(records.op(no)?.at.0 + 1);
            }
            _ => {}
        }
        let commit = Commit { ops: vec![op], ..Commit::default() };
        states.extend(states.last().map(|state| state.after(&records, &commit)).transpose()?);
    }
    steps.extend(redone.iter().map(|undo| undo.no));
    let goes = |line: &DeltaLine| {
        let mut wanted = states.iter().rev().map(|state| is_wanted(state, line.seq));
        let goes = line.seq >= since && wanted.next() == Some(false);
        // A path that an earlier step has left undecided is planned again.
        goes && (line.applied > 0 || wanted.any(|wanted| wanted))
    };
    let (without, mut staying): (Vec<_>, Vec<_>) = rows.deltas(log)?.into_iter().partition(goes);
    let stays = |line: &DeltaLine| states.last().is_some_and(|state| is_wanted(state, line.seq));
    staying.retain(|line| line.seq >= since && stays(line));
    let mut reversed = Vec::new();
    for no in steps {
        reversed.extend((!rows.moved(log, no)?.is_empty()).then_some(no));
    }
    Ok(WantedFiles::Back { reversed, without, staying })
}
