//! `retake title`: a name for a conversation.

use clap::Args;
use retake_wire::Action;

use super::change::ActionArgs;
use crate::error::Result;

/// Give a conversation a title, or remove it
#[derive(Debug, Args)]
pub(crate) struct Title {
    /// Remove the title: lists show the first message again
    #[arg(long, conflicts_with = "title")]
    remove: bool,
    /// The title
    #[arg(value_name = "TEXT", required_unless_present = "remove")]
    title: Vec<String>,
}

impl ActionArgs for Title {
    const EXAMPLES: &'static [&'static str] = &["retake title 'Release notes'"];

    fn action(&self) -> Result<Action> {
        Ok(Action::Title { title: (!self.remove).then(|| self.title.join(" ")) })
    }
}
