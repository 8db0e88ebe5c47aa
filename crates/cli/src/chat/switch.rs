//! From one conversation to another: `/new`, `/list`, `/fork`, and the picker of `retake -r`. Must never make an empty conversation.

use retake_wire::request::{Fork, List};
use retake_wire::{Reply, Request};

use super::{Chat, attend};
use crate::error::{Result, unexpected};
use crate::term::pick::Row;
use retake_tui::render::{id, words};

/// So many conversations are offered.
const OFFERED: usize = 200;

/// Begins anew; the conversation is made when something is said.
pub(super) async fn new(chat: &mut Chat<'_>) -> Result {
    leave(chat);
    chat.dim("a new conversation begins with your next message")
}

fn leave(chat: &mut Chat<'_>) {
    chat.conversation = None;
    chat.seen = None;
    chat.attached.clear();
    chat.editing = None;
}

/// Goes on with the conversation that is picked.
pub(super) async fn list(chat: &mut Chat<'_>) -> Result {
    let Some(picked) = pick(chat).await? else {
        return chat.dim("still here");
    };
    leave(chat);
    // What was chosen elsewhere was chosen for there.
    chat.model.clone_from(&chat.named);
    chat.conversation = Some(picked);
    chat.arrive().await?;
    attend::run_at_work(chat).await
}

/// Lets the person pick a conversation, of any folder.
pub(super) async fn pick(chat: &mut Chat<'_>) -> Result<Option<String>> {
    let list = List { limit: Some(OFFERED), ..List::default() };
    let page = match chat.cx.call(Request::List(list)).await? {
        Reply::Conversations(page) => page.conversations,
        other => return Err(unexpected(&other)),
    };
    if page.is_empty() {
        chat.dim(
            "there is no conversation: `retake` begins one, `retake list --archived` shows those put away",
        )?;
        return Ok(None);
    }
    let look = chat.cx.ui.look();
    let rows: Vec<Row> = page
        .iter()
        .map(|it| {
            let elsewhere = it
                .folder
                .as_deref()
                .filter(|folder| *folder != chat.cx.folder)
                .map(|folder| format!(" · {folder}"))
                .unwrap_or_default();
            let when = words::when(&look, it.changed_ms);
            let messages = words::count(it.counts.messages, "message");
            Row {
                title: match words::named(it) {
                    named if named.is_empty() => id::short(&it.id).to_owned(),
                    named => named,
                },
                detail: format!("{when} · {messages}{elsewhere}"),
                disabled: None,
                key: None,
            }
        })
        .collect();
    let mut preview = |row: usize| page[row].preview.clone();
    let picked = chat.cx.ui.pick("Go on with", &rows, &mut preview)?;
    Ok(picked.map(|row| page[row].id.clone()))
}

/// Goes on in a new conversation that begins like this one.
pub(super) async fn fork(chat: &mut Chat<'_>, title: &str) -> Result {
    let parent = chat.here()?;
    let fork = Fork {
        conversation: parent.clone(),
        entry: None,
        title: (!title.is_empty()).then(|| title.to_owned()),
        request_id: None,
    };
    let receipt = chat.cx.receipt(Request::Fork(fork)).await?;
    chat.conversation = Some(receipt.conversation);
    chat.editing = None;
    chat.refresh().await?;
    let parent = id::short(&parent).to_owned();
    chat.dim(&format!("this is the fork now; retake -r {parent} goes back to the other one"))
}
