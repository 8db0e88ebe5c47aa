//! `retake hidden`: what is hidden, dropped or kept from the model.

use clap::Args;
use retake_wire::Request;
use retake_wire::request::Marked;

use crate::args::{Place, limit};
use crate::context::Context;
use crate::error::Result;

/// List what is hidden, dropped or excluded, newest first; `show` and `include` bring it back
#[derive(Debug, Args)]
pub(crate) struct Hidden {
    #[command(flatten)]
    place: Place,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = limit, allow_negative_numbers = true)]
    limit: usize,
    /// Only what stands before this entry
    #[arg(long, value_name = "ENTRY")]
    before: Option<String>,
}

impl Hidden {
    /// Does it.
    pub(crate) async fn run(self, cx: &mut Context<'_>) -> Result {
        let marked = Marked {
            conversation: cx.conversation(self.place.conversation).await?,
            limit: Some(self.limit),
            before: self.before,
        };
        cx.show(Request::Marked(marked)).await
    }
}
