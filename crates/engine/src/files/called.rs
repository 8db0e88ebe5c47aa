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
    /// When it ended.
    pub ended: Time,
}

impl Engine {
    /// The call that a result is of, also on another branch.
    pub async fn called(&self, of: ConversationId, result: EntryId) -> Result<Called> {
        let ended = self.store().meta(of, result).await?;
        let mut called = Called { line: "a call".to_owned(), began: None, ended: ended.time };
        let Some(at) = ended.answers else {
            return Ok(called);
        };
        let call = self.store().entry_id(of, at).await?;
        called.began = Some(self.store().meta(of, call).await?.time);
        // What can't be read any more, as it was hidden or is damaged, has no words.
        let (asked, told) = (self.store().content(of, call).await, self.store().content(of, result).await);
        let id = told.iter().flatten().find_map(|part| match part {
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
    use super::{in_words, ran};

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
