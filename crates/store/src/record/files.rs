//! Files: records, changes, layers, and an operation's moves. As JSON arrays; a name that is not UTF-8 is in base64.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use retake_core::{
    ContentHash, DeltaId, FileChange, FilePath, GitMove, GitPlace, GitRef, GitWorktree, GitWorktreeMove,
    Grade, Layer, LogNo, PathMove, Record, Stack, Uncertain,
};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::{Decoded, from_json, to_json};

/// Bytes that are usually text.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Bytes {
    Text(String),
    Base64 { b: String },
}

/// A file's record.
#[derive(Serialize, Deserialize)]
enum RecordRecord {
    /// Hash in hexadecimal digits, length, permission bits.
    #[serde(rename = "f")]
    File(String, u64, u16),
    #[serde(rename = "l")]
    Link(Bytes),
    #[serde(rename = "d")]
    Folder(u16),
}

type MaybeRecord = Option<RecordRecord>;
/// Path, before, after.
type ChangeRecord = (Bytes, MaybeRecord, MaybeRecord);
/// A delta: its number, if the record is of the delta's own log; otherwise the log and the number.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum DeltaRecord {
    Own(u64),
    Other(i64, u64),
}

/// Delta, grade, before, after.
type LayerRecord = (DeltaRecord, GradeName, MaybeRecord, MaybeRecord);
/// Path, before, after, layers before, layers after.
type MoveRecord = (Bytes, MaybeRecord, MaybeRecord, Vec<LayerRecord>, Vec<LayerRecord>);

#[derive(Serialize, Deserialize)]
enum GradeName {
    #[serde(rename = "w")]
    Written,
    #[serde(rename = "s")]
    Seen,
    /// The author is unknown; earlier versions stored no reason.
    #[serde(rename = "a")]
    Ambiguous,
    #[serde(rename = "al")]
    Late,
    #[serde(rename = "aj")]
    Job,
    #[serde(rename = "ac")]
    CutOff,
    #[serde(rename = "as")]
    Several,
}

pub(super) fn bytes(bytes: &[u8]) -> Bytes {
    match std::str::from_utf8(bytes) {
        Ok(text) => Bytes::Text(text.to_owned()),
        Err(_) => Bytes::Base64 { b: STANDARD.encode(bytes) },
    }
}

fn unbytes(bytes: Bytes) -> Decoded<Vec<u8>> {
    match bytes {
        Bytes::Text(text) => Ok(text.into_bytes()),
        Bytes::Base64 { b } => {
            STANDARD.decode(&b).map_err(|error| format!("“{b}” is not valid base64: {error}"))
        }
    }
}

/// A path from a row: a path that leaves the root is refused here and never reaches a disk (spec `rewind.md`, case
/// 29).
pub(crate) fn path(bytes: &[u8]) -> Decoded<FilePath> {
    FilePath::new(bytes).map_err(|error| error.to_string())
}

pub(super) fn unpath(bytes: Bytes) -> Decoded<FilePath> {
    path(&unbytes(bytes)?)
}

fn record(record: Option<&Record>) -> MaybeRecord {
    record.map(|record| match record {
        Record::File { hash, len, mode } => RecordRecord::File(hash.to_string(), *len, *mode),
        Record::Link { target } => RecordRecord::Link(bytes(target)),
        Record::Folder { mode } => RecordRecord::Folder(*mode),
    })
}

fn unrecord(record: MaybeRecord) -> Decoded<Option<Record>> {
    let mode = |mode: u16| {
        (mode <= 0o777).then_some(mode).ok_or_else(|| format!("{mode:o} is not a valid file mode"))
    };
    record
        .map(|record| {
            Ok(match record {
                RecordRecord::File(hash, len, bits) => {
                    Record::File { hash: unhash(&hash)?, len, mode: mode(bits)? }
                }
                RecordRecord::Link(target) => Record::Link { target: Arc::from(unbytes(target)?) },
                RecordRecord::Folder(bits) => Record::Folder { mode: mode(bits)? },
            })
        })
        .transpose()
}

