//! `retake files` and `retake workspace`: what is known of folders.

pub(crate) mod restore;

use clap::{Args, Subcommand};
use retake_wire::Request;
use retake_wire::request::Page;

use crate::args::Place;
use crate::context::Context;
use crate::error::Result;

/// Show this folder as it is known, and put files back as they were
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
    Restore(restore::RestoreVerb),
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
        match self.what {
            What::Log(log) => {
                let conversation = cx.conversation(log.place.conversation).await?;
                let page = Page { conversation, limit: Some(log.limit), before: log.before };
                cx.show(Request::FilesLog(page)).await
            }
            What::Restore(it) => it.run(cx).await,
        }
    }
}

/// Show the folders that conversations work in
#[derive(Debug, Args)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Workspace {
    #[command(subcommand)]
    what: OfWorkspaces,
}

/// What of them.
#[derive(Debug, Subcommand)]
enum OfWorkspaces {
    /// List them
    List,
}

impl Workspace {
    /// Does it.
    pub(crate) async fn run(self, cx: &mut Context<'_>) -> Result {
        let OfWorkspaces::List = self.what;
        cx.show(Request::Workspaces).await
    }
}
