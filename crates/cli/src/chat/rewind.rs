//! `/rewind`: pick a message, see what going back takes back, agree, and edit the old words. Must never apply another plan than the
//! one that was shown.

use futures::executor::block_on;
use retake_wire::reply::{Target, TargetPage};
use retake_wire::request::{Plan, Targets};
use retake_wire::{Action, Client, ProblemKind, Reply, Request};

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
        let plan = change::plan(&chat.cx, conversation.clone(), action.clone()).await?;
        let text = render::plan::body(&chat.cx.ui.look(), &plan);
        chat.print(&text)?;
        if plan.unchanged {
            return Ok(());
        }
        if !chat.cx.ui.confirm("Go back?")? {
            return chat.dim("nothing has changed");
        }
        match chat.apply(action, Some(plan.head)).await {
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
