//! `/rewind`: pick a message, see what going back takes back, agree, and edit the old words. Must never apply another plan than the
//! one that was shown.

use futures::executor::block_on;
use retake_wire::reply::{Plan, Receipt, Target, TargetPage};
use retake_wire::request::{self, Targets};
use retake_wire::{Action, Client, FilesWish, Problem, ProblemKind, Reply, Request, Scope};

use super::{Chat, choices};
use crate::error::{Failure, Result, unexpected};
use crate::term::pick::Row;
use crate::term::safe;
use crate::verbs::change;
use retake_tui::hint::Audience;
use retake_tui::render::{self, words};

/// So many turns are offered; older ones are named by tN.
const OFFERED: usize = 200;

/// What is said where a plan was refused because it is another one by now.
const CHANGED: &str = "the conversation or its files have changed meanwhile; this is how it is now";

/// Goes back to before a message.
pub(super) async fn rewind(chat: &mut Chat<'_>, named: &str) -> Result {
    loop {
        let entry = if named.is_empty() {
            match pick(chat, "Go back to before", true).await? {
                Some(entry) => entry,
                None => return chat.dim("nothing has changed"),
            }
        } else {
            named.to_owned()
        };
        let action = Action::Rewind { entry };
        let Some((head, files)) = agreed(chat, &action, "Go back").await? else {
            return Ok(());
        };
        match chat.apply_with(action, Some(head), files).await {
            Ok(_) => return chat.dim("/undo takes this back"),
            Err(Failure::Problem(problem)) if problem.kind == ProblemKind::Stale => {
                chat.dim(CHANGED)?;
            }
            Err(failure) => return Err(failure),
        }
    }
}

/// Does an action that was refused because of files that are in conflict, as the person decides. Of several steps the first one is
/// decided alone. Nothing: not at all.
pub(super) async fn settled(
    chat: &mut Chat<'_>,
    action: Action,
    mut why: Problem,
) -> Result<Option<Receipt>> {
    // What it says to do next is done here.
    why.hint = None;
    chat.cx.complain(&why.into())?;
    let action = match action {
        Action::Undo { .. } => Action::Undo { count: 1 },
        Action::Redo { .. } => Action::Redo { count: 1 },
        other => other,
    };
    loop {
        let Some((head, files)) = agreed(chat, &action, "Do it").await? else {
            return Ok(None);
        };
        match chat.apply_with(action.clone(), Some(head), files).await {
            Err(Failure::Problem(problem)) if problem.kind == ProblemKind::Stale => chat.dim(CHANGED)?,
            done => return done.map(Some),
        }
    }
}

/// Shows the plan and asks, again after each choice for files; the head that it was made from, and what is wished. Nothing: not at all.
pub(super) async fn agreed(
    chat: &mut Chat<'_>,
    action: &Action,
    question: &str,
) -> Result<Option<(String, FilesWish)>> {
    let conversation = chat.here()?;
    let mut wish = FilesWish::default();
    let mut plan = change::plan(&chat.cx, conversation, action.clone(), wish.clone()).await?;
    loop {
        let text = render::plan::body(&chat.cx.ui.look(), &plan);
        chat.print(&text)?;
        if plan.unchanged && wish.choose.is_empty() {
            return Ok(None);
        }
        // What was shown to be ended is ended.
        let (at_work, stop) = (plan.at_work, plan.at_work || !plan.running.is_empty());
        match ask(chat, &plan, question)? {
            Answer::No => {
                chat.dim("nothing has changed")?;
                return Ok(None);
            }
            // Nothing is chosen for files that stay.
            Answer::Yes(Scope::Conversation) => {
                return Ok(Some((
                    plan.head,
                    FilesWish { scope: Scope::Conversation, stop: at_work, ..FilesWish::default() },
                )));
            }
            Answer::Yes(scope) => {
                // What was shown is what is done.
                let seen = plan.files.map(|files| files.digest);
                return Ok(Some((plan.head, FilesWish { scope, seen, stop, ..wish })));
            }
            Answer::Choose => {
                if let Some(chosen) = choices::choose(chat, action, &wish).await? {
                    (wish, plan) = chosen;
                }
            }
        }
    }
}

