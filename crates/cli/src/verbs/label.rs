//! `retake label`: a name for a message.

use clap::Args;
use retake_wire::Action;

use super::change::Act;
use crate::error::Result;

/// Give a message a name to go back to, or remove it
///
/// A name is no `tN`, no `@`, and not the id of another message or its beginning: whoever gives an id means that message.
#[derive(Debug, Args)]
pub(crate) struct Label {
    /// Remove the name
    #[arg(long, conflicts_with = "name")]
    remove: bool,
    /// The message
    #[arg(value_name = "ENTRY")]
    entry: String,
    /// The name
    #[arg(value_name = "NAME", required_unless_present = "remove")]
    name: Option<String>,
}

impl Act for Label {
    fn action(&self) -> Result<Action> {
        Ok(Action::Label { entry: self.entry.clone(), name: self.name.clone() })
    }
}
