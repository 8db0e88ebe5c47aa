//! Lists from which the person completes a command: turns, messages, branches, answers, conversations, models. Must never change
//! anything.

use futures::executor::block_on;
use retake_wire::reply::{self, Alternative, Branch, Conversation, Entry, Model, Models, Target};
use retake_wire::request::{self, LARGEST_PAGE, List, Log, Marked, Projection, Targets};
use retake_wire::{Action, Client, FileOptions, Mark, Mode, Part, Reply, Request, english};

use super::Chat;
use crate::error::{Result, expect_reply};
use crate::term::pick::Row;
use crate::term::safe;
use crate::ui::Look;
use retake_tui::hint::Audience;
use retake_tui::render::{self, id, words};

/// The arguments of a picked row; `None` if the person cancels.
pub(super) type PickedArguments = Option<Vec<String>>;

/// The longest list of messages.
const MESSAGES: usize = 100;

/// The longest list of turns or conversations; older ones are named by tN or by their id.
const TURNS: usize = 200;

/// Lets the person pick an item, each shown as a row. A note says if there is none, or if the person cancels.
fn pick<T>(
    chat: &mut Chat<'_>,
    (question, none): (&str, &str),
    items: Vec<T>,
    row: impl Fn(&Look, &T) -> Row,
    preview: &mut dyn FnMut(&T) -> String,
) -> Result<Option<T>> {
    let look = chat.cx.ui.look();
    let rows: Vec<Row> = items.iter().map(|item| row(&look, item)).collect();
    let picked = match rows.len() {
        0 => None,
        _ => chat.cx.ui.pick(question, &rows, &mut |row| preview(&items[row]))?,
    };
    if picked.is_none() {
        chat.cx.aside(if rows.is_empty() { none } else { "nothing has changed" })?;
    }
    Ok(picked.and_then(|row| items.into_iter().nth(row)))
}

/// Arguments that may look like options.
fn named(arguments: impl IntoIterator<Item = String>) -> Vec<String> {
    ["--".to_owned()].into_iter().chain(arguments).collect()
}

/// A turn, with a preview of a rewind to before it. An active run disables it, unless the command stops the run.
pub(super) async fn turn(chat: &mut Chat<'_>, question: &str, stops_run: bool) -> Result<PickedArguments> {
    let conversation = chat.cx.here()?;
    let targets = Targets { conversation: conversation.clone(), limit: Some(TURNS), before: None };
    let targets = expect_reply!(chat.cx.call(Request::Targets(targets)).await?, Targets).targets;
    let row = |look: &Look, target: &Target| {
        let did = words::did(target.did);
        let did = if did.is_empty() { did } else { format!("{did} · ") };
        let stops = if target.at_work && stops_run { " · stops the run at work" } else { "" };
        let takes_back = words::counts(target.takes_back);
        let detail = format!("{} · {did}takes back {takes_back}{stops}", words::when(look, target.time_ms));
        Row {
            disabled: (target.at_work && !stops_run).then(|| english::RUN_AT_WORK.to_owned()),
            ..Row::new(format!("t{} {}", target.turn, target.preview), detail)
        }
    };
    let client = chat.cx.client;
    let mut preview =
        |it: &Target| preview(client, &conversation, Action::Rewind { entry: it.entry.clone() });
    let picked = pick(chat, (question, "there is no turn to go back to"), targets, row, &mut preview)?;
    Ok(picked.map(|target| named([target.entry])))
}

/// The plan of an action in brief. The picker blocks this thread; the client uses others.
fn preview(client: &dyn Client, conversation: &str, action: Action) -> String {
    let (conversation, files) = (conversation.to_owned(), FileOptions::default());
    let plan = request::Plan { conversation, action, files, diff: false };
    let plan = match block_on(client.call(Request::Plan(plan))) {
        Ok(Reply::Plan(plan)) => plan,
        Ok(_) => return String::new(),
        Err(problem) => return problem.to_string(),
    };
    let mut lines = vec![render::plan::brief(None, &plan)];
    lines.extend(render::effects::brief(&plan.outside.effects, render::effects::Files::of_plan(&plan)));
    lines.extend(render::posts::brief(&plan.outside.posts, render::posts::Step::Planned));
    lines.extend(plan.conditions.iter().map(|it| format!("! {}", Audience::Chat.condition(it))));
    lines.extend(plan.composer.as_ref().map(|composer| safe::block(&composer.text).into_owned()));
    lines.join("\n")
}

/// A message with a matching mark.
pub(super) async fn message(
    chat: &mut Chat<'_>,
    question: &str,
    fits: fn(Mark) -> bool,
) -> Result<PickedArguments> {
    let entries = newest(chat, chat.cx.here()?, MESSAGES).await?.entries.into_iter().rev();
    let entries: Vec<_> = entries.filter(|entry| fits(entry.mark)).collect();
    let row = |look: &Look, entry: &Entry| {
        let (speaker, _) = words::speaker(entry.role, &entry.author);
        let title = format!("t{} {speaker}: {}", entry.place.turn, text(&entry.parts));
        Row::new(title, words::when(look, entry.time_ms))
    };
    let mut preview = |entry: &Entry| text(&entry.parts);
    let picked = pick(chat, (question, "there is no such message"), entries, row, &mut preview)?;
    Ok(picked.map(|entry| named([entry.id])))
}

/// The newest messages of a conversation.
pub(super) async fn newest(chat: &Chat<'_>, conversation: String, limit: usize) -> Result<reply::Entries> {
    let log = Log {
        conversation,
        at: None,
        branch: None,
        projection: Projection::Timeline,
        limit: Some(limit),
        before: None,
        after: None,
    };
    Ok(expect_reply!(chat.cx.call(Request::Log(log)).await?, Entries))
}

