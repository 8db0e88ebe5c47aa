//! Counters, and turns as rewind targets: newest first, each with the part that a rewind to it would remove.

use crate::conversation::Conversation;
use crate::entry::{Meta, Totals};
use crate::id::Pos;
use crate::path::{Path, Span};
use crate::records::Records;

/// A turn as a rewind target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// The entry that opened it.
    pub meta: Meta,
    /// Number of the turn on its path, from 1. Hiding other turns does not change it.
    pub number: u64,
    /// The totals that a rewind to it removes, itself included; hidden entries do not count.
    pub takes_back: Totals,
    /// Its own visible entries.
    pub own: Path,
    /// Their totals.
    pub holds: Totals,
}

/// The end of a turn, assembled from its last entry on.
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

/// The first entry of a span at whose end this many turns were opened; `last`, its last one, is such an entry. Guesses its place
/// from the lengths of the turns between two known entries, and halves the rest after a wrong guess.
fn opener_within<R: Records>(records: &R, span: Span, last: Meta, number: u64) -> Result<Meta, R::Error> {
    let first = records.meta(span.first())?;
    if first.totals.turns >= number {
        return Ok(first);
    }
    let (mut before, mut found, mut halve) = (first, last, false);
    while before.pos.seq + 1 < found.pos.seq {
        let wide = found.pos.seq - before.pos.seq;
        let middle = if halve { wide / 2 } else { share(wide, &before, &found, number) };
        let mut probe = records.meta(Pos::new(span.depth, before.pos.seq + middle))?;
        // Within the wanted turn, its first entry is known.
        if let Some(opener) = probe.turn.filter(|_| probe.totals.turns == number)
            && opener.depth == span.depth
            && (before.pos.seq + 1..probe.pos.seq).contains(&opener.seq)
        {
            probe = records.meta(opener)?;
        }
        if probe.totals.turns == number && probe.opens_turn() {
            return Ok(probe);
        }
        if probe.totals.turns < number {
            before = probe;
        } else {
            found = probe;
        }
        halve = !halve && found.pos.seq - before.pos.seq > wide / 2;
    }
    Ok(found)
}

/// The distance from `before` to the turn, if all turns up to `found` have equal lengths: at least 1, and less than `wide`.
fn share(wide: u64, before: &Meta, found: &Meta, number: u64) -> u64 {
    let turns = u128::from(found.totals.turns - before.totals.turns);
    let share = u128::from(wide) * u128::from(number - before.totals.turns) / turns.max(1);
    u64::try_from(share).unwrap_or(u64::MAX).clamp(1, wide - 1)
}

impl Conversation {
    /// Totals on the path, without hidden and dropped entries. O(spans + marks on the path).
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

    /// The visible entries that belong to a turn which was opened before them: those before the first opener.
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

    /// The visible entry on the path that opened turn `number`, from 1. Reads O(spans + log entries) entries; few in a span
    /// whose turns have similar lengths, however long it is.
    pub fn turn_opener<R: Records>(&self, records: &R, number: u64) -> Result<Option<Pos>, R::Error> {
        let first = self.first_of(records, &self.path(), number)?;
        let opener = first.filter(|meta| meta.opens_turn() && meta.totals.turns == number);
        Ok(opener.map(|meta| meta.pos).filter(|pos| self.mark(*pos).is_visible()))
    }

    /// All entries of turn `number` on the path, whatever their marks; 0 is the part before the first turn. Reads as much as
    /// [`Self::turn_opener`], twice.
    pub fn turn_part<R: Records>(&self, records: &R, number: u64) -> Result<Path, R::Error> {
        let path = self.path();
        let first = self.first_of(records, &path, number)?;
        let Some(first) = first.filter(|meta| meta.totals.turns == number) else {
            return Ok(Path::default());
        };
        let rest = path.behind(path.before(first.pos));
        let next = self.first_of(records, &path, number.saturating_add(1))?;
        Ok(next.map_or(rest.clone(), |next| rest.up_to(path.before(next.pos))))
    }

    /// The first entry of the path at which this many turns were opened.
    fn first_of<R: Records>(&self, records: &R, path: &Path, number: u64) -> Result<Option<Meta>, R::Error> {
        for span in path.spans() {
            let last = records.meta(span.last())?;
            if last.totals.turns >= number {
                return opener_within(records, *span, last, number).map(Some);
            }
        }
        Ok(None)
    }

