//! The commands of the line client as verbs of the command line: how their text becomes arguments, and which lists complete them.
//! Must never send a request that changes a conversation; the verbs do.

use futures::FutureExt as _;
use retake_wire::{Action, FileOptions, ProblemKind, Scope};

use super::commands::Handler;
use super::pickers::{self, PickedArguments};
use super::{Chat, active_run};
use crate::error::{Failure, Result, usage};
use crate::term::safe;
use crate::verbs::restore::to;
use crate::verbs::{agreement, change};
use retake_tui::models::{ModelAvailability, known};

/// The arguments of a verb, separated by spaces.
pub(super) fn line(verb: &str, words: &str) -> Vec<String> {
    verb.split(' ').chain(words.split_whitespace()).map(str::to_owned).collect()
}

/// A verb with options, and text as one argument; no argument if it is empty.
pub(super) fn named(verb: &[&str], words: &str) -> Vec<String> {
    let words = ["--", words].into_iter().filter(|_| !words.is_empty());
    verb.iter().copied().chain(words).map(str::to_owned).collect()
}

/// A verb with text as the value of an option; without the option if it is empty.
pub(super) fn option(verb: &str, option: &str, words: &str) -> Vec<String> {
    let option = Some(format!("{option}={words}")).filter(|_| !words.is_empty());
    line(verb, "").into_iter().chain(option).collect()
}

/// The text, or the default if it is empty.
pub(super) fn or_default_words<'w>(words: &'w str, default: &'w str) -> &'w str {
    if words.is_empty() { default } else { words }
}

/// The arguments of `/label`.
pub(super) fn label(words: &str) -> Vec<String> {
    let (entry, name) = words.split_once(char::is_whitespace).unwrap_or(("@", words));
    match name.trim() {
        "" => line("label", ""),
        "--remove" => line("label --remove", entry),
        name => ["label", "--", entry, name].map(str::to_owned).into(),
    }
}

/// The arguments of `/title`.
pub(super) fn title(words: &str) -> Vec<String> {
    if words == "--remove" { line("title", words) } else { named(&["title"], words) }
}

