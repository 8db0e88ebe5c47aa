//! Commands about single messages: hide, show, exclude, include, label; and the title. Must never list what is hidden.

use retake_wire::request::{Log, Projection};
use retake_wire::{Action, MarkVerb, Part, Reply, Request};

use super::Chat;
use crate::error::{Result, unexpected, usage};
use crate::term::pick::Row;
use retake_tui::render::{id, words};

/// So many messages are offered.
const OFFERED: usize = 100;

/// Hides a message.
pub(super) async fn hide(chat: &mut Chat<'_>, named: &str) -> Result {
    let Some(entry) = entry(chat, named, "Hide", |_| true).await? else {
        return chat.dim("nothing has changed");
    };
    let name = id::short(&entry).to_owned();
    mark(chat, MarkVerb::Hide, entry).await?;
    chat.dim(&format!("/show {name} brings it back"))
}

/// Brings a hidden message back.
pub(super) async fn show(chat: &mut Chat<'_>, named: &str) -> Result {
    if named.is_empty() {
        return Err(usage(
            "which message is not said",
            "hidden messages are not listed: /search --hidden WORDS finds them",
        ));
    }
    mark(chat, MarkVerb::Show, named.to_owned()).await
}

/// Keeps a message from the model.
pub(super) async fn exclude(chat: &mut Chat<'_>, named: &str) -> Result {
    let normal = |mark: &str| mark == "normal";
    let Some(entry) = entry(chat, named, "Keep from the model", normal).await? else {
        return chat.dim("nothing has changed");
    };
    mark(chat, MarkVerb::Exclude, entry).await
}

/// Lets the model see a message again.
pub(super) async fn include(chat: &mut Chat<'_>, named: &str) -> Result {
    let excluded = |mark: &str| mark == "excluded";
    let Some(entry) = entry(chat, named, "Let the model see", excluded).await? else {
        return chat.dim("nothing has changed");
    };
    mark(chat, MarkVerb::Include, entry).await
}

async fn mark(chat: &mut Chat<'_>, verb: MarkVerb, entry: String) -> Result {
    let action = Action::Mark { verb, entries: vec![entry], range: false, seen: None };
    chat.apply(action, None).await?;
    Ok(())
}

/// Names a message.
pub(super) async fn label(chat: &mut Chat<'_>, words: &str) -> Result {
    let (entry, name) = match words.split_once(char::is_whitespace) {
        _ if words.is_empty() => {
            return Err(usage("the name is not said", "/label NAME, or /label ENTRY NAME"));
        }
        None if words == "--remove" => ("@", None),
        None => ("@", Some(words)),
        Some((entry, "--remove")) => (entry, None),
        Some((entry, name)) => (entry, Some(name.trim())),
    };
    let action = Action::Label { entry: entry.to_owned(), name: name.map(str::to_owned) };
    chat.apply(action, None).await?;
    Ok(())
}

/// Names the conversation.
pub(super) async fn title(chat: &mut Chat<'_>, words: &str) -> Result {
    let title = match words {
        "" => {
            return Err(usage("the title is not said", "/title TEXT, or /title --remove"));
        }
        "--remove" => None,
        title => Some(title.to_owned()),
    };
    chat.apply(Action::Title { title }, None).await?;
    Ok(())
}

/// The message that is named, or the one that the person picks among those with a mark that fits.
async fn entry(
    chat: &mut Chat<'_>,
    named: &str,
    question: &str,
    fits: fn(&str) -> bool,
) -> Result<Option<String>> {
    let conversation = chat.here()?;
    if !named.is_empty() {
        return Ok(Some(named.to_owned()));
    }
    let log = Log {
        conversation,
        at: None,
        branch: None,
        projection: Projection::Timeline,
        limit: Some(OFFERED),
        before: None,
        after: None,
    };
    let mut entries = match chat.cx.call(Request::Log(log)).await? {
        Reply::Entries(page) => page.entries,
        other => return Err(unexpected(&other)),
    };
    entries.retain(|entry| fits(&entry.mark));
    entries.reverse();
    if entries.is_empty() {
        chat.dim("there is no such message")?;
        return Ok(None);
    }
    let look = chat.cx.ui.look();
    let rows: Vec<Row> = entries
        .iter()
        .map(|entry| {
            let (speaker, _) = words::speaker(entry.role, &entry.author);
            Row {
                title: format!("t{} {speaker}: {}", entry.turn, text(&entry.parts)),
                detail: words::when(&look, entry.time_ms),
                disabled: None,
            }
        })
        .collect();
    let mut preview = |row: usize| text(&entries[row].parts);
    let picked = chat.cx.ui.pick(question, &rows, &mut preview)?;
    Ok(picked.map(|row| entries[row].id.clone()))
}

/// The words of a message.
fn text(parts: &[Part]) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text { text } => Some(text.as_str()),
        Part::ToolCall { name, .. } => Some(name.as_str()),
        Part::ToolResult { content, .. } => Some(content.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}
