//! What a message says beside its words: when, by whom, and whether it counts. Must never leave anything out without a word.

use std::collections::BTreeSet;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, Unit};
use retake_core::{Flags, Mark, Time, Usage};
use serde_json::{Map, Value};

/// Where programs write down when something was said, the surest first.
const TIMES: [&str; 9] =
    ["time_ms", "timestamp", "created_at", "create_time", "createdAt", "created", "sent_at", "date", "time"];

/// What says nothing that a person or a model would miss.
const OF_NO_USE: [&str; 14] = [
    "type",
    "object",
    "id",
    "index",
    "session_id",
    "conversation_id",
    "parent_id",
    "status",
    "token_count",
    "tokens",
    "finish_reason",
    "stop_reason",
    "stop_sequence",
    "cache_control",
];

/// Numbers above this are milliseconds, others seconds: as seconds, it is the year 5138.
const MOST_SECONDS: f64 = 1e11;

/// What is known of a message.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct About {
    pub(super) time: Option<Time>,
    /// What is said of the time where it can't be kept.
    pub(super) odd_time: Option<String>,
    pub(super) author: Option<String>,
    pub(super) mark: Mark,
    pub(super) flags: Flags,
    pub(super) usage: Option<Usage>,
    pub(super) platform_id: Option<String>,
    /// What could not be kept.
    pub(super) lost: Vec<String>,
}

/// A time may be so far in the future, in milliseconds, as clocks differ: the store takes now for one that is farther.
const FAR_FUTURE: i64 = 24 * 60 * 60 * 1000;

/// Whether the store keeps this time, and does not take now for it.
pub(super) fn is_kept(time: Time, now: Time) -> bool {
    (0..=now.0.saturating_add(FAR_FUTURE)).contains(&time.0)
}

impl About {
    /// A time that the store would not keep is left out, and that is noted.
    pub(super) fn note_odd_time(&mut self, now: Time) {
        if self.time.is_some_and(|time| !is_kept(time, now)) {
            self.time = None;
            self.lost.extend(self.odd_time.take());
        }
    }
}

/// Reads it. `words` are the fields that hold what was said.
pub(super) fn about(message: &Map<String, Value>, words: &[&str]) -> About {
    let mut known: BTreeSet<&str> = words.iter().chain(&OF_NO_USE).copied().collect();
    let mut about = About::default();
    for name in TIMES {
        known.insert(name);
        let Some(value) = message.get(name).filter(|value| !says_nothing(value)) else { continue };
        match time(value, name == "time_ms") {
            Some(_) if about.time.is_some() => {}
            Some(time) => {
                about.time = Some(time);
                about.odd_time = Some(format!("“{name}”, which is out of range: {}", short(value)));
            }
            None => about.lost.push(format!("“{name}”, which is no time: {}", short(value))),
        }
    }
    let mut flag = |name| {
        known.insert(name);
        message.get(name).and_then(truth)
    };
    let inactive = flag("active") == Some(false) || flag("is_active") == Some(false);
    let hidden =
        flag("hidden") == Some(true) || flag("inactive") == Some(true) || flag("deleted") == Some(true);
    about.mark = match (inactive || hidden, flag("excluded") == Some(true)) {
        (true, _) => Mark::Hidden,
        (false, true) => Mark::Excluded,
        (false, false) => Mark::Normal,
    };
    about.flags.observed = flag("observed") == Some(true);
    about.flags.synthetic = flag("synthetic") == Some(true);
    about.flags.interrupted = flag("interrupted") == Some(true);
    known.insert("usage");
    let mut text = |name: &'static str| {
        let text = message.get(name)?.as_str()?;
        known.insert(name);
        Some(text.to_owned()).filter(|text| !text.is_empty())
    };
    let named = [text("name"), text("author"), text("model")];
    about.author = named.into_iter().flatten().next();
    let ids = [text("platform_id"), text("platform_message_id")];
    about.platform_id = ids.into_iter().flatten().next();
    about.usage = message.get("usage").and_then(usage);
    about.lost.extend(lost(message, &known));
    about
}

/// The fields that are not known and say something.
pub(super) fn lost(object: &Map<String, Value>, known: &BTreeSet<&str>) -> Vec<String> {
    let others = object.iter().filter(|(name, value)| !known.contains(name.as_str()) && !says_nothing(value));
    others.map(|(name, _)| format!("“{name}”")).collect()
}

/// When something was said. Times without a zone are taken for UTC.
pub(super) fn time(value: &Value, is_ms: bool) -> Option<Time> {
    let ms = match value {
        Value::Number(number) => {
            let number = number.as_f64()?;
            if is_ms || number.abs() > MOST_SECONDS { number } else { number * 1000.0 }
        }
        Value::String(text) => {
            let text = text.trim();
            if let Ok(number) = text.parse::<f64>() {
                return time(&Value::from(number), is_ms);
            }
            let in_utc = |text: &str| text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok();
            let at = text.parse::<Timestamp>().ok();
            let at = at.or_else(|| in_utc(text).map(|zoned| zoned.timestamp()))?;
            return Some(Time(at.as_millisecond()));
        }
        _ => return None,
    };
    // What does not fit is none; the store looks whether it makes sense.
    let at = Timestamp::from_duration(SignedDuration::try_from_secs_f64(ms / 1000.0).ok()?).ok()?;
    Some(Time(at.round(Unit::Millisecond).ok()?.as_millisecond()))
}

/// Yes or no, as databases write it too.
fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(truth) => Some(*truth),
        Value::Number(number) => number.as_f64().map(|number| number != 0.0),
        _ => None,
    }
}

fn usage(value: &Value) -> Option<Usage> {
    let count = |names: [&str; 2]| names.iter().find_map(|name| value.get(name)).and_then(Value::as_u64);
    let usage = Usage {
        input_tokens: count(["input_tokens", "prompt_tokens"]),
        cached_input_tokens: count(["cache_read_input_tokens", "cached_input_tokens"]),
        output_tokens: count(["output_tokens", "completion_tokens"]),
    };
    (usage != Usage::default()).then_some(usage)
}

fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(true) | Value::Number(_) => false,
    }
}

fn short(value: &Value) -> String {
    retake_core::shorten(&value.to_string(), 40)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trial_16_a_time_is_read_in_every_form() {
        let noon = Some(Time(1_700_000_000_000));
        let rows = [
            ("1700000000", noon),
            ("1700000000.0", noon),
            ("1700000000.123", Some(Time(1_700_000_000_123))),
            ("1700000000000", noon),
            (r#""1700000000""#, noon),
            (r#""2023-11-14T22:13:20Z""#, noon),
            (r#""2023-11-14T23:13:20+01:00""#, noon),
            (r#""2023-11-14 22:13:20""#, noon),
            (r#""yesterday""#, None),
            ("[1]", None),
            ("1e300", None),
        ];
        for (json, expected) in rows {
            assert_eq!(time(&serde_json::from_str(json).expect("JSON"), false), expected, "{json}");
        }
    }
}
