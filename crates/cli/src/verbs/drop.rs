//! `retake drop`: whole turns out of the middle, with their files.

use clap::Args;
use retake_wire::{Action, MarkVerb};

use super::change::Act;
use crate::error::Result;

/// Take whole turns out of the middle, with the files that they changed
///
/// What came later stays, in the conversation and in files.
#[derive(Debug, Args)]
pub(crate) struct Drop {
    /// The turns, as tN or by any message in them
    #[arg(value_name = "TURN", required = true)]
    turns: Vec<String>,
}

impl Act for Drop {
    fn action(&self) -> Result<Action> {
        Ok(Action::Mark { verb: MarkVerb::Drop, entries: self.turns.clone(), range: false, seen: None })
    }
    fn later(&self) -> Option<&'static str> {
        Some(super::mark::LATER)
    }
}
