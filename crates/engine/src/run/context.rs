//! How much of the model's context the next prompt takes, and by what. Must never call a model or change anything.

use std::future::pending;

use retake_core::{ConversationId, CountedAnswer, Part, PromptSizes, parts_weight};

use super::compact::{TOKENS_PER_BYTE, specs_bytes};
use super::{Events, Permit, name_of};
use crate::Engine;
use crate::error::Result;
use crate::model::ToolSpec;
use crate::notice::Notice;

/// The most and the fewest tokens of a byte that a counted answer may lead to: beyond these, the prompt was another one.
const PLAUSIBLE: std::ops::RangeInclusive<f64> = 0.01..=1.5;

/// How much of a model's context the next prompt takes.
#[derive(Clone, Debug)]
pub struct ContextUse {
    /// The model that would answer; none if no model can be used.
    pub model: Option<String>,
    /// The size of its context in tokens, if known.
    pub limit: Option<u64>,
    /// From how many tokens on earlier messages are summarised; none if that never happens.
    pub summarised_at: Option<u64>,
    /// The tokens of the prompt.
    pub used: u64,
    /// Whether the provider counted them; otherwise they are estimated.
    pub is_counted: bool,
    /// The tokens by what they are for.
    pub parts: ContextParts,
    /// The warning about the message of the request.
    pub warning: Option<Notice>,
}

/// The tokens of a prompt by what they are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextParts {
    /// The system prompt and the descriptions of tools.
    pub system: u64,
    /// Instruction files, notes of the program, and recalled facts.
    pub notes: u64,
    /// Summaries of earlier messages.
    pub summaries: u64,
    /// Messages, with the calls of tools.
    pub messages: u64,
    /// Results of tools.
    pub results: u64,
}

impl Engine {
    /// How much of the model's context the next prompt takes, without and with a message that is not sent yet. Waits for MCP servers
    /// that start, as a turn does.
    pub async fn context(
        &self,
        conversation: ConversationId,
        model: Option<&str>,
        message: Vec<Part>,
    ) -> Result<ContextUse> {
        let choice = self.models().choose(model).await.ok();
        self.await_servers(conversation, &Events::none(), pending()).await?;
        let model = choice.as_ref().map(name_of);
        let name = model.as_deref().unwrap_or_default();
        let scene = self.scene(conversation, Permit::default(), None, name).await?;
        let tools: Vec<ToolSpec> = scene.tools.all().map(|tool| ToolSpec::of(&**tool)).collect();
        let fixed = specs_bytes(&tools) + scene.system.as_ref().map_or(0, String::len);
        let shortening = match &choice {
            Some(choice) => self.shortening(conversation, choice).await?,
            None => None,
        };
        let sizes = self.store().prompt_sizes(conversation, shortening).await?;
        let limit = choice.as_ref().and_then(|choice| choice.model.info().context_tokens);
        let at = self.parts().agent.as_ref().map_or(0, |agent| agent.compact_at);
        let measured = Measured::of(fixed, &sizes, model.as_deref());
        let message = match message.is_empty() {
            true => 0,
            false => parts_weight(&self.with_mentions(conversation, message).await?.0),
        };
        // A summary may take the place of all but the message.
        let beside = if at > 0 { fixed } else { fixed + sizes.total() };
        let with_message = measured.tokens(beside + message);
        let too_long = |limit: &u64| message > 0 && with_message > *limit;
        let warning = limit.filter(too_long).zip(model.clone());
        Ok(ContextUse {
            limit,
            summarised_at: limit.filter(|_| at > 0).map(|limit| limit * at / 100),
            used: measured.used,
            is_counted: measured.is_counted,
            parts: measured.parts(fixed, &sizes),
            warning: warning.map(|(limit, model)| Notice::TooLongForModel {
                model,
                tokens: with_message,
                limit,
            }),
            model,
        })
    }
}

/// The tokens of a prompt, and of a byte of it.
struct Measured {
    used: u64,
    is_counted: bool,
    tokens_per_byte: f64,
    bytes: usize,
}

