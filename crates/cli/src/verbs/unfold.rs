//! `retake unfold`: removes a fold.

use clap::Args;
use retake_wire::Action;

use super::change::ActionArgs;
use crate::error::Result;

/// Remove a fold, so that the model sees its messages again
#[derive(Debug, Args)]
pub(crate) struct Unfold {
    /// The operation that made the fold, or a message in it
    #[arg(value_name = "FOLD|ENTRY")]
    fold: String,
}

impl ActionArgs for Unfold {
    const EXAMPLES: &'static [&'static str] = &["retake unfold t1"];

    fn action(&self) -> Result<Action> {
        Ok(Action::Unfold { fold: self.fold.clone() })
    }
}
