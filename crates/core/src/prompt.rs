//! The prompt as messages, repaired in memory. Must never change rows.
//!
//! Rules (`spec/store.md`, *Reading*), which hold for any entries in any order:
//! - the first message is not the model's;
//! - between two messages of the model is one of another role, and two of any other role in a row are one;
//! - only the model calls tools. After a message with calls comes one message with their results, in the order of the
//!   calls, wherever these were. A missing result is replaced by a note, one without a call is left out;
//! - no message is empty.

use std::collections::BTreeMap;

use crate::content::{Part, Role, ToolOutcome};
use crate::memory::recalled_text;

/// One message of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its role.
    pub role: Role,
    /// Its parts.
    pub parts: Vec<Part>,
    /// The model that wrote it (`provider/model`), if known. Reasoning is sent only to the provider that made it,
    /// because another cannot use its signature; without this it is not sent.
    pub model: Option<String>,
}

impl Message {
    /// A message for which the writing model does not matter.
    pub fn new(role: Role, parts: Vec<Part>) -> Self {
        Self { role, parts, model: None }
    }

    /// How many bytes of text it has, arguments and results of calls included; a picture or file counts with its own.
    pub fn bytes(&self) -> usize {
        self.parts.iter().map(Part::bytes).sum()
    }

    /// A message with a single text.
    pub fn text(role: Role, text: impl Into<String>) -> Self {
        Self::new(role, vec![Part::text(text)])
    }
}

/// The replacement of a missing result for the model.
pub const NO_RESULT: &str = "[no result: the call was interrupted]";

/// The heading of a fold's summary in the prompt.
const SUMMARY_OF_EARLIER: &str = "[Summary of earlier messages]";

/// The message for a summary in the prompt.
pub fn summary_message(summary: &str) -> Message {
    Message::new(Role::User, vec![Part::Text(format!("{SUMMARY_OF_EARLIER}\n{summary}"))])
}

/// The message where one is needed and none is visible: before an answer whose prompt is hidden.
pub const NO_MESSAGE: &str = "[no message is shown here]";

/// Makes a prompt that every provider accepts, from entries and summaries in order.
pub fn repaired(messages: impl IntoIterator<Item = Message>) -> Vec<Message> {
    let mut places: Vec<Place> = Vec::new();
    let mut open: Vec<(usize, usize, String)> = Vec::new();
    for message in messages {
        let at = places.len();
        let place = Place::of(message);
        open.extend(place.calls().enumerate().map(|(nth, id)| (at, nth, id.to_owned())));
        places.push(place);
        for result in std::mem::take(&mut places[at].results) {
            // A result without its call is left out; a picture beside it is not.
            match asked(&mut open, &result) {
                Some((at, nth)) => drop(places[at].answers.insert(nth, result)),
                None => places[at].others.extend(result.into_iter().skip(1)),
            }
        }
    }
    let mut prompt = Vec::new();
    for place in places {
        place.put(&mut prompt);
    }
    prompt
}

/// A message in parts.
struct Place {
    message: Message,
    /// Tool results, each with the parts beside it.
    results: Vec<Vec<Part>>,
    /// Parts beside results that are left out.
    others: Vec<Part>,
    /// The results of this message's calls, by the number of the call.
    answers: BTreeMap<usize, Vec<Part>>,
}

impl Place {
    fn of(mut message: Message) -> Self {
        let (mut own, mut results): (Vec<Part>, Vec<Vec<Part>>) = (Vec::new(), Vec::new());
        for part in std::mem::take(&mut message.parts) {
            match part {
                Part::Erased | Part::Repaired { .. } | Part::Facts(_) => {}
                Part::Text(text) if text.trim().is_empty() => {}
                Part::ToolCall { name, arguments, .. } if message.role != Role::Assistant => {
                    own.push(Part::Text(format!("[Tool call {name}: {arguments}]")));
                }
                result @ Part::ToolResult { .. } => results.push(vec![result]),
                Part::Recalled(facts) => {
                    let told = recalled_text(&facts);
                    match results.last_mut().and_then(|result| result.first_mut()) {
                        Some(Part::ToolResult { content, .. }) => {
                            *content = format!("{content}\n{told}").trim_start().to_owned();
                        }
                        _ => own.push(Part::Text(told)),
                    }
                }
                beside => match results.last_mut() {
                    Some(result) if message.role == Role::Tool => result.push(beside),
                    _ => own.push(beside),
                },
            }
        }
        message.parts = own;
        Self { message, results, others: Vec::new(), answers: BTreeMap::new() }
    }

    /// The ids of the calls.
    fn calls(&self) -> impl Iterator<Item = &str> {
        self.message.parts.iter().filter_map(Part::call_id)
    }

    /// Appends the message, and the results of its calls.
    fn put(mut self, prompt: &mut Vec<Message>) {
        let calls: Vec<String> = self.calls().map(str::to_owned).collect();
        self.message.parts.append(&mut self.others);
        append(prompt, self.message);
        for (nth, call) in calls.into_iter().enumerate() {
            let missing =
                |call| Part::ToolResult { call, content: NO_RESULT.into(), outcome: ToolOutcome::Failed };
            let result = self.answers.remove(&nth).unwrap_or_else(|| vec![missing(call)]);
            append(prompt, Message::new(Role::Tool, result));
        }
    }
}

/// The call of a result, by its message and its number there: the first open call with this id in the last message
/// that has one. It is closed.
fn asked(open: &mut Vec<(usize, usize, String)>, result: &[Part]) -> Option<(usize, usize)> {
    let id = result.first().and_then(Part::answered_call)?;
    let (message, ..) = *open.iter().rfind(|(_, _, call)| call == id)?;
    let first = open.iter().position(|(at, _, call)| *at == message && call == id)?;
    let (at, nth, _) = open.remove(first);
    Some((at, nth))
}

