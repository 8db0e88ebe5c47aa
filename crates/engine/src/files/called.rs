//! The call that a change of files belongs to, in a line. Must never show what a person has hidden.

use retake_core::{ConversationId, EntryId, Part, Time, shorten};

use crate::engine::Engine;
use crate::error::Result;

/// So many graphemes of a call are shown.
const LINE: usize = 120;

/// A call, as its result tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Called {
    /// What ran, in a line.
    pub line: String,
    /// When it began, where its call is known.
    pub began: Option<Time>,
    /// When it ended; nothing, where that is not known: it was killed, or a job of it has gone on.
    pub ended: Option<Time>,
}

impl Engine {
    /// The call that an entry is of, also on another branch: of its result, or of the answer that asks for it, where what it
    /// changed was found without a result.
    pub async fn called(&self, of: ConversationId, entry: EntryId) -> Result<Called> {
        let meta = self.store().meta(of, entry).await?;
        // What can't be read any more, as it was hidden or is damaged, has no words.
        let told = self.store().content(of, entry).await.unwrap_or_default();
        if let Some(line) = asked_for(&told) {
            return Ok(Called { line, began: Some(meta.time), ended: None });
        }
        let mut called = Called { line: "a call".to_owned(), began: None, ended: Some(meta.time) };
        let Some(at) = meta.answers else {
            return Ok(called);
        };
        let call = self.store().entry_id(of, at).await?;
        called.began = Some(self.store().meta(of, call).await?.time);
        let asked = self.store().content(of, call).await;
        let id = told.iter().find_map(|part| match part {
            Part::ToolResult { call, .. } => Some(call),
            _ => None,
        });
        let line = asked.iter().flatten().find_map(|part| match part {
            Part::ToolCall { id: own, name, arguments } if Some(own) == id => Some(in_words(name, arguments)),
            _ => None,
        });
        called.line = line.unwrap_or(called.line);
        Ok(called)
    }
}

/// The call that an answer asks for. Of several nobody knows which it was.
fn asked_for(parts: &[Part]) -> Option<String> {
    let calls = parts.iter().filter_map(|part| match part {
        Part::ToolCall { name, arguments, .. } => Some(in_words(name, arguments)),
        _ => None,
    });
    let calls: Vec<String> = calls.collect();
    match calls.as_slice() {
        [] => None,
        [call] => Some(call.clone()),
        several => Some(shorten(&format!("one of {}", several.join(" | ")), LINE)),
    }
}

/// The command that a call ran, or the tool with its arguments.
fn in_words(tool: &str, arguments: &str) -> String {
    shorten(&command(arguments).unwrap_or_else(|| as_it_is(tool, arguments)), LINE)
}

/// The same, with the sign of a shell before a command.
pub(super) fn ran(tool: &str, arguments: &str) -> String {
    let asks = |json: &serde_json::Value| json.get("network").and_then(serde_json::Value::as_bool);
    let with = match serde_json::from_str(arguments).ok().as_ref().and_then(asks) {
        Some(true) => "with network: ",
        _ => "",
    };
    let command = command(arguments).map(|command| format!("{with}$ {command}"));
    shorten(&command.unwrap_or_else(|| as_it_is(tool, arguments)), LINE)
}

/// The command that is among the arguments of a call, on one line.
fn command(arguments: &str) -> Option<String> {
    let json: serde_json::Value = serde_json::from_str(arguments).ok()?;
    let words = match json.get("command")? {
        serde_json::Value::String(command) => command.clone(),
        serde_json::Value::Array(words) => {
            words.iter().filter_map(|word| word.as_str()).collect::<Vec<_>>().join(" ")
        }
        _ => return None,
    };
    Some(on_a_line(&words))
}

fn as_it_is(tool: &str, arguments: &str) -> String {
    on_a_line(&format!("{tool} {arguments}"))
}

fn on_a_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use retake_core::Part;

    use super::{asked_for, in_words, ran};

    #[test]
    fn what_an_answer_asks_for_is_its_call_or_one_of_them() {
        let call = |arguments: &str| Part::ToolCall {
            id: "1".into(),
            name: "shell".into(),
            arguments: arguments.into(),
        };
        let (make, test) = (call(r#"{"command":"make"}"#), call(r#"{"command":"make test"}"#));
        assert_eq!(asked_for(&[Part::text("so"), make.clone()]).as_deref(), Some("make"));
        assert_eq!(asked_for(&[make, test]).as_deref(), Some("one of make | make test"));
        assert_eq!(asked_for(&[Part::text("so")]), None);
    }

    #[test]
    fn a_command_has_its_sign() {
        assert_eq!(ran("shell", r#"{"command":"git push"}"#), "$ git push");
        let asking = r#"{"command":"git push","network":true}"#;
        assert_eq!(ran("shell", asking), "with network: $ git push");
        assert_eq!(ran("mcp__mail__send", r#"{"to":"ann"}"#), r#"mcp__mail__send {"to":"ann"}"#);
    }

    #[test]
    fn a_call_is_what_it_ran() {
        for (tool, arguments, words) in [
            ("exec", r#"{"command":["sh","-c","echo a\n  b"]}"#, "sh -c echo a b"),
            ("shell", r#"{"command":"make  all"}"#, "make all"),
            ("write_file", r#"{"path":"a"}"#, r#"write_file {"path":"a"}"#),
            ("odd", "no json", "odd no json"),
        ] {
            assert_eq!(in_words(tool, arguments), words);
        }
    }
}
