//! `retake edit`: other words in the place of a message.

use clap::Args;
use retake_wire::request::{Apply, Say};
use retake_wire::{Action, Part, Request, Role, Run, RunStart};

use super::answer::answer;
use super::change;
use crate::args::Changing;
use crate::context::Context;
use crate::error::Result;
use crate::render::content;

/// Say something else in the place of a message, and print the answer
///
/// The old words, and all that followed them, stay as a branch. Images and files of the message are kept.
#[derive(Debug, Args)]
pub(crate) struct Edit {
    #[command(flatten)]
    changing: Changing,
    /// Only store the new words; call no model
    #[arg(long)]
    no_run: bool,
    /// The model to ask, as provider/model
    #[arg(long, value_name = "NAME", conflicts_with = "no_run")]
    model: Option<String>,
    /// The message
    #[arg(value_name = "ENTRY")]
    entry: String,
    /// The new words; `-` reads standard input
    #[arg(value_name = "TEXT")]
    text: Vec<String>,
}

impl Edit {
    /// Does it.
    pub(crate) async fn run(self, cx: &mut Context<'_>) -> Result {
        let text = cx.words(&self.text, "new wording")?;
        let named = self.changing.place.conversation.clone();
        let conversation = cx.conversation(named).await?;
        let parts = self.parts(cx, &conversation, &text).await?;
        if self.no_run {
            return self.store(cx, conversation, parts).await;
        }
        let run = Run {
            conversation,
            start: RunStart::Edit { entry: self.entry, parts },
            model: self.model,
            head: self.changing.head,
            request_id: self.changing.repeat.request_id,
        };
        answer(cx, run).await
    }

    /// The new words with what else the message holds.
    async fn parts(&self, cx: &mut Context<'_>, conversation: &str, text: &str) -> Result<Vec<Part>> {
        let action = Action::Edit { entry: self.entry.clone() };
        let plan = change::plan(cx, conversation.to_owned(), action).await?;
        let old = plan.composer.map(|composer| composer.parts).unwrap_or_default();
        if let Some(attached) = content::attached(&old) {
            cx.aside(&format!("{attached} is kept"))?;
        }
        Ok(content::reworded(&old, text))
    }

    async fn store(self, cx: &mut Context<'_>, conversation: String, parts: Vec<Part>) -> Result {
        let request_id = self.changing.repeat.request_id;
        let back = Apply {
            conversation: conversation.clone(),
            action: Action::Edit { entry: self.entry },
            head: self.changing.head,
            since: false,
            request_id: request_id.as_ref().map(|id| format!("{id}/back")),
        };
        cx.receipt(Request::Apply(back)).await?;
        let say = Say {
            conversation,
            role: Role::User,
            parts,
            author: String::new(),
            synthetic: false,
            observed: false,
            time_ms: None,
            platform_id: None,
            seen: None,
            request_id,
        };
        let receipt = cx.receipt(Request::Say(say)).await?;
        let ids: String = receipt.entries.iter().map(|id| format!("{id}\n")).collect();
        cx.acknowledge(&receipt, &ids)
    }
}