fn unhash(text: &str) -> Decoded<ContentHash> {
    let bad = || format!("“{text}” is not a hash");
    let digits = text.as_bytes();
    if digits.len() != 64 {
        return Err(bad());
    }
    let mut hash = [0; 32];
    for (byte, pair) in hash.iter_mut().zip(digits.chunks(2)) {
        let pair = std::str::from_utf8(pair).map_err(|_| bad())?;
        *byte = u8::from_str_radix(pair, 16).map_err(|_| bad())?;
    }
    Ok(ContentHash(hash))
}

fn change(change: &FileChange) -> ChangeRecord {
    (bytes(change.path.as_bytes()), record(change.before.as_ref()), record(change.after.as_ref()))
}

fn unchange((path, before, after): ChangeRecord) -> Decoded<FileChange> {
    Ok(FileChange { path: unpath(path)?, before: unrecord(before)?, after: unrecord(after)? })
}

fn layer(layer: &Layer, own: LogNo) -> LayerRecord {
    let grade = match layer.grade {
        Grade::Written => GradeName::Written,
        Grade::Seen => GradeName::Seen,
        Grade::Ambiguous(Uncertain::Unrecorded) => GradeName::Ambiguous,
        Grade::Ambiguous(Uncertain::Late) => GradeName::Late,
        Grade::Ambiguous(Uncertain::Job) => GradeName::Job,
        Grade::Ambiguous(Uncertain::CutOff) => GradeName::CutOff,
        Grade::Ambiguous(Uncertain::Several) => GradeName::Several,
    };
    let DeltaId { log, no } = layer.delta;
    let delta = if log == own { DeltaRecord::Own(no) } else { DeltaRecord::Other(log.0, no) };
    (delta, grade, record(layer.before.as_ref()), record(layer.after.as_ref()))
}

fn unlayer((delta, grade, before, after): LayerRecord, own: LogNo) -> Decoded<Layer> {
    let grade = match grade {
        GradeName::Written => Grade::Written,
        GradeName::Seen => Grade::Seen,
        GradeName::Ambiguous => Grade::Ambiguous(Uncertain::Unrecorded),
        GradeName::Late => Grade::Ambiguous(Uncertain::Late),
        GradeName::Job => Grade::Ambiguous(Uncertain::Job),
        GradeName::CutOff => Grade::Ambiguous(Uncertain::CutOff),
        GradeName::Several => Grade::Ambiguous(Uncertain::Several),
    };
    let delta = match delta {
        DeltaRecord::Own(no) => DeltaId { log: own, no },
        DeltaRecord::Other(log, no) => DeltaId { log: LogNo(log), no },
    };
    Ok(Layer { delta, grade, before: unrecord(before)?, after: unrecord(after)? })
}

fn layers(layers: &[Layer], own: LogNo) -> Vec<LayerRecord> {
    layers.iter().map(|it| layer(it, own)).collect()
}

fn unlayers(layers: Vec<LayerRecord>, own: LogNo) -> Decoded<Vec<Layer>> {
    layers.into_iter().map(|it| unlayer(it, own)).collect()
}

/// Encodes the changes of a capture.
pub(crate) fn encode_changes(changes: &[FileChange]) -> String {
    to_json(&changes.iter().map(change).collect::<Vec<_>>())
}

/// The changes in this record.
pub(crate) fn decode_changes(json: &str) -> Decoded<Vec<FileChange>> {
    from_json::<Vec<ChangeRecord>>("changes", json)?.into_iter().map(unchange).collect()
}

/// Encodes a delta's layers by path, for a row of this log.
pub(crate) fn encode_delta(delta: &[(FilePath, Vec<Layer>)], own: LogNo) -> String {
    let one = |(path, on): &(FilePath, Vec<Layer>)| (bytes(path.as_bytes()), layers(on, own));
    to_json(&delta.iter().map(one).collect::<Vec<_>>())
}

/// The delta's layers in this record, by path.
pub(crate) fn decode_delta(json: &str, own: LogNo) -> Decoded<Vec<(FilePath, Vec<Layer>)>> {
    let delta: Vec<(Bytes, Vec<LayerRecord>)> = from_json("layers", json)?;
    delta.into_iter().map(|(path, on)| Ok((unpath(path)?, unlayers(on, own)?))).collect()
}

