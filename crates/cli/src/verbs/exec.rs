//! `retake exec`: a command as a tool call of a conversation.

use clap::Args;
use retake_wire::request::Create;
use retake_wire::{Ended, FilesWish, Outcome, Part, Permit, Request, Run, RunStart};

use super::answer::{end, follow};
use crate::args::{COMMAND_FAILED, Place, Repeat};
use crate::context::Context;
use crate::error::{Failure, Result, usage};
use crate::term::safe;

/// Run a command as the agent's, so that what it changes in this folder can be taken back
///
/// Goes on with the last conversation of this folder, or begins one. What the command prints is printed as it comes, and kept. Exit
/// code 8 says that the command did not succeed; what it did is kept then, too. Ctrl-C stops it.
///
/// The command runs as you, with all that you may do: outside of the sandbox that holds the commands of a model.
#[derive(Debug, Args)]
pub(crate) struct Exec {
    #[command(flatten)]
    place: Place,
    /// What you say first; the command belongs to that turn
    #[arg(long, value_name = "TEXT")]
    say: Option<String>,
    #[command(flatten)]
    repeat: Repeat,
    /// The command and its arguments
    #[arg(value_name = "COMMAND", required = true, last = true)]
    command: Vec<String>,
}

impl Exec {
    /// Does it.
    pub(crate) async fn run(self, cx: &mut Context<'_>) -> Result {
        if self.command.first().is_some_and(String::is_empty) {
            return Err(usage(
                "the name of the command is empty",
                "`retake exec -- COMMAND…` runs a command",
            ));
        }
        let run = Run {
            conversation: conversation(cx, self.place.conversation).await?,
            folder: None,
            start: RunStart::Exec { command: self.command, say: self.say },
            model: None,
            head: None,
            permit: Permit::default(),
            files: FilesWish::default(),
            request_id: self.repeat.request_id,
        };
        let over = follow(cx, run).await?;
        if let (Some(why), Outcome::Succeeded) = (failed(&over.ended), over.ended.outcome) {
            if !cx.json {
                cx.aside(&safe::line(&why))?;
            }
            return Err(Failure::Said(COMMAND_FAILED));
        }
        end(cx, &over)
    }
}

/// The conversation that is named, the last one of this folder, or a new one.
async fn conversation(cx: &mut Context<'_>, named: Option<String>) -> Result<String> {
    if named.is_some() || cx.last().await?.is_some() {
        return cx.conversation(named).await;
    }
    let create = Create { folder: Some(cx.folder.to_owned()), ..Create::default() };
    Ok(cx.receipt(Request::Create(create)).await?.conversation)
}

/// How the command ended, where it did not succeed: the last line of its result says it.
fn failed(ended: &Ended) -> Option<String> {
    ended.entry.as_ref()?.parts.iter().find_map(|part| match part {
        Part::ToolResult { content, failed: true, .. } => content.lines().last().map(str::to_owned),
        _ => None,
    })
}
