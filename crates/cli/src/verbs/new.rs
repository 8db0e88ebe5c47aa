//! `retake new`: an empty conversation.

use clap::Args;
use retake_wire::Request;
use retake_wire::request::Create;

use crate::args::Repeat;
use crate::context::Context;
use crate::error::Result;

/// Begin an empty conversation in this folder and print its id
#[derive(Debug, Args)]
pub(crate) struct New {
    /// Its title; without one, lists show its first message
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    #[command(flatten)]
    repeat: Repeat,
}

impl New {
    /// Does it.
    pub(crate) async fn run(self, cx: &mut Context<'_>) -> Result {
        let create = Create {
            title: self.title,
            folder: Some(cx.folder.to_owned()),
            request_id: self.repeat.request_id,
        };
        let receipt = cx.receipt(Request::Create(create)).await?;
        let id = format!("{}\n", receipt.conversation);
        cx.acknowledge(&receipt, &id)
    }
}
