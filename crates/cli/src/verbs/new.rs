//! `retake new`: an empty conversation.

use clap::Args;
use retake_wire::Request;
use retake_wire::request::Create;

use super::RunVerb;
use crate::args::RequestIdArg;
use crate::context::Context;
use crate::error::Result;

/// Begin an empty conversation in this folder and print its id
#[derive(Debug, Args)]
pub(crate) struct New {
    /// The title; without one, lists show the first message
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    #[command(flatten)]
    repeat: RequestIdArg,
}

impl RunVerb for New {
    const EXAMPLES: &'static [&'static str] = &["retake new --title 'Release notes'"];

    async fn run(self, cx: &mut Context<'_>) -> Result {
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
