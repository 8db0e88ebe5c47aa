//! The prompt as messages, repaired in memory. Rows are never changed by it.
//!
//! Rules (`spec/store.md`, *Reading*): two users in a row are one; a tool result without its call is left out; a
//! tool call without result gets a stated one.

use crate::content::{Part, Role, ToolOutcome};

/// One message of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What.
    pub parts: Vec<Part>,
    /// The model that wrote it (`provider/model`), where known. Reasoning goes back only to the provider that made
    /// it, because its signature means nothing to another; without this it is not sent.
    pub model: Option<String>,
}

impl Message {
    /// A message of which the writing model does not matter.
    pub fn new(role: Role, parts: Vec<Part>) -> Self {
        Self { role, parts, model: None }
    }

    /// A message of a single text.
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self::new(role, vec![Part::text(text)])
    }
}

/// What the model reads in the place of a result that is not there.
pub const NO_RESULT: &str = "[no result: the call was interrupted]";

/// What stands before the summary of a fold in the prompt.
const SUMMARY_OF_EARLIER: &str = "[Summary of earlier messages]";

/// The message that a summary becomes in the prompt.
pub fn summary_message(summary: &str) -> Message {
    Message::new(Role::User, vec![Part::Text(format!("{SUMMARY_OF_EARLIER}\n{summary}"))])
}

/// Makes a prompt that every provider takes, from entries and summaries in order.
pub fn repaired(messages: impl IntoIterator<Item = Message>) -> Vec<Message> {
    let mut prompt: Vec<Message> = Vec::new();
    let mut open: Vec<String> = Vec::new();
    for mut message in messages {
        message.parts.retain(|part| !matches!(part, Part::Erased | Part::Facts(_)));
        if message.role == Role::Tool {
            message.parts.retain(|part| match part.answered_call() {
                Some(call) => take(&mut open, call),
                None => true,
            });
        }
        if message.parts.is_empty() {
            continue;
        }
        if message.role != Role::Tool {
            close(&mut prompt, &mut open);
        }
        open.extend(message.parts.iter().filter_map(Part::call_id).map(str::to_owned));
        match prompt.last_mut() {
            Some(last) if last.role == message.role && message.role != Role::Assistant => {
                last.parts.append(&mut message.parts);
            }
            _ => prompt.push(message),
        }
    }
    close(&mut prompt, &mut open);
    prompt
}

/// Removes `call` from the open ones, if it is there.
fn take(open: &mut Vec<String>, call: &str) -> bool {
    let at = open.iter().position(|id| id == call);
    at.map(|at| open.remove(at)).is_some()
}

/// States a result for every call that has none.
fn close(prompt: &mut Vec<Message>, open: &mut Vec<String>) {
    if open.is_empty() {
        return;
    }
    let parts: Vec<Part> = open
        .drain(..)
        .map(|call| Part::ToolResult { call, content: NO_RESULT.into(), outcome: ToolOutcome::Failed })
        .collect();
    match prompt.last_mut() {
        Some(last) if last.role == Role::Tool => last.parts.extend(parts),
        _ => prompt.push(Message::new(Role::Tool, parts)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn say(role: Role, text: &str) -> Message {
        Message::new(role, vec![Part::text(text)])
    }

    fn call(id: &str) -> Message {
        let part = Part::ToolCall { id: id.into(), name: "ls".into(), arguments: "{}".into() };
        Message::new(Role::Assistant, vec![part])
    }

    fn result(id: &str, content: &str) -> Message {
        let outcome = if content == NO_RESULT { ToolOutcome::Failed } else { ToolOutcome::Ok };
        let part = Part::ToolResult { call: id.into(), content: content.into(), outcome };
        Message::new(Role::Tool, vec![part])
    }

    fn check(before: Vec<Message>, after: Vec<Message>) {
        assert_eq!(repaired(before), after);
    }

    #[test]
    fn two_users_in_a_row_are_one() {
        let one = Message::new(Role::User, vec![Part::text("a"), Part::text("b")]);
        check(vec![say(Role::User, "a"), say(Role::User, "b")], vec![one]);
    }

    #[test]
    fn an_orphan_result_is_left_out() {
        check(vec![say(Role::User, "a"), result("1", "x")], vec![say(Role::User, "a")]);
        check(vec![call("1"), result("1", "x"), result("1", "again")], vec![call("1"), result("1", "x")]);
    }

    #[test]
    fn a_call_without_result_gets_a_stated_one() {
        check(vec![call("1")], vec![call("1"), result("1", NO_RESULT)]);
        check(
            vec![call("1"), say(Role::User, "stop"), result("1", "late")],
            vec![call("1"), result("1", NO_RESULT), say(Role::User, "stop")],
        );
    }
}
