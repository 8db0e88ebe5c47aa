//! `retake posts`: what a conversation has posted in chats.

use clap::Args;
use retake_wire::Request;
use retake_wire::chat::PostsOf;

use super::RunVerb;
use crate::args::{ConversationArg, limit};
use crate::context::Context;
use crate::error::Result;

/// List what was posted in chats, newest first, and what became of it
#[derive(Debug, Args)]
pub(crate) struct Posts {
    #[command(flatten)]
    place: ConversationArg,
    /// Only posts that stay in the chat although they were taken back
    #[arg(long)]
    stays: bool,
    /// The maximum number
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = limit, allow_negative_numbers = true)]
    limit: usize,
    /// Only posts before this one
    #[arg(long, value_name = "POST")]
    before: Option<String>,
}

impl RunVerb for Posts {
    const EXAMPLES: &'static [&'static str] = &["retake posts", "retake posts --stays"];

    async fn run(self, cx: &mut Context<'_>) -> Result {
        let posts = PostsOf {
            conversation: cx.conversation(self.place.conversation).await?,
            stays: self.stays,
            limit: Some(self.limit),
            before: self.before,
        };
        cx.show(Request::Posts(posts)).await
    }
}
