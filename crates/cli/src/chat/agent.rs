//! Commands about the agent at work: its list, its jobs, its tools, what it may do, what it costs. Must never decide what a rule
//! means: the owner reads it.

use retake_wire::reply::{Permissions, Waiting};
use retake_wire::request::{JobOutput, Jobs, Of, OfJob, SetPermissions};
use retake_wire::{McpOf, Mode, Permit, Reply, Request};

use super::Chat;
use crate::args;
use crate::error::{Result, unexpected, usage};
use crate::term::pick::Row;
use retake_tui::render;

/// What the agent wants to do, as it said.
pub(super) async fn todo(chat: &mut Chat<'_>) -> Result {
    let of = of(chat)?;
    chat.cx.show(Request::Todo(of)).await
}

/// Background jobs: a list, or `output ID`, or `stop ID`.
pub(super) async fn jobs(chat: &mut Chat<'_>, words: &str) -> Result {
    let (verb, job) = split(words);
    let conversation = chat.here()?;
    let job = job.to_owned();
    let request = match verb {
        "" => Request::Jobs(Jobs { conversation, limit: None, before: None }),
        "output" if !job.is_empty() => Request::JobOutput(JobOutput { conversation, job, from: None }),
        "stop" if !job.is_empty() => Request::JobStop(OfJob { conversation, job }),
        _ => {
            return Err(usage(
                format!("{words:?} is no such thing to do with jobs"),
                "/jobs, /jobs output ID, /jobs stop ID",
            ));
        }
    };
    chat.cx.show(request).await
}

/// What the model can do.
pub(super) async fn tools(chat: &mut Chat<'_>) -> Result {
    let of = of(chat)?;
    chat.cx.show(Request::Tools(of)).await
}

/// The MCP servers of the folder that the program runs in.
pub(super) async fn mcp(chat: &mut Chat<'_>) -> Result {
    let of = McpOf { folder: chat.cx.folder.to_owned(), server: None };
    chat.cx.show(Request::McpList(of)).await
}

/// What the model calls used.
pub(super) async fn cost(chat: &mut Chat<'_>) -> Result {
    let of = of(chat)?;
    chat.cx.show(Request::Cost(of)).await
}

/// Takes back words that wait; they return to the line.
pub(super) async fn unqueue(chat: &mut Chat<'_>) -> Result {
    let of = of(chat)?;
    let waiting: Waiting = match chat.cx.call(Request::Unqueue(of)).await? {
        Reply::Waiting(waiting) => waiting,
        other => return Err(unexpected(&other)),
    };
    if waiting.words.is_empty() {
        return chat.dim("nothing waits");
    }
    chat.take_back(waiting.words.into_iter().flat_map(|words| words.parts).collect());
    chat.dim("your words are back in the line")
}

/// How to change permissions.
const PERMISSIONS: &str = "/permissions, /permissions mode plan, /permissions allow shell(git push), /permissions deny \
                           write(/etc/**), /permissions forget 2";

/// What the model may do: shown, or changed for this conversation.
pub(super) async fn permissions(chat: &mut Chat<'_>, words: &str) -> Result {
    let (verb, rest) = split(words);
    if chat.conversation.is_none() {
        return before_it_begins(chat, verb, rest);
    }
    let mut set = SetPermissions { conversation: chat.here()?, ..SetPermissions::default() };
    match (verb, rest) {
        ("", _) => {
            let of = of(chat)?;
            return chat.cx.show(Request::Permissions(of)).await;
        }
        ("mode", "") => match pick(chat)? {
            Some(mode) => set.mode = Some(mode),
            None => return chat.dim("nothing has changed"),
        },
        ("mode", name) => set.mode = Some(mode(name)?),
        ("allow" | "ask" | "deny", rule) if !rule.is_empty() => set.add.push(format!("{verb} {rule}")),
        ("forget", number) => {
            let all = shown(chat).await?;
            let at = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            let settled = at.and_then(|at| all.rules.get(at));
            let none = || usage(format!("{number:?} is not the number of a rule"), "/permissions shows them");
            set.remove.push(settled.ok_or_else(none)?.rule.clone());
        }
        _ => return Err(usage(format!("{words:?} is no such thing to do with permissions"), PERMISSIONS)),
    }
    chat.cx.show(Request::SetPermissions(set)).await
}

/// Nothing has been said yet: what is settled now goes with what is said first.
fn before_it_begins(chat: &mut Chat<'_>, verb: &str, rest: &str) -> Result {
    match (verb, rest) {
        ("mode", "") => match pick(chat)? {
            Some(mode) => chat.permit.mode = Some(mode),
            None => return chat.dim("nothing has changed"),
        },
        ("mode", name) => chat.permit.mode = Some(mode(name)?),
        ("allow", rule) if !rule.is_empty() => chat.permit.allow.push(rule.to_owned()),
        _ => return chat.here().map(drop),
    }
    chat.dim("this holds from your first message on")
}

/// Keeps what was settled before there was a conversation.
pub(super) async fn keep(chat: &mut Chat<'_>) -> Result {
    let Permit { mode, allow } = std::mem::take(&mut chat.permit);
    if mode.is_none() && allow.is_empty() {
        return Ok(());
    }
    let add = allow.iter().map(|rule| format!("allow {rule}")).collect();
    let set = SetPermissions { conversation: chat.here()?, mode, add, remove: Vec::new() };
    chat.cx.call(Request::SetPermissions(set)).await.map(drop)
}

async fn shown(chat: &mut Chat<'_>) -> Result<Permissions> {
    let of = of(chat)?;
    match chat.cx.call(Request::Permissions(of)).await? {
        Reply::Permissions(permissions) => Ok(permissions),
        other => Err(unexpected(&other)),
    }
}

fn mode(name: &str) -> Result<Mode> {
    args::mode(name).map_err(|why| usage(why, "/permissions mode plan"))
}

fn pick(chat: &mut Chat<'_>) -> Result<Option<Mode>> {
    let row = |mode: Mode| Row {
        title: mode.name().to_owned(),
        detail: render::agent::mode(mode).to_owned(),
        disabled: None,
        key: None,
    };
    let picked = chat.cx.ui.pick("The model", &Mode::ALL.map(row), &mut |_| String::new())?;
    Ok(picked.and_then(|row| Mode::ALL.get(row)).copied())
}

fn of(chat: &Chat<'_>) -> Result<Of> {
    Ok(Of { conversation: chat.here()? })
}

fn split(words: &str) -> (&str, &str) {
    let (verb, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
    (verb, rest.trim())
}
