//! Common parts of all verbs that apply an [`Action`]: the same arguments make a plan and are applied. Must never know one of
//! them by name.

use clap::Args;
use retake_wire::reply::Plan;
use retake_wire::request::{Apply, Plan as PlanRequest};
use retake_wire::{Action, FileOptions, ProblemKind, Request};

use super::RunVerb;
use super::agreement::{CONFLICT, agree, settle};
use crate::args::{ChangeArgs, ConversationArg};
use crate::context::{Context, FollowUp};
use crate::error::{Failure, Result, expect_reply};
use retake_tui::render::receipt;

/// Arguments of an action.
pub(crate) trait ActionArgs {
    /// Command lines for the help and the manual page.
    const EXAMPLES: &'static [&'static str] = &[];

    /// The action.
    fn action(&self) -> Result<Action>;
    /// The options for files; the default for an action without files.
    fn files(&self) -> FileOptions {
        FileOptions::default()
    }
    /// Whether it hides messages from people or from the model, so that the person gets a hint how to find them again.
    fn hides(&self) -> bool {
        false
    }
    /// Whether a plan shows the diff of each file.
    fn diff(&self) -> bool {
        false
    }
}

// An action to apply.
#[derive(Debug, Args)]
pub(crate) struct Change<A: Args> {
    #[command(flatten)]
    pub(crate) changing: ChangeArgs,
    #[command(flatten)]
    pub(crate) act: A,
}

impl<A: Args + ActionArgs> RunVerb for Change<A> {
    const EXAMPLES: &'static [&'static str] = A::EXAMPLES;

    async fn run(self, cx: &mut Context<'_>) -> Result {
        let action = self.act.action()?;
        let has_changed = apply(cx, self.changing, action, self.act.files(), false).await?;
        if has_changed && self.act.hides() && !cx.json {
            let (undo, hidden) = (cx.command("undo"), cx.command("hidden"));
            cx.aside(&format!("{undo} takes this back, {hidden} lists it later"))?;
        }
        Ok(())
    }
}

// An action to plan.
#[derive(Debug, Args)]
pub(crate) struct Preview<A: Args> {
    #[command(flatten)]
    pub(crate) place: ConversationArg,
    #[command(flatten)]
    pub(crate) act: A,
}

/// Applies an action, and shows its receipt. Returns whether it changed something. In the line client the person decides about
/// files in conflict.
pub(crate) async fn apply(
    cx: &mut Context<'_>,
    changing: ChangeArgs,
    action: Action,
    files: FileOptions,
    since: bool,
) -> Result<bool> {
    let apply = Apply {
        conversation: cx.conversation(changing.place.conversation).await?,
        action: action.clone(),
        head: changing.head,
        since,
        files,
        request_id: changing.repeat.request_id,
    };
    let (action, given) = match cx.receipt(Request::Apply(apply)).await {
        Err(Failure::Problem(refusal)) if cx.in_conversation() && refusal.code == CONFLICT => {
            settle(cx, action, *refusal).await?
        }
        done => (action, done?),
    };
    let look = cx.ui.look();
    let text = match cx.in_conversation() {
        true => receipt::in_line(&look, &action, &given),
        false => receipt::receipt(&look, &action, &given),
    };
    cx.acknowledge(&given, text)?;
    let steps = given.steps.as_ref().filter(|steps| steps.done < steps.asked);
    let verb = if matches!(action, Action::Redo { .. }) { "redo" } else { "undo" };
    let has_changed = !given.unchanged;
    match (steps.map(|steps| steps.refusal.is_some()), cx.in_conversation()) {
        (Some(true), true) => cx.aside(&format!("/{verb} alone takes the next step, and lets you choose"))?,
        (Some(is_refused), false) => {
            if is_refused && !cx.json {
                cx.hint(&format!(
                    "`retake plan {verb}` shows the next step, and `retake {verb} --choose …` takes it"
                ))?;
            }
            return Err(Failure::Reported(ProblemKind::Refused.exit_code()));
        }
        _ => {}
    }
    if cx.in_conversation() {
        cx.follow_up = Some(FollowUp::Changed(action, Box::new(given)));
    }
    Ok(has_changed)
}

/// Applies an action as [`apply`] does. A person at a terminal sees its plan first and agrees to it, unless the command line says yes.
pub(crate) async fn agreed(
    cx: &mut Context<'_>,
    mut changing: ChangeArgs,
    action: Action,
    mut files: FileOptions,
    since: bool,
    (yes, question): (bool, &str),
) -> Result {
    if cx.can_ask() && !yes {
        agree(cx, &mut changing, &action, &mut files, question).await?;
    }
    apply(cx, changing, action, files, since).await?;
    if cx.can_ask() {
        let undo = cx.command("undo");
        cx.aside(&format!("{undo} takes this back"))?;
    }
    Ok(())
}

/// The plan of an action, with the diffs of its files if requested.
pub(crate) async fn plan(
    cx: &Context<'_>,
    conversation: &str,
    action: &Action,
    files: &FileOptions,
    diff: bool,
) -> Result<Plan> {
    let (conversation, action, files) = (conversation.to_owned(), action.clone(), files.clone());
    let request = Request::Plan(PlanRequest { conversation, action, files, diff });
    Ok(expect_reply!(cx.call(request).await?, Plan))
}
