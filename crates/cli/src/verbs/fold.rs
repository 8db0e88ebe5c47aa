//! `retake fold`: replaces messages in the prompt by a summary.

use clap::Args;
use retake_wire::Action;

use super::change::ActionArgs;
use crate::error::Result;

/// Replace some messages by a summary for the model; you still see them
#[derive(Debug, Args)]
pub(crate) struct Fold {
    /// The summary
    #[arg(long, value_name = "TEXT")]
    summary: String,
    /// The first message
    #[arg(long, value_name = "ENTRY")]
    from: String,
    /// The last message
    #[arg(long, value_name = "ENTRY")]
    to: String,
}

impl ActionArgs for Fold {
    const EXAMPLES: &'static [&'static str] = &["retake fold --from t1 --to t2 --summary 'what was decided'"];

    fn action(&self) -> Result<Action> {
        Ok(Action::Fold { from: self.from.clone(), to: self.to.clone(), summary: self.summary.clone() })
    }
}
