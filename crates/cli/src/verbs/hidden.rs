//! `retake hidden`: lists hidden, dropped and excluded messages.

use clap::Args;
use retake_wire::Request;
use retake_wire::request::Marked;

use super::RunVerb;
use crate::args::{ConversationArg, limit};
use crate::context::Context;
use crate::error::Result;

/// List hidden, dropped and excluded messages, newest first; `show` and `include` bring them back
#[derive(Debug, Args)]
pub(crate) struct Hidden {
    #[command(flatten)]
    place: ConversationArg,
    /// The maximum number
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = limit, allow_negative_numbers = true)]
    limit: usize,
    /// Only messages before this entry
    #[arg(long, value_name = "ENTRY")]
    before: Option<String>,
}

impl RunVerb for Hidden {
    const EXAMPLES: &'static [&'static str] = &["retake hidden"];

    async fn run(self, cx: &mut Context<'_>) -> Result {
        let marked = Marked {
            conversation: cx.conversation(self.place.conversation).await?,
            limit: Some(self.limit),
            before: self.before,
        };
        cx.show(Request::Marked(marked)).await?;
        if cx.in_conversation() {
            cx.aside("/show tN brings back the hidden messages of turn N, /include tN the excluded ones")?;
        }
        Ok(())
    }
}
