//! What all verbs share that do an [`Action`]: the same arguments make a plan and are applied. Must never know one of them by name.

use clap::Args;
use retake_wire::reply::Plan;
use retake_wire::request::{Apply, Plan as PlanRequest};
use retake_wire::{Action, FilesWish, ProblemKind, Reply, Request};

use crate::args::{Changing, Place};
use crate::context::Context;
use crate::error::{Failure, Result, unexpected};
use retake_tui::render::receipt;

/// Arguments that say an action.
pub(crate) trait Act {
    /// The action.
    fn action(&self) -> Result<Action>;
    /// What is wished for files; nothing, of an action that has nothing to do with them.
    fn files(&self) -> FilesWish {
        FilesWish::default()
    }
    /// How what was done is found again, said behind the receipt where something was done.
    fn later(&self) -> Option<&'static str> {
        None
    }
    /// Whether a plan says how each file would change.
    fn diff(&self) -> bool {
        false
    }
}

// An action to be done.
#[derive(Debug, Args)]
pub(crate) struct Change<A: Args> {
    #[command(flatten)]
    pub(crate) changing: Changing,
    #[command(flatten)]
    pub(crate) act: A,
}

impl<A: Args + Act> Change<A> {
    /// Does it.
    pub(crate) async fn run(self, cx: &mut Context<'_>) -> Result {
        let action = self.act.action()?;
        applied(cx, self.changing, action, self.act.files(), false, self.act.later()).await
    }
}

// An action to be planned.
#[derive(Debug, Args)]
pub(crate) struct Preview<A: Args> {
    #[command(flatten)]
    pub(crate) place: Place,
    #[command(flatten)]
    pub(crate) act: A,
}

/// Does an action, and shows its receipt.
pub(crate) async fn apply(
    cx: &mut Context<'_>,
    changing: Changing,
    action: Action,
    files: FilesWish,
    since: bool,
) -> Result {
    applied(cx, changing, action, files, since, None).await
}

async fn applied(
    cx: &mut Context<'_>,
    changing: Changing,
    action: Action,
    files: FilesWish,
    since: bool,
    later: Option<&str>,
) -> Result {
    let conversation = cx.conversation(changing.place.conversation).await?;
    let apply = Apply {
        conversation,
        action: action.clone(),
        head: changing.head,
        since,
        files,
        request_id: changing.repeat.request_id,
    };
    let given = cx.receipt(Request::Apply(apply)).await?;
    let text = receipt::receipt(&cx.ui.look(), &action, &given);
    cx.acknowledge(&given, &text)?;
    if let Some(steps) = given.steps.filter(|steps| steps.done < steps.asked) {
        if steps.refusal.is_some() && !cx.json {
            let verb = if matches!(action, Action::Redo { .. }) { "redo" } else { "undo" };
            cx.hint(&format!(
                "`retake plan {verb}` shows the next step, and `retake {verb} --choose …` takes it"
            ))?;
        }
        return Err(Failure::Said(ProblemKind::Refused.exit_code()));
    }
    match later.filter(|_| !given.unchanged && !cx.json) {
        Some(later) => cx.aside(later),
        None => Ok(()),
    }
}

/// What an action would do.
pub(crate) async fn plan(
    cx: &Context<'_>,
    conversation: String,
    action: Action,
    files: FilesWish,
) -> Result<Plan> {
    let request = PlanRequest { conversation, action, files, diff: false };
    match cx.call(Request::Plan(request)).await? {
        Reply::Plan(plan) => Ok(plan),
        other => Err(unexpected(&other)),
    }
}
