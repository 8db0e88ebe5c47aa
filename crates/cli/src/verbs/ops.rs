//! `retake ops`: the operations of a conversation.

use clap::Args;
use retake_wire::Request;
use retake_wire::request::Page;

use super::RunVerb;
use crate::args::{ConversationArg, limit, number};
use crate::context::Context;
use crate::error::Result;

/// List the operations on a conversation, newest first, with the heads to restore
#[derive(Debug, Args)]
pub(crate) struct Ops {
    #[command(flatten)]
    place: ConversationArg,
    /// The maximum number
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = limit, allow_negative_numbers = true)]
    limit: usize,
    /// Only operations before this number
    #[arg(long, value_name = "N", value_parser = number::<u64>, allow_negative_numbers = true)]
    before: Option<u64>,
}

impl RunVerb for Ops {
    const EXAMPLES: &'static [&'static str] = &["retake ops"];

    async fn run(self, cx: &mut Context<'_>) -> Result {
        let page = Page {
            conversation: cx.conversation(self.place.conversation).await?,
            limit: Some(self.limit),
            before: self.before,
        };
        cx.show(Request::Ops(page)).await
    }
}
