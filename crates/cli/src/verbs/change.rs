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
    /// The question at a terminal, without its question mark.
    const QUESTION: &'static str = "Do it";

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
            hint_of_hidden(cx)?;
        }
        Ok(())
    }
}

fn hint_of_hidden(cx: &mut Context<'_>) -> Result {
    let (undo, hidden) = (cx.command("undo"), cx.command("hidden"));
    cx.aside(&format!("{undo} takes this back, {hidden} lists it later"))
}

// An action to apply: a person at a terminal sees its plan first, and agrees.
#[derive(Debug, Args)]
pub(crate) struct Agreed<A: Args> {
    #[command(flatten)]
    changing: ChangeArgs,
    /// On a terminal, do not show the plan and ask
    #[arg(short, long)]
    yes: bool,
    #[command(flatten)]
    act: A,
}

impl<A: Args + ActionArgs> RunVerb for Agreed<A> {
    const EXAMPLES: &'static [&'static str] = A::EXAMPLES;

    async fn run(mut self, cx: &mut Context<'_>) -> Result {
        let (action, mut files) = (self.act.action()?, self.act.files());
        // The line client has its own lists, and takes back each step with a word.
        let asks = (self.yes || cx.in_conversation(), A::QUESTION);
        ask_first(cx, &mut self.changing, &action, &mut files, asks).await?;
        let undone = matches!(action, Action::Undo { .. });
        let has_changed = apply(cx, self.changing, action, files, false).await?;
        match (self.act.hides(), cx.can_ask() && !cx.in_conversation()) {
            (true, _) if has_changed && !cx.json => hint_of_hidden(cx),
            (false, true) if has_changed => hint_of_undo(cx, undone),
            _ => Ok(()),
        }
    }
}

fn hint_of_undo(cx: &mut Context<'_>, undone: bool) -> Result {
    let (verb, does) = if undone { ("redo", "brings this back") } else { ("undo", "takes this back") };
    let verb = cx.command(verb);
    cx.aside(&format!("{verb} {does}"))
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
    asks: (bool, &str),
) -> Result {
    ask_first(cx, &mut changing, &action, &mut files, asks).await?;
    apply(cx, changing, action, files, since).await?;
    if cx.can_ask() { hint_of_undo(cx, false) } else { Ok(()) }
}

/// Shows the plan of an action to a person at a terminal and asks, unless the command line says yes.
async fn ask_first(
    cx: &mut Context<'_>,
    changing: &mut ChangeArgs,
    action: &Action,
    files: &mut FileOptions,
    (yes, question): (bool, &str),
) -> Result {
    if cx.can_ask() && !yes { agree(cx, changing, action, files, question).await } else { Ok(()) }
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
