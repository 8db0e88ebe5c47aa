//! Full states, and their components, which deltas use too: spans, marks, folds, labels.
//!
//! Marks are stored as gaps and lengths, so that ten thousand hidden messages take a few bytes each.

use std::collections::BTreeMap;
use std::sync::Arc;

use retake_core::{Fold, FoldId, Folds, LabelTarget, Mark, Marks, OpNo, Path, Pos, Span, State};
use serde::{Deserialize, Serialize};

use super::kept::{KeptRecord, kept, kept_record};
use super::{Decoded, decode_pos, encode_pos, from_json, to_json};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StateRecord {
    #[serde(rename = "t", default, skip_serializing_if = "Option::is_none")]
    tip: Option<i64>,
    #[serde(rename = "m", default, skip_serializing_if = "Vec::is_empty")]
    marks: Vec<MarksRecord>,
    #[serde(rename = "f", default, skip_serializing_if = "Vec::is_empty")]
    folds: Vec<FoldRecord>,
    #[serde(rename = "l", default, skip_serializing_if = "Vec::is_empty")]
    labels: Vec<(Option<i64>, String)>,
    #[serde(rename = "k", default, skip_serializing_if = "Option::is_none")]
    kept: Option<KeptRecord>,
}

/// Neighbouring ranges with one mark in one log: depth and mark, then for each range its distance from the end of
/// the range before, and its number of entries.
type MarksRecord = (u32, MarkName, Vec<u64>);

/// A mark's name, abbreviated.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) enum MarkName {
    #[serde(rename = "n")]
    Normal,
    #[serde(rename = "x")]
    Excluded,
    #[serde(rename = "h")]
    Hidden,
    #[serde(rename = "d")]
    Dropped,
}

impl From<Mark> for MarkName {
    fn from(mark: Mark) -> Self {
        match mark {
            Mark::Normal => Self::Normal,
            Mark::Excluded => Self::Excluded,
            Mark::Hidden => Self::Hidden,
            Mark::Dropped => Self::Dropped,
        }
    }
}

impl From<MarkName> for Mark {
    fn from(name: MarkName) -> Self {
        match name {
            MarkName::Normal => Self::Normal,
            MarkName::Excluded => Self::Excluded,
            MarkName::Hidden => Self::Hidden,
            MarkName::Dropped => Self::Dropped,
        }
    }
}

/// A fold: depth and number of its operation, and the covered entries.
#[derive(Serialize, Deserialize)]
pub(super) struct FoldRecord(u32, u64, Vec<SpanRecord>);

/// A span: its first position, and its number of entries.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct SpanRecord(i64, u64);

impl From<Span> for SpanRecord {
    fn from(span: Span) -> Self {
        Self(encode_pos(span.first()), span.len())
    }
}

impl SpanRecord {
    pub(super) fn span(self) -> Decoded<Span> {
        let first = decode_pos(self.0)?;
        span(first, self.1)
    }
}

fn span(first: Pos, len: u64) -> Decoded<Span> {
    let to = len.checked_sub(1).and_then(|more| first.seq.checked_add(more));
    match to {
        Some(to) => Ok(Span::new(first.depth, first.seq, to)),
        None => Err(format!("a span of {len} entries is not valid")),
    }
}

impl From<&Fold> for FoldRecord {
    fn from(fold: &Fold) -> Self {
        let covers = fold.covers.spans();
        Self(fold.id.depth, fold.id.op.0, covers.iter().map(|span| SpanRecord::from(*span)).collect())
    }
}

impl FoldRecord {
    pub(super) fn fold(&self) -> Decoded<Fold> {
        let mut covers = Path::default();
        for record in &self.2 {
            let span = record.span()?;
            if covers.last().is_some_and(|last| last >= span.first()) {
                return Err("the entries of a fold are out of order".to_owned());
            }
            covers.push(span);
        }
        Ok(Fold { id: FoldId { depth: self.0, op: OpNo(self.1) }, covers })
    }
}

/// A label's target as a position; the title has none.
pub(super) fn encode_target(target: LabelTarget) -> Option<i64> {
    match target {
        LabelTarget::Title => None,
        LabelTarget::Entry(pos) => Some(encode_pos(pos)),
    }
}

pub(super) fn decode_target(packed: Option<i64>) -> Decoded<LabelTarget> {
    Ok(match packed {
        None => LabelTarget::Title,
        Some(packed) => LabelTarget::Entry(decode_pos(packed)?),
    })
}

/// A full state.
pub(crate) fn encode_state(state: &State) -> String {
    to_json(&StateRecord {
        tip: state.tip.map(encode_pos),
        marks: encode_marks(&state.marks),
        folds: state.folds.all().iter().map(FoldRecord::from).collect(),
        labels: state.labels.iter().map(|(target, name)| (encode_target(*target), name.clone())).collect(),
        kept: kept_record(&state.kept),
    })
}

/// The state in this record.
pub(crate) fn decode_state(json: &str) -> Decoded<State> {
    let record: StateRecord = from_json("state", json)?;
    let folds: Decoded<Vec<Fold>> = record.folds.iter().map(FoldRecord::fold).collect();
    let mut labels = BTreeMap::new();
    for (target, name) in record.labels {
        labels.insert(decode_target(target)?, name);
    }
    Ok(State {
        tip: record.tip.map(decode_pos).transpose()?,
        marks: Arc::new(decode_marks(&record.marks)?),
        folds: Arc::new(Folds::new(folds?)),
        labels: Arc::new(labels),
        kept: Arc::new(kept(record.kept)?),
    })
}

fn encode_marks(marks: &Marks) -> Vec<MarksRecord> {
    let mut records: Vec<MarksRecord> = Vec::new();
    let mut last: Option<(Span, Mark)> = None;
    for (span, mark) in marks.ranges() {
        let goes_on = last.filter(|(before, same)| before.depth == span.depth && same == mark);
        if goes_on.is_none() {
            records.push((span.depth, (*mark).into(), Vec::new()));
        }
        let end = goes_on.map_or(0, |(before, _)| before.to);
        let (_, _, numbers) = records.last_mut().expect("BUG: one was pushed");
        numbers.extend([span.from - end, span.len()]);
        last = Some((*span, *mark));
    }
    records
}

fn decode_marks(records: &[MarksRecord]) -> Decoded<Marks> {
    let mut ranges: Vec<(Span, Mark)> = Vec::new();
    for (depth, mark, numbers) in records {
        let (pairs, rest) = numbers.as_chunks::<2>();
        let mut end = 0_u64;
        for [gap, len] in pairs {
            let from = end.checked_add(*gap).filter(|_| *gap > 0);
            let from = from.ok_or("its marks are out of order")?;
            let span = span(Pos::new(*depth, from), *len)?;
            let behind = |(before, _): &(Span, Mark)| before.last() < span.first();
            if !ranges.last().is_none_or(behind) {
                return Err("its marks are out of order".to_owned());
            }
            ranges.push((span, (*mark).into()));
            end = span.to;
        }
        if !rest.is_empty() {
            return Err("its marks end in the middle".to_owned());
        }
    }
    Ok(Marks::from_ranges(ranges))
}
