//! The agreement to an action: its plan is shown, and the person decides. In a shell that is yes or no; in the line client also
//! what happens to messages and files. Must never apply another plan than the shown one.

use retake_wire::reply::{Plan, Receipt};
use retake_wire::request::Apply;
use retake_wire::{Action, FileOptions, Problem, ProblemKind, Request, Scope};

use super::{change, file_choices};
use crate::args::ChangeArgs;
use crate::context::Context;
use crate::error::{Failure, INTERRUPTED, Result, usage};
use crate::term::pick::Row;
use retake_tui::render;

/// The error code if files are in conflict.
pub(crate) const CONFLICT: &str = "conflict";

/// Shown before a plan that replaces another one.
pub(crate) const CHANGED: &str =
    "the conversation or its files have changed since this plan was made; this is the new plan";

/// What a person answers to a plan.
enum Answer {
    No,
    Yes(Scope),
    /// To choose for single files first.
    Choose,
}

/// Shows the plan of an action and asks. After a yes, `changing` and `files` name exactly this plan. After a no, the failure
/// has no message: this has printed it.
pub(crate) async fn agree(
    cx: &mut Context<'_>,
    changing: &mut ChangeArgs,
    action: &Action,
    files: &mut FileOptions,
    question: &str,
) -> Result {
    let conversation = cx.conversation(changing.place.conversation.take()).await?;
    let plan = change::plan(cx, &conversation, action, files, false).await?;
    let plan = if cx.in_conversation() {
        decide(cx, &conversation, plan, action, files, question).await?
    } else {
        cx.print_text(&render::plan::body(&cx.ui.look(), &plan))?;
        // A plan with open conflicts is refused, and the choices are listed: there is nothing to agree to.
        let waits = plan.files.as_ref().is_some_and(|files| files.conflicts > 0);
        if !plan.unchanged && !waits && !cx.ui.confirm(&format!("{question}?"))? {
            return declined(cx);
        }
        files.stop |= plan.at_work || !plan.running.is_empty();
        plan
    };
    changing.place.conversation = Some(conversation);
    changing.head.get_or_insert(plan.head);
    if files.scope != Scope::Conversation || !cx.in_conversation() {
        files.seen = plan.files.map(|files| files.digest);
    }
    Ok(())
}

/// Fails if no person can confirm something that can't be undone.
pub(crate) fn needs_person(cx: &Context<'_>, why: &str, shows: &str) -> Result {
    if cx.can_ask() {
        return Ok(());
    }
    let message = format!("cannot ask for your confirmation here, and {why}");
    Err(usage(message, format!("`retake {shows}` shows it; then repeat this with --yes")))
}

/// Asks a question; a no is reported and fails without another message.
pub(crate) fn confirm(cx: &mut Context<'_>, question: &str) -> Result {
    if cx.ui.confirm(question)? { Ok(()) } else { declined(cx) }
}

fn declined<T>(cx: &mut Context<'_>) -> Result<T> {
    cx.aside("nothing has changed")?;
    Err(Failure::Reported(INTERRUPTED))
}

/// Shows the plan and asks in the line client, again after each choice for files. Returns the plan that was agreed to.
async fn decide(
    cx: &mut Context<'_>,
    conversation: &str,
    mut plan: Plan,
    action: &Action,
    files: &mut FileOptions,
    question: &str,
) -> Result<Plan> {
    let is_of_files = matches!(action, Action::RestoreFiles { .. });
    loop {
        let text = render::plan::body(&cx.ui.look(), &plan);
        if is_of_files {
            cx.ui.page_text(&text)?;
        } else {
            cx.ui.print_text(&text)?;
        }
        if plan.unchanged && (is_of_files || files.choose.is_empty()) {
            return Err(Failure::Reported(0));
        }
        // The runs and commands that the plan shows are stopped with it.
        let stop = plan.at_work || !plan.running.is_empty();
        match ask(cx, &plan, is_of_files, question)? {
            Answer::No => return declined(cx),
            Answer::Yes(Scope::Conversation) => {
                let scope = Scope::Conversation;
                *files = FileOptions { scope, stop: plan.at_work, ..FileOptions::default() };
                return Ok(plan);
            }
            Answer::Yes(scope) => {
                (files.scope, files.stop) = (scope, stop && !is_of_files);
                return Ok(plan);
            }
            Answer::Choose => match file_choices::choose(cx, conversation, action, files).await? {
                Some(chosen) => (*files, plan) = chosen,
                None if is_of_files => return declined(cx),
                None => {}
            },
        }
    }
}

/// Asks whether to do it; if files are involved, also which part.
fn ask(cx: &mut Context<'_>, plan: &Plan, is_of_files: bool, question: &str) -> Result<Answer> {
    let conflicts = plan.files.as_ref().map_or(0, |files| files.conflicts);
    if is_of_files && conflicts > 0 {
        return Ok(Answer::Choose);
    }
    let Some(files) = plan.files.as_ref().filter(|_| !is_of_files) else {
        let yes = cx.ui.confirm(&format!("{question}?"))?;
        return Ok(if yes { Answer::Yes(Scope::Both) } else { Answer::No });
    };
    let waits = (conflicts > 0).then(|| "choose for the files in conflict first".to_owned());
    let messages = render::plan::brief(None, &Plan { files: None, ..plan.clone() });
    let file_words = render::files::brief(files);
    let row = |key, title: &str, detail, disabled| Row {
        title: title.to_owned(),
        detail,
        disabled,
        key: Some(key),
    };
    // The shown plan is the first answer: `y` means it.
    let rows = [
        row('y', "both", format!("{messages}; {file_words}"), waits.clone()),
        row('c', "conversation only", messages, None),
        row('f', "files only", file_words, waits),
        row('s', "choose", "for single files, then ask again".to_owned(), None),
    ];
    let picked = cx.ui.pick(&format!("{question} with"), &rows, &mut |_| String::new())?;
    Ok(match picked {
        None => Answer::No,
        Some(0) => Answer::Yes(Scope::Both),
        Some(1) => Answer::Yes(Scope::Conversation),
        Some(2) => Answer::Yes(Scope::Files),
        Some(_) => Answer::Choose,
    })
}

/// Applies an action that was refused because files are in conflict, as the person decides. Of several steps only the next one is
/// decided. Returns the applied action and its receipt.
pub(crate) async fn settle(
    cx: &mut Context<'_>,
    action: Action,
    mut refusal: Problem,
) -> Result<(Action, Receipt)> {
    // Its hint names a command for the same decision.
    refusal.hint = None;
    cx.complain(&refusal.into())?;
    let action = match action {
        Action::Undo { .. } => Action::Undo { count: 1 },
        Action::Redo { .. } => Action::Redo { count: 1 },
        other => other,
    };
    loop {
        let (mut changing, mut files) = (ChangeArgs::default(), FileOptions::default());
        agree(cx, &mut changing, &action, &mut files, "Do it").await?;
        let apply = Apply {
            conversation: cx.conversation(None).await?,
            action: action.clone(),
            head: changing.head,
            since: false,
            files,
            request_id: None,
        };
        match cx.receipt(Request::Apply(apply)).await {
            Err(Failure::Problem(problem)) if problem.kind == ProblemKind::Stale => cx.aside(CHANGED)?,
            done => return done.map(|receipt| (action, receipt)),
        }
    }
}