/// The text of a message.
fn text(parts: &[Part]) -> String {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text { text } => Some(text.as_str()),
        Part::ToolCall { name, .. } => Some(name.as_str()),
        Part::ToolResult { content, .. } => Some(content.as_str()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// Neighbouring messages with a matching mark.
pub(super) async fn marked(
    chat: &mut Chat<'_>,
    question: &str,
    fits: fn(Mark) -> bool,
) -> Result<PickedArguments> {
    let marked = Marked { conversation: chat.cx.here()?, limit: Some(MESSAGES), before: None };
    let mut marked = expect_reply!(chat.cx.call(Request::Marked(marked)).await?, Marked).marked;
    marked.retain(|it| fits(it.mark));
    let row = |look: &Look, it: &reply::Marked| {
        let (speaker, _) = words::said_by(&it.line);
        let count = words::count(it.counts.messages, "message");
        let detail = format!("{} · {count} · {}", it.mark.name(), words::when(look, it.line.time_ms));
        Row::new(format!("t{} {speaker}: {}", it.turn, it.line.preview), detail)
    };
    let mut preview = |it: &reply::Marked| it.line.preview.clone();
    let picked = pick(chat, (question, "there is no such message"), marked, row, &mut preview)?;
    let seen = |mark: Mark| mark.known_name().map(|name| ["--seen".to_owned(), name.to_owned()]);
    let options = |mark| std::iter::once("--range".to_owned()).chain(seen(mark).into_iter().flatten());
    Ok(picked.map(|it| options(it.mark).chain(named([it.line.id, it.last])).collect()))
}

/// Shows the branches, and lets the person pick another one. Returns the shown head and the last entry of the branch.
pub(super) async fn branch(chat: &mut Chat<'_>) -> Result<PickedArguments> {
    let conversation = chat.cx.here()?;
    let tree = crate::verbs::tree::whole(&chat.cx, &conversation).await?;
    chat.cx.ui.page_text(&render::tree::tree(&chat.cx.ui.look(), &tree))?;
    let others: Vec<_> = tree.branches.into_iter().rev().filter(|branch| !branch.current).collect();
    let row = |look: &Look, branch: &Branch| {
        let title = branch.called.as_ref().unwrap_or(&branch.last).preview.clone();
        Row::new(title, render::tree::about(look, branch))
    };
    let client = chat.cx.client;
    let mut preview =
        |it: &Branch| preview(client, &conversation, Action::Checkout { entry: Some(it.leaf.clone()) });
    let picked = pick(chat, ("Switch to", "there is no other branch"), others, row, &mut preview)?;
    Ok(picked
        .map(|branch| ["--head".to_owned(), tree.head].into_iter().chain(named([branch.leaf])).collect()))
}

/// An alternative of an answer, with the head that was shown.
pub(super) async fn alternative(chat: &mut Chat<'_>, entry: &str) -> Result<PickedArguments> {
    let of = request::Alternatives {
        conversation: chat.cx.here()?,
        entry: entry.to_owned(),
        limit: Some(LARGEST_PAGE),
        after: None,
    };
    let mut all = expect_reply!(chat.cx.call(Request::Alternatives(of)).await?, Alternatives);
    if all.alternatives.len() == 1 {
        all.alternatives.clear();
    }
    let row = |look: &Look, it: &Alternative| Row {
        disabled: it.current.then(|| "this one is shown now".to_owned()),
        ..Row::new(format!("{} {}", it.number, it.line.preview), words::when(look, it.line.time_ms))
    };
    let question = ("Choose an answer", "there is no other answer: /retry asks for one");
    let picked = pick(chat, question, all.alternatives, row, &mut |_| String::new())?;
    Ok(picked.map(|it| vec!["--head".to_owned(), all.head, it.line.id, it.number.to_string()]))
}

/// A conversation of any folder.
pub(super) async fn conversation(chat: &mut Chat<'_>) -> Result<Option<String>> {
    let list = List { limit: Some(TURNS), ..List::default() };
    let page = expect_reply!(chat.cx.call(Request::List(list)).await?, Conversations).conversations;
    let here = chat.cx.folder;
    let row = |look: &Look, it: &Conversation| {
        let elsewhere = it.folder.as_deref().filter(|folder| *folder != here);
        let elsewhere = elsewhere.map(|folder| format!(" · {folder}")).unwrap_or_default();
        let messages = words::count(it.counts.messages, "message");
        let named = words::named(it);
        let title = if named.is_empty() { id::short(&it.id).to_owned() } else { named };
        Row::new(title, format!("{} · {messages}{elsewhere}", words::when(look, it.changed_ms)))
    };
    let none = "there is no conversation: `retake` begins one, `retake list --archived` shows archived ones";
    let picked = pick(chat, ("Continue with", none), page, row, &mut |it| it.preview.clone())?;
    Ok(picked.map(|it| it.id))
}

/// A model.
pub(super) fn model(chat: &mut Chat<'_>, models: &Models) -> Result<Option<String>> {
    let row = |_: &Look, model: &Model| Row {
        disabled: model.unavailable_cause.as_ref().map(english::unavailable_cause),
        ..Row::new(
            &model.name,
            if model.name == models.default { english::model_cause(&models.cause) } else { String::new() },
        )
    };
    let picked =
        pick(chat, ("Talk to", "there is no model"), models.models.clone(), row, &mut |_| String::new())?;
    Ok(picked.map(|model| model.name))
}

/// A permission mode.
pub(super) fn mode(chat: &mut Chat<'_>) -> Result<Option<Mode>> {
    let row = |_: &Look, mode: &Mode| Row::new(mode.name(), render::agent::mode(*mode));
    pick(chat, ("The model", ""), Mode::ALL.to_vec(), row, &mut |_| String::new())
}
