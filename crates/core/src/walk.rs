//! A walk back along a branch that reads rows in growing batches. Must never read a row for each entry of a long turn.

use crate::conversation::Conversation;
use crate::entry::Meta;
use crate::id::Pos;
use crate::path::Span;
use crate::records::Records;
use crate::tree::Tree;

/// The largest batch.
const MOST: u64 = 64;

/// Entries of a branch from one of them back to its beginning.
pub(crate) struct WalkBack<'a, R> {
    tree: &'a Tree,
    records: &'a R,
    next: Option<Pos>,
    /// The entries that were read, oldest first: neighbours in the log, some of which may be on other branches.
    batch: Vec<Meta>,
    size: u64,
}

impl Conversation {
    /// The branch that ends with `from`, newest first.
    pub(crate) fn walk_back<'a, R: Records>(&'a self, records: &'a R, from: Option<Pos>) -> WalkBack<'a, R> {
        WalkBack { tree: &self.tree, records, next: from, batch: Vec::new(), size: 1 }
    }
}

impl<R: Records> WalkBack<'_, R> {
    /// The next entry, if there is one.
    pub(crate) fn step(&mut self) -> Result<Option<Meta>, R::Error> {
        let Some(pos) = self.next else { return Ok(None) };
        while self.batch.last().is_some_and(|meta| meta.pos > pos) {
            self.batch.pop();
        }
        let meta = match self.batch.pop().filter(|meta| meta.pos == pos) {
            Some(meta) => meta,
            None => self.read(pos)?,
        };
        self.next = self.tree.after(pos);
        Ok(Some(meta))
    }

    fn read(&mut self, pos: Pos) -> Result<Meta, R::Error> {
        let from = (pos.seq + 1).saturating_sub(self.size).max(1);
        self.size = (self.size * 2).min(MOST);
        self.batch = match from == pos.seq {
            true => Vec::new(),
            // A damaged neighbour must not fail the walk.
            false => self.records.metas(Span { depth: pos.depth, from, to: pos.seq }).unwrap_or_default(),
        };
        match self.batch.pop().filter(|meta| meta.pos == pos) {
            Some(meta) => Ok(meta),
            None => {
                self.batch.clear();
                self.records.meta(pos)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::content::{Part, Role};
    use crate::entry::{Flags, Totals};
    use crate::fold::FoldId;
    use crate::id::{ConversationId, EntryId, OpNo, Revision, Time};
    use crate::op::Operation;
    use crate::path::Path;
    use crate::refusal::Refusal;
    use crate::tree::LogSegment;

    /// Counts reads.
    struct Counted(Cell<u64>);

    fn meta(pos: Pos) -> Meta {
        Meta {
            id: EntryId::new(uuid::Uuid::from_u128(u128::from(pos.seq))),
            pos,
            after: None,
            turn: None,
            role: Role::Assistant,
            flags: Flags::default(),
            time: Time(0),
            totals: Totals::default(),
            revision: Revision(1),
            calls: 0,
            answers: None,
        }
    }

    impl Records for Counted {
        type Error = Refusal;

        fn meta(&self, pos: Pos) -> Result<Meta, Refusal> {
            self.0.set(self.0.get() + 1);
            Ok(meta(pos))
        }

        fn metas(&self, span: Span) -> Result<Vec<Meta>, Refusal> {
            self.0.set(self.0.get() + 1);
            Ok((span.from..=span.to).map(|seq| meta(Pos::new(span.depth, seq))).collect())
        }

        fn parts(&self, _: Pos) -> Result<Vec<Part>, Refusal> {
            Ok(Vec::new())
        }

        fn op(&self, _: OpNo) -> Result<Operation, Refusal> {
            Err(Refusal::EmptyLabel)
        }

        fn summary(&self, _: FoldId) -> Result<Option<String>, Refusal> {
            Ok(None)
        }

        fn last_opener(&self, _: Span) -> Result<Option<Pos>, Refusal> {
            Ok(None)
        }

        fn atoms(&self, _: Span) -> Result<Vec<(Pos, Pos)>, Refusal> {
            Ok(Vec::new())
        }
    }

    /// Entries 1 to 600, and 601 to 1,000 after 500.
    fn branched() -> Conversation {
        let mut conversation = Conversation::new(ConversationId::new(uuid::Uuid::from_u128(1)));
        let stretches = vec![
            LogSegment { start: 1, after: None, detached: false },
            LogSegment { start: 601, after: Some(Pos::new(0, 500)), detached: false },
        ];
        conversation.tree = Tree::from_stretches(0, Path::default(), stretches, 1000);
        conversation
    }

    #[test]
    fn walk_back_reads_a_thousand_entries_in_few_batches_and_no_other_branch() {
        let (conversation, records) = (branched(), Counted(Cell::new(0)));
        let mut walk = conversation.walk_back(&records, Some(Pos::new(0, 1000)));
        let mut found = Vec::new();
        while let Some(meta) = walk.step().expect("all are there") {
            found.push(meta.pos.seq);
        }
        assert_eq!(found, (1..=500).chain(601..=1000).rev().collect::<Vec<_>>());
        assert!(records.0.get() <= 24, "{} reads", records.0.get());
    }

    #[test]
    fn walk_back_reads_one_row_where_the_first_entry_is_enough() {
        let (conversation, records) = (branched(), Counted(Cell::new(0)));
        let mut walk = conversation.walk_back(&records, Some(Pos::new(0, 1000)));
        assert_eq!(walk.step().expect("it is there").map(|meta| meta.pos.seq), Some(1000));
        assert_eq!(records.0.get(), 1);
        assert_eq!(conversation.walk_back(&records, None).step(), Ok(None));
    }
}
