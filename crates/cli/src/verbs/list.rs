//! `retake list`: the conversations.

use std::path::PathBuf;

use clap::Args;
use retake_wire::Request;
use retake_wire::request;

use super::RunVerb;
use crate::args::limit;
use crate::context::Context;
use crate::error::Result;

/// List the conversations of this folder, newest first
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Conversations of all folders
    #[arg(long)]
    all: bool,
    /// Conversations of another folder
    #[arg(long, value_name = "DIR", conflicts_with = "all")]
    folder: Option<PathBuf>,
    /// Archived conversations (`retake archive`)
    #[arg(long)]
    archived: bool,
    /// The maximum number
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = limit, allow_negative_numbers = true)]
    limit: usize,
    /// Only conversations after this one in the list
    #[arg(long, value_name = "ID")]
    before: Option<String>,
}

impl RunVerb for List {
    const EXAMPLES: &'static [&'static str] = &["retake list --all --limit 10"];

    async fn run(self, cx: &mut Context<'_>) -> Result {
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
