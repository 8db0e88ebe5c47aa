//! `retake workspace`: the folders of conversations, and what is stored of them.

use std::path::Path;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};
use retake_wire::request::{PruneHow, USUAL_PAGE, WorkspacePrune, WorkspaceTarget, Workspaces};
use retake_wire::{Reply, Request};

use super::RunVerb;
use super::agreement::{confirm, needs_person};
use crate::args::{limit, number};
use crate::context::Context;
use crate::error::{Result, expect_reply};
use retake_tui::render;

/// Show the folders of conversations, and the stored versions of their files
#[derive(Debug, Args)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Workspace {
    #[command(subcommand)]
    what: WorkspaceCommand,
}

/// What of them.
#[derive(Debug, Subcommand)]
enum WorkspaceCommand {
    /// List the folders, each with its number
    List(List),
    /// Show what is stored of a folder, and which files are tracked
    Show(Show),
    /// Delete stored versions of files that nothing needs any more
    Prune(Prune),
    /// Delete everything that is stored of a folder; its files and your messages stay
    Forget(Forget),
}

// The page to list.
#[derive(Debug, Args)]
struct List {
    /// The maximum number
    #[arg(long, value_name = "N", default_value_t = USUAL_PAGE, value_parser = limit, allow_negative_numbers = true)]
    limit: usize,
    /// Only folders after this number
    #[arg(long, value_name = "NO", value_parser = number::<u64>, allow_negative_numbers = true)]
    after: Option<u64>,
}

// The workspace to show.
#[derive(Debug, Args)]
struct Show {
    /// The folder or its number
    #[arg(value_name = "PATH|NO", default_value = ".", value_parser = NonEmptyStringValueParser::new())]
    workspace: String,
}

// The workspaces to prune.
#[derive(Debug, Args)]
struct Prune {
    /// Only show what would be deleted
    #[arg(long)]
    dry_run: bool,
    /// If more than `files.quota_mb` is stored, also delete versions that a rewind may need, the oldest first
    #[arg(long, conflicts_with = "dry_run")]
    to_quota: bool,
    /// Do not ask; required with --to-quota if there is no terminal
    #[arg(short, long)]
    yes: bool,
}

// The workspace to forget.
#[derive(Debug, Args)]
struct Forget {
    /// The folder or its number
    #[arg(value_name = "PATH|NO", value_parser = NonEmptyStringValueParser::new())]
    workspace: String,
    /// Do not ask; required if there is no terminal
    #[arg(short, long)]
    yes: bool,
}

impl RunVerb for Workspace {
    const EXAMPLES: &'static [&'static str] = &[
        "retake workspace list",
        "retake workspace show .",
        "retake workspace prune --dry-run",
        "retake workspace forget 3 --yes",
    ];

    async fn run(self, cx: &mut Context<'_>) -> Result {
        match self.what {
            WorkspaceCommand::List(List { limit, after }) => {
                let page = Workspaces { limit: Some(limit), after };
                cx.show(Request::Workspaces(page)).await
            }
            WorkspaceCommand::Show(show) => {
                let of = of(cx, &show.workspace)?;
                cx.show(Request::WorkspaceShow(of)).await
            }
            WorkspaceCommand::Prune(prune) => prune.run(cx).await,
            WorkspaceCommand::Forget(forget) => forget.run(cx).await,
        }
    }
}

/// The workspace with this name: a number is one; a path is made absolute.
fn of(cx: &Context<'_>, name: &str) -> Result<WorkspaceTarget> {
    if name.parse::<u64>().is_ok() {
        return Ok(WorkspaceTarget { workspace: name.to_owned() });
    }
    let path = Path::new(name);
    let path = if name == "." { Path::new("") } else { path };
    let workspace = cx.absolute(path)?;
    Ok(WorkspaceTarget { workspace: workspace.strip_suffix('/').unwrap_or(&workspace).to_owned() })
}

impl Prune {
    async fn run(self, cx: &mut Context<'_>) -> Result {
        if self.dry_run {
            return cx.show(prune(PruneHow::Look)).await;
        }
        if !self.to_quota {
            return cx.show(prune(PruneHow::Unneeded)).await;
        }
        if !self.yes {
            needs_person(cx, "deleted versions cannot be restored", "workspace prune --dry-run")?;
            let would = expect_reply!(cx.call(prune(PruneHow::Look)).await?, Pruned);
            cx.ui.print_text(&render::workspace::pruned(&would))?;
            if !would.let_go.is_empty() {
                confirm(cx, "Delete these?")?;
            }
        }
        cx.show(prune(PruneHow::ToQuota)).await
    }
}

fn prune(how: PruneHow) -> Request {
    Request::WorkspacePrune(WorkspacePrune { how })
}

impl Forget {
    async fn run(self, cx: &mut Context<'_>) -> Result {
        let of = of(cx, &self.workspace)?;
        if !self.yes {
            needs_person(cx, "the stored versions cannot be restored", "workspace show")?;
            let shown = expect_reply!(cx.call(Request::WorkspaceShow(of.clone())).await?, Workspace);
            cx.ui.print_text(&render::workspace::shown(&cx.ui.look(), &shown))?;
            cx.aside("the files of the folder and the messages stay; rewinds can no longer restore files of this folder")?;
            confirm(cx, "Delete what is stored of it?")?;
        }
        let gone = expect_reply!(cx.call(Request::WorkspaceForget(of)).await?, Workspace);
        if cx.json {
            return cx.json(&Reply::Workspace(gone));
        }
        cx.print(&render::workspace::forgotten(&gone))
    }
}
