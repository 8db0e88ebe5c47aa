//! What is marked, and what operations were about, in words: lists that tell of what a state leaves out, to who asks for them. Each reads
//! what it shows, however long the conversation is.

use retake_core::{Change, Commit, EntryId, Mark, Operation, Pos, Reason, Records as _, Step};

use super::decide::locate;
use super::load::Loaded;
use super::read::{any_line, line};
use crate::error::{Result, StoreError};
use crate::reading::{Aim, MarkedLine, MarkedPage, StepLine};
use crate::rows::Rows;

/// So many steps of an undo or a redo are told one by one.
const STEPS: usize = 20;

/// What is marked on the path, newest first.
pub(super) fn marked<R: Rows>(
    rows: &R,
    loaded: &Loaded,
    before: Option<EntryId>,
    limit: usize,
) -> Result<MarkedPage> {
    let cursor = |id| {
        let pos = locate(rows, loaded, id)?;
        if loaded.conversation.is_on_path(pos) { Ok(pos) } else { Err(StoreError::BadCursor(id)) }
    };
    let before = before.map(cursor).transpose()?;
    let records = loaded.records(rows);
    let mut found = loaded.conversation.marked(&records, before, limit.saturating_add(1))?;
    let more = found.len() > limit;
    found.truncate(limit);
    let lines = found.into_iter().filter_map(|it| Some((it.part.first()?, it.part.last()?, it)));
    let lines = lines.map(|(first, last, it)| {
        let (mark, turn, totals) = (it.mark, it.turn, it.totals);
        let (first, last) = (any_line(rows, loaded, first)?, records.meta(last)?.id);
        Ok(MarkedLine { mark, turn, totals, first, last })
    });
    Ok(MarkedPage { marked: lines.collect::<Result<_>>()?, more })
}

/// All of a turn that is on the path, with its marks.
pub(super) fn of_turn<R: Rows>(rows: &R, loaded: &Loaded, number: u64) -> Result<Vec<(EntryId, Mark)>> {
    let records = loaded.records(rows);
    let part = loaded.conversation.turn_part(&records, number)?;
    part.positions().map(|pos| Ok((records.meta(pos)?.id, loaded.conversation.mark(pos)))).collect()
}

/// The message that an operation led to, if it moved the tip. Words that are hidden are left out. One row, whatever the operation.
pub(super) fn aim<R: Rows>(rows: &R, loaded: &Loaded, op: &Operation) -> Result<Option<Aim>> {
    let tree = &loaded.conversation.tree;
    let pos = match (op.reason, &op.change) {
        (Reason::Undo(Step::Turn(opener)) | Reason::Redo(Step::Turn(opener)), _) => Some(opener),
        (Reason::Undo(_) | Reason::Redo(_) | Reason::Compensate(_) | Reason::Restore(_), _) => None,
        (Reason::Rewind | Reason::Edit, Change::Move { before, after }) => tree.next_towards(*after, *before),
        (_, Change::Move { after, .. }) => *after,
        _ => None,
    };
    pos.map(|pos| at(rows, loaded, pos)).transpose()
}

fn at<R: Rows>(rows: &R, loaded: &Loaded, pos: Pos) -> Result<Aim> {
    let line = line(rows, loaded, pos)?;
    Ok(Aim { turn: line.meta.totals.turns, line })
}

/// What the first steps of an undo or a redo are.
pub(super) fn steps<R: Rows>(rows: &R, loaded: &Loaded, commit: &Commit) -> Result<Vec<StepLine>> {
    let steps = commit.ops.iter().filter_map(|op| match op.reason {
        Reason::Undo(step) | Reason::Redo(step) => Some(step),
        _ => None,
    });
    let lines = steps.take(STEPS).map(|step| match step {
        Step::Turn(opener) => Ok(StepLine { op: None, aim: Some(at(rows, loaded, opener)?) }),
        Step::Op(no) => {
            let op = loaded.records(rows).op(no)?;
            Ok(StepLine { aim: aim(rows, loaded, &op)?, op: Some(op) })
        }
    });
    lines.collect()
}
