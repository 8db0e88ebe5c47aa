//! `retake rewind`: back to before a message.

use clap::Args;
use retake_wire::{Action, FilesWish};

use super::change::{self, Act};
use crate::args::Changing;
use crate::args::files::FileArgs;
use crate::context::Context;
use crate::error::{Failure, INTERRUPTED, Result};
use retake_tui::render;

/// Go back to before a message; on a terminal, shows what that takes back and asks
#[derive(Debug, Args)]
pub(crate) struct Rewind {
    /// The message, as an id, a label, tN or @
    #[arg(value_name = "ENTRY")]
    entry: String,
}

impl Act for Rewind {
    fn action(&self) -> Result<Action> {
        Ok(Action::Rewind { entry: self.entry.clone() })
    }
}

// The verb: asks where it can.
#[derive(Debug, Args)]
pub(crate) struct RewindVerb {
    #[command(flatten)]
    changing: Changing,
    /// Take back also what arrived since --head
    #[arg(long, requires = "head")]
    since: bool,
    /// Do not ask
    #[arg(short, long)]
    yes: bool,
    #[command(flatten)]
    files: FileArgs,
    #[command(flatten)]
    rewind: Rewind,
}

impl RewindVerb {
    /// Does it.
    pub(crate) async fn run(self, cx: &mut Context<'_>) -> Result {
        let action = self.rewind.action()?;
        let mut changing = self.changing;
        let mut files = self.files.wish();
        if cx.can_ask() && !self.yes {
            agree(cx, &mut changing, &action, &mut files, "Go back?").await?;
        }
        change::apply(cx, changing, action, files, self.since).await?;
        if cx.can_ask() {
            cx.aside("`retake undo` takes this back")?;
        }
        Ok(())
    }
}

/// Shows the plan and asks; then the action is applied with the plan's head, so that what was agreed to is what is done.
pub(crate) async fn agree(
    cx: &mut Context<'_>,
    changing: &mut Changing,
    action: &Action,
    files: &mut FilesWish,
    question: &str,
) -> Result {
    let conversation = cx.conversation(changing.place.conversation.take()).await?;
    let plan = change::plan(cx, conversation.clone(), action.clone(), files.clone()).await?;
    let text = render::plan::body(&cx.ui.look(), &plan);
    cx.ui.print(&text)?;
    // A plan that waits for choices is refused, with what can be chosen: there is nothing to agree to.
    let waits = plan.files.as_ref().is_some_and(|files| files.conflicts > 0);
    if !plan.unchanged && !waits && !cx.ui.confirm(question)? {
        cx.aside("nothing has changed")?;
        return Err(Failure::Said(INTERRUPTED));
    }
    changing.place.conversation = Some(conversation);
    changing.head.get_or_insert(plan.head);
    // What was shown to be ended is ended.
    files.stop |= plan.at_work || !plan.running.is_empty();
    files.seen = plan.files.map(|files| files.digest);
    Ok(())
}