/// Adds a message so that the model neither comes first nor twice in a row, and neighbouring messages of other roles
/// are merged.
fn append(prompt: &mut Vec<Message>, mut message: Message) {
    if message.parts.is_empty() {
        return;
    }
    let again = prompt.last().is_none_or(|last| last.role == Role::Assistant);
    match prompt.last_mut() {
        Some(last) if last.role == message.role && message.role != Role::Assistant => {
            last.parts.append(&mut message.parts);
            return;
        }
        _ if again && message.role == Role::Assistant => prompt.push(Message::text(Role::User, NO_MESSAGE)),
        _ => {}
    }
    prompt.push(message);
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn say(role: Role, text: &str) -> Message {
        Message::new(role, vec![Part::text(text)])
    }

    fn asks(id: &str) -> Part {
        Part::ToolCall { id: id.into(), name: "ls".into(), arguments: "{}".into() }
    }

    fn call(id: &str) -> Message {
        Message::new(Role::Assistant, vec![asks(id)])
    }

    fn answers(id: &str, content: &str) -> Part {
        let outcome = if content == NO_RESULT { ToolOutcome::Failed } else { ToolOutcome::Ok };
        Part::ToolResult { call: id.into(), content: content.into(), outcome }
    }

    fn result(id: &str, content: &str) -> Message {
        Message::new(Role::Tool, vec![answers(id, content)])
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
        let go = || say(Role::User, "a");
        check(vec![go(), result("1", "x")], vec![go()]);
        check(
            vec![go(), call("1"), result("1", "x"), result("1", "again")],
            vec![go(), call("1"), result("1", "x")],
        );
    }

    #[test]
    fn a_call_without_result_gets_a_stated_one() {
        let (go, stop) = (|| say(Role::User, "a"), || say(Role::User, "stop"));
        check(vec![go(), call("1")], vec![go(), call("1"), result("1", NO_RESULT)]);
        check(vec![go(), call("1"), stop()], vec![go(), call("1"), result("1", NO_RESULT), stop()]);
    }

    #[test]
    fn trial_13_results_stand_behind_their_calls_in_the_order_of_the_calls() {
        let go = || say(Role::User, "go");
        let both = Message::new(Role::Assistant, vec![asks("1"), asks("2")]);
        let results = |two: &str| Message::new(Role::Tool, vec![answers("1", "x"), answers("2", two)]);
        check(
            vec![go(), both.clone(), result("2", "y"), say(Role::User, "more"), result("1", "x")],
            vec![go(), both.clone(), results("y"), say(Role::User, "more")],
        );
        // The same id again is another call.
        check(
            vec![go(), call("1"), say(Role::User, "b"), call("1"), result("1", "x")],
            vec![go(), call("1"), result("1", NO_RESULT), say(Role::User, "b"), call("1"), result("1", "x")],
        );
    }

    #[test]
    fn trial_13_the_model_never_speaks_first_nor_twice_in_a_row() {
        let answer = |text| say(Role::Assistant, text);
        let nothing = || say(Role::User, NO_MESSAGE);
        check(vec![answer("a"), say(Role::User, "b")], vec![nothing(), answer("a"), say(Role::User, "b")]);
        check(
            vec![say(Role::User, " "), answer("a"), answer("b")],
            vec![nothing(), answer("a"), nothing(), answer("b")],
        );
    }

    fn part() -> impl Strategy<Value = Part> {
        let id = "[12]";
        prop_oneof![
            3 => "[a-c]{1,2}| ".prop_map(Part::Text),
            2 => id.prop_map(|id| asks(&id)),
            2 => (id, "[xyz]").prop_map(|(id, content)| answers(&id, &content)),
            1 => Just(Part::Erased),
            1 => Just(Part::Reasoning { text: "hm".into(), signature: None }),
        ]
    }

    fn message() -> impl Strategy<Value = Message> {
        (proptest::sample::select(Role::ALL), vec(part(), 0..4))
            .prop_map(|(role, parts)| Message::new(role, parts))
    }

    proptest! {
        #[test]
        fn trial_13_any_entries_become_a_prompt_that_providers_take(messages in vec(message(), 0..9)) {
            let prompt = repaired(messages.clone());
            prop_assert!(prompt.first().is_none_or(|first| first.role != Role::Assistant));
            prop_assert!(prompt.windows(2).all(|two| two[0].role != two[1].role), "{prompt:?}");
            for (at, message) in prompt.iter().enumerate() {
                prop_assert!(!message.parts.is_empty());
                let called: Vec<_> = message.parts.iter().filter_map(Part::call_id).collect();
                prop_assert!(called.is_empty() || message.role == Role::Assistant);
                let before = at.checked_sub(1).map_or(&[][..], |before| &prompt[before].parts);
                let results: Vec<_> = message.parts.iter().filter_map(Part::answered_call).collect();
                if message.role == Role::Tool {
                    prop_assert_eq!(before.iter().filter_map(Part::call_id).collect::<Vec<_>>(), results);
                } else {
                    prop_assert!(results.is_empty() && before.iter().all(|part| part.call_id().is_none()));
                }
            }
            let texts = |messages: &[Message]| {
                let parts = messages.iter().flat_map(|message| &message.parts);
                let texts = parts.filter_map(Part::as_text).filter(|text| !text.trim().is_empty());
                let mut texts: Vec<_> = texts.filter(|text| !text.starts_with('[')).map(str::to_owned).collect();
                texts.sort();
                texts
            };
            prop_assert_eq!(texts(&messages), texts(&prompt));
            prop_assert_eq!(repaired(prompt.clone()), prompt);
        }
    }
}
