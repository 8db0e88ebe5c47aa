//! Content parts and token usage. One plain text is a JSON string; anything else is a list of parts.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use retake_core::{BadId, Fact, Part, Recalled, Source, ToolOutcome, Usage};
use serde::{Deserialize, Serialize};

use super::{Decoded, from_json, to_json};

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub(super) enum PartRecord {
    Text(String),
    Image {
        media: String,
        source: SourceRecord,
    },
    File {
        name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        media: Option<String>,
        source: SourceRecord,
    },
    Call {
        id: String,
        name: String,
        args: String,
    },
    Repaired {
        name: String,
        args: String,
    },
    Result {
        call: String,
        content: String,
        outcome: OutcomeRecord,
    },
    Reasoning {
        text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    },
    Facts(Vec<(String, String)>),
    /// Ids of facts; never their words.
    Recalled(Vec<String>),
    Erased,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum SourceRecord {
    Base64(String),
    Link(String),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum OutcomeRecord {
    Ok,
    Failed,
}

/// Encodes an entry's content.
pub(crate) fn encode_parts(parts: &[Part]) -> String {
    if let [Part::Text(text)] = parts {
        return to_json(text);
    }
    let parts: Vec<PartRecord> = parts.iter().map(part_record).collect();
    to_json(&parts)
}

/// The content in this record.
pub(crate) fn decode_parts(json: &str) -> Decoded<Vec<Part>> {
    if json.starts_with('"') {
        return Ok(vec![Part::Text(from_json("content", json)?)]);
    }
    let parts: Vec<PartRecord> = from_json("content", json)?;
    parts.into_iter().map(part).collect()
}

/// Encodes a part.
pub(super) fn part_record(part: &Part) -> PartRecord {
    match part {
        Part::Text(text) => PartRecord::Text(text.clone()),
        Part::Image { media_type, source } => {
            PartRecord::Image { media: media_type.clone(), source: source_record(source) }
        }
        Part::File { name, media_type, source } => {
            PartRecord::File { name: name.clone(), media: media_type.clone(), source: source_record(source) }
        }
        Part::ToolCall { id, name, arguments } => {
            PartRecord::Call { id: id.clone(), name: name.clone(), args: arguments.clone() }
        }
        Part::Repaired { name, arguments } => {
            PartRecord::Repaired { name: name.clone(), args: arguments.clone() }
        }
        Part::ToolResult { call, content, outcome } => PartRecord::Result {
            call: call.clone(),
            content: content.clone(),
            outcome: match outcome {
                ToolOutcome::Ok => OutcomeRecord::Ok,
                ToolOutcome::Failed => OutcomeRecord::Failed,
            },
        },
        Part::Reasoning { text, signature } => {
            PartRecord::Reasoning { text: text.clone(), signature: signature.clone() }
        }
        Part::Facts(facts) => {
            PartRecord::Facts(facts.iter().map(|fact| (fact.key.clone(), fact.value.clone())).collect())
        }
        Part::Recalled(facts) => PartRecord::Recalled(facts.iter().map(|fact| fact.id.to_string()).collect()),
        Part::Erased => PartRecord::Erased,
    }
}

/// The part in this record.
pub(super) fn part(record: PartRecord) -> Decoded<Part> {
    Ok(match record {
        PartRecord::Text(text) => Part::Text(text),
        PartRecord::Image { media, source: from } => Part::Image { media_type: media, source: source(from)? },
        PartRecord::File { name, media, source: from } => {
            Part::File { name, media_type: media, source: source(from)? }
        }
        PartRecord::Call { id, name, args } => Part::ToolCall { id, name, arguments: args },
        PartRecord::Repaired { name, args } => Part::Repaired { name, arguments: args },
        PartRecord::Result { call, content, outcome } => Part::ToolResult {
            call,
            content,
            outcome: match outcome {
                OutcomeRecord::Ok => ToolOutcome::Ok,
                OutcomeRecord::Failed => ToolOutcome::Failed,
            },
        },
        PartRecord::Reasoning { text, signature } => Part::Reasoning { text, signature },
        PartRecord::Facts(facts) => {
            Part::Facts(facts.into_iter().map(|(key, value)| Fact { key, value }).collect())
        }
        PartRecord::Recalled(ids) => {
            let fact = |id: String| id.parse().map(Recalled::new).map_err(|error: BadId| error.to_string());
            Part::Recalled(ids.into_iter().map(fact).collect::<Decoded<_>>()?)
        }
        PartRecord::Erased => Part::Erased,
    })
}

fn source_record(source: &Source) -> SourceRecord {
    match source {
        Source::Inline(bytes) => SourceRecord::Base64(BASE64.encode(bytes)),
        Source::Link(link) => SourceRecord::Link(link.clone()),
    }
}

fn source(record: SourceRecord) -> Decoded<Source> {
    Ok(match record {
        SourceRecord::Base64(text) => Source::Inline(
            BASE64.decode(text).map_err(|error| format!("its content can't be read: {error}"))?,
        ),
        SourceRecord::Link(link) => Source::Link(link),
    })
}

/// Input tokens, cached ones of them, output tokens; unknown is `null`.
pub(super) type UsageRecord = (Option<u64>, Option<u64>, Option<u64>);

/// Encodes the usage of a model call.
pub(crate) fn encode_usage(usage: Usage) -> String {
    to_json(&usage_record(usage))
}

/// Encodes usage.
pub(super) fn usage_record(usage: Usage) -> UsageRecord {
    (usage.input_tokens, usage.cached_input_tokens, usage.output_tokens)
}

/// The usage in this record.
pub(crate) fn decode_usage(json: &str) -> Decoded<Usage> {
    from_json("usage", json).map(usage)
}

/// The usage in this record.
pub(super) fn usage((input_tokens, cached_input_tokens, output_tokens): UsageRecord) -> Usage {
    Usage { input_tokens, cached_input_tokens, output_tokens }
}
