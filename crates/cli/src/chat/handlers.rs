//! The commands of the line conversation as verbs of the command line: how their words become arguments, and which lists complete them.
//! Must never send a request that changes a conversation; the verbs do.

use retake_wire::{Action, FilesWish, ProblemKind, Scope};

use super::{Chat, active_run, pickers};
use crate::error::{Failure, Result, usage};
use crate::term::safe;
use crate::verbs::restore::to;
use crate::verbs::{agreement, change};
use retake_tui::models::{Known, known};

/// Runs a verb of the command line.
pub(super) async fn verb(chat: &mut Chat<'_>, arguments: Vec<String>) -> Result {
    chat.verb(arguments).await.map(drop)
}

/// Runs a verb; if it changed something, prints what to do next.
pub(super) async fn then(chat: &mut Chat<'_>, arguments: Vec<String>, next: &str) -> Result {
    if chat.verb(arguments).await? { chat.cx.aside(next) } else { Ok(()) }
}

/// The arguments of a verb, separated by spaces.
pub(super) fn line(verb: &str, words: &str) -> Vec<String> {
    verb.split(' ').chain(words.split_whitespace()).map(str::to_owned).collect()
}

/// A verb with options, and words that are one argument; none where they are empty.
pub(super) fn named(verb: &[&str], words: &str) -> Vec<String> {
    let words = ["--", words].into_iter().filter(|_| !words.is_empty());
    verb.iter().copied().chain(words).map(str::to_owned).collect()
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

/// The arguments of `/log`.
pub(super) fn log(words: &str) -> Vec<String> {
    line("log --limit", if words.is_empty() { "20" } else { words })
}

/// The arguments of `/diff`.
pub(super) fn diff(words: &str) -> Vec<String> {
    line("plan rewind --scope files --diff", if words.is_empty() { "t1" } else { words })
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
    verb(chat, arguments).await
}

/// Writes the conversation to a file.
pub(super) async fn export(chat: &mut Chat<'_>, words: &str) -> Result {
    if words.is_empty() {
        return Err(usage("/export needs the name of a file", "type for example /export notes.md"));
    }
    chat.here()?;
    verb(chat, vec!["export".to_owned(), format!("--output={words}")]).await
}

/// Rewinds to before a message: that one, or one that the person picks.
pub(super) async fn rewind(chat: &mut Chat<'_>, words: &str) -> Result {
    chat.here()?;
    loop {
        let arguments = match words.is_empty() {
            true => match pickers::turn(chat, "Go back to before", true).await? {
                Some(entry) => named(&["rewind"], &entry),
                None => return Ok(()),
            },
            false => line("rewind", words),
        };
        match chat.verb(arguments).await {
            Err(Failure::Problem(problem)) if problem.kind == ProblemKind::Stale => {
                chat.cx.aside(agreement::CHANGED)?;
            }
            done => return done.map(drop),
        }
    }
}

/// Switches to the branch that the person picks.
pub(super) async fn tree(chat: &mut Chat<'_>) -> Result {
    let Some([head, leaf]) = pickers::branch(chat).await? else { return Ok(()) };
    if chat.verb(named(&["restore", "--head", &head], &leaf)).await? {
        chat.arrive().await?;
        chat.cx.aside("/undo switches back")?;
    }
    Ok(())
}

/// Switches to the answer that the person picks.
pub(super) async fn choose(chat: &mut Chat<'_>, words: &str) -> Result {
    let entry = if words.is_empty() { "@" } else { words };
    let Some([head, entry, number]) = pickers::alternative(chat, entry).await? else { return Ok(()) };
    if chat.verb(line("choose --head", &format!("{head} {entry} {number}"))).await? {
        chat.arrive().await?;
        chat.cx.aside("/undo chooses the other one again")?;
    }
    Ok(())
}

/// Continues in a fork.
pub(super) async fn fork(chat: &mut Chat<'_>, title: &str) -> Result {
    let title = Some(format!("--title={title}")).filter(|_| !title.is_empty());
    verb(chat, line("fork", "").into_iter().chain(title).collect()).await?;
    chat.editing = None;
    chat.refresh().await
}

/// Returns to a head or an entry; any other name is a file.
pub(super) async fn restore(chat: &mut Chat<'_>, words: &str) -> Result {
    if words.is_empty() {
        let hint = "/ops lists the heads, /tree the branches; /restore PATH to NAME puts files back";
        return Err(usage("/restore needs a head, a branch or a file", hint));
    }
    if !words.contains(char::is_whitespace) && is_state(chat, words).await? {
        return then(chat, named(&["restore"], words), "/undo takes this back").await;
    }
    let (paths, to) = words.split_once(" to ").map_or((words, None), |(paths, to)| (paths, Some(to.trim())));
    let mut arguments = line("files restore", "");
    arguments.extend(to.map(|to| format!("--to={to}")));
    arguments.push("--".to_owned());
    arguments.extend(paths.split_whitespace().map(str::to_owned));
    verb(chat, arguments).await
}

/// Whether a name is a head or an entry.
async fn is_state(chat: &mut Chat<'_>, name: &str) -> Result<bool> {
    let action = to(name);
    if matches!(action, Action::Restore { .. }) {
        return Ok(true);
    }
    let files = FilesWish { scope: Scope::Conversation, ..FilesWish::default() };
    match change::plan(&chat.cx, chat.here()?, action, files).await {
        Err(Failure::Problem(problem)) if problem.code == "unknown_entry" => Ok(false),
        planned => planned.map(|_| true),
    }
}

/// Hides a message.
pub(super) async fn hide(chat: &mut Chat<'_>, words: &str) -> Result {
    mark(chat, "hide", words, "Hide", |_| true).await
}

/// Excludes a message.
pub(super) async fn exclude(chat: &mut Chat<'_>, words: &str) -> Result {
    mark(chat, "exclude", words, "Keep from the model", |mark| mark == "normal").await
}

/// Marks a message: that one, or one that the person picks.
async fn mark(
    chat: &mut Chat<'_>,
    name: &str,
    words: &str,
    question: &str,
    fits: fn(&str) -> bool,
) -> Result {
    chat.here()?;
    if !words.is_empty() {
        return verb(chat, line(name, words)).await;
    }
    match pickers::message(chat, question, fits).await? {
        Some(entry) => verb(chat, named(&[name], &entry)).await,
        None => Ok(()),
    }
}

/// Brings back messages: those, or the ones that the person picks.
pub(super) async fn bring_back(chat: &mut Chat<'_>, name: &str, words: &str) -> Result {
    if !words.is_empty() {
        return verb(chat, line(name, words)).await;
    }
    let picked = match name {
        "show" => pickers::marked(chat, "Bring back", |mark| mark != "excluded").await?,
        _ => pickers::marked(chat, "Let the model see", |mark| mark == "excluded").await?,
    };
    let Some([mark, first, last]) = picked else { return Ok(()) };
    verb(chat, line(name, &format!("--range --seen {mark} -- {first} {last}"))).await
}

/// Lists marked messages.
pub(super) async fn hidden(chat: &mut Chat<'_>) -> Result {
    verb(chat, line("hidden --limit 100", "")).await?;
    chat.cx.aside("/show tN brings back the hidden messages of turn N, /include tN the excluded ones")
}

/// Begins a new conversation; its first message stores it.
pub(super) async fn new(chat: &mut Chat<'_>) -> Result {
    chat.move_to(None);
    chat.cx.aside("a new conversation begins with your next message")
}

/// Continues with the conversation that the person picks.
pub(super) async fn list(chat: &mut Chat<'_>) -> Result {
    let Some(picked) = pickers::conversation(chat).await? else {
        return chat.cx.aside("this conversation continues");
    };
    chat.move_to(Some(picked));
    // A model that was chosen in the other conversation was chosen for that one.
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
        Known::Listed => format!("model {shown}"),
        Known::Unlisted(what) => format!("model {shown}; {what}"),
        Known::Unusable(why) => format!("model {shown}, but: {why}"),
        Known::Nowhere(hint) => {
            return Err(usage(format!("there is no model “{shown}”: {hint}"), "/model lists them"));
        }
    };
    chat.cx.aside(&line)?;
    chat.model = Some(name);
    Ok(())
}
