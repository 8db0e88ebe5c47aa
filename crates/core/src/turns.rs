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
    /// Its own entries, those that are visible.
    pub own: Path,
    /// What they come to.
    pub holds: Totals,
}

/// The end of a turn, put together from its last entry on.
#[derive(Default)]
struct TurnEnd {
    /// The last one first.
    spans: Vec<Span>,
    totals: Totals,
}

impl TurnEnd {
    fn put_before(&mut self, span: Span, totals: Totals) {
        self.spans.push(span);
        self.totals = self.totals.plus(totals);
    }
}

/// The first entry of a span that opens a turn. O(log entries).
fn first_opener<R: Records>(records: &R, span: Span) -> Result<Option<u64>, R::Error> {
    let meta = |seq| records.meta(Pos::new(span.depth, seq));
    let first = meta(span.from)?;
    if first.opens_turn() {
        return Ok(Some(span.from));
    }
    let has_opened = |seq| meta(seq).map(|meta| meta.totals.turns > first.totals.turns);
    if !has_opened(span.to)? {
        return Ok(None);
    }
    let (mut low, mut high) = (span.from, span.to);
    while low < high {
        let middle = low + (high - low) / 2;
        if has_opened(middle)? { high = middle } else { low = middle + 1 }
    }
    Ok(Some(low))
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
        let (mut sum, mut turn) = (Totals::default(), TurnEnd::default());
        let mut start = visible.clone();
        if let Some(before) = before {
            start = visible.up_to(visible.before(before));
            let rest = path.behind(path.before(before));
            sum = self.visible_totals(records, &rest)?;
            self.begun_before(records, &self.visible(&rest), &mut turn)?;
        }
        let mut targets = Vec::new();
        for span in start.spans().iter().rev() {
            let mut rest = Some(*span);
            let mut last = self.totals_at(records, Some(span.last()))?;
            while let Some(span) = rest {
                if targets.len() == limit {
                    return Ok(targets);
                }
                let opener = records.last_opener(span)?;
                let meta = records.meta(opener.unwrap_or(span.first()))?;
                let earlier = meta.totals.minus(meta.own_totals());
                let totals = last.minus(earlier);
                (sum, last) = (sum.plus(totals), earlier);
                turn.put_before(Span::new(span.depth, meta.pos.seq, span.to), totals);
                rest = (meta.pos.seq > span.from).then(|| Span::new(span.depth, span.from, meta.pos.seq - 1));
                if opener.is_some() {
                    let TurnEnd { spans, totals: holds } = std::mem::take(&mut turn);
                    let own = Path::from_spans(spans.into_iter().rev());
                    targets.push(Target { number: meta.totals.turns, takes_back: sum, own, holds, meta });
                }
            }
        }
        Ok(targets)
    }

    /// What of the visible entries belongs to a turn that was opened before them: those before the first opener.
    fn begun_before<R: Records>(
        &self,
        records: &R,
        visible: &Path,
        turn: &mut TurnEnd,
    ) -> Result<(), R::Error> {
        for span in visible.spans() {
            let opener = first_opener(records, *span)?;
            let to = opener.map_or(span.to, |opener| opener - 1);
            if to >= span.from {
                let piece = Span::new(span.depth, span.from, to);
                turn.spans.insert(0, piece);
                turn.totals = turn.totals.plus(self.span_totals(records, piece)?);
            }
            if opener.is_some() {
                break;
            }
        }
        Ok(())
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
