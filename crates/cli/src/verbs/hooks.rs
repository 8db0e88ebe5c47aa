//! `retake hooks`: the hooks of the settings, and the approval of those that a folder brings. Must never approve an entry that was
//! not read first.

use clap::{Args, Subcommand};
use retake_tui::render;
use retake_wire::{HookApprove, HookOrigin, HookRevoke, HookState, Hooks as List, HooksOf, Request};

use super::RunVerb;
use super::agreement::{confirm, needs_person};
use crate::context::Context;
use crate::error::{Result, expect_reply};

/// List the hooks of the settings and of this folder, and approve those of the folder
///
/// A folder brings hooks in its file .retake/hooks.toml. They get no events before you approve them.
#[derive(Debug, Args)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Hooks {
    #[command(subcommand)]
    what: Option<HooksCommand>,
}

/// What of them.
#[derive(Debug, Subcommand)]
enum HooksCommand {
    /// List the hooks with their state; `retake hooks` alone does so, too
    List,
    Approve(Approve),
    /// Revoke the approval of a hook of this folder
    Revoke(Revoke),
}

/// Approve a hook of the file .retake/hooks.toml in this folder
///
/// The approval is valid until the entry of the hook changes. It is for conversations in this folder and below it.
#[derive(Debug, Args)]
struct Approve {
    /// The name
    #[arg(value_name = "NAME")]
    name: String,
    /// Do not ask; required if there is no terminal
    #[arg(short, long)]
    yes: bool,
}

// The hook to revoke.
#[derive(Debug, Args)]
struct Revoke {
    /// The name
    #[arg(value_name = "NAME")]
    name: String,
}

impl RunVerb for Hooks {
    const EXAMPLES: &'static [&'static str] =
        &["retake hooks list", "retake hooks approve notify --yes", "retake hooks revoke notify"];

    async fn run(self, cx: &mut Context<'_>) -> Result {
        let folder = cx.folder.to_owned();
        match self.what {
            None | Some(HooksCommand::List) => cx.show(Request::HooksList(HooksOf { folder })).await,
            Some(HooksCommand::Approve(approve)) => approve.run(cx).await,
            Some(HooksCommand::Revoke(Revoke { name })) => {
                cx.show(Request::HookRevoke(HookRevoke { folder, name })).await
            }
        }
    }
}

impl Approve {
    async fn run(self, cx: &mut Context<'_>) -> Result {
        let Self { name, yes } = self;
        if !yes {
            needs_person(
                cx,
                "the hook of a folder can run a program or send what you write elsewhere",
                "hooks",
            )?;
        }
        let folder = cx.folder.to_owned();
        let list = Request::HooksList(HooksOf { folder: folder.clone() });
        let mut hooks = expect_reply!(cx.call(list).await?, Hooks).hooks;
        hooks.retain(|hook| hook.origin == HookOrigin::Folder && hook.name == name);
        let waits = |state| matches!(state, HookState::NeedsApproval | HookState::Changed);
        // The approval is only for the entry that was read here.
        let entry = hooks.first().and_then(|hook| hook.entry.clone()).unwrap_or_default();
        if !yes && hooks.iter().any(|hook| waits(hook.state)) {
            let shown = List { hooks, ..List::default() };
            cx.ui.print_text(&render::hooks::hooks(&cx.ui.look(), &shown))?;
            cx.aside(
                "a command runs in the sandbox for commands, in the folder of the conversation; files that it reads or starts there are not part of the approval",
            )?;
            confirm(cx, "Let it get events?")?;
        }
        cx.show(Request::HookApprove(HookApprove { folder, name, entry })).await
    }
}
