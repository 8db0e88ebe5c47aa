//! `retake label`: a name for a message.

use clap::Args;
use retake_wire::Action;

use super::change::ActionArgs;
use crate::error::Result;

/// Give a message a name, or remove the name
///
/// A name cannot be `tN`, `@`, or the beginning of the id of another message.
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

impl ActionArgs for Label {
    const EXAMPLES: &'static [&'static str] = &["retake label t2 draft"];

    fn action(&self) -> Result<Action> {
        Ok(Action::Label { entry: self.entry.clone(), name: self.name.clone() })
    }
}
