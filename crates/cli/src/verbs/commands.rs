//! `retake commands`: the commands and skills that can be sent as `/name`. Must never run one.

use clap::Args;
use retake_wire::{CommandsOf, Request};

use super::RunVerb;
use crate::context::Context;
use crate::error::Result;

/// List the commands and skills of this folder and of your settings, with their origin
///
/// A command is a file .retake/commands/NAME.md with a prompt, a skill a file .retake/skills/NAME/SKILL.md. Your own are in the same
/// folders beside your settings. In a conversation, /NAME sends one. Files that can't be used are listed with the reason.
#[derive(Debug, Args)]
pub(crate) struct Commands {}

impl RunVerb for Commands {
    const EXAMPLES: &'static [&'static str] = &["retake commands"];

    async fn run(self, cx: &mut Context<'_>) -> Result {
        let folder = cx.folder.to_owned();
        cx.show(Request::CommandFiles(CommandsOf { folder })).await
    }
}
