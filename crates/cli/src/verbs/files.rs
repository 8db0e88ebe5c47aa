//! `retake files`: what is known of the files of a folder.

use clap::{Args, Subcommand};
use retake_wire::Request;
use retake_wire::request::Page;

use crate::args::Place;
use crate::context::Context;
use crate::error::Result;

/// Show what was seen of this folder
#[derive(Debug, Args)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Files {
    #[command(subcommand)]
    what: What,
}

/// What of it.
#[derive(Debug, Subcommand)]
enum What {
    /// List what changed in this folder and was done by no command of a conversation, newest first
    Log(Log),
}

// A page.
#[derive(Debug, Args)]
struct Log {
    #[command(flatten)]
    place: Place,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: usize,
    /// Only those before the capture with this number
    #[arg(long, value_name = "N")]
    before: Option<u64>,
}

impl Files {
    /// Does it.
    pub(crate) async fn run(self, cx: &mut Context<'_>) -> Result {
        let What::Log(log) = self.what;
        let conversation = cx.conversation(log.place.conversation).await?;
        cx.show(Request::FilesLog(Page { conversation, limit: Some(log.limit), before: log.before })).await
    }
}
