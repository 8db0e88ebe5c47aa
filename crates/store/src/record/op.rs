//! Operations: the change, its reason, and the undo history. A row stores nothing twice.

use std::str::FromStr;

use retake_core::{
    Change, Head, MarkChange, OpNo, Operation, Pos, Principal, Reason, RequestId, Revision, Seq, Step, Time,
    UndoHistory,
};
use serde::{Deserialize, Serialize};

use super::kept::{decode_kept, encode_kept};
use super::state::{FoldRecord, MarkName, SpanRecord, decode_target, encode_target};
use super::{Decoded, decode_pos, encode_pos, from_json, to_json};

/// An operation as its row has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OpRecord {
    pub(crate) no: u64,
    pub(crate) at: u64,
    pub(crate) revision: u64,
    /// The kind of change.
    pub(crate) kind: String,
    /// The verb, and its argument: `undo o5`, `restore 3.4`.
    pub(crate) reason: String,
    /// The change, in the form of its kind.
    pub(crate) delta: String,
    /// Its change of `kept`; not stored if there is none.
    pub(crate) kept: Option<String>,
    pub(crate) tip: Option<i64>,
    pub(crate) summary: Option<String>,
    /// The undo history before; not stored if it is empty.
    pub(crate) before: Option<String>,
    /// The undo history after, if it does not follow from the one before.
    pub(crate) after: Option<String>,
    pub(crate) author: String,
    /// Who asked for it; not stored for the local user.
    pub(crate) principal: Option<String>,
    pub(crate) time: i64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HistoryRecord {
    #[serde(rename = "d", default, skip_serializing_if = "Option::is_none")]
    done: Option<String>,
    #[serde(rename = "u", default, skip_serializing_if = "Option::is_none")]
    undone: Option<u64>,
    #[serde(rename = "v", default, skip_serializing_if = "Vec::is_empty")]
    void: Vec<String>,
}

/// A move: the tip before. The tip after is in the row.
type MoveRecord = (Option<i64>,);
/// Changed marks: the entries, with their mark before and after.
type MarkRecord = Vec<(SpanRecord, MarkName, MarkName)>;
/// A label: its target, its text before and after.
type LabelRecord = (Option<i64>, Option<String>, Option<String>);

/// The row of an operation, without its request.
pub(crate) fn encode_op(op: &Operation) -> OpRecord {
    OpRecord {
        no: op.no.0,
        at: op.at.0,
        revision: op.revision.0,
        kind: op.change.kind().to_owned(),
        reason: encode_reason(op.reason),
        delta: encode_change(&op.change),
        kept: encode_kept(&op.kept),
        tip: op.tip.map(encode_pos),
        summary: op.summary.clone(),
        before: encode_history(&op.history_before),
        after: (op.history_after != history_after(op.reason, op.no, &op.history_before))
            .then(|| to_json(&history_record(&op.history_after))),
        author: op.author.clone(),
        principal: op.principal.encode(),
        time: op.time.0,
    }
}

/// The operation in this row.
pub(crate) fn decode_op(record: OpRecord, request: Option<RequestId>) -> Decoded<Operation> {
    let no = OpNo(record.no);
    let tip = record.tip.map(decode_pos).transpose()?;
    let known = KINDS.contains(&record.kind.as_str());
    let (change, reason) = match decode_reason(&record.reason)? {
        Some(reason) if known => (decode_change(&record.kind, &record.delta, tip)?, reason),
        reason => {
            let word = if known { record.reason } else { record.kind };
            // The reason of an unreadable operation is never used; one that is no step is the safest.
            let change = Change::Unknown { kind: word };
            (change, reason.unwrap_or(Reason::Label))
        }
    };
    let history_before = match &record.before {
        Some(json) => decode_history(json)?,
        None => UndoHistory::default(),
    };
    let history_after = match &record.after {
        Some(json) => decode_history(json)?,
        None => history_after(reason, no, &history_before),
    };
    Ok(Operation {
        no,
        at: Seq(record.at),
        revision: Revision(record.revision),
        reason,
        change,
        kept: decode_kept(record.kept.as_deref())?,
        tip,
        summary: record.summary,
        history_before,
        history_after,
        author: record.author,
        principal: decode_principal(record.principal.as_deref())?,
        time: Time(record.time),
        request,
    })
}

fn decode_principal(text: Option<&str>) -> Decoded<Principal> {
    Principal::decode(text).ok_or_else(|| "its principal cannot be read".to_owned())
}

/// The undo history after most operations: a step is added, other operations leave it unchanged.
fn history_after(reason: Reason, no: OpNo, before: &UndoHistory) -> UndoHistory {
    if reason.traits().is_step { before.did(Step::Op(no)) } else { before.clone() }
}

/// The kinds of change that this version can read.
const KINDS: [&str; 7] = ["move", "mark", "fold", "unfold", "label", "files", "erase"];

fn encode_change(change: &Change) -> String {
    match change {
        Change::Move { before, after: _ } => to_json::<MoveRecord>(&(before.map(encode_pos),)),
        Change::Mark(changes) => {
            let record =
                |change: &MarkChange| (change.span.into(), change.before.into(), change.after.into());
            to_json::<MarkRecord>(&changes.iter().map(record).collect())
        }
        Change::Fold(fold) | Change::Unfold(fold) => to_json(&FoldRecord::from(fold)),
        Change::Label { target, before, after } => {
            to_json::<LabelRecord>(&(encode_target(*target), before.clone(), after.clone()))
        }
        Change::Erase(entries) => {
            let entries: Vec<i64> = entries.iter().copied().map(encode_pos).collect();
            to_json(&entries)
        }
        Change::Files | Change::Unknown { .. } => "null".to_owned(),
    }
}

