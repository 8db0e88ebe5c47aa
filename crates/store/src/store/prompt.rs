//! The prompt of a conversation, and what a summary may replace in it: whole entries and earlier summaries, never a call without its
//! result.

use retake_core::{
    ConversationId, Entry, EntryId, Foldable, FoldableRange, Head, Message, OpNo, Part, Path, Pos,
    PromptPiece, PromptSizes, Records as _, Role, Shortening, Span, Usage, WholeResult, parts_weight,
    repaired, summary_message,
};

use super::Store;
use super::decide::locate;
use super::load::Loaded;
use super::memory;
use super::read::line;
use crate::error::{Result, StoreError};
use crate::rows::Rows;

/// How many entries are read at a time: only their messages must be in memory.
const CHUNK: u64 = 1000;

/// The repaired prompt. A damaged entry is left out; the timeline shows it.
pub(super) fn prompt(rows: &dyn Rows, loaded: &Loaded) -> Result<Vec<Message>> {
    Ok(repaired(units(rows, loaded)?.into_iter().map(|unit| unit.message)))
}

/// The same, with old results of tools in a shortened form.
fn shortened_prompt(
    rows: &dyn Rows,
    loaded: &Loaded,
    shortening: &Shortening,
) -> Result<(Vec<Message>, Vec<WholeResult>)> {
    let mut units = units(rows, loaded)?;
    let whole = shorten(rows, loaded, &mut units, shortening)?;
    Ok((repaired(units.into_iter().map(|unit| unit.message)), whole))
}

/// Shortens the results in the old part of the prompt.
fn shorten(
    rows: &dyn Rows,
    loaded: &Loaded,
    units: &mut [Unit],
    shortening: &Shortening,
) -> Result<Vec<WholeResult>> {
    let weight = |unit: &Unit| parts_weight(&unit.message.parts);
    let old = shortening.old(units.iter().map(weight).sum());
    let (mut whole, mut end) = (Vec::new(), 0);
    for unit in units {
        end += weight(unit);
        if end > old {
            break;
        }
        let has_long = unit.message.parts.iter().any(Shortening::is_long);
        if let Some(pos) = unit.covers.first().filter(|_| has_long && !unit.is_summary) {
            let entry = rows.meta(loaded.key(pos)?)?.id;
            whole.extend(shortening.shorten(entry, &mut unit.message));
        }
    }
    Ok(whole)
}

impl Store {
    /// The repaired prompt with old results of tools in a shortened form, now or at an earlier head; and the whole of these results.
    pub async fn shortened_prompt(
        &self,
        conversation: ConversationId,
        at: Option<Head>,
        shortening: Shortening,
    ) -> Result<(Vec<Message>, Vec<WholeResult>)> {
        self.with_at(conversation, at, move |rows, loaded| shortened_prompt(rows, loaded, &shortening)).await
    }

    /// How large the prompt is, by what it consists of.
    pub async fn prompt_sizes(
        &self,
        conversation: ConversationId,
        shortening: Option<Shortening>,
    ) -> Result<PromptSizes> {
        self.with(conversation, move |rows, loaded| sizes(rows, loaded, shortening.as_ref())).await
    }

    /// The parts of the prompt whose summaries only hidden or shown messages put out of force, and which are longer than these summaries.
    pub async fn folds_lifted_by_marks(&self, conversation: ConversationId) -> Result<Vec<FoldableRange>> {
        self.with(conversation, |rows, loaded| {
            let id = |pos| Ok::<_, StoreError>(rows.meta(loaded.key(pos)?)?.id);
            let mut ranges = Vec::new();
            for (fold, first, last) in loaded.conversation.folds_lifted_by_marks() {
                let range = FoldableRange { from: Some(id(first)?), to: Some(id(last)?), keep_bytes: 0 };
                let summary =
                    summary_message(&loaded.records(rows).summary(fold)?.unwrap_or_default()).bytes();
                if foldable(rows, loaded, &range)?.is_some_and(|part| part.bytes > summary) {
                    ranges.push(range);
                }
            }
            Ok(ranges)
        })
        .await
    }