/// Only the paths in this record.
pub(crate) fn decode_paths(json: &str) -> Decoded<Vec<FilePath>> {
    let delta: Vec<(Bytes, IgnoredAny)> = from_json("layers", json)?;
    delta.into_iter().map(|(path, _)| unpath(path)).collect()
}

/// Encodes the layers of one path.
pub(crate) fn encode_stack(stack: &Stack, own: LogNo) -> String {
    to_json(&layers(stack.layers(), own))
}

/// The layers in this record.
pub(crate) fn decode_stack(json: &str, own: LogNo) -> Decoded<Stack> {
    unlayers(from_json("layers", json)?, own).map(Stack::new)
}

/// Encodes the moves of an operation.
pub(crate) fn encode_moves(moves: &[PathMove], own: LogNo) -> String {
    let one = |made: &PathMove| -> MoveRecord {
        let (path, before, after) = change(&made.change);
        let (below, above) = (made.stack_before.layers(), made.stack_after.layers());
        (path, before, after, layers(below, own), layers(above, own))
    };
    to_json(&moves.iter().map(one).collect::<Vec<_>>())
}

/// The moves in this record.
pub(crate) fn decode_moves(json: &str, own: LogNo) -> Decoded<Vec<PathMove>> {
    let one = |(path, before, after, below, above): MoveRecord| {
        Ok(PathMove {
            change: unchange((path, before, after))?,
            stack_before: Stack::new(unlayers(below, own)?),
            stack_after: Stack::new(unlayers(above, own)?),
        })
    };
    from_json::<Vec<MoveRecord>>("moves", json)?.into_iter().map(one).collect()
}

/// Branch and commit.
type PlaceRecord = (Option<String>, Option<String>);

/// Folder, branch and commit of its HEAD, whether it is locked.
type WorktreeRecord = (String, PlaceRecord, bool);

/// A call's moves in git.
#[derive(Serialize, Deserialize)]
struct GitMoveRecord {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    head: Option<(PlaceRecord, PlaceRecord)>,
    /// Name, before, after.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    refs: Vec<(String, Option<String>, Option<String>)>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    index: bool,
    /// Name, before, after.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    worktrees: Vec<(String, Option<WorktreeRecord>, Option<WorktreeRecord>)>,
}

/// Encodes a call's moves in git.
pub(crate) fn encode_git_move(moved: &GitMove) -> String {
    let place = |place: &GitPlace| (place.branch.clone(), place.commit.clone());
    let one = |moved: &GitRef| (moved.name.clone(), moved.before.clone(), moved.after.clone());
    let tree = |tree: &GitWorktree| (tree.path.clone(), place(&tree.head), tree.locked);
    let moves = |moved: &GitWorktreeMove| {
        (moved.name.clone(), moved.before.as_ref().map(tree), moved.after.as_ref().map(tree))
    };
    to_json(&GitMoveRecord {
        head: moved.head.as_ref().map(|(before, after)| (place(before), place(after))),
        refs: moved.refs.iter().map(one).collect(),
        index: moved.index,
        worktrees: moved.worktrees.iter().map(moves).collect(),
    })
}

/// The moves in this record.
pub(crate) fn decode_git_move(json: &str) -> Decoded<GitMove> {
    let GitMoveRecord { head, refs, index, worktrees } = from_json("what was moved in git", json)?;
    let place = |(branch, commit)| GitPlace { branch, commit };
    let refs = refs.into_iter().map(|(name, before, after)| GitRef { name, before, after });
    let head = head.map(|(before, after)| (place(before), place(after)));
    let tree = |(path, head, locked): WorktreeRecord| GitWorktree { path, head: place(head), locked };
    let worktrees = worktrees.into_iter().map(|(name, before, after)| {
        let (before, after) = (before.map(tree), after.map(tree));
        GitWorktreeMove { name, before, after }
    });
    Ok(GitMove { head, refs: refs.collect(), index, worktrees: worktrees.collect() })
}
