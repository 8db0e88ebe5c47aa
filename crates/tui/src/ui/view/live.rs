//! The part after the last entry: the current run, its requests, notes, the todo list, waiting messages. Must never answer
//! anything. Must never show a key that is not valid.

use ratatui::text::Line;
use retake_wire::reply::{Entry, Todo, TodoItem, TodoState};
use retake_wire::{Part, Question};
use serde_json::Value;

use super::asked::{self, Asking, Unfolded};
use super::calls;
use super::entry::{self, parts_text};
use super::page::{DrawParameters, Page};
use crate::render::agent;
use crate::render::words;
use crate::text::{safe, time};
use crate::ui::doc;
use crate::ui::keymap::Command;
use crate::ui::talk::{LiveAnswer, LoadedConversation, Tone};
use crate::ui::theme::Paint;
use crate::ui::words as rendered;

/// With fewer rows, a short form of the request is at the end if not all of it fits.
const SMALL: usize = 16;

/// The most bytes of reasoning shown while it arrives.
const REASONING: usize = 2_000;

/// How far back the todo list is searched.
const LIST_NEAR: usize = 400;

/// The lines before the answer being written.
pub(super) fn before(live: &LiveAnswer, ink: DrawParameters<'_>, reasoning: bool) -> Vec<Line<'static>> {
    let mut page = Page::new(ink);
    if live.text.is_empty() && live.reasoning.is_empty() {
        return page.lines;
    }
    page.gap();
    let thought = live.reasoning.trim();
    if reasoning {
        let from = thought.len().saturating_sub(REASONING);
        let from = (from..thought.len()).find(|at| thought.is_char_boundary(*at)).unwrap_or(from);
        let cut = if from > 0 { "…" } else { "" };
        entry::reasoning(&mut page, &format!("{cut}{}", &thought[from..]), true);
    } else {
        entry::reasoning(&mut page, thought, false);
        if !(thought.is_empty() || live.text.trim().is_empty()) {
            page.gap();
        }
    }
    page.lines
}

/// The lines after the entries and the answer being written.
#[derive(Debug, Default)]
pub(super) struct After {
    /// The lines.
    pub(super) lines: Vec<Line<'static>>,
    /// The line at which the first request begins.
    pub(super) asked_at: usize,
    /// The number of its lines that are folded.
    pub(super) hidden: usize,
    /// What the run does now is among the lines.
    pub(super) shows_state: bool,
}

/// The lines after it, in a view of so many rows.
pub(super) fn after(
    talk: &LoadedConversation,
    ink: DrawParameters<'_>,
    todo: Option<&(Todo, bool)>,
    asking: Asking,
    rows: usize,
) -> After {
    let lay = |asking| {
        let mut page = Page::new(ink);
        let (asked_at, hidden) =
            talk.live.as_ref().map_or((0, 0), |live| work(&mut page, live, rows, asking));
        behind(&mut page, talk, todo);
        (page, asked_at, hidden)
    };
    let (page, asked_at, hidden) = lay(asking);
    let asks = talk.live.as_ref().and_then(|live| live.asks.first());
    let is_small = rows < SMALL && page.lines.len() - asked_at > rows;
    if !is_small || asks.is_none() && !asks_words(talk) {
        let shows_state = talk.live.is_some() && !asking.is_small;
        return After { lines: page.lines, asked_at, hidden, shows_state };
    }
    let asking = Asking { is_small: true, ..asking };
    let (mut page, asked_at, hidden) = lay(asking);
    let hidden = match asks {
        Some(asks) => asked::in_short(&mut page, asks, asking, rows, hidden),
        None => (page.lines.len() - asked_at).saturating_sub(rows),
    };
    After { lines: page.lines, asked_at, hidden, shows_state: false }
}

/// Whether a tool asks a question.
fn asks_words(talk: &LoadedConversation) -> bool {
    talk.live.as_ref().is_some_and(|live| !live.questions.is_empty())
}

/// Notes, the todo list and waiting messages.
fn behind(page: &mut Page<'_>, talk: &LoadedConversation, todo: Option<&(Todo, bool)>) {
    let ink = page.ink;
    for note in &talk.notes {
        page.gap();
        let (sign, paint) = match note.tone {
            Tone::Quiet => ("·", Paint::Dim),
            Tone::Done => ("✓", Paint::Good),
            Tone::Warning => ("!", Paint::Warn),
            Tone::Wrong => ("✗", Paint::Error),
        };
        let lines = doc::rewrap(rendered::lines(&note.text, ink.theme), ink.prose().into());
        let sign = ink.span(sign, paint);
        page.signed(sign, lines);
    }
    if let Some((todo, _)) = todo.filter(|(todo, is_new)| is_wanted(todo, *is_new, talk.is_running())) {
        page.gap();
        let done = todo.items.iter().filter(|item| item.state == TodoState::Done).count();
        page.cut(&format!("to do: {done} of {} done", todo.items.len()), Paint::Dim);
        page.rendered(&agent::todo(&rendered::look(ink.room(), ink.now_ms), todo));
    } else if let Some(next) = todo.and_then(|(todo, _)| next(todo)) {
        page.gap();
        page.cut(&next, Paint::Dim);
    }
    for said in &talk.waiting {
        page.gap();
        let mut lines = doc::said(&parts_text(&said.parts), ink.prose(), ink.theme, Paint::Dim);
        lines.truncate(6);
        page.barred(&ink.span(entry::BAR, Paint::Dim), lines);
        let hint = format!("waits for the run · {} takes it back", ink.keys.named(Command::Unqueue));
        page.cut(&hint, Paint::Dim);
    }
}

/// Whether a list is shown: while there is something to do, or the run that wrote it is active; an old one only during a run.
fn is_wanted(todo: &Todo, is_new: bool, is_running: bool) -> bool {
    let has_more = todo.items.iter().any(|item| item.state != TodoState::Done);
    (is_new && (has_more || is_running)) || (has_more && is_running)
}

/// The open items of a list without a run, in a line. `None` if all are done.
fn next(todo: &Todo) -> Option<String> {
    let first = |state| todo.items.iter().find(|item| item.state == state);
    let open = first(TodoState::Doing).or_else(|| first(TodoState::Open))?;
    let done = todo.items.iter().filter(|item| item.state == TodoState::Done).count();
    let all = todo.items.len();
    Some(format!("to do: {done} of {all} done · next: {} · /todo lists all", safe::line(&open.text)))
}

/// The current run. Returns the first line of the first request, and how many lines of its subject are folded.
fn work(page: &mut Page<'_>, live: &LiveAnswer, rows: usize, asking: Asking) -> (usize, usize) {
    let mut hidden = 0;
    let asked = |call: &str| live.asks.iter().any(|asks| asks.call.call == call);
    let calls: Vec<_> = live.calls.iter().filter(|call| !asked(&call.now.call.call)).collect();
    if !calls.is_empty() {
        page.gap();
    }
    for call in calls {
        calls::running(page, &call.now.call, &call.now.printed, call.since_ms);
    }
    let asked_at = page.lines.len() + 1;
    for (number, asks) in live.asks.iter().enumerate() {
        page.gap();
        let is_unfolded = match asking.unfolded {
            Unfolded::Fitting => false,
            Unfolded::First => number == 0,
            Unfolded::All => true,
        };
        let waited_ms = live.waited_ms(&asks.id, page.ink.now_ms);
        let folded = asked::card(page, asks, waited_ms, rows, is_unfolded);
        if number == 0 {
            hidden = folded;
            asked::answers(page, asks, asking, folded);
        } else {
            page.cut("asked after the one above", Paint::Dim);
        }
    }
    for question in &live.questions {
        page.gap();
        ask(page, question, asking);
    }
    if let Some(notice) = &live.notice {
        page.gap();
        page.text(notice, Paint::Warn);
    }
    if asking.is_small {
        return (asked_at, hidden);
    }
    page.gap();
    let doing = match (
        live.asks.is_empty() && live.questions.is_empty(),
        live.calls.is_empty(),
        live.text.is_empty(),
    ) {
        (false, _, _) => "waits for you",
        (_, false, _) => "working",
        (_, _, false) => "answering",
        _ if !live.reasoning.is_empty() => "thinking",
        _ => "waiting for the model",
    };
    let ink = page.ink;
    let lasted = time::lasted((ink.now_ms - live.since_ms).max(0));
    // The status bar names the model.
    let line = format!("{doing} · {lasted} · {} stops", ink.keys.named(Command::Stop));
    let span = doc::cut(&line, ink.theme.style(Paint::Dim), ink.room().into());
    let is_asked = !(live.asks.is_empty() && live.questions.is_empty());
    let sign = if is_asked { ink.span("?", Paint::Accent) } else { calls::spinner(&ink) };
    page.signed(sign, [Line::from(span)]);
    (asked_at, hidden)
}

fn ask(page: &mut Page<'_>, question: &Question, asking: Asking) {
    let ink = page.ink;
    let lines = doc::plain(&question.question, ink.room(), ink.theme, Paint::Bold);
    page.signed(ink.span("?", Paint::Accent), lines);
    for (number, choice) in (1..).zip(&question.choices) {
        let mut run = doc::Run::of(&format!("{number}. "), ink.theme.style(Paint::Accent));
        run.push(&safe::line(choice), ink.theme.style(Paint::Plain));
        page.push(run.wrap(ink.room().into()).into_iter().map(Line::from));
    }
    if asking.is_small {
        // The composer shows it.
        return;
    }
    let how = match (question.choices.is_empty(), asking.is_writing) {
        (true, _) => "your answer goes to the model",
        (false, true) => "what you send is the answer; numbers answer only while the composer is empty",
        (false, false) => "type the number of an answer, or send another answer",
    };
    page.text(how, Paint::Dim);
}

/// The newest list of the agent, if it is near, and whether it is from the last turn.
pub(super) fn todo(entries: &[Entry]) -> Option<(Todo, bool)> {
    let last = entries.last()?;
    let written = |entry: &Entry| {
        entry.parts.iter().rev().find_map(|part| match part {
            Part::ToolCall { name, arguments, .. } if name == "todo" => list(arguments),
            _ => None,
        })
    };
    let near = entries.iter().rev().take(LIST_NEAR);
    near.into_iter().find_map(|entry| Some((written(entry)?, entry.place.turn == last.place.turn)))
}

fn list(arguments: &str) -> Option<Todo> {
    let given: Value = serde_json::from_str(arguments).ok()?;
    let item = |item: &Value| {
        let state = match item.get("state")?.as_str()? {
            "done" => TodoState::Done,
            "doing" => TodoState::Doing,
            _ => TodoState::Open,
        };
        Some(TodoItem { text: item.get("text")?.as_str()?.to_owned(), state })
    };
    Some(Todo { items: given.get("items")?.as_array()?.iter().filter_map(item).collect() })
        .filter(|todo| !todo.items.is_empty())
}

/// Amounts shown after the last entry: by the run, and by the program.
pub(super) fn news(talk: &LoadedConversation) -> (usize, usize) {
    let live = talk.live.as_ref();
    let said = live.map_or(0, |live| live.text.len() + live.asks.len() + live.questions.len());
    (said, talk.notes.len() + talk.waiting.len())
}

/// A position among a number of items, such as “3 of 17”.
pub(super) fn of(number: usize, all: usize) -> String {
    format!("{} of {}", words::number(number as u64), words::number(all as u64))
}
