//! `retake doctor`: whether the store is healthy.

use clap::Args;
use retake_wire::request;
use retake_wire::{ProblemKind, Reply, Request};

use crate::context::Context;
use crate::error::{Failure, Result, unexpected};

/// Check the whole store; exit code 7 if something is wrong with it
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Mend what can be mended without losing anything
    #[arg(long)]
    mend: bool,
}

impl Doctor {
    /// Does it.
    pub(crate) async fn run(self, cx: &mut Context<'_>) -> Result {
        let reply = cx.call(Request::Doctor(request::Doctor { mend: self.mend })).await?;
        let Reply::Report(report) = &reply else {
            return Err(unexpected(&reply));
        };
        cx.present(&reply)?;
        if report.problems.is_empty() {
            return Ok(());
        }
        if !self.mend && !cx.json {
            cx.aside("`retake backup` copies what is there; `retake doctor --mend` mends what can be")?;
        }
        Err(Failure::Said(ProblemKind::Storage.exit_code()))
    }
}
