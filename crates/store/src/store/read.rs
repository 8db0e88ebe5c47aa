//! Reads a conversation: pages of a projection, prompts, targets, branches, plans. Each reads only what it shows.

use retake_core::{
    Action, Alternative, CallLine, Caller, Change, Conversation, Entry, EntryId, EntryLine, EntryPage, Head,
    Mark, OpLine, OpNo, OpPage, OpRange, PageRequest, Part, Path, Planned, Pos, Projection, ReadOnly, Reason,
    Records, Role, ShownEntry, Span, Steps, Summary, Totals, calls_as_run, preview,
};

use super::decide::{decide, locate, shows, undecided};
use super::load::{Loaded, load};
use super::memory;
use crate::error::{Result, StoreError};
use crate::rows::{CallerRow, ConversationRow, Rows};

/// The entries of a plan that are shown as lines.
const PLAN_LINES: usize = 20;

/// How many entries are searched for a list's first message.
const PREVIEW_SEARCH: u64 = 32;

/// An entry in one line; without its text if the state hides it.
pub(super) fn line(rows: &dyn Rows, loaded: &Loaded, pos: Pos) -> Result<EntryLine> {
    let mut line = any_line(rows, loaded, pos)?;
    if !loaded.conversation.mark(pos).is_visible() {
        line.preview.clear();
        line.called = None;
    }
    Ok(line)
}

/// An entry in one line, whatever its mark: for clients that request hidden entries, or see what `show` would bring back.
pub(super) fn any_line(rows: &dyn Rows, loaded: &Loaded, pos: Pos) -> Result<EntryLine> {
    let key = loaded.key(pos)?;
    match rows.entry(key) {
        Ok(entry) => Ok(line_of(pos, entry)),
        // Author and time may still be readable.
        Err(StoreError::Damaged { why, .. }) => {
            let meta = retake_core::Meta { pos, ..rows.meta(key)? };
            Ok(EntryLine { meta, preview: format!("[damaged: {why}]"), called: None })
        }
        Err(error) => Err(error),
    }
}

/// The line of an entry.
pub(super) fn line_of(pos: Pos, entry: Entry) -> EntryLine {
    let preview = preview(&entry.parts);
    let has_words = entry.parts.iter().filter_map(Part::as_text).any(|text| !text.trim().is_empty());
    let call = calls_as_run(&entry.parts).next().filter(|_| !has_words);
    let called = call.map(|call| CallLine {
        author: entry.author,
        tool: call.name.to_owned(),
        arguments: call.arguments.to_owned(),
    });
    EntryLine { meta: retake_core::Meta { pos, ..entry.meta }, preview, called }
}

/// The pieces of a projection, as (span, mark, fold).
fn pieces(conversation: &Conversation, projection: Projection) -> Vec<retake_core::Piece> {
    let mut pieces = conversation.timeline();
    if projection == Projection::Prompt {
        pieces.retain(|piece| piece.mark == Mark::Normal);
    }
    pieces
}

/// A page: the newest entries, or those next to a cursor of the projection.
pub(super) fn page(
    rows: &dyn Rows,
    loaded: &Loaded,
    projection: Projection,
    request: &PageRequest,
) -> Result<EntryPage> {
    let cursor = |id: EntryId| {
        let pos = locate(rows, loaded, id)?;
        if shows(loaded, projection, pos) { Ok(pos) } else { Err(StoreError::BadCursor(id)) }
    };
    let (before, after) = (request.before.map(cursor).transpose()?, request.after.map(cursor).transpose()?);
    let all = pieces(&loaded.conversation, projection);
    let whole = Path::from_spans(all.iter().map(|piece| piece.span));
    let mut wanted = whole.clone();
    if let Some(before) = before {
        wanted = wanted.up_to(whole.before(before));
    }
    if let Some(after) = after {
        wanted = wanted.behind(Some(after));
    }
    let newest = after.is_none() || before.is_some();
    let chosen = take(&wanted, request.limit as u64, newest);
    let mut page = EntryPage::default();
    if let (Some(first), Some(last)) = (chosen.first(), chosen.last()) {
        page.earlier = whole.first().is_some_and(|pos| pos < first);
        page.later = whole.last().is_some_and(|pos| pos > last);
    }
    page.entries = shown(rows, loaded, &chosen)?;
    Ok(page)
}

