//! `retake fork`: a new conversation with the same beginning.

use clap::Args;
use retake_wire::Request;
use retake_wire::request;

use super::RunVerb;
use crate::args::{ConversationArg, RequestIdArg};
use crate::context::{Context, FollowUp, Place};
use crate::error::Result;
use retake_tui::render::id;

/// Begin a new conversation with the messages of this one, and print its id
#[derive(Debug, Args)]
pub(crate) struct Fork {
    #[command(flatten)]
    place: ConversationArg,
    /// The title
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    #[command(flatten)]
    repeat: RequestIdArg,
    /// The last entry to include, on any branch [default: the last one]
    #[arg(value_name = "ENTRY")]
    entry: Option<String>,
}

impl RunVerb for Fork {
    const EXAMPLES: &'static [&'static str] = &["retake fork t2 --title 'Another way'"];

    async fn run(self, cx: &mut Context<'_>) -> Result {
        let fork = request::Fork {
            conversation: cx.conversation(self.place.conversation).await?,
            entry: self.entry,
            title: self.title,
            request_id: self.repeat.request_id,
        };
        let receipt = cx.receipt(Request::Fork(fork)).await?;
        if let Place::Conversation(here) = &mut cx.place {
            let parent = here.replace(receipt.conversation).unwrap_or_default();
            let parent = id::short(&parent);
            cx.follow_up = Some(FollowUp::Moved);
            return cx.aside(&format!("this is the fork now; `retake -r {parent}` returns to the other one"));
        }
        let id = format!("{}\n", receipt.conversation);
        cx.acknowledge(&receipt, &id)
    }
}
