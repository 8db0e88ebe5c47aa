//! A model with a script for each task: the first message of a conversation names the task.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use futures::StreamExt;
use futures::stream::BoxStream;
use retake_core::Role;
use retake_engine::model::{Model, ModelInfo, Prompt};

use crate::puppet::ModelOutput;
use crate::script::Script;

/// Scripts by the first message of a person. A conversation without one is never answered.
#[derive(Default)]
pub struct Tasks(Mutex<HashMap<String, Arc<Script>>>);

impl Tasks {
    /// The script for conversations with this first message.
    pub fn of(&self, message: &str) -> Arc<Script> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(message.to_owned()).or_default())
    }

    /// Sets the answers to this message.
    pub fn then(&self, message: &str, answers: Vec<Vec<ModelOutput>>) {
        let script = self.of(message);
        answers.into_iter().for_each(|answer| script.then(answer));
    }
}

/// The first text of a person in a prompt; texts of the program begin with a bracket.
fn first(prompt: &Prompt) -> Option<String> {
    let people = prompt.messages.iter().filter(|message| message.role == Role::User);
    let mut texts = people.flat_map(|message| &message.parts).filter_map(|part| part.as_text());
    texts.find(|text| !text.is_empty() && !text.starts_with('[')).map(str::to_owned)
}

impl Model for Tasks {
    fn name(&self) -> &str {
        "test/tasks"
    }

    fn info(&self) -> ModelInfo {
        ModelInfo::default()
    }

    fn stream(&self, prompt: Prompt) -> BoxStream<'static, ModelOutput> {
        match first(&prompt) {
            Some(message) => self.of(&message).stream(prompt),
            None => futures::stream::pending().boxed(),
        }
    }
}
