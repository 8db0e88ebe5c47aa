//! `retake workspace`: the folders that conversations work in, and what is kept of them.

use std::path::Path;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};
use retake_wire::reply::Pruned;
use retake_wire::request::{OfWorkspace, PruneHow, USUAL_PAGE, WorkspacePrune, Workspaces};
use retake_wire::{Reply, Request};

use crate::args::{limit, number};
use crate::context::Context;
use crate::error::{Failure, INTERRUPTED, Result, unexpected, usage};
use retake_tui::render;

/// Show the folders that conversations work in, and what is kept of them
#[derive(Debug, Args)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Workspace {
    #[command(subcommand)]
    what: What,
}

/// What of them.
#[derive(Debug, Subcommand)]
enum What {
    /// List the folders, each with its number
    List(List),
    /// Show what is kept of a folder, what is covered there and what is not
    Show(Show),
    /// Take what nothing needs any more out of what is kept of files
    Prune(Prune),
    /// Forget what is kept of a folder; its files and your messages stay
    Forget(Forget),
}

// A page of them.
#[derive(Debug, Args)]
struct List {
    /// At most so many
    #[arg(long, value_name = "N", default_value_t = USUAL_PAGE, value_parser = limit, allow_negative_numbers = true)]
    limit: usize,
    /// Only those after the folder with this number
    #[arg(long, value_name = "NO", value_parser = number::<u64>, allow_negative_numbers = true)]
    after: Option<u64>,
}

// One of them.
#[derive(Debug, Args)]
struct Show {
    /// Its folder or its number; this folder, without
    #[arg(value_name = "PATH|NO", default_value = ".", value_parser = NonEmptyStringValueParser::new())]
    workspace: String,
}

// A collection.
#[derive(Debug, Args)]
struct Prune {
    /// Only say what would go
    #[arg(long)]
    dry_run: bool,
    /// Where it is more than `files.quota_mb`: take also what going back may need, the oldest first
    #[arg(long, conflicts_with = "dry_run")]
    to_quota: bool,
    /// Do not ask; with --to-quota needed where nobody can be asked
    #[arg(short, long)]
    yes: bool,
}

// The end of one.
#[derive(Debug, Args)]
struct Forget {
    /// Its folder or its number
    #[arg(value_name = "PATH|NO", value_parser = NonEmptyStringValueParser::new())]
    workspace: String,
    /// Do not ask; needed where nobody can be asked
    #[arg(short, long)]
    yes: bool,
}

impl Workspace {
    /// Does it.
    pub(crate) async fn run(self, cx: &mut Context<'_>) -> Result {
        match self.what {
            What::List(List { limit, after }) => {
                let page = Workspaces { limit: Some(limit), after };
                cx.show(Request::Workspaces(page)).await
            }
            What::Show(show) => {
                let of = of(cx, &show.workspace)?;
                cx.show(Request::WorkspaceShow(of)).await
            }
            What::Prune(prune) => prune.run(cx).await,
            What::Forget(forget) => forget.run(cx).await,
        }
    }
}

/// The workspace of that name: a number is one; a path is made absolute.
fn of(cx: &Context<'_>, name: &str) -> Result<OfWorkspace> {
    if name.parse::<u64>().is_ok() {
        return Ok(OfWorkspace { workspace: name.to_owned() });
    }
    let path = Path::new(name);
    let path = if name == "." { Path::new("") } else { path };
    let workspace = cx.absolute(path)?;
    Ok(OfWorkspace { workspace: workspace.strip_suffix('/').unwrap_or(&workspace).to_owned() })
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
            if !cx.can_ask() {
                return Err(usage(
                    "what is let go can't go back any more, and nobody can be asked here",
                    "`retake workspace prune --dry-run` shows what that is; then repeat this with --yes",
                ));
            }
            let would = pruned(cx, PruneHow::Look).await?;
            let text = render::workspace::pruned(&cx.ui.look(), &would);
            cx.ui.print(&text)?;
            if !would.let_go.is_empty() && !cx.ui.confirm("Let these go?")? {
                cx.aside("nothing has changed")?;
                return Err(Failure::Said(INTERRUPTED));
            }
        }
        cx.show(prune(PruneHow::ToQuota)).await
    }
}

fn prune(how: PruneHow) -> Request {
    Request::WorkspacePrune(WorkspacePrune { how })
}

async fn pruned(cx: &Context<'_>, how: PruneHow) -> Result<Pruned> {
    match cx.call(prune(how)).await? {
        Reply::Pruned(pruned) => Ok(pruned),
        other => Err(unexpected(&other)),
    }
}

impl Forget {
    async fn run(self, cx: &mut Context<'_>) -> Result {
        let of = of(cx, &self.workspace)?;
        if !self.yes {
            if !cx.can_ask() {
                return Err(usage(
                    "what is forgotten can't be brought back, and nobody can be asked here",
                    "`retake workspace show` shows what goes; then repeat this with --yes",
                ));
            }
            let reply = cx.call(Request::WorkspaceShow(of.clone())).await?;
            let Reply::Workspace(shown) = &reply else {
                return Err(unexpected(&reply));
            };
            let text = render::workspace::shown(&cx.ui.look(), shown);
            cx.ui.print(&text)?;
            cx.aside("files in the folder and messages stay; no command that changed it can go back with its files")?;
            if !cx.ui.confirm("Forget it?")? {
                cx.aside("nothing has changed")?;
                return Err(Failure::Said(INTERRUPTED));
            }
        }
        let reply = cx.call(Request::WorkspaceForget(of)).await?;
        let Reply::Workspace(gone) = &reply else {
            return Err(unexpected(&reply));
        };
        if cx.json {
            return cx.json(&reply);
        }
        let text = render::workspace::forgotten(gone);
        Ok(cx.ui.print(&text)?)
    }
}
