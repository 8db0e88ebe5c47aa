//! `retake redo`: brings back what was undone.

use std::num::NonZeroUsize;

use clap::Args;
use retake_wire::Action;

use super::change::Act;
use crate::error::Result;

/// Bring back what was undone last
#[derive(Debug, Args)]
pub(crate) struct Redo {
    /// How many things
    #[arg(value_name = "N", default_value = "1")]
    count: NonZeroUsize,
}

impl Act for Redo {
    fn action(&self) -> Result<Action> {
        Ok(Action::Redo {
            count: self.count.get(),
        })
    }
}