/// The last (or first) `count` entries of a path.
fn take(path: &Path, count: u64, newest: bool) -> Path {
    let mut left = count;
    let mut spans = Vec::new();
    let take_from = |span: &Span, left: u64| match newest {
        true => Span::new(span.depth, span.to + 1 - left.min(span.len()), span.to),
        false => Span::new(span.depth, span.from, span.from - 1 + left.min(span.len())),
    };
    let mut in_order: Vec<&Span> = path.spans().iter().collect();
    if newest {
        in_order.reverse();
    }
    for span in in_order {
        if left == 0 {
            break;
        }
        spans.push(take_from(span, left));
        left -= left.min(span.len());
    }
    spans.sort_unstable();
    Path::from_spans(spans)
}

/// Entries in the timeline. A damaged one is shown as such.
pub(super) fn shown(rows: &dyn Rows, loaded: &Loaded, part: &Path) -> Result<Vec<ShownEntry>> {
    let conversation = &loaded.conversation;
    let pieces = conversation.timeline();
    let mut shown = Vec::new();
    for span in part.spans() {
        let log = loaded.key(span.first())?.log;
        for (seq, entry) in (span.from..).zip(rows.entries(log, span.from, span.to)?) {
            let pos = Pos::new(span.depth, seq);
            let piece = pieces.partition_point(|piece| piece.span.last() < pos);
            let fold =
                pieces.get(piece).filter(|piece| piece.span.contains(pos)).and_then(|piece| piece.fold);
            let entry = match entry {
                Ok(mut entry) => {
                    entry.meta.pos = pos;
                    Ok(entry)
                }
                Err(StoreError::Damaged { why, .. }) => Err(why),
                Err(other) => return Err(other),
            };
            let answer = entry.as_ref().is_ok_and(|entry| entry.meta.role == Role::Assistant);
            let alternative = if answer { alternative(rows, loaded, pos)? } else { None };
            shown.push(ShownEntry {
                pos,
                entry,
                mark: conversation.mark(pos),
                fold,
                label: conversation.state.label(pos).map(str::to_owned),
                alternative,
            });
        }
    }
    let entries = shown.iter_mut().filter_map(|shown| shown.entry.as_mut().ok());
    memory::fill(rows, entries.map(|entry| &mut entry.parts))?;
    Ok(shown)
}

/// One entry in the timeline.
pub(super) fn shown_entry(rows: &dyn Rows, loaded: &Loaded, id: EntryId) -> Result<Option<ShownEntry>> {
    let pos = locate(rows, loaded, id)?;
    if !shows(loaded, Projection::Timeline, pos) {
        return Ok(None);
    }
    let only = Path::from_spans([Span::new(pos.depth, pos.seq, pos.seq)]);
    Ok(shown(rows, loaded, &only)?.pop())
}

/// The number of a visible answer among its alternatives, and their count. Reads rows only if there are siblings.
fn alternative(rows: &dyn Rows, loaded: &Loaded, pos: Pos) -> Result<Option<(usize, usize)>> {
    let conversation = &loaded.conversation;
    if conversation.tree.children(conversation.tree.after(pos)).len() < 2 {
        return Ok(None);
    }
    let alternatives = conversation.alternatives(&loaded.records(rows), pos)?;
    let at = alternatives.iter().position(|other| *other == pos);
    Ok(at.filter(|_| alternatives.len() > 1).map(|at| (at + 1, alternatives.len())))
}

/// The alternatives of a visible answer.
pub(super) fn alternatives(rows: &dyn Rows, loaded: &Loaded, id: EntryId) -> Result<Vec<Alternative>> {
    let pos = locate(rows, loaded, id)?;
    let alternatives = loaded.conversation.alternatives(&loaded.records(rows), pos)?;
    let lines = alternatives.into_iter().map(|pos| {
        Ok(Alternative { current: loaded.conversation.is_on_path(pos), line: line(rows, loaded, pos)? })
    });
    lines.collect()
}