/// The arguments of `/memory`. Words that are no change look facts up.
pub(super) fn memory(words: &str) -> Vec<String> {
    let (verb, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
    match (verb, rest.trim().split_once(char::is_whitespace)) {
        ("", _) => line("memory list", ""),
        ("add", _) => named(&["memory", "add"], rest.trim()),
        ("edit", Some((fact, text))) => ["memory", "edit", "--", fact, text.trim()].map(str::to_owned).into(),
        ("edit" | "forget", _) => line("memory", words),
        _ => named(&["memory", "search"], words),
    }
}

/// Runs a verb with the text, or without text with the arguments that the person picks.
pub(super) async fn pick(
    chat: &mut Chat<'_>,
    verb: &str,
    words: &str,
    from: Handler<PickedArguments>,
) -> Result {
    chat.cx.here()?;
    if words.is_empty() { picked(chat, verb, words, from).await } else { chat.verb(line(verb, words)).await }
}

/// Runs a verb with the arguments that the person picks.
pub(super) async fn picked(
    chat: &mut Chat<'_>,
    verb: &str,
    words: &str,
    from: Handler<PickedArguments>,
) -> Result {
    match from(chat, words).await? {
        Some(picked) => chat.verb(line(verb, "").into_iter().chain(picked).collect()).await,
        None => Ok(()),
    }
}

/// Rewinds to before a message, again if its plan has changed meanwhile.
pub(super) async fn rewind(chat: &mut Chat<'_>, words: &str) -> Result {
    let turns: Handler<PickedArguments> =
        |chat, _| pickers::turn(chat, "Go back to before", true).boxed_local();
    loop {
        match pick(chat, "rewind", words, turns).await {
            Err(Failure::Problem(problem)) if problem.kind == ProblemKind::Stale => {
                chat.cx.aside(agreement::CHANGED)?;
            }
            done => return done,
        }
    }
}

/// Searches this conversation, or all of them.
pub(super) async fn search(chat: &mut Chat<'_>, words: &str) -> Result {
    let mut arguments = line("search", "");
    let (mut is_everywhere, mut query) = (chat.conversation().is_none(), words);
    loop {
        let (word, rest) = query.split_once(char::is_whitespace).unwrap_or((query, ""));
        match word {
            "--all" => is_everywhere = true,
            "--hidden" | "--rewound" => arguments.push(format!("--include={}", &word[2..])),
            _ => break,
        }
        query = rest.trim_start();
    }
    if let Some(conversation) = chat.conversation().filter(|_| !is_everywhere) {
        arguments.push(format!("--conversation={conversation}"));
    }
    arguments.extend(named(&[], query));
    chat.verb(arguments).await
}

/// Writes the conversation to a file.
pub(super) async fn export(chat: &mut Chat<'_>, words: &str) -> Result {
    if words.is_empty() {
        return Err(usage("/export needs the name of a file", "type for example /export notes.md"));
    }
    chat.verb(option("export", "--output", words)).await
}

/// Restores a head or an entry; any other name is a file.
pub(super) async fn restore(chat: &mut Chat<'_>, words: &str) -> Result {
    if words.is_empty() {
        let hint = "/ops lists the heads, /tree the branches; /restore PATH to NAME puts files back";
        return Err(usage("/restore needs a head, a branch or a file", hint));
    }
    if !words.contains(char::is_whitespace) && is_state(chat, words).await? {
        return chat.verb(named(&["restore"], words)).await;
    }
    let (paths, to) = words.split_once(" to ").map_or((words, None), |(paths, to)| (paths, Some(to.trim())));
    let arguments = option("files restore", "--to", to.unwrap_or_default()).into_iter();
    chat.verb(arguments.chain(line("--", paths)).collect()).await
}

/// Whether a name is a head or an entry.
async fn is_state(chat: &mut Chat<'_>, name: &str) -> Result<bool> {
    let action = to(name);
    if matches!(action, Action::Restore { .. }) {
        return Ok(true);
    }
    let files = FileOptions { scope: Scope::Conversation, ..FileOptions::default() };
    match change::plan(&chat.cx, &chat.cx.here()?, &action, &files, false).await {
        Err(Failure::Problem(problem)) if problem.code == "unknown_entry" => Ok(false),
        planned => planned.map(|_| true),
    }
}

/// Begins a new conversation; its first message stores it.
pub(super) async fn new(chat: &mut Chat<'_>) -> Result {
    chat.move_to(None);
    chat.cx.aside("a new conversation begins with your next message")
}

/// Continues with the conversation that the person picks.
pub(super) async fn list(chat: &mut Chat<'_>) -> Result {
    let Some(picked) = pickers::conversation(chat).await? else { return Ok(()) };
    enter(chat, picked).await
}

/// Continues the last conversation of the folder.
pub(super) async fn go_on(chat: &mut Chat<'_>) -> Result {
    if chat.conversation().is_some() {
        return Err(usage("this already is a conversation", "/list opens others, /new begins one"));
    }
    match chat.cx.last().await? {
        Some(last) => enter(chat, last.id).await,
        None => Err(usage("there is no earlier conversation in this folder", "/list opens others")),
    }
}

async fn enter(chat: &mut Chat<'_>, conversation: String) -> Result {
    chat.move_to(Some(conversation));
    // A model chosen in the other conversation applies only there.
    chat.model.clone_from(&chat.named);
    chat.arrive().await?;
    active_run::follow(chat).await
}

/// Chooses the model.
pub(super) async fn model(chat: &mut Chat<'_>, name: &str) -> Result {
    let models = chat.models().await?;
    let name = match name {
        "" => pickers::model(chat, &models)?,
        name => Some(name.to_owned()),
    };
    let Some(name) = name else { return Ok(()) };
    let shown = safe::line(&name);
    let line = match known(&models, &name) {
        ModelAvailability::Listed => format!("model {shown}"),
        ModelAvailability::Unlisted(what) => format!("model {shown}; {what}"),
        ModelAvailability::Unusable(why) => format!("model {shown}, but: {why}"),
        ModelAvailability::Nowhere(hint) => {
            return Err(usage(format!("there is no model “{shown}”: {hint}"), "/model lists them"));
        }
    };
    chat.cx.aside(&line)?;
    chat.model = Some(name);
    Ok(())
}
