//! Lines of a full export: a tree of forks with its logs and operations, every row unchanged.
//!
//! The first line has format and version, followed by the conversations, the root first, then the entries and
//! operations of each. Conversations are numbered from 0 by their place in the file, never by the store. Positions
//! are packed as in rows; a delta is as in its row. Version 2 added the ledger, runs and permissions; version 3 the
//! operations' changes of `kept`; version 4 repaired calls; version 5 subagents;
//! version 6 origins and posts of chats.

mod posts;
mod tool_turns;

use retake_core::{
    ConversationId, Entry, Meta, Operation, Permission, Pos, Post, RequestId, Revision, Role, Run, Time,
    Totals,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::chat::{OriginRecord, origin, origin_record};
use super::content::{PartRecord, UsageRecord, part, part_record, usage, usage_record};
use super::{
    Decoded, OpRecord, decode_flags, decode_op, decode_pos, encode_flags, encode_op, encode_pos, from_json,
    to_json,
};
use crate::rows::{Fingerprint, MadeBy};
use crate::transfer::{FullBeside, FullConversation, FullEffect, FullImport, FullParent};

/// The format name in the first line of a full export.
pub const FULL_FORMAT: &str = "retake-full";
/// The version that this program writes, and the newest one that it reads.
pub const FULL_VERSION: u64 = 6;

/// A line of a full export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FullLine {
    /// The number of conversations.
    Begin(u64),
    /// A conversation, without its log and operations.
    Conversation(Box<FullConversation>),
    /// An entry of conversation `.0`.
    Entry(usize, Box<Entry>, MadeBy),
    /// An operation of conversation `.0`.
    Operation(usize, Box<Operation>, MadeBy),
    /// A ledger row of conversation `.0`.
    Effect(usize, Box<FullEffect>),
    /// A run of conversation `.0`.
    Run(usize, Box<Run>),
    /// The permissions of conversation `.0`.
    Permission(usize, Permission),
    /// A post of conversation `.0`.
    Post(usize, Box<Post>),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum LineRecord {
    Conversation(ConversationRecord),
    Entry(EntryRecord),
    Operation(OperationRecord),
    Effect(tool_turns::EffectRecord),
    Run(tool_turns::RunLineRecord),
    Permission(tool_turns::PermissionLineRecord),
    Post(posts::PostLineRecord),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BeginRecord {
    format: String,
    version: u64,
    conversations: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ConversationRecord {
    id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parent: Option<ParentRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    caller: Option<CallerRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    folder: Option<String>,
    created_ms: i64,
    changed_ms: i64,
    head: String,
    revision: u64,
    rewinds: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request: Option<RequestRecord>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    archived: bool,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ParentRecord {
    conversation: usize,
    head: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tip: Option<i64>,
}

/// The call that started a subagent.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CallerRecord {
    conversation: usize,
    seq: u64,
    call: String,
}

/// The request that created a row: its id, and the digest of its arguments in hexadecimal digits.
#[derive(Serialize, Deserialize)]
struct RequestRecord(String, String);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EntryRecord {
    conversation: usize,
    #[serde(flatten)]
    place: PlaceRecord,
    role: String,
    #[serde(default, skip_serializing_if = "is_zero")]
    flags: i64,
    time_ms: i64,
    /// Messages, calls and turns up to here.
    totals: (u64, u64, u64),
    revision: u64,
    #[serde(default, skip_serializing_if = "is_none_asked")]
    calls: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answers: Option<i64>,
    author: String,
    parts: Vec<PartRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    usage: Option<UsageRecord>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    platform_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request: Option<RequestRecord>,
    depth: u32,
}

/// The place of an entry. In a line these are fields of the entry itself.
#[derive(Serialize, Deserialize)]
struct PlaceRecord {
    seq: u64,
    id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    after: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    turn: Option<i64>,
    /// Where a message of a chat came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    origin: Option<OriginRecord>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OperationRecord {
    conversation: usize,
    no: u64,
    at: u64,
    revision: u64,
    kind: String,
    reason: String,
    delta: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kept: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tip: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    summary: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    before: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    after: Option<Value>,
    #[serde(flatten)]
    by: ByRecord,
    time_ms: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request: Option<RequestRecord>,
}

/// The author of an operation. In a line these are fields of the operation itself.
#[derive(Serialize, Deserialize)]
struct ByRecord {
    author: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    principal: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(bits: &i64) -> bool {
    *bits == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_none_asked(calls: &u32) -> bool {
    *calls == 0
}

/// The line, without a line break.
pub(crate) fn encode_full(line: &FullLine) -> String {
    match line {
        FullLine::Begin(conversations) => to_json(&BeginRecord {
            format: FULL_FORMAT.into(),
            version: FULL_VERSION,
            conversations: *conversations,
        }),
        FullLine::Conversation(row) => to_json(&LineRecord::Conversation(conversation_record(row))),
        FullLine::Entry(of, entry, made_by) => to_json(&LineRecord::Entry(entry_record(*of, entry, made_by))),
        FullLine::Operation(of, op, made_by) => {
            to_json(&LineRecord::Operation(operation_record(*of, op, made_by)))
        }
        FullLine::Effect(of, effect) => to_json(&LineRecord::Effect(tool_turns::effect_record(*of, effect))),
        FullLine::Run(of, run) => to_json(&LineRecord::Run(tool_turns::run_record(*of, run))),
        FullLine::Permission(of, settled) => {
            to_json(&LineRecord::Permission(tool_turns::permission_record(*of, settled)))
        }
        FullLine::Post(of, post) => to_json(&LineRecord::Post(posts::post_record(*of, post))),
    }
}

/// Passes the lines of a whole import to `each`, in the order of an export.
pub(crate) fn encode_import(import: &FullImport, each: &mut dyn FnMut(&str)) {
    let mut line = |record: &LineRecord| each(&to_json(record));
    for (of, full) in import.conversations.iter().enumerate() {
        line(&LineRecord::Conversation(conversation_record(full)));
        let entries = full.entries.iter().map(|(entry, made_by)| entry_record(of, entry, made_by));
        entries.for_each(|record| line(&LineRecord::Entry(record)));
        let ops = full.ops.iter().map(|(op, made_by)| operation_record(of, op, made_by));
        ops.for_each(|record| line(&LineRecord::Operation(record)));
        let FullBeside { effects, runs, permission, posts } = &full.beside;
        effects.iter().for_each(|effect| line(&LineRecord::Effect(tool_turns::effect_record(of, effect))));
        runs.iter().for_each(|run| line(&LineRecord::Run(tool_turns::run_record(of, run))));
        let permission = permission.as_ref().map(|settled| tool_turns::permission_record(of, settled));
        permission.into_iter().for_each(|record| line(&LineRecord::Permission(record)));
        posts.iter().for_each(|post| line(&LineRecord::Post(posts::post_record(of, post))));
    }
}

/// The line in this text.
pub fn decode_full(line: &str) -> Decoded<FullLine> {
    if line.starts_with("{\"format\"") {
        let begin: BeginRecord = from_json("header", line)?;
        return Ok(FullLine::Begin(begin.conversations));
    }
    let value: Value = from_json("line", line)?;
    bounded(&value)?;
    match serde_json::from_value(value).map_err(|error| format!("its line can't be read: {error}"))? {
        LineRecord::Conversation(record) => Ok(FullLine::Conversation(Box::new(conversation(record)?))),
        LineRecord::Entry(record) => {
            let (of, made_by) = (record.conversation, made_by(record.request.as_ref())?);
            Ok(FullLine::Entry(of, Box::new(entry(record)?), made_by))
        }
        LineRecord::Operation(record) => {
            let (of, made_by) = (record.conversation, made_by(record.request.as_ref())?);
            let request = made_by.as_ref().map(|(request, _)| request.clone());
            Ok(FullLine::Operation(of, Box::new(operation(record, request)?), made_by))
        }
        LineRecord::Effect(record) => tool_turns::effect(record),
        LineRecord::Run(record) => tool_turns::run(&record),
        LineRecord::Permission(record) => tool_turns::permission(&record),
        LineRecord::Post(record) => posts::post(record),
    }
}

/// The largest counter in an export: counting continues from it, with room for any further use.
const LARGEST: u64 = 1 << 62;

fn bounded(value: &Value) -> Decoded<()> {
    match value {
        Value::Number(number) if number.as_u64().is_some_and(|number| number > LARGEST) => {
            Err(format!("the number {number} is too large"))
        }
        Value::Array(values) => values.iter().try_for_each(bounded),
        Value::Object(fields) => fields.values().try_for_each(bounded),
        _ => Ok(()),
    }
}

fn request_record(made_by: &MadeBy) -> Option<RequestRecord> {
    made_by.as_ref().map(|(request, print)| RequestRecord(request.to_string(), digits(*print)))
}

fn made_by(record: Option<&RequestRecord>) -> Decoded<MadeBy> {
    let Some(RequestRecord(request, print)) = record else {
        return Ok(None);
    };
    let request: RequestId = request.parse().map_err(|error| format!("its request: {error}"))?;
    Ok(Some((request, digest(print)?)))
}

/// A digest in hexadecimal digits.
fn digits(print: Fingerprint) -> String {
    format!("{:032x}", u128::from_be_bytes(print))
}

fn digest(digits: &str) -> Decoded<Fingerprint> {
    let print = u128::from_str_radix(digits, 16).map_err(|_| format!("“{digits}” is not a digest"))?;
    Ok(print.to_be_bytes())
}

fn conversation_record(row: &FullConversation) -> ConversationRecord {
    let (mut parent, mut caller) = (None, None);
    match &row.parent {
        FullParent::None => {}
        FullParent::Fork(conversation, head, tip) => {
            let (head, tip) = (head.to_string(), tip.map(encode_pos));
            parent = Some(ParentRecord { conversation: *conversation, head, tip });
        }
        FullParent::Caller(conversation, seq, call) => {
            caller = Some(CallerRecord { conversation: *conversation, seq: *seq, call: call.clone() });
        }
    }
    ConversationRecord {
        id: row.id.to_string(),
        parent,
        caller,
        folder: row.folder.clone(),
        created_ms: row.created.0,
        changed_ms: row.changed.0,
        head: row.head.to_string(),
        revision: row.revision.0,
        rewinds: row.rewinds,
        archived: row.archived,
        request: request_record(&row.request),
    }
}

fn conversation(record: ConversationRecord) -> Decoded<FullConversation> {
    let head = |text: &str| text.parse().map_err(|error: retake_core::BadId| error.to_string());
    let id: ConversationId = record.id.parse().map_err(|error: retake_core::BadId| error.to_string())?;
    let parent = match (record.parent, record.caller) {
        (None, None) => FullParent::None,
        (Some(from), None) => {
            FullParent::Fork(from.conversation, head(&from.head)?, from.tip.map(decode_pos).transpose()?)
        }
        (None, Some(caller)) => FullParent::Caller(caller.conversation, caller.seq, caller.call),
        (Some(_), Some(_)) => return Err("it is a fork and a subagent".to_owned()),
    };
    Ok(FullConversation {
        id,
        parent,
        folder: record.folder,
        created: Time(record.created_ms),
        request: made_by(record.request.as_ref())?,
        changed: Time(record.changed_ms),
        head: head(&record.head)?,
        revision: Revision(record.revision),
        rewinds: record.rewinds,
        archived: record.archived,
        entries: Vec::new(),
        ops: Vec::new(),
        beside: FullBeside::default(),
    })
}

fn entry_record(of: usize, entry: &Entry, made_by: &MadeBy) -> EntryRecord {
    let meta = &entry.meta;
    EntryRecord {
        conversation: of,
        place: PlaceRecord {
            seq: meta.pos.seq,
            id: meta.id.to_string(),
            after: meta.after.map(encode_pos),
            turn: meta.turn.map(encode_pos),
            origin: entry.origin.as_ref().map(origin_record),
        },
        role: meta.role.name().to_owned(),
        flags: encode_flags(meta.flags, false, false),
        time_ms: meta.time.0,
        totals: (meta.totals.messages, meta.totals.calls, meta.totals.turns),
        revision: meta.revision.0,
        calls: meta.calls,
        answers: meta.answers.map(encode_pos),
        author: entry.author.clone(),
        parts: entry.parts.iter().map(part_record).collect(),
        usage: entry.usage.map(usage_record),
        platform_id: entry.platform_id.clone(),
        request: request_record(made_by),
        depth: meta.pos.depth,
    }
}

fn entry(record: EntryRecord) -> Decoded<Entry> {
    let (messages, calls, turns) = record.totals;
    let place = record.place;
    let meta = Meta {
        id: place.id.parse().map_err(|error: retake_core::BadId| error.to_string())?,
        pos: Pos::new(record.depth, place.seq),
        after: place.after.map(decode_pos).transpose()?,
        turn: place.turn.map(decode_pos).transpose()?,
        role: Role::from_name(&record.role).ok_or_else(|| format!("“{}” is not a role", record.role))?,
        flags: decode_flags(record.flags)?,
        time: Time(record.time_ms),
        totals: Totals { messages, calls, turns },
        revision: Revision(record.revision),
        calls: record.calls,
        answers: record.answers.map(decode_pos).transpose()?,
    };
    Ok(Entry {
        meta,
        author: record.author,
        parts: record.parts.into_iter().map(part).collect::<Decoded<_>>()?,
        usage: record.usage.map(usage),
        platform_id: record.platform_id,
        origin: place.origin.map(origin),
    })
}

/// A row's JSON text as a JSON value.
fn value(json: &str) -> Value {
    serde_json::from_str(json).expect("BUG: records are JSON")
}

fn operation_record(of: usize, op: &Operation, made_by: &MadeBy) -> OperationRecord {
    let record = encode_op(op);
    OperationRecord {
        conversation: of,
        no: record.no,
        at: record.at,
        revision: record.revision,
        kind: record.kind,
        reason: record.reason,
        delta: value(&record.delta),
        kept: record.kept.as_deref().map(value),
        tip: record.tip,
        summary: record.summary,
        before: record.before.as_deref().map(value),
        after: record.after.as_deref().map(value),
        by: ByRecord { author: record.author, principal: record.principal },
        time_ms: record.time,
        request: request_record(made_by),
    }
}

fn operation(record: OperationRecord, request: Option<RequestId>) -> Decoded<Operation> {
    let row = OpRecord {
        no: record.no,
        at: record.at,
        revision: record.revision,
        kind: record.kind,
        reason: record.reason,
        delta: record.delta.to_string(),
        kept: record.kept.map(|kept| kept.to_string()),
        tip: record.tip,
        summary: record.summary,
        before: record.before.map(|line| line.to_string()),
        after: record.after.map(|line| line.to_string()),
        author: record.by.author,
        principal: record.by.principal,
        time: record.time_ms,
    };
    decode_op(row, request)
}

#[cfg(test)]
mod tests {
    use super::decode_full;

    #[test]
    fn entry_line_with_an_unknown_field_is_refused() {
        let line = |more: &str| {
            format!(
                r#"{{"entry":{{"conversation":0,"seq":1,"id":"01930000-0000-7000-8000-000000000001","role":"user",
                "time_ms":5,"totals":[1,0,1],"revision":1,"author":"ann","parts":[],"depth":0{more}}}}}"#
            )
        };
        decode_full(&line("")).unwrap();
        let error = decode_full(&line(r#","colour":"red""#)).unwrap_err();
        assert!(error.contains("colour"), "{error}");
    }
}
