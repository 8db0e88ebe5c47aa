//! `retake fold`: a summary in the place of messages, in the prompt.

use clap::Args;
use retake_wire::Action;

use super::change::Act;
use crate::error::Result;

/// Put a summary in the place of some messages, for the model; you still see them
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

impl Act for Fold {
    fn action(&self) -> Result<Action> {
        Ok(Action::Fold { from: self.from.clone(), to: self.to.clone(), summary: self.summary.clone() })
    }
}
