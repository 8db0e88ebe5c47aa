//! A question to the person, in the middle of a turn. It must never answer for the person.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use retake_core::{EffectClass, Intent};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::arguments;
use crate::call::{Asked, Call, Output};
use crate::set::{Schema, Tool, schema_of};

/// The tool that asks the person.
pub fn ask_tool() -> Arc<dyn Tool> {
    Arc::new(Ask)
}

/// A question.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The question.
    question: String,
    /// Answers to choose from; any words, when left out.
    #[serde(default)]
    choices: Vec<String>,
}

struct Ask;

impl Ask {
    fn asked(given: &Value) -> Result<Asked, String> {
        let Arguments { question, choices } = arguments::read(given)?;
        if question.trim().is_empty() {
            return Err("there is no question in `question`".to_owned());
        }
        Ok(Asked { question, choices })
    }
}

#[async_trait]
impl Tool for Ask {
    fn name(&self) -> &str {
        "ask"
    }

    fn about(&self) -> &str {
        "Asks the person a question and waits for the answer. Ask only what you can't find out, and what the work hangs on."
    }

    fn schema(&self) -> Schema {
        schema_of::<Arguments>()
    }

    fn class(&self) -> EffectClass {
        EffectClass::None
    }

    fn needs_folder(&self) -> bool {
        false
    }

    /// One question at a time.
    fn is_parallel(&self) -> bool {
        false
    }

    fn intent(&self, given: &Value, _: &Path, _: &[PathBuf]) -> Result<Intent, String> {
        let line = format!("ask: {}", arguments::line(&Self::asked(given)?.question));
        Ok(Intent { class: EffectClass::None, touches: Vec::new(), line, detail: None })
    }

    async fn call(&self, call: Call) -> Output {
        let asked = match Self::asked(&call.arguments) {
            Ok(asked) => asked,
            Err(why) => return Output::failed(why),
        };
        tokio::select! {
            biased;
            () = call.host.stopped() => {
                Output::failed(format!("[{}, without an answer]", call.host.stopped_by()))
            }
            answer = call.host.ask(asked) => match answer {
                Some(answer) => Output::ok(answer),
                None => Output::failed(
                    "Nobody is there to answer. Go on with what is most likely meant, and say what you have assumed.",
                ),
            },
        }
    }
}
