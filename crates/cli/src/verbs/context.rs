//! `retake context`: how much of the model's context the next prompt takes, and by what.

use clap::Args;
use retake_wire::Request;
use retake_wire::request::ContextQuery;

use super::RunVerb;
use crate::args::ConversationArg;
use crate::context::Context as VerbContext;
use crate::error::Result;

/// Show how much of the model's context is used, and what takes how much
#[derive(Debug, Args)]
pub(crate) struct Context {
    #[command(flatten)]
    place: ConversationArg,
    /// The model that would answer, as provider/model
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
}

impl RunVerb for Context {
    const EXAMPLES: &'static [&'static str] = &["retake context", "retake context --model openai/gpt-4.1"];

    async fn run(self, cx: &mut VerbContext<'_>) -> Result {
        let conversation = cx.conversation(self.place.conversation).await?;
        cx.show(Request::Context(ContextQuery { conversation, model: self.model, parts: Vec::new() })).await
    }
}
