//! `retake doctor`: checks the store and the settings.

use clap::Args;
use retake_wire::request;
use retake_wire::{ProblemKind, Reply, Request};

use super::RunVerb;
use crate::context::{Context, document};
use crate::error::{Failure, Result, unexpected};
use crate::term::safe;

/// Check the whole store and the settings; exit code 7 if the store has errors, 2 if only the settings have
#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Repair what can be repaired without loss of data
    #[arg(long)]
    mend: bool,
}

impl RunVerb for Doctor {
    const EXAMPLES: &'static [&'static str] = &["retake doctor"];

    async fn run(self, cx: &mut Context<'_>) -> Result {
        // Errors in the settings are reported even if the store can't be opened.
        let wrong = cx.owner.wrong(cx.paths)?;
        let warnings = cx.owner.warnings(cx.paths)?;
        if !cx.json {
            for wrong in &wrong {
                cx.ui.print(&format!("{}\n", safe::line(wrong)))?;
            }
            for warning in &warnings {
                cx.ui.print(&format!("warning: {}\n", safe::line(warning)))?;
            }
        }
        let log = cx.paths.log_file.display().to_string();
        if !cx.json {
            cx.ui.print(&format!("log: {}\n", safe::line(&log)))?;
        }
        let reply = cx.call(Request::Doctor(request::Doctor { mend: self.mend })).await?;
        let Reply::Report(report) = &reply else {
            return Err(unexpected(&reply));
        };
        if cx.json {
            let mut report = serde_json::to_value(&reply).expect("BUG: a report is JSON");
            report["settings"] = wrong.clone().into();
            report["warnings"] = warnings.into();
            report["log"] = log.into();
            cx.ui.print(&document(&report))?;
        } else {
            cx.present(&reply)?;
        }
        if report.findings.is_empty() {
            let code = ProblemKind::Usage.exit_code();
            return if wrong.is_empty() { Ok(()) } else { Err(Failure::Reported(code)) };
        }
        if !self.mend && !cx.json {
            cx.aside(
                "`retake backup` copies the store as it is; `retake doctor --mend` repairs what it can",
            )?;
        }
        Err(Failure::Reported(ProblemKind::Storage.exit_code()))
    }
}