impl Measured {
    /// From the newest answer whose tokens were counted.
    fn of(fixed: usize, sizes: &PromptSizes, model: Option<&str>) -> Self {
        let bytes = fixed + sizes.total();
        let rate = |counted: &CountedAnswer| {
            let rate = counted.usage.input_tokens? as f64 / (fixed + counted.before).max(1) as f64;
            PLAUSIBLE.contains(&rate).then_some(rate)
        };
        let counted = sizes.counted.as_ref();
        let tokens_per_byte = counted.and_then(rate).unwrap_or(TOKENS_PER_BYTE);
        let same = counted.filter(|counted| counted.is_current && Some(&*counted.model) == model);
        let up_to_it = same.and_then(|it| Some((it.usage.input_tokens? + it.usage.output_tokens?, it.after)));
        let estimate = |bytes: usize| (bytes as f64 * tokens_per_byte).round() as u64;
        let (used, is_counted) = match up_to_it {
            Some((tokens, 0)) => (tokens, true),
            Some((tokens, after)) => (tokens + estimate(after), false),
            None => (estimate(bytes), false),
        };
        Self { used, is_counted, tokens_per_byte, bytes }
    }

    /// An estimate.
    fn tokens(&self, bytes: usize) -> u64 {
        (bytes as f64 * self.tokens_per_byte).round() as u64
    }

    /// What takes how much, in proportion to the bytes. The sum is exact.
    fn parts(&self, fixed: usize, sizes: &PromptSizes) -> ContextParts {
        let share =
            |bytes: usize| (self.used as f64 * bytes as f64 / self.bytes.max(1) as f64).floor() as u64;
        let (notes, summaries) = (share(sizes.notes), share(sizes.summaries));
        let (messages, results) = (share(sizes.messages), share(sizes.results));
        let others = notes + summaries + messages + results;
        let rest = self.used - others;
        // What rounding leaves belongs to the kind that is always there.
        match fixed {
            0 => ContextParts { system: 0, notes, summaries, messages: messages + rest, results },
            _ => ContextParts { system: rest, notes, summaries, messages, results },
        }
    }
}

#[cfg(test)]
mod tests {
    use retake_core::Usage;

    use super::*;

    fn counted(before: usize, after: usize, is_current: bool) -> Option<CountedAnswer> {
        let usage = Usage { input_tokens: Some(200), output_tokens: Some(10), cached_input_tokens: None };
        Some(CountedAnswer { model: "a/m".into(), usage, before, after, is_current })
    }

    #[test]
    fn provider_counts_are_used_until_something_changes_and_set_the_rate_of_estimates() {
        let sizes = |after, is_current| PromptSizes {
            messages: 500 + after,
            counted: counted(300, after, is_current),
            ..PromptSizes::default()
        };
        let of = |sizes: &PromptSizes, model| {
            let measured = Measured::of(100, sizes, Some(model));
            (measured.used, measured.is_counted)
        };
        assert_eq!(of(&sizes(0, true), "a/m"), (210, true));
        assert_eq!(of(&sizes(40, true), "a/m"), (230, false), "half a token for a byte");
        assert_eq!(of(&sizes(0, false), "a/m"), (300, false), "an operation was made since");
        assert_eq!(of(&sizes(0, true), "a/other"), (300, false), "another model");
        let mut another = sizes(0, false);
        another.counted = counted(0, 0, false);
        another.messages = 0;
        assert_eq!(of(&another, "a/m"), (30, false), "two tokens for a byte: the prompt was another one");
    }

    #[test]
    fn parts_make_the_whole() {
        let sizes =
            PromptSizes { summaries: 10, notes: 33, messages: 50, results: 7, counted: counted(0, 0, false) };
        let measured = Measured::of(11, &sizes, None);
        let ContextParts { system, notes, summaries, messages, results } = measured.parts(11, &sizes);
        assert_eq!(system + notes + summaries + messages + results, measured.used);
        assert_eq!((notes, messages), (9, 14), "of {}", measured.used);
    }
}
