//! `retake exec`: a command as a tool call of a conversation.

use clap::Args;
use retake_wire::request::Create;
use retake_wire::{Ended, FileOptions, Outcome, Part, Permit, Request, Run, RunStart};

use super::RunVerb;
use super::model_run::{end, follow};
use crate::args::{COMMAND_FAILED, ConversationArg, RequestIdArg};
use crate::context::Context;
use crate::error::{Failure, Result, usage};
use crate::term::safe;

/// Run a command like one of the agent, so that you can take back its changes in this folder
///
/// Continues the last conversation of this folder, or begins one. The output of the command is printed as it comes, and stored. Exit code 8
/// means that the command failed; what it did is kept. Ctrl-C stops it.
///
/// The command has all your rights: it runs outside of the sandbox for the commands of a model.
#[derive(Debug, Args)]
pub(crate) struct Exec {
    #[command(flatten)]
    place: ConversationArg,
    /// A message to store first; the command belongs to that turn
    #[arg(long, value_name = "TEXT")]
    say: Option<String>,
    #[command(flatten)]
    repeat: RequestIdArg,
    /// The command and its arguments
    #[arg(value_name = "COMMAND", required = true, last = true)]
    command: Vec<String>,
}

impl RunVerb for Exec {
    const EXAMPLES: &'static [&'static str] =
        &["retake exec -- cargo fmt", "retake exec --say 'tidy up' -- sh -c 'rm -f *.bak'"];

    async fn run(self, cx: &mut Context<'_>) -> Result {
        if self.command.first().is_some_and(String::is_empty) {
            return Err(usage("the command has an empty name", "type `retake exec -- COMMAND…`"));
        }
        let run = Run {
            conversation: conversation(cx, self.place.conversation).await?,
            folder: None,
            start: RunStart::Exec { command: self.command, say: self.say },
            model: None,
            head: None,
            permit: Permit::default(),
            files: FileOptions::default(),
            request_id: self.repeat.request_id,
        };
        let result = follow(cx, run).await?;
        if let (Some(why), Outcome::Succeeded) = (failed(&result.ended), result.ended.outcome) {
            if !cx.json {
                cx.aside(&safe::line(&why))?;
            }
            return Err(Failure::Reported(COMMAND_FAILED));
        }
        end(cx, &result)
    }
}

/// The named conversation, the last one of this folder, or a new one.
async fn conversation(cx: &mut Context<'_>, named: Option<String>) -> Result<String> {
    if named.is_some() || cx.last().await?.is_some() {
        return cx.conversation(named).await;
    }
    let create = Create { folder: Some(cx.folder.to_owned()), ..Create::default() };
    Ok(cx.receipt(Request::Create(create)).await?.conversation)
}

/// The reason of a failure: the last line of the command's result.
fn failed(ended: &Ended) -> Option<String> {
    ended.entry.as_ref()?.parts.iter().find_map(|part| match part {
        Part::ToolResult { content, failed: true, .. } => content.lines().last().map(str::to_owned),
        _ => None,
    })
}