fn decode_change(kind: &str, delta: &str, tip: Option<Pos>) -> Decoded<Change> {
    Ok(match kind {
        "move" => {
            let (before,): MoveRecord = from_json("delta", delta)?;
            Change::Move { before: before.map(decode_pos).transpose()?, after: tip }
        }
        "mark" => {
            let record: MarkRecord = from_json("delta", delta)?;
            let change = |(span, before, after): (SpanRecord, MarkName, MarkName)| {
                Ok(MarkChange { span: span.span()?, before: before.into(), after: after.into() })
            };
            Change::Mark(record.into_iter().map(change).collect::<Decoded<_>>()?)
        }
        "fold" => Change::Fold(from_json::<FoldRecord>("delta", delta)?.fold()?),
        "unfold" => Change::Unfold(from_json::<FoldRecord>("delta", delta)?.fold()?),
        "label" => {
            let (target, before, after): LabelRecord = from_json("delta", delta)?;
            Change::Label { target: decode_target(target)?, before, after }
        }
        "files" => Change::Files,
        "erase" => {
            let entries: Vec<i64> = from_json("delta", delta)?;
            Change::Erase(entries.into_iter().map(decode_pos).collect::<Decoded<_>>()?)
        }
        other => return Err(format!("its kind “{other}” is not known")),
    })
}

/// The delta without the texts of a label; `None` if it has none.
pub(crate) fn erased_delta(kind: &str, delta: &str) -> Decoded<Option<String>> {
    if kind != "label" {
        return Ok(None);
    }
    let (target, before, after): LabelRecord = from_json("delta", delta)?;
    let erased = |text: Option<String>| text.map(|_| String::new());
    Ok(Some(to_json::<LabelRecord>(&(target, erased(before), erased(after)))))
}

/// A step of the undo history: `t5` is the turn that entry 5 opened, `o7` is operation 7.
pub(super) fn encode_step(step: Step) -> String {
    match step {
        Step::Turn(pos) => format!("t{}", encode_pos(pos)),
        Step::Op(no) => format!("o{}", no.0),
    }
}

pub(super) fn decode_step(text: &str) -> Decoded<Step> {
    let bad = || format!("“{text}” is not a step of the undo history");
    if let Some(packed) = text.strip_prefix('t') {
        Ok(Step::Turn(decode_pos(packed.parse().map_err(|_| bad())?)?))
    } else if let Some(no) = text.strip_prefix('o') {
        Ok(Step::Op(OpNo(no.parse().map_err(|_| bad())?)))
    } else {
        Err(bad())
    }
}

fn history_record(history: &UndoHistory) -> HistoryRecord {
    HistoryRecord {
        done: history.done.map(encode_step),
        undone: history.undone.map(|no| no.0),
        void: history.void.iter().copied().map(encode_step).collect(),
    }
}

fn encode_history(history: &UndoHistory) -> Option<String> {
    (*history != UndoHistory::default()).then(|| to_json(&history_record(history)))
}

fn decode_history(json: &str) -> Decoded<UndoHistory> {
    let record: HistoryRecord = from_json("undo history", json)?;
    let void = record.void.iter().map(|step| decode_step(step));
    Ok(UndoHistory {
        done: record.done.as_deref().map(decode_step).transpose()?,
        undone: record.undone.map(OpNo),
        void: void.collect::<Decoded<_>>()?,
    })
}

fn encode_reason(reason: Reason) -> String {
    let name = reason.name();
    match reason {
        Reason::Undo(step) | Reason::Redo(step) | Reason::Compensate(step) => {
            format!("{name} {}", encode_step(step))
        }
        Reason::Restore(head) => format!("{name} {head}"),
        _ => name.to_owned(),
    }
}

/// Reasons without an argument.
pub(super) const PLAIN_REASONS: [Reason; 17] = [
    Reason::Rewind,
    Reason::Checkout,
    Reason::Choose,
    Reason::Retry,
    Reason::Edit,
    Reason::Hide,
    Reason::Show,
    Reason::Exclude,
    Reason::Include,
    Reason::Drop,
    Reason::Files,
    Reason::Fold,
    Reason::AutoFold,
    Reason::Unfold,
    Reason::Label,
    Reason::Title,
    Reason::Erase,
];

/// The reason; `None` for a verb that this version does not know.
fn decode_reason(text: &str) -> Decoded<Option<Reason>> {
    let (verb, of) = text.split_once(' ').unwrap_or((text, ""));
    Ok(Some(match verb {
        "undo" => Reason::Undo(decode_step(of)?),
        "redo" => Reason::Redo(decode_step(of)?),
        "compensate" => Reason::Compensate(decode_step(of)?),
        "restore" => Reason::Restore(Head::from_str(of).map_err(|error| error.to_string())?),
        _ => {
            let reason = PLAIN_REASONS.into_iter().find(|reason| reason.name() == verb);
            if reason.is_some() && verb != text {
                return Err(format!("its reason “{text}” can't be read"));
            }
            return Ok(reason);
        }
    }))
}
