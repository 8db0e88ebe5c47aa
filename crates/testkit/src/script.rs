//! A model with scripted answers, and a catalogue of one model.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use futures::StreamExt;
use futures::stream::BoxStream;
use retake_core::Part;
use retake_engine::model::{
    Catalogue, Choice, ChosenBy, Chunk, EndReason, Model, ModelError, ModelInfo, OfferedModel, Prompt,
};

use crate::puppet::ModelOutput;

/// A model with scripted answers, one per call. After them it never answers.
#[derive(Default)]
pub struct Script {
    answers: Mutex<VecDeque<Vec<ModelOutput>>>,
    prompts: Mutex<Vec<Prompt>>,
}

impl Script {
    /// Adds an answer.
    pub fn then(&self, answer: Vec<ModelOutput>) {
        lock(&self.answers).push_back(answer);
    }

    /// Its last prompt.
    ///
    /// # Panics
    ///
    /// When it was never called.
    pub fn asked(&self) -> Prompt {
        lock(&self.prompts).last().cloned().expect("it was asked")
    }

    /// All prompts so far.
    pub fn all(&self) -> Vec<Prompt> {
        lock(&self.prompts).clone()
    }

    /// The number of calls.
    pub fn times(&self) -> usize {
        lock(&self.prompts).len()
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Model for Script {
    fn name(&self) -> &str {
        "test/script"
    }

    fn info(&self) -> ModelInfo {
        ModelInfo::default()
    }

    fn stream(&self, prompt: Prompt) -> BoxStream<'static, ModelOutput> {
        lock(&self.prompts).push(prompt);
        match lock(&self.answers).pop_front() {
            Some(answer) => futures::stream::iter(answer).boxed(),
            None => futures::stream::pending().boxed(),
        }
    }
}

/// A catalogue of one model.
pub struct SingleModelCatalogue<M>(pub Arc<M>);

#[async_trait]
impl<M: Model + 'static> Catalogue for SingleModelCatalogue<M> {
    async fn choose(&self, _: Option<&str>) -> Result<Choice, ModelError> {
        Ok(Choice { model: Arc::clone(&self.0) as Arc<dyn Model>, why: ChosenBy::Settings })
    }

    async fn list(&self) -> Vec<OfferedModel> {
        Vec::new()
    }
}

/// An answer of text only.
pub fn words(text: &str) -> Vec<ModelOutput> {
    vec![Ok(Chunk::Text(text.into())), Ok(Chunk::End(EndReason::Stop))]
}

/// An answer with calls of these tools.
pub fn calls(calls: &[(&str, serde_json::Value)]) -> Vec<ModelOutput> {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let part = |(name, arguments): &(&str, serde_json::Value)| {
        let id = format!("call_{}", NEXT.fetch_add(1, Ordering::Relaxed));
        Ok(Chunk::Part(Part::ToolCall { id, name: (*name).to_owned(), arguments: arguments.to_string() }))
    };
    calls.iter().map(part).chain([Ok(Chunk::End(EndReason::ToolUse))]).collect()
}
