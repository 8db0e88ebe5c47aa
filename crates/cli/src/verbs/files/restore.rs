//! `retake files restore`: restores the earlier content of named files.

use clap::Args;
use retake_wire::{Action, FileName, FileOptions};

use crate::args::ChangeArgs;
use crate::args::file_options::FileChoiceArgs;
use crate::context::Context;
use crate::error::Result;
use crate::verbs::RunVerb;
use crate::verbs::change::{self, ActionArgs};

/// Restore files or folders; on a terminal, it shows the plan and asks
///
/// To before a turn: takes back only the changes by commands since then. Later changes by you or others stay, are merged, or are a
/// conflict. To a checkpoint: restores the files as they were then, also those that you or others changed since. Files that others
/// created since stay, unless you name them or use --exact. The replaced versions are stored: `retake undo` brings them back.
#[derive(Debug, Args)]
pub(crate) struct Restore {
    /// The time: a checkpoint (a name, or #N), before a message (tN, a label or an id), or a head (OP.SEQ) [default: before the last turn]
    #[arg(long, value_name = "CHECKPOINT|ENTRY|HEAD")]
    to: Option<String>,
    #[command(flatten)]
    choosing: FileChoiceArgs,
    /// The files or folders in this folder; `.` means all of it. Use absolute paths for those of other folders
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<String>,
}

impl ActionArgs for Restore {
    fn action(&self) -> Result<Action> {
        let name = |path: &String| FileName { path: path.clone(), path_base64: None };
        Ok(Action::RestoreFiles { paths: self.paths.iter().map(name).collect(), to: self.to.clone() })
    }

    fn files(&self) -> FileOptions {
        self.choosing.options()
    }
}

// The verb: asks if there is a terminal.
#[derive(Debug, Args)]
pub(crate) struct RestoreVerb {
    #[command(flatten)]
    changing: ChangeArgs,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    #[command(flatten)]
    restore: Restore,
}

impl RunVerb for RestoreVerb {
    async fn run(self, cx: &mut Context<'_>) -> Result {
        let (action, files) = (self.restore.action()?, self.restore.files());
        change::agreed(cx, self.changing, action, files, false, (self.yes, "Restore them")).await
    }
}