    /// Totals of consecutive entries of the path.
    pub(crate) fn span_totals<R: Records>(&self, records: &R, span: Span) -> Result<Totals, R::Error> {
        let first = records.meta(span.first())?;
        let last = self.totals_at(records, Some(span.last()))?;
        Ok(last.minus(first.totals).plus(first.own_totals()))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::{Target, opener_within};
    use crate::content::{Part, Role};
    use crate::entry::{Flags, Meta, Totals};
    use crate::id::{EntryId, OpNo, Pos, Revision, Time};
    use crate::op::Operation;
    use crate::path::Span;
    use crate::records::Records;
    use crate::refusal::Refusal;
    use crate::testing::Log;

    /// Entries of one log, and the number of reads.
    struct Counted(Vec<Meta>, Cell<usize>);

    impl Counted {
        /// Turns of these lengths after some entries without a turn.
        fn new(before: u64, lengths: impl IntoIterator<Item = u64>) -> Self {
            let mut all = Self(Vec::new(), Cell::new(0));
            (0..before).for_each(|_| all.push(None, 0));
            for (turns, length) in (1..).zip(lengths) {
                let opener = Pos::new(0, all.0.len() as u64 + 1);
                (0..length).for_each(|_| all.push(Some(opener), turns));
            }
            all
        }

        fn push(&mut self, turn: Option<Pos>, turns: u64) {
            let seq = self.0.len() as u64 + 1;
            self.0.push(Meta {
                id: EntryId::new(uuid::Uuid::from_u128(seq.into())),
                pos: Pos::new(0, seq),
                after: None,
                turn,
                role: Role::User,
                flags: Flags::default(),
                time: Time(0),
                totals: Totals { messages: seq, calls: 0, turns },
                revision: Revision(1),
                calls: 0,
                answers: None,
            });
        }

        /// The most entries that were read to find one of the turns.
        fn most_read(&self) -> usize {
            let last = self.0.last().expect("an entry");
            let span = Span::new(0, 1, last.pos.seq);
            let read = (1..=last.totals.turns).map(|number| {
                self.1.set(0);
                let found = opener_within(self, span, last.clone(), number).expect("all are there");
                let naive = self.0.iter().find(|meta| meta.totals.turns >= number).expect("one");
                assert_eq!(found, *naive, "turn {number}");
                self.1.get()
            });
            read.max().unwrap_or_default()
        }
    }

    impl Records for Counted {
        type Error = Refusal;

        fn meta(&self, pos: Pos) -> Result<Meta, Refusal> {
            self.1.set(self.1.get() + 1);
            Ok(self.0[pos.seq as usize - 1].clone())
        }

        fn parts(&self, _: Pos) -> Result<Vec<Part>, Refusal> {
            Ok(Vec::new())
        }

        fn op(&self, _: OpNo) -> Result<Operation, Refusal> {
            Err(Refusal::EmptyLabel)
        }

        fn summary(&self, _: crate::fold::FoldId) -> Result<Option<String>, Refusal> {
            Ok(None)
        }

        fn last_opener(&self, _: Span) -> Result<Option<Pos>, Refusal> {
            Ok(None)
        }

        fn atoms(&self, _: Span) -> Result<Vec<(Pos, Pos)>, Refusal> {
            Ok(Vec::new())
        }
    }

    /// The targets of a conversation in words: number, opener, removed totals, own entries and their totals.
    fn targets(script: &str, before: Option<u64>, limit: usize) -> String {
        let log = Log::after(script);
        let before = before.map(|seq| Pos::new(log.now.tree.depth(), seq));
        let found = log.now.targets(&log, before, limit).expect("all rows are there");
        let count = |totals: Totals| format!("{}/{}/{}", totals.messages, totals.calls, totals.turns);
        let target = |target: &Target| {
            let (back, own) = (count(target.takes_back), log.part(&target.own));
            format!("t{} {} -{back} {own} ({})", target.number, target.meta.pos.seq, count(target.holds))
        };
        found.iter().map(target).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn turns_are_listed_newest_first_with_what_a_rewind_takes_back() {
        let rows = [
            ("", None, 9, ""),
            ("ua", None, 9, "t1 1 -2/0/1 1-2 (2/0/1)"),
            ("uaucra", None, 9, "t2 3 -4/1/1 3-6 (4/1/1), t1 1 -6/1/2 1-2 (2/0/1)"),
            ("uaucra", None, 1, "t2 3 -4/1/1 3-6 (4/1/1)"),
            ("uaucra", None, 0, ""),
            ("uaucra", Some(3), 9, "t1 1 -6/1/2 1-2 (2/0/1)"),
            ("uaucra", Some(1), 9, ""),
            ("saua", None, 9, "t1 3 -2/0/1 3-4 (2/0/1)"),
            ("uaua; rewind 3; uaa", None, 9, "t2 5 -3/0/1 5-7 (3/0/1), t1 1 -5/0/2 1-2 (2/0/1)"),
            // Hidden entries do not count, and a turn whose opener is hidden is no target.
            ("uaua; hide 4", None, 9, "t2 3 -1/0/1 3 (1/0/1), t1 1 -3/0/2 1-2 (2/0/1)"),
            ("uaua; hide 2", None, 9, "t2 3 -2/0/1 3-4 (2/0/1), t1 1 -3/0/2 1 (1/0/1)"),
            ("uaua; hide 3", None, 9, "t1 1 -3/0/1 1-2 4 (3/0/1)"),
            ("uaua; hide 3", Some(3), 9, "t1 1 -3/0/1 1-2 4 (3/0/1)"),
            ("uaaua; hide 2; hide 4", Some(4), 9, "t1 1 -3/0/1 1 3 5 (3/0/1)"),
            ("uauaua; hide 3-4", Some(5), 9, "t1 1 -4/0/2 1-2 (2/0/1)"),
            ("uaaua; hide 2", Some(4), 9, "t1 1 -4/0/2 1 3 (2/0/1)"),
            ("uaua; fork 4; ua", None, 2, "t3 1 -2/0/1 1-2 (2/0/1), t2 3 -4/0/2 0:3-4 (2/0/1)"),
            ("uau; fork 3; aua", Some(2), 1, "t2 3 -4/0/2 0:3 1 (2/0/1)"),
        ];
        let found = rows.map(|(script, before, limit, _)| (script, targets(script, before, limit)));
        assert_eq!(found, rows.map(|(script, _, _, text)| (script, text.to_owned())));
    }

    #[test]
    fn a_page_of_turns_goes_on_where_the_one_before_it_ended() {
        for script in [
            "uauauaua",
            "uaaaaaaauaaaaaauaaa; hide 2-4; hide 11",
            "ucrcrcruaaaucra; exclude 3; hide 9",
            "uaaaaaaaaaauaaaa; fork 14; aaaauaaa; hide 0:5; hide 3",
        ] {
            let log = Log::after(script);
            let all = log.now.targets(&log, None, usize::MAX).expect("all rows are there");
            for (at, target) in all.iter().enumerate() {
                let before = Some(target.meta.pos);
                let rest = log.now.targets(&log, before, usize::MAX).expect("all rows are there");
                assert_eq!(rest, all[at + 1..], "{script}: before {before:?}");
            }
        }
    }

    #[test]
    fn entries_after_a_hidden_first_message_belong_to_the_turn_before() {
        // The third turn begins anywhere after the second one, whose opener is hidden.
        for length in 1..12 {
            let answers = "a".repeat(length);
            let script = format!("ua; u{answers}; uaa; hide 3");
            let found = targets(&script, Some(3), 9);
            let (last, holds) = (3 + length, 2 + length);
            let own = if length == 1 { "4".to_owned() } else { format!("4-{last}") };
            assert_eq!(found, format!("t1 1 -{}/0/2 1-2 {own} ({holds}/0/1)", holds + 3), "{script}");
        }
    }

    #[test]
    fn a_turn_is_named_by_its_number_on_the_path() {
        for (script, number, opener, part) in [
            ("uaua", 1, Some(1), "1-2"),
            ("uaua", 2, Some(3), "3-4"),
            ("uaua", 3, None, ""),
            ("uaua", 0, None, ""),
            ("saua", 0, None, "1-2"),
            ("saua", 1, Some(3), "3-4"),
            ("uaua; rewind 3; uaua", 2, Some(5), "5-6"),
            ("uaua; rewind 4; aua", 2, Some(3), "3 5"),
            // Hidden turns keep their number, and their number names nothing.
            ("uaua; hide 1", 1, None, "1-2"),
            ("uaua; hide 1", 2, Some(3), "3-4"),
            ("uaua; exclude 1", 1, Some(1), "1-2"),
            ("uaua", u64::MAX, None, ""),
        ] {
            let log = Log::after(script);
            let found = log.now.turn_opener(&log, number).expect("all rows are there");
            assert_eq!(found.map(|pos| pos.seq), opener, "{script}: t{number}");
            let whole = log.now.turn_part(&log, number).expect("all rows are there");
            assert_eq!(log.part(&whole), part, "{script}: t{number}");
        }
    }

    #[test]
    fn counters_leave_out_what_nobody_sees() {
        for (script, messages, calls, turns) in [
            ("", 0, 0, 0),
            ("uaucra", 6, 1, 2),
            ("uaucra; hide 3", 5, 1, 1),
            ("uaucra; hide 4", 4, 0, 2),
            ("uaucra; exclude 4", 6, 1, 2),
            ("uaucra; drop 1-2", 4, 1, 1),
            ("uaucra; hide 1; rewind 6", 4, 1, 1),
            ("uaucra; fork 3; a", 4, 0, 2),
        ] {
            let log = Log::after(script);
            assert_eq!(log.now.counters(&log), Ok(Totals { messages, calls, turns }), "{script}");
        }
    }

    #[test]
    fn turn_is_found_in_as_few_reads_among_many_turns_as_among_few() {
        for turns in [20, 2_000] {
            assert!(Counted::new(0, vec![2; turns]).most_read() <= 2, "question and answer");
            let uneven = (0..turns as u64).map(|turn| 1 + turn * 7 % 5);
            assert!(Counted::new(3, uneven).most_read() <= 6, "answers with calls");
        }
    }

    #[test]
    fn turn_is_found_in_few_reads_among_turns_of_uneven_lengths() {
        let long_one = (0..400).map(|turn| if turn == 100 { 5_000 } else { 1 });
        let ever_longer = (1..150).map(|turn| 1 + turn * turn / 100);
        for strange in [Counted::new(900, long_one), Counted::new(0, ever_longer), Counted::new(0, [1])] {
            let halvings = strange.0.len().ilog2() as usize + 1;
            assert!(strange.most_read() <= 3 * halvings + 2, "{} readings", strange.most_read());
        }
    }
}
