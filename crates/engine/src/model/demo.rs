//! The built-in model: a program without intelligence that answers, for use without a key, a server or a network.
//!
//! Its answers depend on the prompt alone and show what it sees of the conversation, so a rewound message is visibly gone.
//! For a request that it understands it calls its tools and reports the results. It must never pretend to be a real model.

mod arithmetic;
mod grammar;
mod words;
mod work;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::BoxStream;

use retake_core::Part;

use super::{Chunk, EndReason, Model, ModelError, ModelInfo, Prompt};
use crate::clock::Clock;
use crate::ids::Random;

/// The demo.
pub struct Demo {
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    pace: Duration,
}

impl Demo {
    /// The model's name.
    pub const NAME: &str = "demo";

    /// The demo waits `pace` before each word, so that a person sees the stream and can press Ctrl-C.
    pub fn new(clock: Arc<dyn Clock>, random: Arc<dyn Random>, pace: Duration) -> Self {
        Self { clock, random, pace }
    }

    /// The chunks of its answer, in order. Only the ids of its calls are random, so they are unique.
    fn chunks(&self, prompt: &Prompt) -> VecDeque<Chunk> {
        let work = work::answer(prompt).map(|work| work::Answer {
            text: words::opening(prompt.variant).map(|it| format!("{it} ")).unwrap_or_default() + &work.text,
            calls: work.calls,
        });
        let answer =
            work.unwrap_or_else(|| work::Answer { text: words::answer(prompt), ..work::Answer::default() });
        let end = if answer.calls.is_empty() { EndReason::Stop } else { EndReason::ToolUse };
        let text = answer.text.split_inclusive(char::is_whitespace).map(|word| Chunk::Text(word.to_owned()));
        let calls = answer.calls.into_iter().map(|call| {
            let bits = self.random.uuid_v7(self.clock.now_ms()).as_u64_pair().1;
            let arguments = call.arguments.to_string();
            Chunk::Part(Part::ToolCall { id: format!("demo_{bits:016x}"), name: call.tool, arguments })
        });
        text.chain(calls).chain([Chunk::End(end)]).collect()
    }
}

impl Model for Demo {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn info(&self) -> ModelInfo {
        ModelInfo::default()
    }

    fn stream(&self, prompt: Prompt) -> BoxStream<'static, Result<Chunk, ModelError>> {
        let clock = Arc::clone(&self.clock);
        let pace = self.pace;
        let chunks = self.chunks(&prompt);
        let next = move |mut chunks: VecDeque<Chunk>| {
            let clock = Arc::clone(&clock);
            async move {
                let chunk = chunks.pop_front()?;
                if !pace.is_zero() {
                    clock.sleep(pace).await;
                }
                Some((Ok(chunk), chunks))
            }
        };
        futures::stream::unfold(chunks, next).boxed()
    }
}

#[cfg(test)]
mod tests;
