//! The built-in model: no intelligence, only a program that answers, so that everything can be tried without a key,
//! a server or a network.
//!
//! What it says follows from the prompt alone, and shows what it sees of the conversation, so that a rewound message
//! is visibly gone. It never pretends to be a real model.

mod arithmetic;
mod words;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::BoxStream;

use super::{Chunk, EndReason, Model, ModelError, ModelInfo, Prompt};
use crate::clock::Clock;

/// The demo.
pub struct Demo {
    clock: Arc<dyn Clock>,
    pace: Duration,
}

impl Demo {
    /// The model's name.
    pub const NAME: &str = "demo";

    /// The demo that waits `pace` before each word, so that one sees it stream and can press Ctrl-C.
    pub fn new(clock: Arc<dyn Clock>, pace: Duration) -> Self {
        Self { clock, pace }
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
        let answer = words::answer(&prompt);
        let mut chunks: VecDeque<Chunk> =
            answer.split_inclusive(char::is_whitespace).map(|word| Chunk::Text(word.to_owned())).collect();
        chunks.push_back(Chunk::End(EndReason::Stop));
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
