//! `retake list`: the conversations there are.

use std::path::PathBuf;

use clap::Args;
use retake_wire::Request;
use retake_wire::request;

use crate::args::limit;
use crate::context::Context;
use crate::error::Result;

/// List the conversations of this folder, newest first
#[derive(Debug, Args)]
pub(crate) struct List {
    /// The conversations of all folders
    #[arg(long)]
    all: bool,
    /// The conversations of another folder
    #[arg(long, value_name = "DIR", conflicts_with = "all")]
    folder: Option<PathBuf>,
    /// Those that were put away, with `retake archive`
    #[arg(long)]
    archived: bool,
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = limit, allow_negative_numbers = true)]
    limit: usize,
    /// Those behind this conversation in the list
    #[arg(long, value_name = "ID")]
    before: Option<String>,
}

impl List {
    /// Does it.
    pub(crate) async fn run(self, cx: &mut Context<'_>) -> Result {
        let folder = match (self.all, self.folder) {
            (true, _) => None,
            (false, None) => Some(cx.folder.to_owned()),
            (false, Some(folder)) => Some(cx.absolute(&folder)?),
        };
        let list =
            request::List { folder, limit: Some(self.limit), before: self.before, archived: self.archived };
        cx.show(Request::List(list)).await
    }
}
