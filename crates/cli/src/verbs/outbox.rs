//! `retake outbox`: what waits to be delivered to hooks. Must never show an address.

use clap::{Args, Subcommand};
use retake_tui::render::words;
use retake_wire::request::OutboxItems;
use retake_wire::{Reply, Request};

use super::RunVerb;
use crate::context::Context;
use crate::error::Result;

/// Show what waits to be delivered to hooks, and what could not be delivered
///
/// The settings describe hooks: `retake config --help`. Deliveries are tried again over restarts.
#[derive(Debug, Args)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Outbox {
    #[command(subcommand)]
    what: OutboxCommand,
}

/// What of it.
#[derive(Debug, Subcommand)]
enum OutboxCommand {
    /// List what waits and what was passed over, with the reason
    List,
    Retry(Items),
    /// Give items up: their destinations never get them
    Drop(Items),
}

/// Deliver items now
#[derive(Debug, Args)]
struct Items {
    /// The names of the items, as `list` shows them; or `--all`
    #[arg(value_name = "ITEM|--all", required_unless_present = "all")]
    items: Vec<String>,
    /// All items
    #[arg(long, conflicts_with = "items")]
    all: bool,
}

impl RunVerb for Outbox {
    const EXAMPLES: &'static [&'static str] =
        &["retake outbox list", "retake outbox retry --all", "retake outbox drop notify-3.1"];

    async fn run(self, cx: &mut Context<'_>) -> Result {
        let named = |it: Items| OutboxItems { items: it.items, all: it.all };
        match self.what {
            OutboxCommand::List => cx.show(Request::Outbox).await,
            OutboxCommand::Retry(items) => {
                change(cx, Request::OutboxRetry(named(items)), "to deliver now").await
            }
            OutboxCommand::Drop(items) => change(cx, Request::OutboxDrop(named(items)), "given up").await,
        }
    }
}

/// Sends a request that changes items, and prints how many it changed, and what is left.
async fn change(cx: &mut Context<'_>, request: Request, what: &str) -> Result {
    let reply = cx.call(request).await?;
    if let Reply::Outbox(outbox) = &reply
        && !cx.json
    {
        let count = words::count(outbox.changed.unwrap_or(0), "item");
        cx.ui.print(&format!("{count} {what}\n"))?;
    }
    cx.present(&reply)
}
