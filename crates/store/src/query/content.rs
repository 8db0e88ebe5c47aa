//! The searched content of an entry: messages, tool calls with their arguments, results, and file names. Must never
//! include a model's reasoning or a picture.

use retake_core::Part;
use serde_json::Value;

use super::words::words;

/// The searched text of an entry, which is also the source of snippets.
pub fn indexed(parts: &[Part]) -> String {
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Text(said) => line(&mut text, said),
            Part::ToolCall { name, arguments, .. } | Part::Repaired { name, arguments } => {
                line(&mut text, name);
                // As a person reads them: an escaped line break would be joined to the next word.
                match serde_json::from_str(arguments) {
                    Ok(value) => unfold(&mut text, &value),
                    Err(_) => line(&mut text, arguments),
                }
            }
            Part::ToolResult { content, .. } => line(&mut text, content),
            Part::File { name, .. } => line(&mut text, name),
            // The words of recalled facts are found where they are stored.
            Part::Image { .. }
            | Part::Reasoning { .. }
            | Part::Facts(_)
            | Part::Recalled(_)
            | Part::Erased => {}
        }
    }
    text
}

/// The same as folded words, joined by spaces, for a full-text index.
pub fn index_text(parts: &[Part]) -> String {
    let text = indexed(parts);
    let mut folded = String::with_capacity(text.len());
    if text.is_ascii() {
        // A fast path with the same result: most stored text is plain, and every commit waits for this.
        let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        words.for_each(|word| push_word(&mut folded, word));
        folded.make_ascii_lowercase();
    } else {
        words(&text).for_each(|word| push_word(&mut folded, &word.text));
    }
    folded
}

/// Appends a word after a space.
fn push_word(text: &mut String, word: &str) {
    if !text.is_empty() {
        text.push(' ');
    }
    text.push_str(word);
}

/// Appends a line.
fn line(text: &mut String, line: &str) {
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(line);
}

/// Appends the names and values in a piece of JSON.
fn unfold(text: &mut String, value: &Value) {
    match value {
        Value::Object(members) => {
            // Sorted by name, independent of the JSON library: an index must remove exactly what was added.
            let mut members: Vec<_> = members.iter().collect();
            members.sort_unstable_by_key(|(name, _)| *name);
            for (name, value) in members {
                line(text, name);
                unfold(text, value);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| unfold(text, value)),
        Value::String(value) => line(text, value),
        Value::Number(_) | Value::Bool(_) | Value::Null => line(text, &value.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use retake_core::{Source, ToolOutcome};

    use super::*;

    proptest! {
        #[test]
        fn plain_text_is_cut_like_any_other(text in "[ -~\t\n\0]{0,60}") {
            let cut: Vec<String> = words(&text).map(|word| word.text).collect();
            prop_assert_eq!(index_text(&[Part::text(text)]), cut.join(" "));
        }
    }

    fn call(arguments: &str) -> Part {
        let (id, name) = ("call-1".into(), "write_file".into());
        Part::ToolCall { id, name, arguments: arguments.into() }
    }

    #[test]
    fn messages_and_tool_calls_are_searched() {
        let parts = [
            Part::text("Écris-le"),
            Part::Reasoning { text: "secretly".into(), signature: None },
            Part::Image {
                media_type: "image/png".into(),
                source: Source::Link("https://example.org/cat".into()),
            },
            call(r#"{"path":"a.rs","text":"one\ntwo \u4e2d","n":[7,true]}"#),
            call("{broken\\n"),
            Part::Repaired { name: "shell".into(), arguments: r#"{"command":"ls"}"#.into() },
            Part::ToolResult { call: "call-1".into(), content: "done".into(), outcome: ToolOutcome::Ok },
            Part::File {
                name: "notes.txt".into(),
                media_type: None,
                source: Source::Inline(b"bytes".to_vec()),
            },
            Part::Erased,
        ];
        assert_eq!(
            index_text(&parts),
            "ecris le write file n 7 true path a rs text one two 中 write file broken n shell command ls done notes txt"
        );
        assert!(indexed(&parts).starts_with("Écris-le\nwrite_file\nn\n7"));
        assert_eq!(index_text(&[Part::Erased]), "");
    }
}