/// The plan of an action.
pub(super) fn plan(rows: &dyn Rows, loaded: &Loaded, action: Action) -> Result<Planned> {
    let commit = decide(rows, loaded, &undecided(action))?;
    let plan = loaded.conversation.plan(&loaded.records(rows), &commit)?;
    let lines = |part: &Path| {
        part.positions().take(PLAN_LINES).map(|pos| any_line(rows, loaded, pos)).collect::<Result<Vec<_>>>()
    };
    let composer = plan.composer.map(|pos| rows.entry(loaded.key(pos)?)).transpose()?;
    let covers = commit.ops.iter().find_map(|op| match (&op.reason, &op.change) {
        (Reason::Fold | Reason::AutoFold, Change::Fold(fold)) => Some(fold.covers.clone()),
        _ => None,
    });
    let covers = covers.unwrap_or_default();
    Ok(Planned {
        ops: commit.ops.len(),
        steps: super::marked::steps(rows, loaded, &commit.ops)?,
        unchanged: commit.is_empty(),
        gone: lines(&plan.gone)?,
        came: lines(&plan.came)?,
        covers: lines(&covers)?,
        covered: covers.len(),
        composer: composer.map(|entry| (entry.meta.id, entry.parts)),
        facts: memory::changed(rows, loaded, || {
            let conversation = loaded.conversation.after(&loaded.records(rows), &commit)?;
            Ok([loaded.clone(), Loaded { conversation, ..loaded.clone() }])
        })?,
        effects: super::tool_turns::along(rows, loaded, &plan.gone, usize::MAX)?,
        changes: super::files::has_changes(rows, loaded)?,
        unanswered: super::calls_without_result::along(rows, loaded, &plan.gone)?,
        plan,
    })
}

/// Operations, newest first.
pub(super) fn ops(rows: &dyn Rows, loaded: &Loaded, range: OpRange) -> Result<OpPage> {
    let undone = loaded.conversation.history.undone;
    let next = loaded.conversation.next_undo(&loaded.records(rows))?;
    let last = range.before.map_or(loaded.conversation.head.op, |before| OpNo(before.0.saturating_sub(1)));
    let first = OpNo((last.0 + 1).saturating_sub(range.limit as u64).max(1));
    let mut ops = rows.ops(loaded.row.log, first, last)?;
    ops.reverse();
    let ops = ops.into_iter().map(|op| {
        Ok(OpLine {
            before: Head { op: OpNo(op.no.0 - 1), seq: op.at },
            undo_next: next == Some(retake_core::Step::Op(op.no)),
            redo_next: undone == Some(op.no),
            aim: super::marked::aim(rows, loaded, &op)?,
            op,
        })
    });
    Ok(OpPage { ops: ops.collect::<Result<_>>()?, more: first.0 > 1 })
}

/// A conversation's summary.
pub(super) fn summary(rows: &dyn Rows, loaded: &Loaded) -> Result<Summary> {
    let conversation = &loaded.conversation;
    let row = &loaded.row;
    let records = loaded.records(rows);
    let parent = row.parent.map(|parent| Ok::<_, StoreError>((rows.log(parent.log)?.id, parent.head)));
    let tip = conversation.state.tip.map(|tip| records.meta(tip).map(|meta| meta.id)).transpose()?;
    let step = |step| super::marked::next_step(rows, loaded, step);
    let redo = conversation.history.undone.map(|no| records.op(no)).transpose()?;
    let redo =
        redo.and_then(|op| if let retake_core::Reason::Undo(step) = op.reason { Some(step) } else { None });
    Ok(Summary {
        id: row.id,
        title: conversation.state.title().map(str::to_owned),
        preview: first_message(rows, loaded)?,
        folder: row.folder.clone(),
        parent: parent.transpose()?,
        own: own_message(rows, loaded)?,
        created: row.created,
        changed: row.now.changed,
        head: conversation.head,
        revision: conversation.revision,
        tip,
        counts: conversation.counters(&records)?,
        steps: Steps {
            rewinds: row.now.rewinds,
            undo: conversation.next_undo(&records)?.map(step).transpose()?,
            redo: redo.map(step).transpose()?,
        },
        read_only: match conversation.unknown.clone() {
            Some((op, kind)) => Some(ReadOnly::NewerOperation(op, kind)),
            None => caller(rows, row)?.map(ReadOnly::Subagent),
        },
        archived: row.now.archived,
    })
}