    /// The prompt of another branch, and its first message that this one lacks; `None` if it has no visible one.
    pub async fn branch_prompt(
        &self,
        conversation: ConversationId,
        leaf: EntryId,
    ) -> Result<Option<(Vec<Message>, String)>> {
        self.with(conversation, move |rows, loaded| {
            let tip = locate(rows, loaded, leaf)?;
            let branch = loaded.conversation.on_branch(&loaded.records(rows), tip)?;
            let (here, there) = (loaded.conversation.path(), branch.path());
            let own = branch.visible(&there.behind(here.common_prefix(&there)));
            let Some(first) = own.first() else { return Ok(None) };
            let first = line(rows, loaded, first)?.preview;
            let there = Loaded { conversation: branch, ..loaded.clone() };
            Ok(Some((prompt(rows, &there)?, first)))
        })
        .await
    }

    /// What a summary of this range would replace; `None` if nothing can be replaced.
    pub async fn foldable(
        &self,
        conversation: ConversationId,
        range: FoldableRange,
    ) -> Result<Option<Foldable>> {
        self.with(conversation, move |rows, loaded| foldable(rows, loaded, &range)).await
    }
}

/// An entry or a summary in the prompt.
struct Unit {
    /// The entries.
    covers: Path,
    message: Message,
    /// Whether a summary may begin here by itself: what stands before the first turn stays.
    opens: bool,
    /// Whether it is a summary.
    is_summary: bool,
    /// What its provider counted, of an answer.
    usage: Option<Usage>,
}

impl Unit {
    fn holds(&self, pos: Pos) -> bool {
        self.covers.contains(pos)
    }

    fn bytes(&self) -> usize {
        self.message.bytes()
    }

    fn answers(&self, call: &str) -> bool {
        self.message.parts.iter().filter_map(Part::answered_call).any(|answered| answered == call)
    }
}

fn sizes(rows: &dyn Rows, loaded: &Loaded, shortening: Option<&Shortening>) -> Result<PromptSizes> {
    let mut units = units(rows, loaded)?;
    if let Some(shortening) = shortening {
        shorten(rows, loaded, &mut units, shortening)?;
    }
    let (depth, head) = (loaded.conversation.tree.depth(), loaded.conversation.head);
    let last_op = match head.op {
        OpNo(0) => None,
        no => Some(loaded.records(rows).op(no)?.at),
    };
    let mut sizes = PromptSizes::default();
    for unit in units {
        sizes.add(&unit.message, unit.is_summary);
        if let (Some(usage), Some(pos)) = (unit.usage, unit.covers.first()) {
            let is_current = pos.depth == depth && last_op.is_none_or(|at| at.0 < pos.seq);
            sizes.counts(&unit.message, usage, is_current);
        }
    }
    Ok(sizes)
}

fn foldable(rows: &dyn Rows, loaded: &Loaded, range: &FoldableRange) -> Result<Option<Foldable>> {
    let units = units(rows, loaded)?;
    let at = |id: Option<EntryId>| -> Result<Option<Option<usize>>> {
        let Some(id) = id else { return Ok(None) };
        let pos = locate(rows, loaded, id)?;
        Ok(Some(units.iter().position(|unit| unit.holds(pos))))
    };
    let first = at(range.from)?.unwrap_or_else(|| units.iter().position(|unit| unit.opens));
    let newest = units.len().checked_sub(1 + kept(&units, range.keep_bytes));
    let (Some(mut first), Some(mut last)) = (first, at(range.to)?.unwrap_or(newest)) else {
        return Ok(None);
    };
    if !whole(&units, &mut first, &mut last) {
        return Ok(None);
    }
    let covered = &units[first..=last];
    let covers = Path::from_spans(covered.iter().flat_map(|unit| unit.covers.spans().iter().copied()));
    let (Some(from), Some(to)) = (covers.first(), covers.last()) else { return Ok(None) };
    let bytes = covered.iter().map(Unit::bytes).sum();
    let (from, to) = (rows.meta(loaded.key(from)?)?.id, rows.meta(loaded.key(to)?)?.id);
    let messages = repaired(units.into_iter().take(last + 1).map(|unit| unit.message));
    Ok(Some(Foldable { from, to, covers, bytes, messages }))
}

