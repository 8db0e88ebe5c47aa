//! `retake backup`: a copy of everything.

use std::path::PathBuf;

use clap::Args;
use retake_wire::Request;
use retake_wire::request;

use crate::context::Context;
use crate::error::Result;

/// Copy the whole store into a file, also while it is in use
#[derive(Debug, Args)]
pub(crate) struct Backup {
    /// The file [default: a dated one in the data directory]
    #[arg(value_name = "FILE")]
    to: Option<PathBuf>,
}

impl Backup {
    /// Does it.
    pub(crate) async fn run(self, cx: &mut Context<'_>) -> Result {
        let backup = request::Backup { to: self.to.map(|to| cx.absolute(&to)).transpose()? };
        cx.show(Request::Backup(backup)).await
    }
}