/// The call that started a subagent.
pub(super) fn caller(rows: &dyn Rows, row: &ConversationRow) -> Result<Option<Caller>> {
    let Some(CallerRow { answer, call }) = &row.caller else { return Ok(None) };
    let (conversation, entry) = (rows.log(answer.log)?.id, rows.meta(*answer)?.id);
    Ok(Some(Caller { conversation, entry, call: call.clone() }))
}

/// The first visible message of a person, among the first entries of the timeline.
fn first_message(rows: &dyn Rows, loaded: &Loaded) -> Result<String> {
    let first = first_in(rows, loaded, &loaded.conversation.scheduling())?;
    Ok(first.map(|line| line.preview).unwrap_or_default())
}

/// The same within a fork's own entries.
fn own_message(rows: &dyn Rows, loaded: &Loaded) -> Result<Option<String>> {
    if loaded.row.parent.is_none() {
        return Ok(None);
    }
    let depth = loaded.conversation.tree.depth();
    let visible = loaded.conversation.scheduling();
    let own = visible.spans().iter().filter(|span| span.depth == depth).copied();
    Ok(first_in(rows, loaded, &Path::from_spans(own))?.map(|line| line.preview))
}

/// A conversation's name in a hit: its title, else the first message in a fork itself, else its first message.
pub(super) fn called(rows: &dyn Rows, loaded: &Loaded) -> Result<String> {
    if let Some(title) = loaded.conversation.state.title() {
        return Ok(title.to_owned());
    }
    own_message(rows, loaded)?.map_or_else(|| first_message(rows, loaded), Ok)
}

/// The first message of a person, among the first entries of a path.
pub(super) fn first_in(rows: &dyn Rows, loaded: &Loaded, path: &Path) -> Result<Option<EntryLine>> {
    for span in take(path, PREVIEW_SEARCH, false).spans() {
        let log = loaded.key(span.first())?.log;
        for entry in rows.entries(log, span.from, span.to)?.into_iter().flatten() {
            if entry.meta.role == Role::User && !entry.meta.flags.synthetic {
                return Ok(Some(line_of(Pos::new(span.depth, entry.meta.pos.seq), entry)));
            }
        }
    }
    Ok(None)
}

/// The summaries of a page. A damaged conversation is shown as such, and the others are not affected.
pub(super) fn summaries(rows: &dyn Rows, page: Vec<ConversationRow>) -> Result<Vec<Summary>> {
    let summaries = page.into_iter().map(|row| {
        let read = load(rows, row.clone()).and_then(|loaded| summary(rows, &loaded));
        match read {
            Err(error @ (StoreError::Damaged { .. } | StoreError::MissingOperation(_))) => {
                Ok(damaged(&row, &error))
            }
            read => read,
        }
    });
    summaries.collect()
}

/// The summary of a conversation whose rows cannot be read.
fn damaged(row: &ConversationRow, error: &StoreError) -> Summary {
    Summary {
        id: row.id,
        title: None,
        preview: format!("[{error}]"),
        folder: row.folder.clone(),
        parent: None,
        own: None,
        created: row.created,
        changed: row.now.changed,
        head: row.now.head,
        revision: row.now.revision,
        tip: None,
        counts: Totals::default(),
        steps: Steps { rewinds: row.now.rewinds, ..Steps::default() },
        read_only: Some(ReadOnly::Damaged(error.to_string())),
        archived: row.now.archived,
    }
}

/// The content of an entry if it may be shown: hidden or dropped text does not come back.
pub(super) fn composed(rows: &dyn Rows, loaded: &Loaded, id: EntryId) -> Result<Option<Vec<Part>>> {
    let pos = locate(rows, loaded, id)?;
    let is_visible = loaded.conversation.mark(pos).is_visible();
    Ok(if is_visible { Some(rows.entry(loaded.key(pos)?)?.parts) } else { None })
}

/// The content of an entry that is visible in this state, or on another branch.
pub(super) fn content(rows: &dyn Rows, loaded: &Loaded, id: EntryId) -> Result<Vec<Part>> {
    let pos = locate(rows, loaded, id)?;
    match loaded.conversation.mark(pos) {
        mark if mark.is_visible() => {
            let mut parts = rows.entry(loaded.key(pos)?)?.parts;
            memory::fill(rows, [&mut parts])?;
            Ok(parts)
        }
        mark => Err(retake_core::Refusal::NotVisible(mark).into()),
    }
}
