//! Whether a value contains a text to erase, even if JSON has escaped it: arguments of calls are JSON, and texts in them may be
//! JSON again.

use std::borrow::Cow;

use retake_core::{Entry, Part, Source};

/// JSON in JSON in JSON: deeper nesting is not searched.
const DEEPEST: usize = 3;

/// Whether a string contains a text, as it is or unescaped.
pub(in crate::store) fn holds(own: &str, text: &str) -> bool {
    if own.contains(text) {
        return true;
    }
    let mut plain = Cow::Borrowed(own);
    for _ in 0..DEEPEST {
        match unescaped(&plain) {
            Some(more) if more.contains(text) => return true,
            Some(more) => plain = Cow::Owned(more),
            None => return false,
        }
    }
    false
}

/// Whether any text of a part contains `text`.
pub(in crate::store) fn part_holds(part: &Part, text: &str) -> bool {
    let source = |source: &Source| match source {
        Source::Link(link) => holds(link, text),
        Source::Inline(bytes) => bytes.windows(text.len()).any(|window| window == text.as_bytes()),
    };
    match part {
        Part::Text(own) => holds(own, text),
        Part::Image { source: of, .. } => source(of),
        Part::File { name, source: of, .. } => holds(name, text) || source(of),
        Part::ToolCall { id, name, arguments } => [id, name, arguments].iter().any(|own| holds(own, text)),
        Part::Repaired { name, arguments } => holds(name, text) || holds(arguments, text),
        Part::ToolResult { call, content, .. } => holds(call, text) || holds(content, text),
        Part::Reasoning { text: own, signature } => {
            holds(own, text) || signature.as_deref().is_some_and(|own| holds(own, text))
        }
        Part::Facts(facts) => facts.iter().any(|fact| holds(&fact.key, text) || holds(&fact.value, text)),
        Part::Recalled(_) | Part::Erased => false,
    }
}

/// Whether a name of an entry contains a text: its author, its id on a platform, or the id of the person who wrote it in a chat.
pub(in crate::store) fn names_hold(entry: &Entry, text: &str) -> bool {
    let person = entry.origin.as_ref().map(|origin| &*origin.person);
    holds(&entry.author, text)
        || [entry.platform_id.as_deref(), person].into_iter().flatten().any(|id| holds(id, text))
}

/// A string with JSON escapes replaced, whether it is JSON or not; `None` if it has none.
fn unescaped(text: &str) -> Option<String> {
    let (before, mut rest) = text.split_at(text.find('\\')?);
    let mut plain = before.to_owned();
    while let Some(at) = rest.find('\\') {
        plain.push_str(&rest[..at]);
        let (meant, used) = escape(&rest[at..]);
        plain.push(meant);
        rest = &rest[at + used..];
    }
    plain.push_str(rest);
    Some(plain)
}

/// The character of the escape at the beginning, and its number of bytes. An invalid escape is a backslash.
fn escape(text: &str) -> (char, usize) {
    let short = match text.as_bytes().get(1) {
        Some(mark @ (b'"' | b'\\' | b'/')) => Some(char::from(*mark)),
        Some(b'n') => Some('\n'),
        Some(b't') => Some('\t'),
        Some(b'r') => Some('\r'),
        Some(b'b') => Some('\u{8}'),
        Some(b'f') => Some('\u{c}'),
        _ => None,
    };
    let long = |unit: u16| match (unit, unit_of(&text[6..])) {
        (0xD800..=0xDBFF, Some(second)) => {
            let both = char::decode_utf16([unit, second]).next()?.ok()?;
            Some((both, 12))
        }
        (unit, _) => Some((char::from_u32(unit.into())?, 6)),
    };
    match short {
        Some(short) => (short, 2),
        None => unit_of(text).and_then(long).unwrap_or(('\\', 1)),
    }
}

/// The number of a `\uXXXX` at the beginning.
fn unit_of(text: &str) -> Option<u16> {
    let digits = text.strip_prefix("\\u")?.get(..4)?;
    digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn trial_28_a_text_is_found_however_json_writes_it() {
        let secret = "k\"ey\\1\nline\u{1F511}é/";
        for written in [
            r#"{"content":"my k\"ey\\1\nline🔑é/ is this"}"#,
            r#"{"content":"my k\u0022ey\u005c1\u000Aline\ud83d\udd11\u00e9\/ is this"}"#,
            r#"{"content":"{\"inner\":\"k\\\"ey\\\\1\\nline🔑é/\"}"}"#,
        ] {
            assert!(holds(written, secret), "{written}");
        }
        assert!(!holds(r#"{"content":"k\"ey\\2"}"#, secret));
    }

    #[test]
    fn backslash_without_an_escape_is_kept() {
        for text in ["\\", "\\x", "\\u12", "\\uD83D", "\\uD83D\\u0041", "C:\\users", "a\\"] {
            assert!(holds(text, text), "{text}");
            assert!(!holds(text, "other"), "{text}");
        }
    }

    proptest! {
        #[test]
        fn trial_28_any_text_that_serde_writes_is_found(text in "\\PC{1,12}|[\"\\\\\n\t\u{1}a]{1,8}", deep in 0usize..3) {
            let mut written = serde_json::json!({ "arguments": format!("before {text} after") }).to_string();
            for _ in 0..deep {
                written = serde_json::json!([written]).to_string();
            }
            prop_assert!(holds(&written, &text), "{}", written);
        }
    }
}
