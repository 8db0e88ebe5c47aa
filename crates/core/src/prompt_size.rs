//! How large a prompt is, by what it consists of. Must never count tokens: only a model knows them.

use crate::content::{Part, Role, Usage};
use crate::prompt::Message;

/// The bytes of text that a picture counts for: models count it by its size on the screen.
const IMAGE: usize = 5000;

/// The bytes of a prompt by kind, with a fixed number for a picture.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptSizes {
    /// Summaries of earlier messages.
    pub summaries: usize,
    /// Instruction files, notes of the program, and recalled facts.
    pub notes: usize,
    /// Messages of people and of models, with the calls of tools.
    pub messages: usize,
    /// Results of tools.
    pub results: usize,
    /// The newest answer whose tokens its provider counted.
    pub counted: Option<CountedAnswer>,
}

/// An answer whose tokens its provider counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedAnswer {
    /// The model: `provider/model`.
    pub model: String,
    /// The counts.
    pub usage: Usage,
    /// The bytes of the messages before it, as they are now.
    pub before: usize,
    /// The bytes of the messages after it.
    pub after: usize,
    /// Whether no operation was made since.
    pub is_current: bool,
}

impl PromptSizes {
    /// All of it.
    pub fn total(&self) -> usize {
        self.summaries + self.notes + self.messages + self.results
    }

    /// Adds a message. `is_summary`: it stands for earlier messages.
    pub fn add(&mut self, message: &Message, is_summary: bool) {
        let before = self.total();
        for part in &message.parts {
            let of = match part {
                _ if is_summary => &mut self.summaries,
                Part::Recalled(_) => &mut self.notes,
                Part::ToolResult { .. } => &mut self.results,
                _ if message.role == Role::Tool => &mut self.results,
                _ if message.role == Role::System => &mut self.notes,
                _ => &mut self.messages,
            };
            *of += weight(part);
        }
        let added = self.total() - before;
        if let Some(counted) = &mut self.counted {
            counted.after += added;
        }
    }

    /// The message that was added last is an answer with these counts.
    pub fn counts(&mut self, message: &Message, usage: Usage, is_current: bool) {
        let Some(model) = message.model.clone().filter(|_| usage.input_tokens.is_some()) else { return };
        let before = self.total() - parts_weight(&message.parts);
        self.counted = Some(CountedAnswer { model, usage, before, after: 0, is_current });
    }
}

/// The bytes of these parts in a prompt, with a fixed number for a picture.
pub fn parts_weight(parts: &[Part]) -> usize {
    parts.iter().map(weight).sum()
}

fn weight(part: &Part) -> usize {
    match part {
        Part::Image { .. } => IMAGE,
        // They are no part of a prompt.
        Part::Facts(_) | Part::Repaired { .. } => 0,
        part => part.bytes(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::ToolOutcome;

    #[test]
    fn each_part_counts_for_one_kind_and_all_make_the_total() {
        let mut sizes = PromptSizes::default();
        let of = |role, text: &str| Message::text(role, text);
        sizes.add(&of(Role::User, "a summary"), true);
        sizes.add(&of(Role::System, "a note"), false);
        sizes.add(&of(Role::User, "hello"), false);
        let answer = Message { model: Some("a/m".into()), ..of(Role::Assistant, "yes") };
        sizes.add(&answer, false);
        let usage = Usage { input_tokens: Some(7), ..Usage::default() };
        sizes.counts(&answer, usage, true);
        let result = Part::ToolResult { call: "c".into(), content: "out".into(), outcome: ToolOutcome::Ok };
        sizes.add(&Message::new(Role::Tool, vec![result]), false);
        let counted = CountedAnswer { model: "a/m".into(), usage, before: 20, after: 3, is_current: true };
        let expected =
            PromptSizes { summaries: 9, notes: 6, messages: 8, results: 3, counted: Some(counted) };
        assert_eq!((sizes.total(), sizes), (26, expected));
    }
}
