//! Lists of marked entries and of what operations affected, for clients that request hidden content. Each reads only what it
//! shows, however long the conversation is.

use retake_core::{
    Change, ConversationId, EntryId, EntryLine, Head, Mark, MarkChange, Marked, MarkedLine, MarkedPage, OpNo,
    Operation, Pos, Reason, Records as _, Step, StepLine, StepTarget, Time,
};

use super::Store;
use super::decide::locate;
use super::load::Loaded;
use super::read::{any_line, line};
use crate::error::{Result, StoreError};
use crate::rows::Rows;

/// The most steps of an undo or a redo that are listed one by one.
const STEPS: usize = 20;

/// How many of the last operations are searched for the time of a mark, and the number of those read at once.
const LOOK_BACK: u64 = 1_024;
const PAGE: u64 = 128;

impl Store {
    /// Hidden, dropped or excluded entries on the path, newest first; with `before`, those before that entry. Only for clients
    /// that request them: no projection shows hidden entries.
    pub async fn marked(
        &self,
        conversation: ConversationId,
        before: Option<EntryId>,
        limit: usize,
    ) -> Result<MarkedPage> {
        self.with(conversation, move |rows, loaded| marked(rows, loaded, before, limit)).await
    }

    /// The marks that the messages of an earlier head have now and did not have then: each pair (then, now) with its number of
    /// messages. A restore of that head leaves them.
    pub async fn other_marks(&self, id: ConversationId, head: Head) -> Result<Vec<((Mark, Mark), u64)>> {
        let now = self.now(id).await?;
        self.with_at(id, Some(head), move |_, then| Ok(then.conversation.other_marks(&now.conversation)))
            .await
    }

    /// All entries of a turn on the path, with their marks, hidden ones too; 0 is the part before the first turn.
    pub async fn turn_entries(
        &self,
        conversation: ConversationId,
        number: u64,
    ) -> Result<Vec<(EntryId, Mark)>> {
        self.with(conversation, move |rows, loaded| of_turn(rows, loaded, number)).await
    }
}

/// The marked entries on the path, newest first.
pub(super) fn marked(
    rows: &dyn Rows,
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
    let whens = since(rows, loaded, &found)?;
    let found = found.into_iter().zip(whens);
    let lines = found.filter_map(|(it, when)| Some((it.part.first()?, it.part.last()?, it, when)));
    let lines = lines.map(|(first, last, it, when)| {
        let (mark, turn, totals) = (it.mark, it.turn, it.totals);
        let (first, last) = (any_line(rows, loaded, first)?, records.meta(last)?.id);
        Ok(MarkedLine { mark, turn, totals, first, last, when })
    });
    Ok(MarkedPage { marked: lines.collect::<Result<_>>()?, more })
}

/// When each group got its mark: the last operation that set it, within the searched operations; a parent's mark has none.
fn since(rows: &dyn Rows, loaded: &Loaded, pieces: &[Marked]) -> Result<Vec<Option<Time>>> {
    let mut times = vec![None; pieces.len()];
    let mut waiting: Vec<usize> = (0..pieces.len()).collect();
    let mut last = loaded.conversation.head.op;
    for _ in 0..LOOK_BACK / PAGE {
        if last.0 == 0 || waiting.is_empty() {
            break;
        }
        let first = OpNo((last.0 + 1).saturating_sub(PAGE).max(1));
        for op in rows.ops(loaded.row.log, first, last)?.into_iter().rev() {
            let Change::Mark(changes) = &op.change else { continue };
            waiting.retain(|at| {
                let (piece, pos) = (&pieces[*at], pieces[*at].part.first());
                let gives = |change: &MarkChange| {
                    change.after == piece.mark && pos.is_some_and(|pos| change.span.contains(pos))
                };
                let given = changes.iter().any(gives);
                if given {
                    times[*at] = Some(op.time);
                }
                !given
            });
        }
        last = OpNo(first.0 - 1);
    }
    Ok(times)
}

/// All entries of a turn on the path, with their marks.
pub(super) fn of_turn(rows: &dyn Rows, loaded: &Loaded, number: u64) -> Result<Vec<(EntryId, Mark)>> {
    let records = loaded.records(rows);
    let part = loaded.conversation.turn_part(&records, number)?;
    part.positions().map(|pos| Ok((records.meta(pos)?.id, loaded.conversation.mark(pos)))).collect()
}

/// Reads an entry as one line.
type ReadLine = fn(&dyn Rows, &Loaded, Pos) -> Result<EntryLine>;

/// The entry that an operation moved to, or the first one that it marked. Hidden text is left out. Reads one row for any
/// operation.
pub(super) fn aim(rows: &dyn Rows, loaded: &Loaded, op: &Operation) -> Result<Option<StepTarget>> {
    target(rows, loaded, aimed_at(loaded, op), line)
}

fn aimed_at(loaded: &Loaded, op: &Operation) -> Option<Pos> {
    let tree = &loaded.conversation.tree;
    match (op.reason, &op.change) {
        (Reason::Undo(Step::Turn(opener)) | Reason::Redo(Step::Turn(opener)), _) => Some(opener),
        (Reason::Undo(_) | Reason::Redo(_) | Reason::Compensate(_) | Reason::Restore(_), _) => None,
        (Reason::Rewind | Reason::Edit, Change::Move { before, after }) => tree.next_towards(*after, *before),
        (_, Change::Move { after, .. }) => *after,
        (_, Change::Mark(changes)) => changes.first().map(|change| change.span.first()),
        _ => None,
    }
}

/// None for a damaged entry: the rest of the step is known.
fn target(rows: &dyn Rows, loaded: &Loaded, pos: Option<Pos>, read: ReadLine) -> Result<Option<StepTarget>> {
    match pos.map(|pos| read(rows, loaded, pos)).transpose() {
        Ok(line) => Ok(line.map(|line| StepTarget { turn: line.meta.totals.turns, line })),
        Err(StoreError::Damaged { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// An entry without its text, which is not read.
fn line_without_text(rows: &dyn Rows, loaded: &Loaded, pos: Pos) -> Result<EntryLine> {
    let meta = loaded.records(rows).meta(pos)?;
    Ok(EntryLine { meta, preview: String::new(), called: None })
}

/// The first steps that these operations take back or bring back.
pub(super) fn steps(rows: &dyn Rows, loaded: &Loaded, ops: &[Operation]) -> Result<Vec<StepLine>> {
    let steps = ops.iter().filter_map(|op| match op.reason {
        Reason::Undo(step) | Reason::Redo(step) => Some(step),
        _ => None,
    });
    steps.take(STEPS).map(|it| step(rows, loaded, it, line)).collect()
}

/// The next step of an undo or a redo, which every subscriber gets: without the text of its message, as only the client that
/// rewound gets that.
pub(super) fn next_step(rows: &dyn Rows, loaded: &Loaded, next: Step) -> Result<StepLine> {
    step(rows, loaded, next, line_without_text)
}

fn step(rows: &dyn Rows, loaded: &Loaded, step: Step, read: ReadLine) -> Result<StepLine> {
    let (op, pos) = match step {
        Step::Turn(opener) => (None, Some(opener)),
        Step::Op(no) => {
            let op = loaded.records(rows).op(no)?;
            let pos = aimed_at(loaded, &op);
            (Some(op), pos)
        }
    };
    Ok(StepLine { aim: target(rows, loaded, pos, read)?, op })
}
