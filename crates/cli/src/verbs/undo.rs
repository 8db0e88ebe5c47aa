//! `retake undo`: takes back the last things done.

use clap::Args;
use retake_wire::Action;

use super::change::Act;
use crate::args::how_many;
use crate::error::Result;

/// Take back the last thing said or done
#[derive(Debug, Args)]
pub(crate) struct Undo {
    /// How many things
    #[arg(value_name = "N", default_value = "1", value_parser = how_many, allow_negative_numbers = true)]
    count: usize,
}

impl Act for Undo {
    fn action(&self) -> Result<Action> {
        Ok(Action::Undo { count: self.count })
    }
}
