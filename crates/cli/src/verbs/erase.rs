//! `retake erase`: the one thing that can't be undone.

use clap::Args;
use retake_wire::{Action, FilesWish};

use super::change::{self, Act};
use super::rewind::agree;
use crate::args::Changing;
use crate::context::Context;
use crate::error::{Result, usage};

/// Overwrite messages for good, everywhere; this can't be undone
///
/// The content goes from the conversation, its forks, the search index, labels, titles and summaries, and what is
/// kept of files that its command changed or that contain the text; a dated line stays. Files in your folders stay as they are. What
/// one of them contains now is kept until it does no more. Other conversations are not reached: those that contain the text are
/// named, with the command that erases it there. Copies that you made yourself (exports, backups elsewhere) are not reached.
#[derive(Debug, Args)]
pub(crate) struct Erase {
    /// Everything that contains this text
    #[arg(long, value_name = "TEXT", conflicts_with = "entries")]
    matching: Option<String>,
    /// The messages
    #[arg(value_name = "ENTRY", required_unless_present = "matching")]
    entries: Vec<String>,
}

impl Act for Erase {
    fn action(&self) -> Result<Action> {
        Ok(Action::Erase { entries: self.entries.clone(), matching: self.matching.clone() })
    }
}

// The verb: never without a clear yes.
#[derive(Debug, Args)]
pub(crate) struct EraseVerb {
    #[command(flatten)]
    changing: Changing,
    /// Do not ask; needed where nobody can be asked
    #[arg(short, long)]
    yes: bool,
    #[command(flatten)]
    erase: Erase,
}

impl EraseVerb {
    /// Does it.
    pub(crate) async fn run(self, cx: &mut Context<'_>) -> Result {
        let action = self.erase.action()?;
        let mut changing = self.changing;
        if !self.yes {
            if !cx.can_ask() {
                return Err(usage(
                    "erasing can't be undone, and nobody can be asked here",
                    "`retake plan erase` shows what goes; then repeat this with --yes",
                ));
            }
            agree(cx, &mut changing, &action, &mut FilesWish::default(), "Erase this for good?").await?;
        }
        change::apply(cx, changing, action, FilesWish::default(), false).await
    }
}
