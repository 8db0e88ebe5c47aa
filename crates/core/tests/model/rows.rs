//! The rows of conversations in memory, as plain lists, without indexes or decisions.

use retake_core::{
    Conversation, Entry, FoldId, Head, LogSegment, Meta, OpNo, Operation, Part, Path, Pos, Reason, Records,
    Refusal, Revision, Span, Totals, Tree,
};

/// The code of a refusal, or `unknown` for an entry of another conversation or none.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Word(pub(super) &'static str);

impl From<Refusal> for Word {
    fn from(refusal: Refusal) -> Self {
        assert!(!refusal.to_string().is_empty());
        Self(refusal.code())
    }
}

/// A conversation in core's form, and its rows.
pub(super) struct Log {
    /// Its state before any entry of its own log.
    pub(super) first: Conversation,
    pub(super) now: Conversation,
    pub(super) entries: Vec<Entry>,
    pub(super) ops: Vec<Operation>,
    /// The index of the parent of a fork.
    pub(super) parent: Option<usize>,
}

impl Log {
    pub(super) fn new(first: Conversation, parent: Option<usize>) -> Self {
        Self { now: first.clone(), first, entries: Vec::new(), ops: Vec::new(), parent }
    }

    /// The tree made from the rows, with the start of each stretch found by comparison.
    fn tree(&self) -> Tree {
        let (depth, mut stretches) = (self.first.tree.depth(), Vec::new());
        for (at, entry) in self.entries.iter().enumerate() {
            let Meta { pos, after, flags, .. } = entry.meta;
            let before = at.checked_sub(1).map(|at| &self.entries[at].meta);
            let goes_on = before.is_some_and(|before| after == Some(before.pos) && !before.flags.detached);
            if !goes_on || flags.detached {
                stretches.push(LogSegment { start: pos.seq, after, detached: flags.detached });
            }
        }
        Tree::from_stretches(depth, self.first.tree.base().clone(), stretches, self.entries.len() as u64)
    }
}

/// The rows that one conversation reads.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a> {
    pub(super) logs: &'a [Log],
    pub(super) at: usize,
}

impl<'a> Rows<'a> {
    /// The log at a depth of the lineage.
    fn log(self, depth: u32) -> &'a Log {
        let mut log = &self.logs[self.at];
        while log.first.tree.depth() > depth {
            log = &self.logs[log.parent.expect("a fork has a parent")];
        }
        log
    }

    pub(super) fn entry(self, pos: Pos) -> &'a Entry {
        &self.log(pos.depth).entries[usize::try_from(pos.seq - 1).expect("a number of an entry")]
    }

    /// The number of rewinds of the conversation.
    pub(super) fn rewinds(self) -> u64 {
        let ops = self.logs[self.at].ops.iter();
        ops.filter(|op| op.reason == Reason::Rewind).count() as u64
    }

    /// The conversation at a head, read from the rows. Its tree is the present one.
    pub(super) fn load(self, head: Head) -> Conversation {
        let log = &self.logs[self.at];
        let mut loaded = Conversation { tree: log.tree(), head: log.now.head, ..log.first.clone() };
        loaded.head = loaded.head_of(&self, head).expect("a head");
        let ops = &log.ops[..usize::try_from(head.op.0).expect("a number of an operation")];
        let entries = &log.entries[..usize::try_from(head.seq.0).expect("a number of an entry")];
        ops.iter().for_each(|op| loaded.state.follow(op));
        let tip = loaded.tip_at(&self, head).expect("a tip");
        loaded.state.tip = tip;
        loaded.totals = tip.map_or(Totals::default(), |tip| self.entry(tip).meta.totals);
        loaded.history = std::sync::Arc::new(loaded.history_at(&self, head.seq.0).expect("an undo history"));
        let by_op = ops.last().map_or(Revision(1), |op| op.revision);
        let by_say = entries.last().map_or(Revision(1), |entry| entry.meta.revision);
        loaded.revision = by_op.max(by_say);
        loaded
    }

    /// The ids of the entries in a part of a path.
    pub(super) fn ids(self, part: &Path) -> Vec<retake_core::EntryId> {
        part.positions().map(|pos| self.entry(pos).meta.id).collect()
    }
}

impl Records for Rows<'_> {
    type Error = Word;

    fn meta(&self, pos: Pos) -> Result<Meta, Word> {
        Ok(self.entry(pos).meta.clone())
    }

    fn parts(&self, pos: Pos) -> Result<Vec<Part>, Word> {
        Ok(self.entry(pos).parts.clone())
    }

    fn op(&self, no: OpNo) -> Result<Operation, Word> {
        let at = usize::try_from(no.0 - 1).expect("a number of an operation");
        Ok(self.logs[self.at].ops[at].clone())
    }

    fn summary(&self, fold: FoldId) -> Result<Option<String>, Word> {
        let op = self.log(fold.depth).ops.iter().find(|op| op.no == fold.op);
        Ok(op.expect("the fold's operation").summary.clone())
    }

    fn last_opener(&self, span: Span) -> Result<Option<Pos>, Word> {
        let opener = |meta: &Meta| span.contains(meta.pos) && meta.opens_turn();
        let log = self.log(span.depth).entries.iter().rev().map(|entry| &entry.meta);
        Ok(log.into_iter().find(|meta| opener(meta)).map(|meta| meta.pos))
    }

    fn atoms(&self, span: Span) -> Result<Vec<(Pos, Pos)>, Word> {
        let depths = 0..=self.logs[self.at].first.tree.depth();
        let all = depths.flat_map(|depth| &self.log(depth).entries);
        let atoms = all.filter_map(|entry| Some((entry.meta.answers?, entry.meta.pos)));
        Ok(atoms.filter(|(call, result)| span.contains(*call) || span.contains(*result)).collect())
    }
}
