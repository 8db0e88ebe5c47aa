//! Lists from which the person completes a command: turns, messages, branches, answers, conversations, models. Must never change
//! anything.

use futures::executor::block_on;
use retake_wire::reply::{self, Alternative, Branch, Conversation, Entry, Model, Target};
use retake_wire::request::{self, LARGEST_PAGE, List, Log, Marked, Projection, Targets};
use retake_wire::{Action, Client, FilesWish, Mode, Part, Reply, Request};

use super::Chat;
use crate::error::{Result, expect_reply};
use crate::term::pick::Row;
use crate::term::safe;
use crate::ui::Look;
use retake_tui::hint::Audience;
use retake_tui::render::{self, id, words};

/// The longest list of messages.
const MESSAGES: usize = 100;

/// The longest list of turns or conversations; older ones are named by tN or by their id.
const TURNS: usize = 200;

fn row(title: impl Into<String>, detail: impl Into<String>) -> Row {
    Row { title: title.into(), detail: detail.into(), disabled: None, key: None }
}

/// A list of items, each as a row. A note says that nothing was picked.
fn pick<'i, T>(
    chat: &mut Chat<'_>,
    question: &str,
    items: &'i [T],
    row: impl Fn(&Look, &T) -> Row,
    preview: &mut dyn FnMut(&T) -> String,
) -> Result<Option<&'i T>> {
    let picked = pick_silently(chat, question, items, row, preview)?;
    if picked.is_none() {
        chat.cx.aside("nothing has changed")?;
    }
    Ok(picked)
}

fn pick_silently<'i, T>(
    chat: &mut Chat<'_>,
    question: &str,
    items: &'i [T],
    row: impl Fn(&Look, &T) -> Row,
    preview: &mut dyn FnMut(&T) -> String,
) -> Result<Option<&'i T>> {
    let look = chat.cx.ui.look();
    let rows: Vec<Row> = items.iter().map(|item| row(&look, item)).collect();
    let picked = chat.cx.ui.pick(question, &rows, &mut |row| preview(&items[row]))?;
    Ok(picked.and_then(|row| items.get(row)))
}

/// A turn, with a preview of a rewind to before it. A run at work disables it, unless the command stops the run.
pub(super) async fn turn(chat: &mut Chat<'_>, question: &str, stops_run: bool) -> Result<Option<String>> {
    let conversation = chat.here()?;
    let targets = Targets { conversation: conversation.clone(), limit: Some(TURNS), before: None };
    let targets = expect_reply!(chat.cx.call(Request::Targets(targets)).await?, Targets).targets;
    if targets.is_empty() {
        return chat.cx.aside("there is no turn to go back to").map(|()| None);
    }
    let row = |look: &Look, target: &Target| {
        let did = words::did(target.did);
        let did = if did.is_empty() { did } else { format!("{did} · ") };
        let stops = if target.at_work && stops_run { " · stops the run at work" } else { "" };
        let takes_back = words::counts(target.takes_back);
        let detail = format!("{} · {did}takes back {takes_back}{stops}", words::when(look, target.time_ms));
        Row {
            disabled: target.reason.clone().filter(|_| !(target.at_work && stops_run)),
            ..self::row(format!("t{} {}", target.turn, target.preview), detail)
        }
    };
    let client = chat.cx.client;
    let mut preview = |target: &Target| rewind_preview(client, &conversation, target);
    Ok(pick(chat, question, &targets, row, &mut preview)?.map(|target| target.entry.clone()))
}

/// The plan in brief. The picker blocks this thread; the client uses others.
fn rewind_preview(client: &dyn Client, conversation: &str, target: &Target) -> String {
    let action = Action::Rewind { entry: target.entry.clone() };
    let plan = match plan_of(client, conversation, action) {
        Ok(Reply::Plan(plan)) => plan,
        Ok(_) => return String::new(),
        Err(problem) => return problem.to_string(),
    };
    let mut lines = vec![render::plan::brief(None, &plan)];
    lines.extend(render::effects::brief(&plan.effects, render::effects::Files::of_plan(&plan)));
    lines.extend(plan.conditions.iter().map(|it| format!("! {}", Audience::Chat.condition(it))));
    lines.extend(plan.composer.as_ref().map(|composer| safe::block(&composer.text).into_owned()));
    lines.join("\n")
}

fn plan_of(
    client: &dyn Client,
    conversation: &str,
    action: Action,
) -> std::result::Result<Reply, retake_wire::Problem> {
    let (conversation, files) = (conversation.to_owned(), FilesWish::default());
    block_on(client.call(Request::Plan(request::Plan { conversation, action, files, diff: false })))
}

