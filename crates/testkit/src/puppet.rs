//! A model controlled by the test: the test sees every prompt and sends every chunk.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures::StreamExt;
use futures::channel::mpsc;
use futures::stream::BoxStream;
use retake_engine::model::{Chunk, EndReason, Model, ModelError, ModelErrorKind, ModelInfo, Prompt};
use tokio::sync::Semaphore;

/// The next output of the model.
pub type ModelOutput = Result<Chunk, ModelError>;

/// A model whose chunks come from the test, which also sees every prompt.
pub struct Puppet {
    /// One permit per call that nobody has waited for yet.
    called: Semaphore,
    calls: Mutex<Vec<(Prompt, mpsc::UnboundedSender<ModelOutput>)>>,
    info: Mutex<ModelInfo>,
}

impl Default for Puppet {
    fn default() -> Self {
        Self { called: Semaphore::new(0), calls: Mutex::default(), info: Mutex::default() }
    }
}

impl Puppet {
    /// From now on, this is known about it.
    pub fn is_known(&self, info: ModelInfo) {
        *self.info.lock().unwrap_or_else(PoisonError::into_inner) = info;
    }

    /// The newest call: its prompt, and the channel for its answer.
    ///
    /// # Panics
    ///
    /// When it was never called.
    pub fn call(&self) -> (Prompt, mpsc::UnboundedSender<ModelOutput>) {
        let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.last().cloned().expect("the model was called")
    }

    /// The number of calls.
    pub fn calls(&self) -> usize {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Waits for the next call, at most ten seconds.
    ///
    /// # Panics
    ///
    /// When none comes.
    pub async fn until_called(&self) {
        let called = tokio::time::timeout(Duration::from_secs(10), self.called.acquire()).await;
        called.expect("the model is called").expect("never closed").forget();
    }
}

impl Model for Puppet {
    fn name(&self) -> &str {
        "test/puppet"
    }

    fn info(&self) -> ModelInfo {
        *self.info.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stream(&self, prompt: Prompt) -> BoxStream<'static, ModelOutput> {
        let (sender, receiver) = mpsc::unbounded();
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).push((prompt, sender));
        self.called.add_permits(1);
        receiver.boxed()
    }
}

/// A piece of text.
pub fn text(text: &str) -> ModelOutput {
    Ok(Chunk::Text(text.into()))
}

/// The end of an answer.
pub fn done() -> ModelOutput {
    Ok(Chunk::End(EndReason::Stop))
}

/// A provider that is overloaded.
pub fn failure() -> ModelOutput {
    Err(ModelError::new(ModelErrorKind::Overloaded, "test/puppet"))
}
