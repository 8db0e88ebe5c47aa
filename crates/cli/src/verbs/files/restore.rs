//! `retake files restore`: named files, as they were.

use clap::Args;
use retake_wire::{Action, FileName, FilesWish};

use crate::args::Changing;
use crate::args::files::Choosing;
use crate::context::Context;
use crate::error::Result;
use crate::verbs::change::{self, Act};
use crate::verbs::rewind::agree;

/// Put files or folders back as they were; on a terminal, shows what that changes and asks
///
/// Before a turn, only what commands have changed since is taken back: what you or others wrote since stays, is merged, or is a
/// conflict. To a checkpoint, the files become what they were then, whoever wrote since; only what others made since stays, unless
/// you name it or say --exact. What is replaced is kept: `retake undo` brings it back.
#[derive(Debug, Args)]
pub(crate) struct Restore {
    /// To when: a checkpoint (a name, or #N), before a message (tN, a label or an id), or what a head left (OP.SEQ) [default: before
    /// the last turn]
    #[arg(long, value_name = "CHECKPOINT|ENTRY|HEAD")]
    to: Option<String>,
    #[command(flatten)]
    choosing: Choosing,
    /// The files or folders, below this folder; `.` is all of it. Those of a further folder by their absolute paths
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<String>,
}

impl Act for Restore {
    fn action(&self) -> Result<Action> {
        let name = |path: &String| FileName { path: path.clone(), path_base64: None };
        Ok(Action::RestoreFiles { paths: self.paths.iter().map(name).collect(), to: self.to.clone() })
    }

    fn files(&self) -> FilesWish {
        self.choosing.wish()
    }
}

// The verb: asks where it can.
#[derive(Debug, Args)]
pub(crate) struct RestoreVerb {
    #[command(flatten)]
    changing: Changing,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    #[command(flatten)]
    restore: Restore,
}

impl RestoreVerb {
    /// Does it.
    pub(crate) async fn run(self, cx: &mut Context<'_>) -> Result {
        let (action, mut files) = (self.restore.action()?, self.restore.files());
        let mut changing = self.changing;
        if cx.can_ask() && !self.yes {
            agree(cx, &mut changing, &action, &mut files, "Put them back?").await?;
        }
        change::apply(cx, changing, action, files, false).await?;
        if cx.can_ask() {
            cx.aside("`retake undo` takes this back")?;
        }
        Ok(())
    }
}
