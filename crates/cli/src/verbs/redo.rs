//! `retake redo`: brings back what was undone.

use clap::Args;
use retake_wire::Action;

use super::change::ActionArgs;
use crate::args::how_many;
use crate::error::Result;

/// Bring back what was undone last
#[derive(Debug, Args)]
pub(crate) struct Redo {
    /// The number of steps
    #[arg(value_name = "N", default_value = "1", value_parser = how_many, allow_negative_numbers = true)]
    count: usize,
}

impl ActionArgs for Redo {
    const EXAMPLES: &'static [&'static str] = &["retake redo"];
    const QUESTION: &'static str = "Redo it";

    fn action(&self) -> Result<Action> {
        Ok(Action::Redo { count: self.count })
    }
}
