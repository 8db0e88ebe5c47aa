//! `retake doctor`: whether the store is healthy, and the settings make sense.

use clap::Args;
use retake_wire::request;
use retake_wire::{ProblemKind, Reply, Request};

use crate::context::{Context, document};
use crate::error::{Failure, Result, unexpected};
use crate::term::safe;

/// Check the whole store and the settings; exit code 7 if something is wrong with the store, 2 if only the settings are wrong
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Mend what can be mended without losing anything
    #[arg(long)]
    mend: bool,
}

impl Doctor {
    /// Does it. `wrong` is what is wrong in the settings, a sentence each.
    pub(crate) async fn run(self, cx: &mut Context<'_>, wrong: &[String]) -> Result {
        if !cx.json {
            for wrong in wrong {
                cx.ui.print(&format!("{}\n", safe::line(wrong)))?;
            }
        }
        let reply = cx.call(Request::Doctor(request::Doctor { mend: self.mend })).await?;
        let Reply::Report(report) = &reply else {
            return Err(unexpected(&reply));
        };
        if cx.json {
            let mut report = serde_json::to_value(&reply).expect("BUG: a report is JSON");
            report["settings"] = wrong.into();
            cx.ui.print(&document(&report))?;
        } else {
            cx.present(&reply)?;
        }
        if report.problems.is_empty() {
            let code = ProblemKind::Usage.exit_code();
            return if wrong.is_empty() { Ok(()) } else { Err(Failure::Said(code)) };
        }
        if !self.mend && !cx.json {
            cx.aside("`retake backup` copies what is there; `retake doctor --mend` mends what can be")?;
        }
        Err(Failure::Said(ProblemKind::Storage.exit_code()))
    }
}
