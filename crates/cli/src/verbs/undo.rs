//! `retake undo`: reverts the last steps.

use clap::Args;
use retake_wire::Action;

use super::change::ActionArgs;
use crate::args::how_many;
use crate::error::Result;

/// Take back the last message or operation
#[derive(Debug, Args)]
pub(crate) struct Undo {
    /// The number of steps
    #[arg(value_name = "N", default_value = "1", value_parser = how_many, allow_negative_numbers = true)]
    count: usize,
}

impl ActionArgs for Undo {
    const EXAMPLES: &'static [&'static str] = &["retake undo", "retake undo 2"];
    const QUESTION: &'static str = "Undo it";

    fn action(&self) -> Result<Action> {
        Ok(Action::Undo { count: self.count })
    }
}
