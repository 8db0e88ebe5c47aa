//! `retake unfold`: takes a fold away.

use clap::Args;
use retake_wire::Action;

use super::change::Act;
use crate::error::Result;

/// Take a fold away, so that the model sees the messages again
#[derive(Debug, Args)]
pub(crate) struct Unfold {
    /// The operation that made the fold, or a message that it covers
    #[arg(value_name = "FOLD|ENTRY")]
    fold: String,
}

impl Act for Unfold {
    fn action(&self) -> Result<Action> {
        Ok(Action::Unfold { fold: self.fold.clone() })
    }
}
