//! A question to the person during a turn. It must never answer for the person.

use std::sync::Arc;

use async_trait::async_trait;
use retake_core::Intent;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::arguments;
use crate::call::{Call, Output, ToolQuestion};
use crate::files::PathBase;
use crate::own::{OwnTool, read_only_intent};
use crate::set::Tool;

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
    /// Answers to choose from. Without them, the person answers in their own words.
    #[serde(default)]
    choices: Vec<String>,
}

struct Ask;

fn asked(Arguments { question, choices }: Arguments) -> Result<ToolQuestion, String> {
    if question.trim().is_empty() {
        return Err("there is no question in `question`".to_owned());
    }
    Ok(ToolQuestion { question, choices })
}

#[async_trait]
impl OwnTool for Ask {
    type Arguments = Arguments;
    const NAME: &'static str = "ask";
    const ABOUT: &'static str = "Asks the person a question, and waits for the answer. Ask only what you need to know and cannot find out yourself.";
    /// Only one question at a time.
    const IS_PARALLEL: bool = false;
    const NEEDS_FOLDER: bool = false;

    fn intent(&self, arguments: Arguments, _: &PathBase) -> Result<Intent, String> {
        Ok(read_only_intent(format!("ask: {}", arguments::line(&asked(arguments)?.question)), Vec::new()))
    }

    async fn call(&self, call: Call, arguments: Arguments) -> Result<Output, String> {
        let asked = asked(arguments)?;
        tokio::select! {
            biased;
            () = call.host.stopped() => Err(format!("[{}, without an answer]", call.host.stopped_by())),
            answer = call.host.ask(asked) => answer.map(Output::ok).ok_or_else(|| {
                "No one is there to answer. Go on with the most likely meaning, and state your assumptions.".to_owned()
            }),
        }
    }
}
