//! `retake edit`: replaces a message.

use clap::Args;
use retake_wire::{Action, Attached, Part, Request, Run, RunStart, request};

use super::RunVerb;
use super::agreement::agree;
use super::model_run::answer;
use crate::args::file_options::FileArgs;
use crate::args::{ChangeArgs, PermissionArgs};
use crate::context::Context;
use crate::error::Result;

/// Replace a message, and print the new answer
///
/// The old message and everything after it stay on a branch. Images and files of the message are kept. On a terminal, it shows the plan
/// and asks.
#[derive(Debug, Args)]
pub(crate) struct Edit {
    #[command(flatten)]
    changing: ChangeArgs,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    /// Only store the new message; call no model
    #[arg(long)]
    no_run: bool,
    /// The model to ask, as provider/model
    #[arg(long, value_name = "NAME", conflicts_with = "no_run")]
    model: Option<String>,
    #[command(flatten)]
    may: PermissionArgs,
    #[command(flatten)]
    files: FileArgs,
    /// The message
    #[arg(value_name = "ENTRY")]
    entry: String,
    /// The new message; `-` reads standard input
    #[arg(value_name = "TEXT")]
    text: Vec<String>,
}

impl RunVerb for Edit {
    const EXAMPLES: &'static [&'static str] = &["retake edit t2 'the same, but in French'"];

    async fn run(self, cx: &mut Context<'_>) -> Result {
        let text = cx.words(&self.text, "new message")?;
        let (mut changing, mut files) = (self.changing, self.files.options());
        if cx.can_ask() && !self.yes {
            let action = Action::Edit { entry: self.entry.clone() };
            agree(cx, &mut changing, &action, &mut files, "Replace it").await?;
        }
        let conversation = cx.conversation(changing.place.conversation).await?;
        let (parts, attached) = (vec![Part::text(text)], Attached::Kept);
        let (head, request_id) = (changing.head, changing.repeat.request_id);
        if self.no_run {
            let edit =
                request::Edit { conversation, entry: self.entry, parts, attached, files, head, request_id };
            let receipt = cx.receipt(Request::Edit(edit)).await?;
            let ids: String = receipt.entries.iter().map(|id| format!("{id}\n")).collect();
            if !cx.json {
                cx.went_back(&receipt)?;
            }
            return cx.acknowledge(&receipt, &ids);
        }
        let start = RunStart::Edit { entry: self.entry, parts, attached };
        let (permit, model) = (self.may.permit(), self.model);
        answer(cx, Run { conversation, folder: None, start, files, model, head, permit, request_id }).await
    }
}
