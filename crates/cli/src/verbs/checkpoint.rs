//! `retake checkpoint`: a capture of the folder, kept under a name.

use clap::Args;
use retake_wire::Request;
use retake_wire::request;

use super::RunVerb;
use crate::args::ConversationArg;
use crate::context::Context;
use crate::error::Result;

/// Save the state of this folder under a name
///
/// `retake files log` lists it. Everything that you wrote until now counts as yours, whatever a later command does.
#[derive(Debug, Args)]
pub(crate) struct Checkpoint {
    #[command(flatten)]
    place: ConversationArg,
    /// The name
    #[arg(value_name = "NAME", default_value = "checkpoint")]
    name: String,
}

impl RunVerb for Checkpoint {
    const EXAMPLES: &'static [&'static str] = &["retake checkpoint before-lunch"];

    async fn run(self, cx: &mut Context<'_>) -> Result {
        let conversation = cx.conversation(self.place.conversation).await?;
        cx.show(Request::Checkpoint(request::Checkpoint { conversation, name: self.name })).await
    }
}
