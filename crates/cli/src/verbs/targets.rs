//! `retake targets`: the turns that a rewind can go to.

use clap::Args;
use retake_wire::Request;
use retake_wire::request;

use super::RunVerb;
use crate::args::{ConversationArg, limit};
use crate::context::Context;
use crate::error::Result;

/// List the turns you can rewind to, newest first, with what that takes back
#[derive(Debug, Args)]
pub(crate) struct Targets {
    #[command(flatten)]
    place: ConversationArg,
    /// The maximum number
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = limit, allow_negative_numbers = true)]
    limit: usize,
    /// Only turns before this entry
    #[arg(long, value_name = "ENTRY")]
    before: Option<String>,
}

impl RunVerb for Targets {
    const EXAMPLES: &'static [&'static str] = &["retake targets"];

    async fn run(self, cx: &mut Context<'_>) -> Result {
        let targets = request::Targets {
            conversation: cx.conversation(self.place.conversation).await?,
            limit: Some(self.limit),
            before: self.before,
        };
        cx.show(Request::Targets(targets)).await
    }
}
