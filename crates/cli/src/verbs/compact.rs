//! `retake compact`: a summary by the model replaces earlier messages in the prompt.

use clap::Args;
use retake_wire::{Outcome, Run, RunStart};

use super::RunVerb;
use super::model_run::{end, follow};
use crate::args::ChangeArgs;
use crate::context::{Context, FollowUp};
use crate::error::Result;

/// Let the model summarise earlier messages; you still see them, and the model gets the summary
///
/// An undo gives the model the messages again. Long conversations are summarised by themselves: `agent.compact_at` in the settings.
#[derive(Debug, Args)]
pub(crate) struct Compact {
    #[command(flatten)]
    changing: ChangeArgs,
    /// The model to ask, as provider/model
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// The first message; the first turn if not given
    #[arg(long, value_name = "ENTRY")]
    from: Option<String>,
    /// The last message; the last one if not given
    #[arg(long, value_name = "ENTRY")]
    to: Option<String>,
    /// Summarise another branch, named by its last message, and say the summary here
    #[arg(long, value_name = "ENTRY", conflicts_with_all = ["from", "to"])]
    branch: Option<String>,
    /// What the summary must keep or leave out
    #[arg(value_name = "INSTRUCTIONS")]
    instructions: Vec<String>,
}

impl RunVerb for Compact {
    const EXAMPLES: &'static [&'static str] =
        &["retake compact", "retake compact keep all file names", "retake compact --to t4"];

    async fn run(self, cx: &mut Context<'_>) -> Result {
        let instructions = Some(self.instructions.join(" ")).filter(|text| !text.trim().is_empty());
        let run = Run {
            conversation: cx.conversation(self.changing.place.conversation).await?,
            folder: None,
            start: RunStart::Compact { instructions, from: self.from, to: self.to, branch: self.branch },
            files: Default::default(),
            model: self.model,
            head: self.changing.head,
            permit: Default::default(),
            request_id: self.changing.repeat.request_id,
        };
        let result = follow(cx, run).await?;
        if cx.in_conversation() {
            cx.follow_up = Some(FollowUp::Moved);
        }
        if result.ended.outcome == Outcome::Succeeded && !cx.json {
            cx.ui.print(match result.ended.entry {
                Some(_) => "summarised: the summary of the branch is the last message here; `retake undo` takes it back\n",
                None => "summarised: the model gets the summary in place of these messages; `retake undo` takes it back\n",
            })?;
        }
        end(cx, &result)
    }
}
