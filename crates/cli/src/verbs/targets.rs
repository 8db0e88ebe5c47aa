//! `retake targets`: the turns to go back to.

use clap::Args;
use retake_wire::Request;
use retake_wire::request;

use crate::args::{Place, limit};
use crate::context::Context;
use crate::error::Result;

/// List the turns you can go back to, newest first, with what that takes back
#[derive(Debug, Args)]
pub(crate) struct Targets {
    #[command(flatten)]
    place: Place,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = limit, allow_negative_numbers = true)]
    limit: usize,
    /// Only turns before this entry
    #[arg(long, value_name = "ENTRY")]
    before: Option<String>,
}

impl Targets {
    /// Does it.
    pub(crate) async fn run(self, cx: &mut Context<'_>) -> Result {
        let targets = request::Targets {
            conversation: cx.conversation(self.place.conversation).await?,
            limit: Some(self.limit),
            before: self.before,
        };
        cx.show(Request::Targets(targets)).await
    }
}