/// Lets the person pick a turn; what going back to it takes back is shown for the marked one. A run at work stands in the way
/// where what is asked for does not end it.
pub(super) async fn pick(chat: &mut Chat<'_>, question: &str, ends_run: bool) -> Result<Option<String>> {
    let conversation = chat.here()?;
    let targets = Targets { conversation: conversation.clone(), limit: Some(OFFERED), before: None };
    let page: TargetPage = match chat.cx.call(Request::Targets(targets)).await? {
        Reply::Targets(page) => page,
        other => return Err(unexpected(&other)),
    };
    if page.targets.is_empty() {
        chat.dim("there is no turn to go back to")?;
        return Ok(None);
    }
    let look = chat.cx.ui.look();
    let rows: Vec<Row> = page
        .targets
        .iter()
        .map(|target| Row {
            title: format!("t{} {}", target.turn, target.preview),
            detail: format!(
                "{} · {}takes back {}{}",
                words::when(&look, target.time_ms),
                match words::did(target.did) {
                    did if did.is_empty() => did,
                    did => format!("{did} · "),
                },
                words::counts(target.takes_back),
                if target.at_work && ends_run { " · stops the run at work" } else { "" }
            ),
            disabled: target.reason.clone().filter(|_| !(target.at_work && ends_run)),
            key: None,
        })
        .collect();
    let client = chat.cx.client;
    let mut preview = |row: usize| preview(client, &conversation, &page.targets[row]);
    let picked = chat.cx.ui.pick(question, &rows, &mut preview)?;
    Ok(picked.map(|row| page.targets[row].entry.clone()))
}

/// The plan in brief. The picker owns this thread; the client lives on others.
fn preview(client: &dyn Client, conversation: &str, target: &Target) -> String {
    let plan = request::Plan {
        conversation: conversation.to_owned(),
        action: Action::Rewind { entry: target.entry.clone() },
        files: FilesWish::default(),
        diff: false,
    };
    match block_on(client.call(Request::Plan(plan))) {
        Ok(Reply::Plan(plan)) => {
            let mut lines = vec![render::plan::brief(None, &plan)];
            lines.extend(render::effects::brief(&plan.effects, render::effects::Files::of_plan(&plan)));
            lines.extend(plan.conditions.iter().map(|it| format!("! {}", Audience::Chat.condition(it))));
            if let Some(composer) = &plan.composer {
                lines.push(safe::block(&composer.text).into_owned());
            }
            lines.join("\n")
        }
        Ok(_) => String::new(),
        Err(problem) => problem.to_string(),
    }
}

/// What a person says to a plan.
enum Answer {
    No,
    Yes(Scope),
    /// To choose for files first.
    Choose,
}

/// Asks whether to do it; where files go along, also how much.
fn ask(chat: &mut Chat<'_>, plan: &Plan, question: &str) -> Result<Answer> {
    let Some(files) = &plan.files else {
        let yes = chat.cx.ui.confirm(&format!("{question}?"))?;
        return Ok(if yes { Answer::Yes(Scope::Both) } else { Answer::No });
    };
    let waits = (files.conflicts > 0).then(|| "choose for the files in conflict first".to_owned());
    let messages = render::plan::brief(None, &Plan { files: None, ..plan.clone() });
    let file_words = render::files::brief(files);
    let row = |key, title: &str, detail, disabled| Row {
        title: format!("{key}  {title}"),
        detail,
        disabled,
        key: Some(key),
    };
    // What the plan shows comes first: it is what `y` and Enter mean.
    let rows = [
        row('y', "both", format!("{messages}; {file_words}"), waits.clone()),
        row('c', "conversation only", messages, None),
        row('f', "files only", file_words, waits),
        row('s', "choose", "for single files, then ask again".to_owned(), None),
    ];
    let picked = chat.cx.ui.pick(&format!("{question} with"), &rows, &mut |_| String::new())?;
    Ok(match picked {
        None => Answer::No,
        Some(0) => Answer::Yes(Scope::Both),
        Some(1) => Answer::Yes(Scope::Conversation),
        Some(2) => Answer::Yes(Scope::Files),
        Some(_) => Answer::Choose,
    })
}
