//! The snippet of an entry with calls: the call as a sentence, and the matching part of its arguments if the sentence does not
//! contain it. Must never show the arguments as raw JSON.

use std::collections::BTreeMap;

use retake_core::{CallWords, Part, calls_as_run, shorten};
use serde_json::Value;

use super::Query;
use super::content::indexed;
use super::snippet::Snippet;

impl Query {
    /// The snippet around the first match: in the text, else in a call's sentence, else in a call's arguments.
    pub fn snippet_of(&self, parts: &[Part], max_chars: usize, words: CallWords) -> Snippet {
        let is_call = |part: &&Part| matches!(part, Part::ToolCall { .. } | Part::Repaired { .. });
        let mut calls = calls_as_run(parts).peekable();
        let said: Vec<_> = parts.iter().filter(|part| !is_call(part)).cloned().collect();
        let said = self.snippet(&indexed(&said), max_chars);
        if calls.peek().is_none() || !said.marks.is_empty() {
            return said;
        }
        let calls = calls.map(|call| (words.0(call.name, call.arguments), given(call.arguments)));
        let mut first = None;
        for (line, given) in calls {
            let called = self.snippet(&line, max_chars);
            if !called.marks.is_empty() {
                return called;
            }
            let lead = shorten(&line, max_chars / 3) + ": ";
            let inside = self.snippet(&given, max_chars.saturating_sub(lead.chars().count()));
            if !inside.marks.is_empty() {
                return inside.behind(&lead);
            }
            first = first.or(Some(called));
        }
        first.filter(|_| said.text.is_empty()).unwrap_or(said)
    }
}

impl Snippet {
    /// The same after a prefix.
    fn behind(self, lead: &str) -> Self {
        let marks = self.marks.iter().map(|mark| mark.start + lead.len()..mark.end + lead.len()).collect();
        Self { text: format!("{lead}{}", self.text), marks }
    }
}

/// The values of a call's arguments, without their names.
fn given(arguments: &str) -> String {
    let mut text = Vec::new();
    match serde_json::from_str(arguments) {
        Ok(value) => values(&mut text, &value),
        Err(_) => text.push(arguments.to_owned()),
    }
    text.join("\n")
}

fn values(text: &mut Vec<String>, value: &Value) {
    match value {
        Value::Object(members) => {
            // Sorted, independent of the JSON library's order.
            let members: BTreeMap<_, _> = members.iter().collect();
            members.values().for_each(|value| values(text, value));
        }
        Value::Array(items) => items.iter().for_each(|value| values(text, value)),
        Value::String(value) => text.push(value.clone()),
        Value::Number(_) | Value::Bool(_) | Value::Null => text.push(value.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_call_in_a_snippet_shows_the_words_that_match() {
        let words = CallWords(|tool, arguments| {
            let given: Value = serde_json::from_str(arguments).unwrap_or_default();
            format!("{tool} {}", given["path"].as_str().unwrap_or_default())
        });
        let call = |arguments: &str| Part::ToolCall {
            id: "c1".into(),
            name: "edit".into(),
            arguments: arguments.into(),
        };
        let edit = call(r#"{"path": "src/lib.rs", "edits": [{"old": "a fox", "new": "a lazy dog"}]}"#);
        let text = Part::text("I make a fox of it.");
        let sent = call("[1]");
        let repaired = Part::Repaired { name: "shell".into(), arguments: r#"{"path": "b.rs"}"#.into() };
        let rows: [(&str, &[&Part], &str); 9] = [
            ("shell", &[&sent, &repaired], "[shell] b.rs"),
            ("fox", &[&text, &edit], "I make a [fox] of it."),
            ("lib", &[&text, &edit], "edit src/[lib].rs"),
            ("dog", &[&text, &edit], "edit src/lib.rs: a lazy [dog] a fox src/lib.rs"),
            ("fox", &[&edit], "edit src/lib.rs: a lazy dog a [fox] src/lib.rs"),
            // The names of arguments are not searched.
            ("edits", &[&edit], "edit src/lib.rs"),
            ("edits", &[&text, &edit], "I make a fox of it."),
            ("moon", &[&call("to the moon {")], "edit : to the [moon] {"),
            ("fox", &[&text], "I make a [fox] of it."),
        ];
        for (query, parts, expected) in rows {
            let parts: Vec<Part> = parts.iter().map(|part| (*part).clone()).collect();
            let snippet = Query::parse(query).0.snippet_of(&parts, 160, words);
            let mut marked = snippet.text.clone();
            for mark in snippet.marks.iter().rev() {
                marked.insert(mark.end, ']');
                marked.insert(mark.start, '[');
            }
            assert_eq!(marked, expected, "{query}");
        }
    }
}
