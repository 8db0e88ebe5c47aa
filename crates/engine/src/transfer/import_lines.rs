//! Imported lines: detects their format, and repairs invalid JSON text that other programs write.

use std::borrow::Cow;

use retake_store::{EXPORT_FORMAT, EXPORT_VERSION, FULL_FORMAT, FULL_VERSION};
use serde_json::Value;

/// The format of an import, detected from its first line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// Our JSON Lines export.
    Export,
    /// Our full export.
    Full,
    /// A chat message on each line.
    Messages,
    /// One JSON document over all lines: a list of chat messages, or an object that contains one.
    Document,
}

/// The format that begins with this line, which is not blank.
pub(super) fn format_of(line: &str) -> Result<Format, String> {
    if line.trim_start().starts_with('[') {
        return Ok(Format::Document);
    }
    let value: Value = match serde_json::from_str(line) {
        Ok(value) => value,
        Err(error) if error.is_eof() && line.trim_start().starts_with('{') => return Ok(Format::Document),
        Err(error) => return Err(format!("this is neither an export nor a list of chat messages: {error}")),
    };
    let version = value.get("version").and_then(Value::as_u64);
    match value.get("format").and_then(Value::as_str) {
        Some(EXPORT_FORMAT) => known(version, EXPORT_VERSION).map(|()| Format::Export),
        Some(FULL_FORMAT) => known(version, FULL_VERSION).map(|()| Format::Full),
        Some(other) => Err(format!("“{other}” is not a format that can be imported")),
        None if value.get("messages").is_some() => Ok(Format::Document),
        None => Ok(Format::Messages),
    }
}

fn known(version: Option<u64>, newest: u64) -> Result<(), String> {
    match version {
        Some(version) if (1..=newest).contains(&version) => Ok(()),
        Some(version) => {
            Err(format!("it has version {version} of its format, this program reads up to {newest}"))
        }
        None => Err("its header has no version".to_owned()),
    }
}

/// JSON text without a byte order mark, a NUL or half a surrogate pair, which a strict parser rejects.
pub fn mended(line: &str) -> Cow<'_, str> {
    let line = line.strip_prefix('\u{feff}').unwrap_or(line);
    match retake_core::clean(line) {
        Cow::Borrowed(line) => whole_pairs(line),
        Cow::Owned(line) => Cow::Owned(whole_pairs(&line).into_owned()),
    }
}

/// JSON text with each escape of half a surrogate pair replaced: programs that cut texts in the middle write them, and no Unicode
/// parser accepts them.
pub fn whole_pairs(json: &str) -> Cow<'_, str> {
    match lone_surrogates(json) {
        lone if lone.is_empty() => Cow::Borrowed(json),
        lone => {
            let mut text = json.to_owned();
            for at in lone {
                text.replace_range(at..at + ESCAPE, "\\ufffd");
            }
            Cow::Owned(text)
        }
    }
}

/// The length of `\uXXXX`.
const ESCAPE: usize = 6;

/// The places of escapes that are half a surrogate pair.
fn lone_surrogates(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let mut lone = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match (bytes[at], unit(bytes, at)) {
            (b'\\', Some(0xd800..=0xdbff)) => {
                if matches!(unit(bytes, at + ESCAPE), Some(0xdc00..=0xdfff)) {
                    at += ESCAPE;
                } else {
                    lone.push(at);
                }
                at += ESCAPE;
            }
            (b'\\', Some(0xdc00..=0xdfff)) => {
                lone.push(at);
                at += ESCAPE;
            }
            (b'\\', _) => at += 2,
            _ => at += 1,
        }
    }
    lone
}

/// The UTF-16 unit of the escape at this place.
fn unit(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + ESCAPE)?.strip_prefix(b"\\u")?;
    let digits =
        std::str::from_utf8(digits).ok().filter(|text| text.bytes().all(|b| b.is_ascii_hexdigit()))?;
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_pair_is_replaced_and_a_whole_one_is_not() {
        let rows = [
            (r#""\ud83d\ude00""#, "😀"),
            (r#""a\ud83db""#, "a\u{fffd}b"),
            (r#""\ude00""#, "\u{fffd}"),
            (r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀"),
            (r#""\\ud83d""#, "\\ud83d"),
            ("\u{feff}\"a\0b\"", "ab"),
        ];
        for (json, text) in rows {
            assert_eq!(serde_json::from_str::<String>(&mended(json)).unwrap(), text, "{json}");
        }
    }

    #[test]
    fn only_halves_of_pairs_are_replaced() {
        let rows = [
            (r#""\ud800\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\ude00\ud83d""#, r#""\ufffd\ufffd""#),
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""\u00e4\n""#, r#""\u00e4\n""#),
            (r#""\ud8"#, r#""\ud8"#),
            (r#""\"#, r#""\"#),
        ];
        for (given, clean) in rows {
            let got = whole_pairs(given);
            assert_eq!(got, clean, "{given}");
            assert_eq!(matches!(got, Cow::Borrowed(_)), given == clean, "{given}");
        }
    }

    #[test]
    fn the_first_line_shows_the_format() {
        let rows = [
            (r#"{"format":"retake-export","version":1}"#, Ok(Format::Export)),
            (r#"{"format":"retake-full","version":1}"#, Ok(Format::Full)),
            (r#"{"role":"user"}"#, Ok(Format::Messages)),
            (r#"{"messages":[]}"#, Ok(Format::Document)),
            ("{", Ok(Format::Document)),
            ("[", Ok(Format::Document)),
            (r#"{"format":"retake-full","version":2}"#, Ok(Format::Full)),
            (r#"{"format":"retake-full","version":3}"#, Ok(Format::Full)),
            (r#"{"format":"retake-full","version":4}"#, Ok(Format::Full)),
            (r#"{"format":"retake-full","version":5}"#, Ok(Format::Full)),
            (r#"{"format":"retake-full","version":6}"#, Ok(Format::Full)),
            (r#"{"format":"retake-full","version":7}"#, Err(())),
            (r#"{"format":"retake-export","version":2}"#, Ok(Format::Export)),
            (r#"{"format":"retake-export","version":3}"#, Err(())),
            (r#"{"format":"retake-full"}"#, Err(())),
            (r#"{"format":"other","version":1}"#, Err(())),
            ("hello", Err(())),
        ];
        for (line, format) in rows {
            assert_eq!(format_of(line).map_err(drop), format, "{line}");
        }
    }
}
