//! The other commands that move: undo, redo, restore, branches, alternatives. Must never ask, since each of them can be
//! undone, but where files are in conflict.

use futures::executor::block_on;
use retake_wire::reply::Receipt;
use retake_wire::request::{self, LARGEST_PAGE};
use retake_wire::{Action, FilesWish, Reply, Request, Scope};

use super::{Chat, files};
use crate::error::{Failure, Result, unexpected, usage};
use crate::term::pick::Row;
use crate::term::style::Style;
use crate::verbs::change;
use crate::verbs::restore::to;
use retake_tui::render::{self, words};

/// Takes back the last things.
pub(super) async fn undo(chat: &mut Chat<'_>, words: &str) -> Result {
    let count = number(words)?;
    let done = chat.apply(Action::Undo { count }, None).await?;
    stopped_short(chat, done.as_ref(), "/undo")?;
    if done.is_some() { chat.dim("/redo brings it back") } else { Ok(()) }
}

/// Brings back what was undone.
pub(super) async fn redo(chat: &mut Chat<'_>, words: &str) -> Result {
    let count = number(words)?;
    let done = chat.apply(Action::Redo { count }, None).await?;
    stopped_short(chat, done.as_ref(), "/redo")
}

/// Of several steps, the next one was refused: alone, it can be decided.
fn stopped_short(chat: &mut Chat<'_>, done: Option<&Receipt>, command: &str) -> Result {
    let refused = done.and_then(|done| done.steps.as_ref()).is_some_and(|steps| steps.refusal.is_some());
    if refused {
        chat.dim(&format!("{command} alone takes the next step, and lets you choose"))
    } else {
        Ok(())
    }
}

fn number(words: &str) -> Result<usize> {
    if words.is_empty() {
        return Ok(1);
    }
    words
        .parse()
        .ok()
        .filter(|count| *count > 0)
        .ok_or_else(|| usage(format!("{words:?} is not how many"), "give a number from 1, or nothing for 1"))
}

/// To an earlier head, or to an entry; what is neither is a file.
pub(super) async fn restore(chat: &mut Chat<'_>, words: &str) -> Result {
    if words.is_empty() {
        let hint = "/ops lists the heads, /tree the branches; /restore PATH to NAME puts files back";
        return Err(usage("what to restore is not said", hint));
    }
    if words.contains(char::is_whitespace) || !means_a_state(chat, words).await? {
        return files::restore(chat, words).await;
    }
    match chat.apply(to(words), None).await? {
        Some(_) => chat.dim("/undo takes this back"),
        None => Ok(()),
    }
}

/// Whether a name is a head or an entry.
async fn means_a_state(chat: &mut Chat<'_>, name: &str) -> Result<bool> {
    let there = to(name);
    if matches!(there, Action::Restore { .. }) {
        return Ok(true);
    }
    let wish = FilesWish { scope: Scope::Conversation, ..FilesWish::default() };
    let conversation = chat.here()?;
    match change::plan(&chat.cx, conversation, there, wish).await {
        Err(Failure::Problem(problem)) if problem.code == "unknown_entry" => Ok(false),
        Err(failure) => Err(failure),
        Ok(_) => Ok(true),
    }
}

/// Shows the branches, and switches to the one that is picked.
pub(super) async fn tree(chat: &mut Chat<'_>) -> Result {
    let tree = crate::verbs::tree::whole(&chat.cx, &chat.here()?).await?;
    let look = chat.cx.ui.look();
    let text = render::tree::tree(&look, &tree);
    chat.cx.ui.page(&text)?;
    let others: Vec<_> = tree.branches.iter().filter(|it| !it.current).collect();
    if others.is_empty() {
        return Ok(());
    }
    let rows: Vec<Row> = others
        .iter()
        .rev()
        .map(|branch| Row {
            title: branch.called.as_ref().unwrap_or(&branch.last).preview.clone(),
            detail: render::tree::about(&look, branch),
            disabled: None,
            key: None,
        })
        .collect();
    let client = chat.cx.client;
    let conversation = chat.here()?;
    let mut preview = |row: usize| {
        let action = checkout(&others[others.len() - 1 - row].leaf);
        let plan = request::Plan {
            conversation: conversation.clone(),
            action,
            files: FilesWish::default(),
            diff: false,
        };
        match block_on(client.call(Request::Plan(plan))) {
            Ok(Reply::Plan(plan)) => render::plan::brief(None, &plan),
            Ok(_) => String::new(),
            Err(problem) => problem.to_string(),
        }
    };
    let picked = chat.cx.ui.pick("Switch to", &rows, &mut preview)?;
    let Some(row) = picked else {
        return Ok(());
    };
    let action = checkout(&others[others.len() - 1 - row].leaf);
    if chat.apply(action, Some(tree.head)).await?.is_none() {
        return Ok(());
    }
    chat.arrive().await?;
    chat.dim("/undo switches back")
}

fn checkout(leaf: &str) -> Action {
    Action::Checkout { entry: Some(leaf.to_owned()) }
}

/// Chooses between the alternatives of an answer.
pub(super) async fn choose(chat: &mut Chat<'_>, words: &str) -> Result {
    let entry = if words.is_empty() { "@" } else { words };
    let of = request::Alternatives {
        conversation: chat.here()?,
        entry: entry.to_owned(),
        limit: Some(LARGEST_PAGE),
        after: None,
    };
    let all = match chat.cx.call(Request::Alternatives(of)).await? {
        Reply::Alternatives(all) => all,
        other => return Err(unexpected(&other)),
    };
    if all.alternatives.len() < 2 {
        return chat.dim("there is no other answer: /retry asks for one");
    }
    let look = chat.cx.ui.look();
    let rows: Vec<Row> = all
        .alternatives
        .iter()
        .map(|it| Row {
            title: format!("{} {}", it.number, it.line.preview),
            detail: words::when(&look, it.line.time_ms),
            disabled: it.current.then(|| "this one is shown now".to_owned()),
            key: None,
        })
        .collect();
    let picked = chat.cx.ui.pick("Choose an answer", &rows, &mut |_| String::new())?;
    let Some(row) = picked else {
        return chat.dim("nothing has changed");
    };
    let chosen = &all.alternatives[row];
    let action = Action::Choose { entry: chosen.line.id.clone(), number: chosen.number };
    if chat.apply(action, Some(all.head)).await?.is_none() {
        return Ok(());
    }
    let note = look.palette.paint(Style::Dim, "/undo chooses the other one again");
    chat.arrive().await?;
    chat.print(&format!("{note}\n"))
}
