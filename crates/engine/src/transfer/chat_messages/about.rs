//! The fields of a message other than its text: time, author, and whether it counts. Must never drop a field without a report.

use std::collections::BTreeSet;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp, Unit};
use retake_core::{Flags, Mark, Time, Usage};
use serde_json::{Map, Value};

/// The fields in which programs store a time, the most reliable first.
const TIMES: [&str; 9] =
    ["time_ms", "timestamp", "created_at", "create_time", "createdAt", "created", "sent_at", "date", "time"];

/// Fields that contain nothing of a message, such as its type and cache marks.
const OF_NO_USE: [&str; 3] = ["type", "object", "cache_control"];

/// The usage counts that are kept, each with its names.
const COUNTS: [[&str; 2]; 3] = [
    ["input_tokens", "prompt_tokens"],
    ["cache_read_input_tokens", "cached_input_tokens"],
    ["output_tokens", "completion_tokens"],
];

/// A larger number is milliseconds, others are seconds: as seconds, it is the year 5138.
const MOST_SECONDS: f64 = 1e11;

/// The known fields of a message.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct About {
    pub(super) time: Option<Time>,
    /// The notice about a time that cannot be kept.
    pub(super) odd_time: Option<String>,
    pub(super) author: Option<String>,
    pub(super) mark: Mark,
    pub(super) flags: Flags,
    pub(super) usage: Option<Usage>,
    pub(super) platform_id: Option<String>,
    /// The fields that could not be kept.
    pub(super) lost: Vec<String>,
}

/// How far in the future a time may be, in milliseconds, as clocks differ: the store replaces a later one by the current time.
const FAR_FUTURE: i64 = 24 * 60 * 60 * 1000;

/// Whether the store keeps this time instead of replacing it by the current one.
pub(super) fn is_kept(time: Time, now: Time) -> bool {
    (0..=now.0.saturating_add(FAR_FUTURE)).contains(&time.0)
}

impl About {
    /// Removes a time that the store would not keep, and records this.
    pub(super) fn note_odd_time(&mut self, now: Time) {
        if self.time.is_some_and(|time| !is_kept(time, now)) {
            self.time = None;
            self.lost.extend(self.odd_time.take());
        }
    }
}

/// Parses the fields. `words` are the fields with its text.
pub(super) fn about(message: &Map<String, Value>, words: &[&str]) -> About {
    let mut about = when(message);
    let mut known: BTreeSet<&str> = words.iter().chain(&TIMES).copied().collect();
    let mut flag = |name| {
        let flag = message.get(name).and_then(truth);
        known.extend(flag.map(|_| name));
        flag
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
    // The first of several names is kept; others with an equal value are not lost.
    let mut first = |names: &[&'static str]| {
        let text = |name: &&'static str| {
            Some((*name, message.get(*name)?.as_str().filter(|text| !text.is_empty())?))
        };
        let said: Vec<_> = names.iter().filter_map(text).collect();
        let kept = said.first()?.1;
        known.extend(said.iter().filter(|(_, text)| *text == kept).map(|(name, _)| *name));
        Some(kept.to_owned())
    };
    about.author = first(&["name", "author", "model"]);
    about.platform_id = first(&["platform_id", "platform_message_id"]);
    about.usage = message.get("usage").and_then(usage);
    if let (Some(_), Some(Value::Object(used))) = (about.usage, message.get("usage")) {
        known.insert("usage");
        about.lost.extend(lost_in("usage", used, &COUNTS.concat()));
    }
    let known: Vec<&str> = known.into_iter().collect();
    about.lost.extend(lost(message, &known));
    about
}

/// The time of the message. The most reliable one is kept; equal ones are not lost.
pub(super) fn when(object: &Map<String, Value>) -> About {
    let mut about = About::default();
    for name in TIMES {
        let Some(value) = object.get(name).filter(|value| !is_blank(value)) else { continue };
        match time(value, name == "time_ms") {
            Some(time) if about.time.is_none() => {
                about.time = Some(time);
                about.odd_time = Some(format!("“{name}”, which is out of range: {}", short(value)));
            }
            Some(time) if about.time == Some(time) => {}
            Some(_) => about.lost.push(format!("“{name}”, which is another time: {}", short(value))),
            None => about.lost.push(format!("“{name}”, which is not a time: {}", short(value))),
        }
    }
    about
}

/// The same as [`lost`], for an object whose times are read.
pub(super) fn lost_beside_times(object: &Map<String, Value>, known: &[&str]) -> Vec<String> {
    lost(object, &[known, &TIMES].concat())
}

/// The unknown fields that have a value.
pub(super) fn lost(object: &Map<String, Value>, known: &[&str]) -> Vec<String> {
    strange(object, known).map(|name| format!("“{name}”")).collect()
}

/// The same for an object in a field with this name.
pub(super) fn lost_in(within: &str, object: &Map<String, Value>, known: &[&str]) -> Vec<String> {
    strange(object, known).map(|name| format!("“{within}.{name}”")).collect()
}

fn strange<'a>(object: &'a Map<String, Value>, known: &[&str]) -> impl Iterator<Item = &'a String> {
    let is_strange =
        |name: &str, value| !known.contains(&name) && !OF_NO_USE.contains(&name) && !is_blank(value);
    object.iter().filter(move |(name, value)| is_strange(name, value)).map(|(name, _)| name)
}

/// Parses a time. Times without a zone are in UTC.
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
    // A time out of range is ignored; the store checks whether it is plausible.
    let at = Timestamp::from_duration(SignedDuration::try_from_secs_f64(ms / 1000.0).ok()?).ok()?;
    Some(Time(at.round(Unit::Millisecond).ok()?.as_millisecond()))
}

/// A boolean, also in the forms that databases write.
fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(truth) => Some(*truth),
        Value::Number(number) => number.as_f64().map(|number| number != 0.0),
        _ => None,
    }
}

fn usage(value: &Value) -> Option<Usage> {
    let count = |names: [&str; 2]| names.iter().find_map(|name| value.get(name)).and_then(Value::as_u64);
    let [input_tokens, cached_input_tokens, output_tokens] = COUNTS.map(count);
    let usage = Usage { input_tokens, cached_input_tokens, output_tokens };
    (usage != Usage::default()).then_some(usage)
}

fn is_blank(value: &Value) -> bool {
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
