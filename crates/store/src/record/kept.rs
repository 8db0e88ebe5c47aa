//! What is kept in the files against the path: as a change in an operation's row, complete in a full state.

use std::collections::BTreeSet;

use retake_core::{KeepState, Kept, KeptChange, KeptPath, OpNo, RangeChange, Ranges, WorkspaceNo};
use serde::{Deserialize, Serialize};

use super::files::{Bytes, bytes, unpath};
use super::state::SpanRecord;
use super::{Decoded, decode_pos, encode_pos, from_json, to_json};

#[derive(Clone, Copy, Serialize, Deserialize)]
enum KeepName {
    #[serde(rename = "p")]
    ByPath,
    #[serde(rename = "a")]
    Adopted,
    #[serde(rename = "o")]
    TakenOut,
}

impl From<KeepState> for KeepName {
    fn from(keep: KeepState) -> Self {
        match keep {
            KeepState::ByPath => Self::ByPath,
            KeepState::Adopted => Self::Adopted,
            KeepState::TakenOut => Self::TakenOut,
        }
    }
}

impl From<KeepName> for KeepState {
    fn from(name: KeepName) -> Self {
        match name {
            KeepName::ByPath => Self::ByPath,
            KeepName::Adopted => Self::Adopted,
            KeepName::TakenOut => Self::TakenOut,
        }
    }
}

/// Entry, workspace, path.
#[derive(Serialize, Deserialize)]
pub(super) struct PathRecord(i64, u64, Bytes);

impl From<&KeptPath> for PathRecord {
    fn from(path: &KeptPath) -> Self {
        Self(encode_pos(path.entry), path.workspace.0, bytes(path.path.as_bytes()))
    }
}

impl PathRecord {
    fn path(self) -> Decoded<KeptPath> {
        let Self(entry, workspace, path) = self;
        let workspace = WorkspaceNo(workspace);
        Ok(KeptPath { entry: decode_pos(entry)?, workspace, path: unpath(path)? })
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ChangeRecord {
    #[serde(rename = "e", default, skip_serializing_if = "Vec::is_empty")]
    entries: Vec<(SpanRecord, KeepName, KeepName)>,
    #[serde(rename = "a", default, skip_serializing_if = "Vec::is_empty")]
    adopted: Vec<PathRecord>,
    #[serde(rename = "r", default, skip_serializing_if = "Vec::is_empty")]
    returned: Vec<PathRecord>,
    #[serde(rename = "b", default, skip_serializing_if = "Option::is_none")]
    before: Option<u64>,
}

/// Encodes an operation's change of `kept`; `None` if it changes nothing.
pub(crate) fn encode_kept(change: &KeptChange) -> Option<String> {
    // After an erasure only the number stays: it leads to the earlier changes.
    if change.is_empty() && change.before.is_none() {
        return None;
    }
    let entry =
        |change: &RangeChange<KeepState>| (change.span.into(), change.before.into(), change.after.into());
    Some(to_json(&ChangeRecord {
        entries: change.entries.iter().map(entry).collect(),
        adopted: change.adopted.iter().map(PathRecord::from).collect(),
        returned: change.returned.iter().map(PathRecord::from).collect(),
        before: change.before.map(|no| no.0),
    }))
}

/// The change in this record.
pub(super) fn decode_kept(json: Option<&str>) -> Decoded<KeptChange> {
    let Some(json) = json else { return Ok(KeptChange::default()) };
    let record: ChangeRecord = from_json("kept", json)?;
    let entry = |(span, before, after): (SpanRecord, KeepName, KeepName)| {
        Ok(RangeChange { span: span.span()?, before: before.into(), after: after.into() })
    };
    Ok(KeptChange {
        entries: record.entries.into_iter().map(entry).collect::<Decoded<_>>()?,
        adopted: record.adopted.into_iter().map(PathRecord::path).collect::<Decoded<_>>()?,
        returned: record.returned.into_iter().map(PathRecord::path).collect::<Decoded<_>>()?,
        before: record.before.map(OpNo),
    })
}

/// All kept files, in a full state.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct KeptRecord {
    #[serde(rename = "e", default, skip_serializing_if = "Vec::is_empty")]
    entries: Vec<(SpanRecord, KeepName)>,
    #[serde(rename = "p", default, skip_serializing_if = "Vec::is_empty")]
    paths: Vec<PathRecord>,
    #[serde(rename = "l", default, skip_serializing_if = "Option::is_none")]
    last: Option<u64>,
}

pub(super) fn kept_record(kept: &Kept) -> Option<KeptRecord> {
    (*kept != Kept::default()).then(|| KeptRecord {
        entries: kept.entries.ranges().iter().map(|(span, keep)| ((*span).into(), (*keep).into())).collect(),
        paths: kept.paths.iter().map(PathRecord::from).collect(),
        last: kept.last.map(|no| no.0),
    })
}

pub(super) fn kept(record: Option<KeptRecord>) -> Decoded<Kept> {
    let Some(record) = record else { return Ok(Kept::default()) };
    let entry = |(span, keep): (SpanRecord, KeepName)| Ok((span.span()?, KeepState::from(keep)));
    let entries: Vec<_> = record.entries.into_iter().map(entry).collect::<Decoded<_>>()?;
    Ok(Kept {
        entries: Ranges::from_ranges(entries),
        paths: record.paths.into_iter().map(PathRecord::path).collect::<Decoded<BTreeSet<_>>>()?,
        last: record.last.map(OpNo),
    })
}
