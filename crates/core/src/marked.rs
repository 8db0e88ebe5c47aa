//! Marked entries in groups for people: the messages of one turn that were excluded, hidden or dropped together. The only reading
//! with hidden entries, for clients that request just these. Must never be mixed with a projection.

use std::collections::BTreeMap;

use crate::conversation::Conversation;
use crate::entry::Totals;
use crate::id::Pos;
use crate::mark::Mark;
use crate::path::{Path, Span};
use crate::records::Records;

/// Neighbouring entries of one turn on the path with one mark other than `Normal`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marked {
    /// The mark.
    pub mark: Mark,
    /// The number of the turn; 0 before the first.
    pub turn: u64,
    /// The entries.
    pub part: Path,
    /// Their totals.
    pub totals: Totals,
}

/// The same during its assembly, the last entry first.
struct Open {
    mark: Mark,
    turn: u64,
    spans: Vec<Span>,
}

impl Conversation {
    /// The marks that entries of this path have in a later state of the conversation and do not have here: each pair (here, then)
    /// with its number of entries. O(marks).
    pub fn other_marks(&self, later: &Self) -> Vec<((Mark, Mark), u64)> {
        let mut counts = BTreeMap::new();
        for (span, here) in self.state.marks.along(&self.path()) {
            for (piece, then) in later.state.marks.pieces(span) {
                if then != here {
                    *counts.entry((here, then)).or_insert(0) += piece.len();
                }
            }
        }
        counts.into_iter().collect()
    }

    /// The newest `limit` groups of marked entries on the path, newest first; with `before`, only before that entry. Reads what
    /// it shows, and O(spans + marks) of the state.
    pub fn marked<R: Records>(
        &self,
        records: &R,
        before: Option<Pos>,
        limit: usize,
    ) -> Result<Vec<Marked>, R::Error> {
        let mut path = self.path();
        if let Some(before) = before {
            path = path.up_to(path.before(before));
        }
        let mut all = Vec::new();
        let mut open: Option<Open> = None;
        for (span, mark) in self.state.marks.along(&path).into_iter().rev() {
            if mark == Mark::Normal {
                all.extend(open.take());
                continue;
            }
            let mut rest = Some(span);
            while let Some(span) = rest {
                let opener = records.last_opener(span)?.map_or(span.from, |opener| opener.seq);
                let turn = records.meta(span.last())?.totals.turns;
                let piece = Span::new(span.depth, opener, span.to);
                match &mut open {
                    Some(open) if (open.mark, open.turn) == (mark, turn) => open.spans.push(piece),
                    _ => all.extend(open.replace(Open { mark, turn, spans: vec![piece] })),
                }
                if all.len() >= limit {
                    return self.pieces(records, all, limit);
                }
                rest = (opener > span.from).then(|| Span::new(span.depth, span.from, opener - 1));
            }
        }
        all.extend(open);
        self.pieces(records, all, limit)
    }

    fn pieces<R: Records>(&self, records: &R, all: Vec<Open>, limit: usize) -> Result<Vec<Marked>, R::Error> {
        let pieces = all.into_iter().take(limit).map(|Open { mark, turn, spans }| {
            let part = Path::from_spans(spans.into_iter().rev());
            let mut totals = Totals::default();
            for span in part.spans() {
                totals = totals.plus(self.span_totals(records, *span)?);
            }
            Ok(Marked { mark, turn, part, totals })
        });
        pieces.collect()
    }
}
