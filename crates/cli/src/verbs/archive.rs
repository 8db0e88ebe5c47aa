//! `retake archive`: removes a conversation from the list, or brings it back. Must never change its content.

use clap::Args;
use retake_wire::Request;
use retake_wire::request::SetArchived;

use super::RunVerb;
use crate::args::ConversationArg;
use crate::context::Context;
use crate::error::Result;

/// Archive a conversation: lists no longer show it, searches still find it
#[derive(Debug, Args)]
pub(crate) struct Archive {
    #[command(flatten)]
    place: ConversationArg,
    /// Bring it back
    #[arg(long, requires = "conversation")]
    undo: bool,
}

impl RunVerb for Archive {
    const EXAMPLES: &'static [&'static str] =
        &["retake archive", "retake archive --undo --conversation 0192f3a1"];

    async fn run(self, cx: &mut Context<'_>) -> Result {
        let conversation = cx.conversation(self.place.conversation).await?;
        cx.show(Request::SetArchived(SetArchived { conversation, archived: !self.undo })).await
    }
}
