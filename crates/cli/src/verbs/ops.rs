//! `retake ops`: what was done to a conversation.

use clap::Args;
use retake_wire::Request;
use retake_wire::request::Page;

use crate::args::{Place, limit, number};
use crate::context::Context;
use crate::error::Result;

/// List what was done to a conversation, newest first, with the heads to restore
#[derive(Debug, Args)]
pub(crate) struct Ops {
    #[command(flatten)]
    place: Place,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = limit, allow_negative_numbers = true)]
    limit: usize,
    /// Only those before the operation with this number
    #[arg(long, value_name = "N", value_parser = number::<u64>, allow_negative_numbers = true)]
    before: Option<u64>,
}

impl Ops {
    /// Does it.
    pub(crate) async fn run(self, cx: &mut Context<'_>) -> Result {
        let page = Page {
            conversation: cx.conversation(self.place.conversation).await?,
            limit: Some(self.limit),
            before: self.before,
        };
        cx.show(Request::Ops(page)).await
    }
}
