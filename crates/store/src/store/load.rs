//! Loads a conversation from its rows, now or at an earlier head. O(stretches + marks + folds + changes since the
//! last full state).

use std::sync::Arc;

use retake_core::{
    Change, Conversation, FoldId, Head, Meta, OpNo, Operation, Part, Pos, Records, Span, State, Totals, Tree,
};

use crate::error::{Result, StoreError};
use crate::rows::{ConversationRow, Key, LogNo, ParentRow, Rows};

/// A conversation in memory, with the places of its rows.
#[derive(Clone, Debug)]
pub(crate) struct Loaded {
    /// Its row.
    pub(crate) row: ConversationRow,
    /// The logs of its lineage: the root's first, its own last.
    pub(crate) lineage: Arc<Vec<LogNo>>,
    /// Its state in core.
    pub(crate) conversation: Conversation,
}

impl Loaded {
    /// The row of a position.
    pub(crate) fn key(&self, pos: Pos) -> Result<Key> {
        let log = self.lineage.get(pos.depth as usize).copied();
        let log = log.ok_or_else(|| StoreError::Damaged {
            row: format!("conversation {}", self.row.id),
            why: format!("it has no ancestor at depth {}", pos.depth),
        })?;
        Ok(Key { log, seq: pos.seq })
    }

    /// The position of a row, if this conversation can know it.
    pub(crate) fn pos(&self, key: Key) -> Option<Pos> {
        let depth = self.lineage.iter().position(|log| *log == key.log)?;
        let pos = Pos::new(u32::try_from(depth).ok()?, key.seq);
        self.conversation.tree.knows(pos).then_some(pos)
    }

    /// Its rows, in the form for core.
    pub(crate) fn records<'a>(&'a self, rows: &'a dyn Rows) -> View<'a> {
        View { rows, loaded: self }
    }
}

/// The rows of one conversation, in the form for core.
pub(crate) struct View<'a> {
    rows: &'a dyn Rows,
    loaded: &'a Loaded,
}

impl Records for View<'_> {
    type Error = StoreError;

    fn meta(&self, pos: Pos) -> Result<Meta> {
        self.rows.meta(self.loaded.key(pos)?).map(|meta| Meta { pos, ..meta })
    }

    fn metas(&self, span: Span) -> Result<Vec<Meta>> {
        let metas = self.rows.metas(self.loaded.key(span.first())?.log, span.from, span.to)?;
        let placed = metas.into_iter().map(|meta| Meta { pos: Pos::new(span.depth, meta.pos.seq), ..meta });
        Ok(placed.collect())
    }

    fn parts(&self, pos: Pos) -> Result<Vec<Part>> {
        self.rows.entry(self.loaded.key(pos)?).map(|entry| entry.parts)
    }

    fn op(&self, no: OpNo) -> Result<Operation> {
        self.rows.op(self.loaded.row.log, no)
    }

    fn summary(&self, fold: FoldId) -> Result<Option<String>> {
        let log = self.loaded.lineage.get(fold.depth as usize).copied().unwrap_or(self.loaded.row.log);
        Ok(self.rows.op(log, fold.op)?.summary)
    }

    fn last_opener(&self, span: Span) -> Result<Option<Pos>> {
        let log = self.loaded.key(span.first())?.log;
        let seq = self.rows.last_opener(log, span.from, span.to)?;
        Ok(seq.map(|seq| Pos::new(span.depth, seq)))
    }

    fn atoms(&self, span: Span) -> Result<Vec<(Pos, Pos)>> {
        let log = self.loaded.key(span.first())?.log;
        let inside = self.rows.results_in(log, span.from, span.to)?;
        let mut atoms: Vec<(Pos, Pos)> =
            inside.into_iter().map(|(seq, call)| (call, Pos::new(span.depth, seq))).collect();
        for (depth, log) in (span.depth..).zip(&self.loaded.lineage[span.depth as usize..]) {
            let answers = self.rows.results_for(*log, span.first(), span.last())?;
            atoms.extend(answers.into_iter().map(|(seq, call)| (call, Pos::new(depth, seq))));
        }
        Ok(atoms)
    }
}

/// Loads the current conversation.
pub(crate) fn load(rows: &dyn Rows, row: ConversationRow) -> Result<Loaded> {
    let head = row.now.head;
    load_at(rows, row, head)
}

