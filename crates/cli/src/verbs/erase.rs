//! `retake erase`: overwrites content permanently. Nothing can undo this.

use clap::Args;
use retake_wire::{Action, FileOptions};

use super::RunVerb;
use super::agreement::{agree, needs_person};
use super::change::{self, ActionArgs};
use crate::args::ChangeArgs;
use crate::context::Context;
use crate::error::Result;

/// Erase messages permanently, everywhere; this cannot be undone
///
/// Erases the content from the conversation, its forks, the search index, labels, titles and summaries. Also erases stored versions of
/// files that contain the text or that the erased command changed. A dated line stays. Files in your folders do not change; the version
/// that such a file has now stays stored until the file changes. Other conversations are not changed: those that contain the text are
/// listed, with the command that erases it there. Your own copies, such as exports and backups, are not changed.
#[derive(Debug, Args)]
pub(crate) struct Erase {
    /// All messages that contain this text
    #[arg(long, value_name = "TEXT", conflicts_with = "entries")]
    matching: Option<String>,
    /// The messages
    #[arg(value_name = "ENTRY", required_unless_present = "matching")]
    entries: Vec<String>,
}

impl ActionArgs for Erase {
    fn action(&self) -> Result<Action> {
        Ok(Action::Erase { entries: self.entries.clone(), matching: self.matching.clone() })
    }
}

// The verb; it needs a clear yes.
#[derive(Debug, Args)]
pub(crate) struct EraseVerb {
    #[command(flatten)]
    changing: ChangeArgs,
    /// Do not ask; required if there is no terminal
    #[arg(short, long)]
    yes: bool,
    #[command(flatten)]
    erase: Erase,
}

impl RunVerb for EraseVerb {
    const EXAMPLES: &'static [&'static str] =
        &["retake erase t2 --yes", "retake erase --matching 'my password' --yes"];

    async fn run(self, cx: &mut Context<'_>) -> Result {
        let action = self.erase.action()?;
        let mut changing = self.changing;
        if !self.yes {
            needs_person(cx, "an erasure cannot be undone", "plan erase")?;
            agree(cx, &mut changing, &action, &mut FileOptions::default(), "Erase this permanently").await?;
        }
        change::apply(cx, changing, action, FileOptions::default(), false).await.map(drop)
    }
}
