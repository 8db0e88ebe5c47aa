//! `/rewind`: pick a message, see what going back takes back, agree, and edit the old words. Must never apply another plan than the
//! one that was shown.

use futures::executor::block_on;
use retake_wire::reply::{Target, TargetPage};
use retake_wire::request::{Plan, Targets};
use retake_wire::{Action, Client, FilesWish, ProblemKind, Reply, Request, Scope};

use super::Chat;
use crate::error::{Failure, Result, unexpected};
use crate::render::{self, words};
use crate::term::pick::Row;
use crate::term::safe;
use crate::verbs::change;

/// So many turns are offered; older ones are named by tN.
const OFFERED: usize = 200;

/// Goes back to before a message.
pub(super) async fn rewind(chat: &mut Chat<'_>, named: &str) -> Result {
    let conversation = chat.here()?;
    loop {
        let entry = if named.is_empty() {
            match pick(chat, "Go back to before").await? {
                Some(entry) => entry,
                None => return chat.dim("nothing has changed"),
            }
        } else {
            named.to_owned()
        };
        let action = Action::Rewind { entry };
        let plan = change::plan(&chat.cx, conversation.clone(), action.clone(), FilesWish::default()).await?;
        let text = render::plan::body(&chat.cx.ui.look(), &plan);
        chat.print(&text)?;
        if plan.unchanged {
            return Ok(());
        }
        let Some(files) = agree(chat, &plan)? else {
            return chat.dim("nothing has changed");
        };
        match chat.apply_with(action, Some(plan.head), files).await {
            Ok(_) => return chat.dim("/undo takes this back"),
            Err(Failure::Problem(problem)) if problem.kind == ProblemKind::Stale => {
                chat.dim("the conversation has changed meanwhile; this is how it is now")?;
            }
            Err(failure) => return Err(failure),
        }
    }
}

/// Lets the person pick a turn; what going back to it takes back is shown for the marked one.
pub(super) async fn pick(chat: &mut Chat<'_>, question: &str) -> Result<Option<String>> {
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
                "{} · takes back {}",
                words::when(&look, target.time_ms),
                words::counts(target.takes_back)
            ),
            disabled: target.reason.clone(),
        })
        .collect();
    let client = chat.cx.client;
    let mut preview = |row: usize| preview(client, &conversation, &page.targets[row]);
    let picked = chat.cx.ui.pick(question, &rows, &mut preview)?;
    Ok(picked.map(|row| page.targets[row].entry.clone()))
}

/// The plan in brief. The picker owns this thread; the client lives on others.
fn preview(client: &dyn Client, conversation: &str, target: &Target) -> String {
    let plan = Plan {
        conversation: conversation.to_owned(),
        action: Action::Rewind { entry: target.entry.clone() },
        files: FilesWish::default(),
        diff: false,
    };
    match block_on(client.call(Request::Plan(plan))) {
        Ok(Reply::Plan(plan)) => {
            let mut lines = vec![render::plan::brief(&plan)];
            lines.extend(plan.stays.iter().map(|stays| format!("! {stays}")));
            if let Some(composer) = &plan.composer {
                lines.push(safe::block(&composer.text).into_owned());
            }
            lines.join("\n")
        }
        Ok(_) => String::new(),
        Err(problem) => problem.to_string(),
    }
}

/// Asks whether to go back; where files go along, also how much. Nothing: not at all.
fn agree(chat: &mut Chat<'_>, plan: &retake_wire::reply::Plan) -> Result<Option<FilesWish>> {
    // What was shown to be ended is ended.
    let stop = !plan.running.is_empty();
    let Some(files) = &plan.files else {
        return Ok(chat.cx.ui.confirm("Go back?")?.then(|| FilesWish { stop, ..FilesWish::default() }));
    };
    let waits =
        (files.conflicts > 0).then(|| "retake rewind --choose settles what is in conflict".to_owned());
    let messages = render::plan::brief(&retake_wire::reply::Plan { files: None, ..plan.clone() });
    let file_words = render::files::brief(files);
    let scopes = [
        (Scope::Both, "both", format!("{messages}; {file_words}"), waits.clone()),
        (Scope::Conversation, "conversation only", messages, None),
        (Scope::Files, "files only", file_words, waits),
    ];
    let rows: Vec<Row> = scopes
        .iter()
        .map(|(_, title, detail, disabled)| Row {
            title: (*title).to_owned(),
            detail: detail.clone(),
            disabled: disabled.clone(),
        })
        .collect();
    let picked = chat.cx.ui.pick("Go back with", &rows, &mut |_| String::new())?;
    Ok(picked.map(|row| {
        let scope = scopes[row].0;
        // What was shown is what is done.
        let seen = (scope != Scope::Conversation).then(|| files.digest.clone());
        FilesWish { scope, seen, stop, ..FilesWish::default() }
    }))
}
