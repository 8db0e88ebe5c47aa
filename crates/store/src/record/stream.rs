//! A stream in progress: the answer that a crash would lose.

use retake_core::{AnswerPlace, ConversationId, EntryId};
use serde::{Deserialize, Serialize};

use super::content::{PartRecord, part, part_record};
use super::op::{decode_step, encode_step};
use super::{Decoded, decode_pos, encode_pos, from_json, to_json};
use crate::stream::StreamRow;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StreamRecord {
    entry: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    turn: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tip: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    step: Option<String>,
    author: String,
    parts: Vec<PartRecord>,
}

/// Encodes a stream without its conversation.
pub(crate) fn encode_stream(stream: &StreamRow) -> String {
    to_json(&StreamRecord {
        entry: stream.entry.to_string(),
        turn: stream.answering.turn.map(encode_pos),
        tip: stream.answering.tip.map(encode_pos),
        step: stream.step.map(encode_step),
        author: stream.author.clone(),
        parts: stream.parts.iter().map(part_record).collect(),
    })
}

/// The stream in this record.
pub(crate) fn decode_stream(conversation: ConversationId, json: &str) -> Decoded<StreamRow> {
    let record: StreamRecord = from_json("stream", json)?;
    let entry: EntryId = record.entry.parse().map_err(|error| format!("its entry can't be read: {error}"))?;
    Ok(StreamRow {
        conversation,
        entry,
        answering: AnswerPlace {
            turn: record.turn.map(decode_pos).transpose()?,
            tip: record.tip.map(decode_pos).transpose()?,
        },
        step: record.step.as_deref().map(decode_step).transpose()?,
        author: record.author,
        parts: record.parts.into_iter().map(part).collect::<Decoded<_>>()?,
    })
}
