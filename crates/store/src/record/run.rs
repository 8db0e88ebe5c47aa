//! Runs, with their waiting messages.

use retake_core::{Fence, Mark, Run, RunNo, RunState, Steer, Tail, Time, Words};
use serde::{Deserialize, Serialize};

use super::chat::{ArrivalRecord, arrival, arrival_record};
use super::content::{PartRecord, part, part_record};
use super::{Decoded, decode_pos, encode_pos, from_json, to_json};

/// A run without its number, state and fence, which have columns of their own.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RunRecord {
    steer: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    words: Vec<WordsRecord>,
    tail: TailRecord,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    owner: u64,
    created: i64,
    beat: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cancel: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ended: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Entry, alternatives, mark.
type TailRecord = (Option<i64>, u32, String);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WordsRecord {
    parts: Vec<PartRecord>,
    author: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    request: Option<String>,
    /// In hexadecimal digits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    wording: Option<String>,
    time: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    chat: Option<ArrivalRecord>,
}

/// Encodes a run without its number, state and fence.
pub(crate) fn encode_run(run: &Run) -> String {
    to_json(&RunRecord {
        steer: run.steer.name().to_owned(),
        words: run.words.iter().map(words_record).collect(),
        tail: (run.tail.entry.map(encode_pos), run.tail.alternatives, run.tail.mark.name().to_owned()),
        model: run.model.clone(),
        owner: run.owner,
        created: run.created.0,
        beat: run.beat.0,
        cancel: run.cancel.map(|time| time.0),
        ended: run.ended.map(|time| time.0),
        error: run.error.clone(),
    })
}

/// The run with this number, state, fence and record.
pub(crate) fn decode_run(no: RunNo, state: &str, fence: Fence, json: &str) -> Decoded<Run> {
    let record: RunRecord = from_json("run", json)?;
    let (entry, alternatives, mark) = record.tail;
    let mark = Mark::from_name(&mark).ok_or_else(|| format!("“{mark}” is not a mark"))?;
    Ok(Run {
        no,
        state: RunState::from_name(state).ok_or_else(|| format!("“{state}” is not a state of a run"))?,
        steer: Steer::from_name(&record.steer).ok_or_else(|| format!("“{}” steers nothing", record.steer))?,
        words: record.words.into_iter().map(words).collect::<Decoded<_>>()?,
        tail: Tail { entry: entry.map(decode_pos).transpose()?, alternatives, mark },
        model: record.model,
        fence,
        owner: record.owner,
        created: Time(record.created),
        beat: Time(record.beat),
        cancel: record.cancel.map(Time),
        ended: record.ended.map(Time),
        error: record.error,
    })
}

fn words_record(words: &Words) -> WordsRecord {
    WordsRecord {
        parts: words.parts.iter().map(part_record).collect(),
        author: words.author.clone(),
        request: words.request.as_ref().map(ToString::to_string),
        wording: words.wording.map(|digest| format!("{:032x}", u128::from_be_bytes(digest.current))),
        time: words.time.0,
        chat: words.chat.as_deref().map(arrival_record),
    }
}

fn words(record: WordsRecord) -> Decoded<Words> {
    let wording = record.wording.map(|text| match u128::from_str_radix(&text, 16) {
        Ok(print) if text.len() == 32 => Ok(print.to_be_bytes().into()),
        _ => Err(format!("“{text}” is not a digest")),
    });
    let request = record.request.map(|text| text.parse().map_err(|error| format!("its request: {error}")));
    Ok(Words {
        parts: record.parts.into_iter().map(part).collect::<Decoded<_>>()?,
        author: record.author,
        request: request.transpose()?,
        wording: wording.transpose()?,
        time: Time(record.time),
        chat: record.chat.map(arrival).transpose()?.map(std::sync::Arc::new),
    })
}
