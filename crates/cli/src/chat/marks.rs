//! Commands about single messages: hide, show, exclude, include, label; and the title. Must never list what is hidden, but to who asks
//! for just that.

use retake_wire::request::{Log, Marked, Projection};
use retake_wire::{Action, MarkVerb, Part, Reply, Request};

use super::Chat;
use crate::error::{Result, unexpected, usage};
use crate::term::pick::Row;
use retake_tui::render::words;

/// So many messages are offered.
const OFFERED: usize = 100;

/// How what is hidden comes back.
pub(super) const LATER: &str = "/undo takes this back, /hidden lists it later";

/// Hides a message.
pub(super) async fn hide(chat: &mut Chat<'_>, named: &str) -> Result {
    let Some(entry) = entry(chat, named, "Hide", |_| true).await? else {
        return chat.dim("nothing has changed");
    };
    mark(chat, MarkVerb::Hide, entry).await?;
    chat.dim(LATER)
}

/// Brings a hidden message back, or all that is hidden of a turn.
pub(super) async fn show(chat: &mut Chat<'_>, named: &str) -> Result {
    if named.is_empty() {
        return bring_back(chat, "Bring back", MarkVerb::Show, |mark| mark != "excluded").await;
    }
    mark(chat, MarkVerb::Show, named.to_owned()).await
}

/// What is hidden, dropped or kept from the model.
pub(super) async fn hidden(chat: &mut Chat<'_>) -> Result {
    let marked = Marked { conversation: chat.here()?, limit: Some(OFFERED), before: None };
    chat.cx.show(Request::Marked(marked)).await?;
    chat.dim("/show tN brings back what is hidden of turn N, /include tN what is kept from the model")
}

/// Keeps a message from the model.
pub(super) async fn exclude(chat: &mut Chat<'_>, named: &str) -> Result {
    let normal = |mark: &str| mark == "normal";
    let Some(entry) = entry(chat, named, "Keep from the model", normal).await? else {
        return chat.dim("nothing has changed");
    };
    mark(chat, MarkVerb::Exclude, entry).await?;
    chat.dim(LATER)
}

/// Lets the model see a message again.
pub(super) async fn include(chat: &mut Chat<'_>, named: &str) -> Result {
    if named.is_empty() {
        return bring_back(chat, "Let the model see", MarkVerb::Include, |mark| mark == "excluded").await;
    }
    mark(chat, MarkVerb::Include, named.to_owned()).await
}

/// Takes the mark away from what the person picks among the newest that have one that fits.
async fn bring_back(chat: &mut Chat<'_>, question: &str, verb: MarkVerb, fits: fn(&str) -> bool) -> Result {
    let marked = Marked { conversation: chat.here()?, limit: Some(OFFERED), before: None };
    let mut marked = match chat.cx.call(Request::Marked(marked)).await? {
        Reply::Marked(page) => page.marked,
        other => return Err(unexpected(&other)),
    };
    marked.retain(|it| fits(&it.mark));
    if marked.is_empty() {
        return chat.dim("there is no such message");
    }
    let look = chat.cx.ui.look();
    let rows = marked.iter().map(|it| {
        let (speaker, _) = words::said_by(&it.line);
        let count = words::count(it.counts.messages, "message");
        let detail = format!("{} · {count} · {}", it.mark, words::when(&look, it.line.time_ms));
        Row {
            title: format!("t{} {speaker}: {}", it.turn, it.line.preview),
            detail,
            disabled: None,
            key: None,
        }
    });
    let rows: Vec<Row> = rows.collect();
    let mut preview = |row: usize| marked[row].line.preview.clone();
    let Some(picked) = chat.cx.ui.pick(question, &rows, &mut preview)? else {
        return chat.dim("nothing has changed");
    };
    let it = marked.swap_remove(picked);
    let entries = vec![it.line.id, it.last];
    chat.apply(Action::Mark { verb, entries, range: true, seen: Some(it.mark) }, None).await?;
    Ok(())
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
                key: None,
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
