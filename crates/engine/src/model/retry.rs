//! Retries a model call if a retry may help, and reports it.
//!
//! Only before the first piece of the answer: after it an error is passed on, because the turn decides what to
//! keep. Waits use the clock, so dropping the stream ends them at once.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::BoxStream;

use super::{Chunk, Model, ModelError, ModelErrorKind, ModelInfo, Prompt};
use crate::clock::Clock;
use crate::ids::Random;

/// How often, and after what wait, a failed call is retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The number of calls altogether; 1 means no retry.
    pub tries: u32,
    /// The approximate first wait; it doubles each time.
    pub first_wait: Duration,
    /// The longest wait that we choose.
    pub longest_wait: Duration,
    /// The longest wait that a provider may request; beyond it the error is passed on.
    pub longest_retry_after: Duration,
}

impl RetryPolicy {
    /// The wait before try `next` (2, 3, …) after `error`, or `None` to give up.
    fn wait(&self, error: &ModelError, next: u32, jitter: f64) -> Option<Duration> {
        if !error.retryable() || next > self.tries {
            return None;
        }
        if let ModelErrorKind::RateLimited { retry_after: Some(asked) } = error.kind() {
            return (asked <= self.longest_retry_after).then_some(asked);
        }
        let doubled = self.first_wait.saturating_mul(2_u32.saturating_pow(next.saturating_sub(2)));
        // Half of the wait is random, so that clients that failed together do not retry together.
        Some(doubled.min(self.longest_wait).mul_f64(0.5 + jitter / 2.0))
    }
}

/// A model with retries.
pub struct Retrying {
    model: Arc<dyn Model>,
    policy: RetryPolicy,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
}

impl Retrying {
    /// `model`, retried according to `policy`.
    pub fn new(
        model: Arc<dyn Model>,
        policy: RetryPolicy,
        clock: Arc<dyn Clock>,
        random: Arc<dyn Random>,
    ) -> Self {
        Self { model, policy, clock, random }
    }
}

impl Model for Retrying {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn info(&self) -> ModelInfo {
        self.model.info()
    }

    fn stream(&self, prompt: Prompt) -> BoxStream<'static, Result<Chunk, ModelError>> {
        let call = Call {
            model: Arc::clone(&self.model),
            policy: self.policy,
            clock: Arc::clone(&self.clock),
            random: Arc::clone(&self.random),
            prompt,
            tries: 0,
            current: None,
            wait: None,
            started: false,
            over: false,
        };
        futures::stream::unfold(call, Call::next).boxed()
    }
}

/// One call with its retries.
struct Call {
    model: Arc<dyn Model>,
    policy: RetryPolicy,
    clock: Arc<dyn Clock>,
    random: Arc<dyn Random>,
    prompt: Prompt,
    tries: u32,
    current: Option<BoxStream<'static, Result<Chunk, ModelError>>>,
    wait: Option<Duration>,
    started: bool,
    over: bool,
}

impl Call {
    async fn next(mut self) -> Option<(Result<Chunk, ModelError>, Self)> {
        if self.over {
            return None;
        }
        if let Some(wait) = self.wait.take() {
            self.clock.sleep(wait).await;
        }
        if self.current.is_none() {
            self.tries += 1;
            self.current = Some(self.model.stream(self.prompt.clone()));
        }
        let stream = self.current.as_mut().expect("BUG: the stream was just made");
        let item = match stream.next().await? {
            Ok(chunk) => {
                self.started |= chunk.is_content();
                self.over = matches!(chunk, Chunk::End(_));
                Ok(chunk)
            }
            Err(error) => self.failed(error),
        };
        Some((item, self))
    }

    /// Plans a retry and reports it, or passes the error on.
    fn failed(&mut self, error: ModelError) -> Result<Chunk, ModelError> {
        let wait = match self.started {
            true => None,
            false => self.policy.wait(&error, self.tries + 1, self.random.jitter()),
        };
        let Some(wait) = wait else {
            self.over = true;
            return Err(error);
        };
        self.current = None;
        self.wait = Some(wait);
        Ok(Chunk::Retry { wait, kind: error.kind(), detail: error.detail_text().map(str::to_owned) })
    }
}

#[cfg(test)]
#[path = "retry_tests.rs"]
mod tests;
