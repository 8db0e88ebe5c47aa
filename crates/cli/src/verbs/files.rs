//! `retake files`: information about the files of a folder.

pub(crate) mod put_back;
pub(crate) mod restore;

use clap::{Args, Subcommand};
use retake_wire::request::{ConversationTarget, FilesDiff, Page};
use retake_wire::{FileName, Request};

use super::RunVerb;
use crate::args::{ConversationArg, limit, number};
use crate::context::Context;
use crate::error::Result;
use retake_tui::render;

/// Show the changes in this folder, and restore files
#[derive(Debug, Args)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Files {
    #[command(subcommand)]
    what: FilesCommand,
}

/// What of it.
#[derive(Debug, Subcommand)]
enum FilesCommand {
    /// List the changes in this folder that no command of a conversation made, newest first
    Log(Log),
    /// Show the changed files: by commands of the conversation, by others, and files that Retake does not track
    Status(Status),
    /// Show how files have changed, as a unified diff
    ///
    /// Since a turn: the changes by commands of this conversation, and the known changes by others. Since a checkpoint: all changes.
    Diff(Diff),
    Restore(restore::RestoreVerb),
    PutBack(put_back::PutBack),
}

// The arguments of a status: the conversation.
#[derive(Debug, Args)]
struct Status {
    #[command(flatten)]
    place: ConversationArg,
}

// The arguments of a comparison.
#[derive(Debug, Args)]
struct Diff {
    #[command(flatten)]
    place: ConversationArg,
    /// The start: a checkpoint (a name, or #N), before a message (tN, a label or an id), or a head (OP.SEQ) [default: before the last turn]
    #[arg(long, value_name = "CHECKPOINT|ENTRY|HEAD")]
    from: Option<String>,
    /// The end [default: now]
    #[arg(long, value_name = "CHECKPOINT|ENTRY|HEAD")]
    to: Option<String>,
    /// Only these files and folders
    #[arg(value_name = "PATH")]
    paths: Vec<String>,
}

impl Diff {
    async fn run(self, cx: &mut Context<'_>) -> Result {
        let conversation = cx.conversation(self.place.conversation).await?;
        let name = |path: &String| FileName { path: path.clone(), path_base64: None };
        let paths = self.paths.iter().map(name).collect();
        let diff = FilesDiff { conversation, paths, from: self.from, to: self.to };
        let reply = cx.call(Request::FilesDiff(diff)).await?;
        if cx.json {
            return cx.json(&reply);
        }
        let text = render::reply(&cx.ui.look(), &reply);
        if text.is_empty() {
            return cx.aside("no file has changed");
        }
        Ok(cx.ui.print_text(&text)?)
    }
}

// A page.
#[derive(Debug, Args)]
struct Log {
    #[command(flatten)]
    place: ConversationArg,
    /// The maximum number
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = limit, allow_negative_numbers = true)]
    limit: usize,
    /// Only captures before this number
    #[arg(long, value_name = "N", value_parser = number::<u64>, allow_negative_numbers = true)]
    before: Option<u64>,
}

impl RunVerb for Files {
    const EXAMPLES: &'static [&'static str] = &[
        "retake files log",
        "retake files status",
        "retake files diff src --from t1",
        "retake files restore src --to before-lunch --yes",
        "retake files put-back --remove .git/hooks/pre-commit",
    ];

    async fn run(self, cx: &mut Context<'_>) -> Result {
        match self.what {
            FilesCommand::Log(log) => {
                let conversation = cx.conversation(log.place.conversation).await?;
                let page = Page { conversation, limit: Some(log.limit), before: log.before };
                cx.show(Request::FilesLog(page)).await
            }
            FilesCommand::Status(status) => {
                let conversation = cx.conversation(status.place.conversation).await?;
                cx.show(Request::FilesStatus(ConversationTarget { conversation })).await
            }
            FilesCommand::Diff(it) => it.run(cx).await,
            FilesCommand::Restore(it) => it.run(cx).await,
            FilesCommand::PutBack(it) => it.run(cx).await,
        }
    }
}