/// Loads a conversation at `head`. Its tree is the current one: later entries are in it, off the path.
pub(crate) fn load_at(rows: &dyn Rows, row: ConversationRow, head: Head) -> Result<Loaded> {
    let (conversation, lineage) = begin(rows, &row)?;
    finish(rows, row, conversation, lineage, head)
}

/// Loads a new conversation, whose current parent is in memory already.
pub(crate) fn load_new(rows: &dyn Rows, row: ConversationRow, parent: Option<&Loaded>) -> Result<Loaded> {
    let (conversation, lineage) = match (row.parent, parent) {
        (Some(from), Some(parent)) => fork(rows, &row, from, parent)?,
        _ => begin(rows, &row)?,
    };
    let head = row.now.head;
    finish(rows, row, conversation, lineage, head)
}

/// Adds the conversation's own entries and operations, up to `head`, to its base.
fn finish(
    rows: &dyn Rows,
    row: ConversationRow,
    mut conversation: Conversation,
    lineage: Vec<LogNo>,
    head: Head,
) -> Result<Loaded> {
    let depth = conversation.tree.depth();
    let base = conversation.tree.base().clone();
    let (stretches, last) = (rows.stretches(row.log)?, row.now.head.seq.0);
    if stretches.first().map(|stretch| stretch.start) != (last > 0).then_some(1) {
        let why = "its first entries are missing".to_owned();
        return Err(StoreError::Damaged { row: format!("conversation {}", row.id), why });
    }
    conversation.tree = Tree::from_stretches(depth, base, stretches, last);
    conversation.revision = row.now.revision;
    conversation.head = row.now.head;
    let mut loaded = Loaded { lineage: Arc::new(lineage), conversation, row };
    let head = loaded.conversation.head_of(&loaded.records(rows), head)?;
    if head != loaded.row.now.head {
        loaded.conversation.revision = revision_at(rows, &loaded, head)?;
    }
    loaded.conversation.head = head;
    replay(rows, &mut loaded)?;
    let tip = loaded.conversation.tip_at(&loaded.records(rows), head)?;
    let history = loaded.conversation.history_at(&loaded.records(rows), head.seq.0)?;
    let totals =
        tip.map_or(Ok(Totals::default()), |tip| rows.meta(loaded.key(tip)?).map(|meta| meta.totals))?;
    loaded.conversation.state.tip = tip;
    loaded.conversation.history = Arc::new(history);
    loaded.conversation.totals = totals;
    Ok(loaded)
}

/// The conversation before its first own entry, and its lineage.
fn begin(rows: &dyn Rows, row: &ConversationRow) -> Result<(Conversation, Vec<LogNo>)> {
    let Some(from) = row.parent else {
        return Ok((Conversation::new(row.id), vec![row.log]));
    };
    let parent = load_at(rows, rows.log(from.log)?, from.head)?;
    fork(rows, row, from, &parent)
}

/// A fork before its first own entry, and its lineage.
fn fork(
    rows: &dyn Rows,
    row: &ConversationRow,
    from: ParentRow,
    parent: &Loaded,
) -> Result<(Conversation, Vec<LogNo>)> {
    let totals =
        from.tip.map_or(Ok(Totals::default()), |tip| rows.meta(parent.key(tip)?).map(|meta| meta.totals))?;
    let mut lineage = (*parent.lineage).clone();
    lineage.push(row.log);
    Ok((parent.conversation.forked(row.id, from.tip, totals), lineage))
}

/// The revision of a head.
fn revision_at(rows: &dyn Rows, loaded: &Loaded, head: Head) -> Result<retake_core::Revision> {
    let log = loaded.row.log;
    let by_op = if head.op.0 > 0 { rows.op(log, head.op)?.revision } else { retake_core::Revision(1) };
    let by_say = match head.seq.0 {
        0 => by_op,
        seq => rows.meta(Key { log, seq })?.revision,
    };
    Ok(by_op.max(by_say))
}

/// Marks, folds and labels at the conversation's head: the last full state, and the changes since.
fn replay(rows: &dyn Rows, loaded: &mut Loaded) -> Result<()> {
    let log = loaded.row.log;
    let to = loaded.conversation.head.op;
    let mut from = OpNo(1);
    if let Some((op, state)) = rows.state(log, to)? {
        loaded.conversation.state = State { tip: None, ..state };
        from = op.next();
    }
    for op in rows.ops(log, from, to)? {
        if let Change::Unknown { kind } = &op.change {
            loaded.conversation.unknown.get_or_insert((op.no, kind.clone()));
        }
        loaded.conversation.state.follow(&op);
    }
    Ok(())
}
