//! `retake fork`: a new conversation that begins like this one.

use clap::Args;
use retake_wire::Request;
use retake_wire::request;

use crate::args::{Place, Repeat};
use crate::context::Context;
use crate::error::Result;

/// Begin a new conversation that starts like this one, and print its id
#[derive(Debug, Args)]
pub(crate) struct Fork {
    #[command(flatten)]
    place: Place,
    /// Its title
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    #[command(flatten)]
    repeat: Repeat,
    /// The last entry that it begins with, on any branch [default: the last one]
    #[arg(value_name = "ENTRY")]
    entry: Option<String>,
}

impl Fork {
    /// Does it.
    pub(crate) async fn run(self, cx: &mut Context<'_>) -> Result {
        let fork = request::Fork {
            conversation: cx.conversation(self.place.conversation).await?,
            entry: self.entry,
            title: self.title,
            request_id: self.repeat.request_id,
        };
        let receipt = cx.receipt(Request::Fork(fork)).await?;
        let id = format!("{}\n", receipt.conversation);
        cx.acknowledge(&receipt, &id)
    }
}