/// A message whose mark fits.
pub(super) async fn message(
    chat: &mut Chat<'_>,
    question: &str,
    fits: fn(&str) -> bool,
) -> Result<Option<String>> {
    let log = Log {
        conversation: chat.here()?,
        at: None,
        branch: None,
        projection: Projection::Timeline,
        limit: Some(MESSAGES),
        before: None,
        after: None,
    };
    let mut entries = expect_reply!(chat.cx.call(Request::Log(log)).await?, Entries).entries;
    entries.retain(|entry| fits(&entry.mark));
    entries.reverse();
    if entries.is_empty() {
        return chat.cx.aside("there is no such message").map(|()| None);
    }
    let row = |look: &Look, entry: &Entry| {
        let (speaker, _) = words::speaker(entry.role, &entry.author);
        let title = format!("t{} {speaker}: {}", entry.turn, text(&entry.parts));
        self::row(title, words::when(look, entry.time_ms))
    };
    let mut preview = |entry: &Entry| text(&entry.parts);
    Ok(pick(chat, question, &entries, row, &mut preview)?.map(|entry| entry.id.clone()))
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

/// Neighbouring messages with a mark that fits: the mark, the first message and the last one.
pub(super) async fn marked(
    chat: &mut Chat<'_>,
    question: &str,
    fits: fn(&str) -> bool,
) -> Result<Option<[String; 3]>> {
    let marked = Marked { conversation: chat.here()?, limit: Some(MESSAGES), before: None };
    let mut marked = expect_reply!(chat.cx.call(Request::Marked(marked)).await?, Marked).marked;
    marked.retain(|it| fits(&it.mark));
    if marked.is_empty() {
        return chat.cx.aside("there is no such message").map(|()| None);
    }
    let row = |look: &Look, it: &reply::Marked| {
        let (speaker, _) = words::said_by(&it.line);
        let count = words::count(it.counts.messages, "message");
        let detail = format!("{} · {count} · {}", it.mark, words::when(look, it.line.time_ms));
        self::row(format!("t{} {speaker}: {}", it.turn, it.line.preview), detail)
    };
    let picked = pick(chat, question, &marked, row, &mut |it| it.line.preview.clone())?;
    Ok(picked.map(|it| [it.mark.clone(), it.line.id.clone(), it.last.clone()]))
}

/// Shows the branches, and lets the person pick another one: the head that was shown, and the last entry of the branch.
pub(super) async fn branch(chat: &mut Chat<'_>) -> Result<Option<[String; 2]>> {
    let conversation = chat.here()?;
    let tree = crate::verbs::tree::whole(&chat.cx, &conversation).await?;
    let look = chat.cx.ui.look();
    let text = render::tree::tree(&look, &tree);
    chat.cx.ui.page_text(&text)?;
    let others: Vec<_> = tree.branches.iter().rev().filter(|branch| !branch.current).collect();
    if others.is_empty() {
        return Ok(None);
    }
    let row = |look: &Look, branch: &&Branch| {
        let title = branch.called.as_ref().unwrap_or(&branch.last).preview.clone();
        self::row(title, render::tree::about(look, branch))
    };
    let client = chat.cx.client;
    let mut preview = |branch: &&Branch| match plan_of(
        client,
        &conversation,
        Action::Checkout { entry: Some(branch.leaf.clone()) },
    ) {
        Ok(Reply::Plan(plan)) => render::plan::brief(None, &plan),
        Ok(_) => String::new(),
        Err(problem) => problem.to_string(),
    };
    let picked = pick_silently(chat, "Switch to", &others, row, &mut preview)?;
    Ok(picked.map(|branch| [tree.head.clone(), branch.leaf.clone()]))
}

/// An alternative of an answer: the head that was shown, the entry and its number.
pub(super) async fn alternative(chat: &mut Chat<'_>, entry: &str) -> Result<Option<[String; 3]>> {
    let of = request::Alternatives {
        conversation: chat.here()?,
        entry: entry.to_owned(),
        limit: Some(LARGEST_PAGE),
        after: None,
    };
    let all = expect_reply!(chat.cx.call(Request::Alternatives(of)).await?, Alternatives);
    if all.alternatives.len() < 2 {
        return chat.cx.aside("there is no other answer: /retry asks for one").map(|()| None);
    }
    let row = |look: &Look, it: &Alternative| Row {
        disabled: it.current.then(|| "this one is shown now".to_owned()),
        ..self::row(format!("{} {}", it.number, it.line.preview), words::when(look, it.line.time_ms))
    };
    let picked = pick(chat, "Choose an answer", &all.alternatives, row, &mut |_| String::new())?;
    Ok(picked.map(|it| [all.head.clone(), it.line.id.clone(), it.number.to_string()]))
}

/// A conversation, of any folder.
pub(super) async fn conversation(chat: &mut Chat<'_>) -> Result<Option<String>> {
    let list = List { limit: Some(TURNS), ..List::default() };
    let page = expect_reply!(chat.cx.call(Request::List(list)).await?, Conversations).conversations;
    if page.is_empty() {
        let none =
            "there is no conversation: `retake` begins one, `retake list --archived` shows archived ones";
        return chat.cx.aside(none).map(|()| None);
    }
    let here = chat.cx.folder;
    let row = |look: &Look, it: &Conversation| {
        let elsewhere = it.folder.as_deref().filter(|folder| *folder != here);
        let elsewhere = elsewhere.map(|folder| format!(" · {folder}")).unwrap_or_default();
        let messages = words::count(it.counts.messages, "message");
        let named = words::named(it);
        let title = if named.is_empty() { id::short(&it.id).to_owned() } else { named };
        self::row(title, format!("{} · {messages}{elsewhere}", words::when(look, it.changed_ms)))
    };
    let picked = pick_silently(chat, "Continue with", &page, row, &mut |it| it.preview.clone())?;
    Ok(picked.map(|it| it.id.clone()))
}

/// A model.
pub(super) fn model(chat: &mut Chat<'_>, models: &retake_wire::reply::Models) -> Result<Option<String>> {
    let row = |_: &Look, model: &Model| Row {
        disabled: model.unavailable.clone(),
        ..self::row(&model.name, if model.name == models.default { &*models.why } else { "" })
    };
    let picked = pick(chat, "Talk to", &models.models, row, &mut |_| String::new())?;
    Ok(picked.map(|model| model.name.clone()))
}

/// A mode of permissions.
pub(super) fn mode(chat: &mut Chat<'_>) -> Result<Option<Mode>> {
    let row = |_: &Look, mode: &Mode| self::row(mode.name(), render::agent::mode(*mode));
    Ok(pick(chat, "The model", &Mode::ALL, row, &mut |_| String::new())?.copied())
}
