//! `retake drop`: takes whole turns out of the middle, with their files.

use clap::Args;
use retake_wire::{Action, MarkVerb};

use super::change::ActionArgs;
use crate::error::Result;

/// Remove whole turns from the middle, together with their file changes
///
/// Later turns stay, in the conversation and in the files.
#[derive(Debug, Args)]
pub(crate) struct Drop {
    /// The turns, as tN or by any message of them
    #[arg(value_name = "TURN", required = true)]
    turns: Vec<String>,
}

impl ActionArgs for Drop {
    const EXAMPLES: &'static [&'static str] = &["retake drop t2"];
    const QUESTION: &'static str = "Take them out";

    fn action(&self) -> Result<Action> {
        Ok(Action::Mark { verb: MarkVerb::Drop, entries: self.turns.clone(), range: false, seen: None })
    }
    fn hides(&self) -> bool {
        true
    }
}