/// How many of the last units stay: as many as fit, and at least one if any should stay, so that a message is not summarised before it
/// was answered.
fn kept(units: &[Unit], bytes: usize) -> usize {
    let sums = units.iter().rev().scan(0, |sum, unit| {
        *sum += unit.bytes();
        Some(*sum)
    });
    sums.take_while(|sum| *sum <= bytes).count().max(usize::from(bytes > 0))
}

/// Moves the ends so that no call is parted from its result. `false`: nothing is between them.
fn whole(units: &[Unit], first: &mut usize, last: &mut usize) -> bool {
    let mut pairs = Vec::new();
    for (at, unit) in units.iter().enumerate() {
        for call in unit.message.parts.iter().filter_map(Part::call_id) {
            // The first result behind it: a later call with this id is another one.
            let result = units[at + 1..].iter().position(|unit| unit.answers(call));
            pairs.extend(result.map(|found| (at, at + 1 + found)));
        }
    }
    loop {
        let ends = (*first, *last);
        for (call, result) in &pairs {
            if *call < *first && (*first..=*last).contains(result) {
                *first = *call;
            }
            if (*first..=*last).contains(call) && result > last {
                let Some(before) = call.checked_sub(1) else { return false };
                *last = before;
            }
        }
        if ends == (*first, *last) || *first > *last {
            return *first <= *last;
        }
    }
}

/// The prompt in units.
fn units(rows: &dyn Rows, loaded: &Loaded) -> Result<Vec<Unit>> {
    let conversation = &loaded.conversation;
    let mut units = Vec::new();
    for piece in conversation.prompt() {
        match piece {
            PromptPiece::Summary(fold) => {
                let summary = loaded.records(rows).summary(fold)?.unwrap_or_default();
                let covers = conversation.state.folds.get(fold).map(|fold| fold.covers.clone());
                let message = summary_message(&summary);
                let covers = covers.unwrap_or_default();
                units.push(Unit { covers, message, opens: true, is_summary: true, usage: None });
            }
            PromptPiece::Entries(span) => {
                let log = loaded.key(span.first())?.log;
                let mut from = span.from;
                while from <= span.to {
                    let to = span.to.min(from + CHUNK - 1);
                    for (seq, entry) in (from..).zip(rows.entries(log, from, to)?) {
                        units.push(unit(Pos::new(span.depth, seq), entry)?);
                    }
                    from = to + 1;
                }
            }
        }
    }
    memory::fill(rows, units.iter_mut().map(|unit| &mut unit.message.parts))?;
    Ok(units)
}

/// The unit of an entry. A damaged one has no words for the model.
fn unit(pos: Pos, entry: Result<Entry>) -> Result<Unit> {
    let covers = Path::from_spans([Span::one(pos)]);
    match entry {
        Ok(entry) => {
            let wrote = entry.meta.role == Role::Assistant && !entry.author.is_empty();
            let model = wrote.then_some(entry.author);
            let message = Message { role: entry.meta.role, parts: entry.parts, model };
            let opens = entry.meta.turn == Some(entry.meta.pos);
            Ok(Unit { covers, message, opens, is_summary: false, usage: entry.usage })
        }
        Err(StoreError::Damaged { .. }) => {
            let message = Message::new(Role::System, Vec::new());
            Ok(Unit { covers, message, opens: false, is_summary: false, usage: None })
        }
        Err(other) => Err(other),
    }
}
