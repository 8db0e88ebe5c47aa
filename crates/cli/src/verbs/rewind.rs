//! `retake rewind`: moves the tip to before a message.

use clap::Args;
use retake_wire::Action;

use super::RunVerb;
use super::change::{self, ActionArgs};
use crate::args::ChangeArgs;
use crate::args::file_options::FileArgs;
use crate::context::Context;
use crate::error::Result;

/// Go back to before a message; on a terminal, it shows the plan and asks
#[derive(Debug, Args)]
pub(crate) struct Rewind {
    /// The message, as an id, a label, tN or @
    #[arg(value_name = "ENTRY")]
    entry: String,
}

impl ActionArgs for Rewind {
    fn action(&self) -> Result<Action> {
        Ok(Action::Rewind { entry: self.entry.clone() })
    }
}

// The verb: asks if there is a terminal.
#[derive(Debug, Args)]
pub(crate) struct RewindVerb {
    #[command(flatten)]
    changing: ChangeArgs,
    /// Also take back what was added after --head
    #[arg(long, requires = "head")]
    since: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    #[command(flatten)]
    files: FileArgs,
    #[command(flatten)]
    rewind: Rewind,
}

impl RunVerb for RewindVerb {
    const EXAMPLES: &'static [&'static str] =
        &["retake rewind t2", "retake rewind t2 --yes --choose notes.txt=disk", "retake rewind draft"];

    async fn run(self, cx: &mut Context<'_>) -> Result {
        let (action, files) = (self.rewind.action()?, self.files.options());
        change::agreed(cx, self.changing, action, files, self.since, (self.yes, "Go back")).await
    }
}
