//! Counters, and turns as rewind targets: newest first, each with what going back to it would take back.

use crate::conversation::Conversation;
use crate::entry::{Meta, Totals};
use crate::id::Pos;
use crate::path::{Path, Span};
use crate::records::Records;

/// A turn that one can go back to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The entry that opened it.
    pub meta: Meta,
    /// Number of the turn on its path, from 1. Hiding other turns does not change it.
    pub number: u64,
    /// What a rewind to it takes back, itself included; hidden entries don't count.
    pub takes_back: Totals,
}

impl Conversation {
    /// Totals on the path, without what is hidden or dropped. O(spans + marks on the path).
    pub fn counters<R: Records>(&self, records: &R) -> Result<Totals, R::Error> {
        self.visible_totals(records, &self.path())
    }

    /// Totals of the visible entries of a part of a path.
    pub fn visible_totals<R: Records>(&self, records: &R, part: &Path) -> Result<Totals, R::Error> {
        let mut sum = Totals::default();
        let visible = self.state.marks.along(part).into_iter().filter(|(_, mark)| mark.is_visible());
        for span in Path::from_spans(visible.map(|(span, _)| span)).spans() {
            sum = sum.plus(self.span_totals(records, *span)?);
        }
        Ok(sum)
    }

    /// The newest `limit` turns of the timeline before `before` (all, without it), newest first. Reads what it
    /// shows, not the conversation.
    pub fn targets<R: Records>(
        &self,
        records: &R,
        before: Option<Pos>,
        limit: usize,
    ) -> Result<Vec<Target>, R::Error> {
        let path = self.path();
        let visible = self.visible(&path);
        let start = before.map_or(visible.clone(), |before| visible.up_to(visible.before(before)));
        let mut sum = match before {
            Some(before) => self.visible_totals(records, &path.behind(path.before(before)))?,
            None => Totals::default(),
        };
        let mut targets = Vec::new();
        for span in start.spans().iter().rev() {
            let mut rest = Some(*span);
            while let Some(span) = rest {
                if targets.len() == limit {
                    return Ok(targets);
                }
                let opener = records.last_opener(span)?;
                let from = opener.unwrap_or(span.first());
                sum = sum.plus(self.span_totals(records, Span::new(span.depth, from.seq, span.to))?);
                if let Some(opener) = opener {
                    let meta = records.meta(opener)?;
                    targets.push(Target { number: meta.totals.turns, takes_back: sum, meta });
                }
                rest = opener
                    .filter(|opener| opener.seq > span.from)
                    .map(|opener| Span::new(span.depth, span.from, opener.seq - 1));
            }
        }
        Ok(targets)
    }

    /// The visible entry on the path that opened turn `number`, from 1. O(spans + log entries).
    pub fn turn_opener<R: Records>(&self, records: &R, number: u64) -> Result<Option<Pos>, R::Error> {
        for span in self.path().spans() {
            let (mut low, mut high) = (span.from, span.to + 1);
            while low < high {
                let middle = low + (high - low) / 2;
                if records.meta(Pos::new(span.depth, middle))?.totals.turns < number {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            if low <= span.to {
                let opener = records.meta(Pos::new(span.depth, low))?;
                let found = opener.opens_turn() && opener.totals.turns == number;
                return Ok((found && self.mark(opener.pos).is_visible()).then_some(opener.pos));
            }
        }
        Ok(None)
    }

    /// Totals of consecutive entries of the path.
    fn span_totals<R: Records>(&self, records: &R, span: Span) -> Result<Totals, R::Error> {
        let first = records.meta(span.first())?;
        let last = self.totals_at(records, Some(span.last()))?;
        Ok(last.minus(first.totals).plus(first.own_totals()))
    }
}
