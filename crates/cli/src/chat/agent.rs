//! Commands for the agent at work: its todo list, jobs, tools, permissions, cost. Must never decide what a rule means: the owner
//! parses it.

use retake_wire::request::{ContextQuery, ConversationTarget, JobOutput, JobTarget, Jobs, SetPermissions};
use retake_wire::{Permit, Request};

use super::{Chat, pickers};
use crate::args;
use crate::error::{Result, expect_reply, usage};
use crate::owner::Setting;
use crate::term::safe;

/// Shows the reply to a request about this conversation.
pub(super) async fn show(chat: &mut Chat<'_>, request: fn(ConversationTarget) -> Request) -> Result {
    let of = ConversationTarget { conversation: chat.cx.here()? };
    chat.cx.show(request(of)).await
}

/// Shows how much of the model's context is used.
pub(super) async fn context(chat: &mut Chat<'_>) -> Result {
    let (conversation, model) = (chat.cx.here()?, chat.model.clone());
    chat.cx.show(Request::Context(ContextQuery { conversation, model, parts: Vec::new() })).await
}

/// Background jobs: a list, or `output ID`, or `stop ID`.
pub(super) async fn jobs(chat: &mut Chat<'_>, words: &str) -> Result {
    let conversation = chat.cx.here()?;
    let request = match split(words) {
        ("", _) => Request::Jobs(Jobs { conversation, limit: None, before: None }),
        ("output", job) if !job.is_empty() => {
            Request::JobOutput(JobOutput { conversation, job: job.to_owned(), from: None })
        }
        ("stop", job) if !job.is_empty() => Request::JobStop(JobTarget { conversation, job: job.to_owned() }),
        _ => {
            let hint = "type /jobs, /jobs output ID or /jobs stop ID";
            return Err(usage(format!("/jobs has no command {words:?}"), hint));
        }
    };
    chat.cx.show(request).await
}

/// Takes back messages that wait for the model; they return to the line.
pub(super) async fn unqueue(chat: &mut Chat<'_>) -> Result {
    let of = ConversationTarget { conversation: chat.cx.here()? };
    let waiting = expect_reply!(chat.cx.call(Request::Unqueue(of)).await?, Waiting).words;
    if waiting.is_empty() {
        return chat.cx.aside("no message waits");
    }
    chat.take_back(waiting.into_iter().flat_map(|words| words.parts).collect());
    chat.cx.aside("your words are back in the line")
}

/// How to change permissions.
const PERMISSIONS: &str = "type /permissions, /permissions mode plan, /permissions allow shell(git push), /permissions deny \
                           write(/etc/**) or /permissions forget 2";

/// The permissions of this conversation: shown, or changed. Before its first message they can only be widened, and are sent with
/// that message.
pub(super) async fn permissions(chat: &mut Chat<'_>, words: &str) -> Result {
    let (verb, rest) = split(words);
    let mode = match (verb, rest) {
        ("mode", "") => match pickers::mode(chat)? {
            Some(mode) => Some(mode),
            None => return Ok(()),
        },
        ("mode", name) => Some(args::mode(name).map_err(|why| usage(why, "type /permissions mode plan"))?),
        _ => None,
    };
    let Some(conversation) = chat.conversation().cloned() else {
        match (mode, verb, rest) {
            (None, "", _) => return before_first_message(chat),
            (Some(mode), ..) => chat.permit.mode = Some(mode),
            (None, "allow", rule) if !rule.is_empty() => chat.permit.allow.push(rule.to_owned()),
            _ => return chat.cx.here().map(drop),
        }
        return chat.cx.aside("this holds from your first message on");
    };
    let mut set = SetPermissions { conversation, mode, ..SetPermissions::default() };
    match (verb, rest) {
        ("", _) => return show(chat, Request::Permissions).await,
        ("mode", _) => {}
        ("allow" | "ask" | "deny", rule) if !rule.is_empty() => set.add.push(format!("{verb} {rule}")),
        ("forget", number) => {
            let of = ConversationTarget { conversation: set.conversation.clone() };
            let rules = expect_reply!(chat.cx.call(Request::Permissions(of)).await?, Permissions).rules;
            let at = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
            let none = || usage(format!("there is no rule {number:?}"), "/permissions shows the numbers");
            set.remove.push(at.and_then(|at| rules.get(at)).ok_or_else(none)?.rule.clone());
        }
        _ => return Err(usage(format!("/permissions has no command {words:?}"), PERMISSIONS)),
    }
    chat.cx.show(Request::SetPermissions(set)).await
}

/// The settings of permissions, which hold before a conversation has its own.
const SETTINGS: [&str; 4] = ["permissions.mode", "permissions.allow", "permissions.ask", "permissions.deny"];

/// What holds before there is a conversation: the settings, and what was set for the first message.
fn before_first_message(chat: &mut Chat<'_>) -> Result {
    chat.cx.aside("this conversation has no message yet; these settings hold for every conversation:")?;
    for key in SETTINGS {
        let value = chat.cx.owner.settings(chat.cx.paths, &Setting::Get(key.to_owned()))?;
        chat.cx.print(&format!("{key} = {}\n", safe::line(&value)))?;
    }
    let mode = chat.permit.mode.map(|mode| format!("mode {}", mode.name()));
    let rules = chat.permit.allow.iter().map(|rule| format!("allow {}", safe::line(rule)));
    let own: Vec<String> = mode.into_iter().chain(rules).collect();
    if own.is_empty() {
        return Ok(());
    }
    chat.cx.print(&format!("from your first message on: {}\n", own.join(", ")))
}

/// Stores the permissions that were set before there was a conversation.
pub(super) async fn store_permissions(chat: &mut Chat<'_>) -> Result {
    let Permit { mode, allow } = std::mem::take(&mut chat.permit);
    if mode.is_none() && allow.is_empty() {
        return Ok(());
    }
    let add = allow.iter().map(|rule| format!("allow {rule}")).collect();
    let set = SetPermissions { conversation: chat.cx.here()?, mode, add, remove: Vec::new() };
    chat.cx.call(Request::SetPermissions(set)).await.map(drop)
}

fn split(words: &str) -> (&str, &str) {
    let (verb, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
    (verb, rest.trim())
}
