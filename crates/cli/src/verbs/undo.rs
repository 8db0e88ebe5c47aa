//! `retake undo`: takes back the last things done.

use std::num::NonZeroUsize;

use clap::Args;
use retake_wire::Action;

use super::change::Act;
use crate::error::Result;

/// Take back the last thing said or done
#[derive(Debug, Args)]
pub(crate) struct Undo {
    /// How many things
    #[arg(value_name = "N", default_value = "1")]
    count: NonZeroUsize,
}

impl Act for Undo {
    fn action(&self) -> Result<Action> {
        Ok(Action::Undo {
            count: self.count.get(),
        })
    }
}
