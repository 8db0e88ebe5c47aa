//! `retake rewind`: back to before a message.

use clap::Args;
use retake_wire::Action;

use super::change::{self, Act};
use crate::args::Changing;
use crate::context::Context;
use crate::error::{Failure, INTERRUPTED, Result};
use crate::render;

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
    rewind: Rewind,
}

impl RewindVerb {
    /// Does it.
    pub(crate) async fn run(self, cx: &mut Context<'_>) -> Result {
        let action = self.rewind.action()?;
        let mut changing = self.changing;
        if cx.can_ask() && !self.yes {
            agree(cx, &mut changing, &action, "Go back?").await?;
        }
        change::apply(cx, changing, action, self.since).await?;
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
    question: &str,
) -> Result {
    let conversation = cx.conversation(changing.place.conversation.take()).await?;
    let plan = change::plan(cx, conversation.clone(), action.clone()).await?;
    let text = render::plan::body(&cx.ui.look(), &plan);
    cx.ui.print(&text)?;
    if !plan.unchanged && !cx.ui.confirm(question)? {
        cx.aside("nothing has changed")?;
        return Err(Failure::Said(INTERRUPTED));
    }
    changing.place.conversation = Some(conversation);
    changing.head.get_or_insert(plan.head);
    Ok(())
}
