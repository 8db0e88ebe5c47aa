//! The part after the last entry: the current run, its requests, notes, the todo list, waiting messages. Must never answer
//! anything. Must never show a key that is not valid.

use ratatui::text::Line;
use retake_wire::reply::{Entry, Todo, TodoItem, TodoState};
use retake_wire::{Part, PendingApproval, Question, english};
use serde_json::Value;

use super::Asking;
use super::calls;
use super::entry::{self, parts_text};
use super::page::{DrawParameters, Page};
use crate::render::agent::{self, RuleExtent};
use crate::render::calls::ran_before;
use crate::render::words;
use crate::text::{safe, time, width};
use crate::ui::doc;
use crate::ui::keymap::Command;
use crate::ui::talk::{LiveAnswer, LoadedConversation, Tone};
use crate::ui::theme::Paint;
use crate::ui::words as rendered;

/// Rows for the answers of an approval request, and for what surrounds them.
const AROUND: usize = 10;

/// The fewest rows for the subject of a request, however low the window is.
const LEAST: usize = 4;

/// With fewer rows, a short form of the request is at the end if not all of it fits.
const SMALL: usize = 16;

/// The effects of a yes and a no.
const ALLOW: &str = "allow it, this once";
const DENY: &str = "refuse, and say why";
/// The same, with room to say what else denies.
const DENY_WIDE: &str = "refuse, and say why; words that you send refuse it, too";

/// The age of a request is shown from here on.
const LONG_MS: i64 = 10_000;

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

/// The lines after it, in a view of so many rows, and whether the first approval request is partly hidden.
pub(super) fn after(
    talk: &LoadedConversation,
    ink: DrawParameters<'_>,
    todo: Option<&(Todo, bool)>,
    room: SubjectLimit,
    asking: Asking,
    rows: usize,
) -> (Vec<Line<'static>>, bool) {
    let mut page = Page::new(ink);
    let (mut asked_at, mut hides) = (0, false);
    if let Some(live) = &talk.live {
        (asked_at, hides) = work(&mut page, live, room, asking);
    }
    behind(&mut page, talk, todo);
    let first = talk.live.as_ref().and_then(|live| Some((live, live.asks.first()?)));
    match first {
        Some((live, asks)) if rows < SMALL && page.lines.len() - asked_at > rows => {
            let asking = Asking { is_small: true, ..asking };
            let mut page = Page::new(ink);
            work(&mut page, live, room, asking);
            behind(&mut page, talk, todo);
            let is_cut = in_short(&mut page, asks, asking, rows);
            (page.lines, hides || is_cut && matches!(room, SubjectLimit::Rows(_)))
        }
        None if asks_words(talk) && rows < SMALL && page.lines.len() - asked_at > rows => {
            let asking = Asking { is_small: true, ..asking };
            let mut page = Page::new(ink);
            if let Some(live) = &talk.live {
                (asked_at, _) = work(&mut page, live, room, asking);
            }
            behind(&mut page, talk, todo);
            let is_cut = page.lines.len() - asked_at > rows;
            (page.lines, is_cut)
        }
        _ => (page.lines, hides),
    }
}

/// Whether a tool asks a question.
fn asks_words(talk: &LoadedConversation) -> bool {
    talk.live.as_ref().is_some_and(|live| !live.questions.is_empty())
}

/// As much of the request as fits, with its end, and below it a yes and a no: the last rows of a small view. Returns whether part
/// of the request is left out.
fn in_short(page: &mut Page<'_>, asks: &PendingApproval, asking: Asking, rows: usize) -> bool {
    let asking = Asking { is_small: false, ..asking };
    let mut keys = Page::new(page.ink);
    key(&mut keys, asking, Command::AllowOnce, ALLOW);
    key(&mut keys, asking, Command::Deny, DENY);
    if keys.lines.len() * 2 > rows {
        let named = |command| match asking.is_writing {
            true => page.ink.keys.beside_words(command).map(|key| key.to_string()).unwrap_or_default(),
            false => page.ink.keys.named(command),
        };
        let [allow, deny] = [Command::AllowOnce, Command::Deny].map(named);
        keys.lines.clear();
        keys.cut(&format!("{allow} allow · {deny} no"), Paint::Accent);
    }
    let columns = usize::from(page.ink.room());
    let question = format!("may it run? {}", safe::line(&asks.call.line));
    let mut lines = width::wrap(&question, columns);
    let room = rows.saturating_sub(keys.lines.len()).max(1);
    let is_cut = lines.len() > room;
    if is_cut {
        lines.truncate(room - 1);
        lines.push(width::end(&question, columns.saturating_sub(1)));
    }
    let style = page.ink.theme.style(Paint::Bold);
    let lines = lines.into_iter().map(|line| Line::styled(line, style));
    page.signed(page.ink.span("?", Paint::Accent), lines.collect::<Vec<_>>());
    page.lines.append(&mut keys.lines);
    is_cut
}

/// Notes, the todo list and waiting messages.
fn behind(page: &mut Page<'_>, talk: &LoadedConversation, todo: Option<&(Todo, bool)>) {
    let ink = page.ink;
    for note in &talk.notes {
        page.gap();
        let (sign, paint) = match note.tone {
            Tone::Quiet => ("·", Paint::Dim),
            Tone::Done => ("✓", Paint::Good),
            Tone::Wrong => ("✗", Paint::Error),
        };
        let lines = doc::rewrap(rendered::lines(&note.text, ink.theme), ink.room().into());
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
        let mut lines = doc::said(&parts_text(&said.parts), ink.room(), ink.theme, Paint::Dim);
        lines.truncate(6);
        let sign = ink.span(">", Paint::Dim);
        page.signed(sign, lines);
        let hint = format!("waits for the run · {} takes it back", ink.keys.named(Command::Unqueue));
        page.cut(&hint, Paint::Dim);
    }
}

/// How much of a request's subject can be shown.
#[derive(Clone, Copy, Debug)]
pub(super) enum SubjectLimit {
    /// All of it, even if the window is too small.
    All,
    /// What fits into a window of so many rows beside the answers.
    Rows(u16),
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

/// The current run. Returns the first line of the first request, and whether part of its subject is folded.
fn work(page: &mut Page<'_>, live: &LiveAnswer, room: SubjectLimit, asking: Asking) -> (usize, bool) {
    let mut hides = false;
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
        let is_cut = leave(page, asks, live.waited_ms(&asks.id, page.ink.now_ms), room);
        if number == 0 {
            hides = is_cut;
            answers(page, asks, asking);
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
        return (asked_at, hides);
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
    let mut about = vec![time::lasted((ink.now_ms - live.since_ms).max(0))];
    about.extend(live.model.as_ref().map(|model| safe::line(model).into_owned()));
    about.push(format!("{} stops", ink.keys.named(Command::Stop)));
    let line = format!("{doing} · {}", about.join(" · "));
    let span = doc::cut(&line, ink.theme.style(Paint::Dim), ink.room().into());
    let is_asked = !(live.asks.is_empty() && live.questions.is_empty());
    let sign = if is_asked { ink.span("?", Paint::Accent) } else { calls::spinner(&ink) };
    page.signed(sign, [Line::from(span)]);
    (asked_at, hides)
}

/// A call that waits for approval, in full: nobody can approve what is left out. If the window is too small, its middle is
/// folded; returns whether it is.
fn leave(page: &mut Page<'_>, asks: &PendingApproval, waited_ms: i64, room: SubjectLimit) -> bool {
    let ink = page.ink;
    let mut about = "may it run?".to_owned();
    if waited_ms >= LONG_MS {
        about.push_str(&format!(" · waits for {}", time::lasted(waited_ms)));
    }
    let mut head = doc::Run::of(&safe::line(&asks.call.line), ink.theme.style(Paint::Bold));
    head.push(&format!(" · {about}"), ink.theme.style(Paint::Dim));
    let head: Vec<_> = head.wrap(ink.room().into()).into_iter().map(Line::from).collect();
    // Nothing is removed from the subject of a request: control characters become visible.
    let detail = asks.call.detail.as_deref().map(safe::block).unwrap_or_default();
    let detail = match detail.trim_end() {
        "" => Vec::new(),
        diff if doc::is_diff(diff) => doc::diff(diff, ink.room(), ink.theme),
        text => doc::said(text, ink.room(), ink.theme, Paint::Dim),
    };
    let rows = match room {
        SubjectLimit::All => usize::MAX,
        SubjectLimit::Rows(rows) => usize::from(rows).saturating_sub(AROUND).max(LEAST),
    };
    let is_cut = head.len() + detail.len() > rows;
    let for_detail = detail.len().min(rows / 2);
    let head = folded(head, rows - for_detail, ink);
    let detail = folded(detail, rows - head.len().min(rows), ink);
    page.signed(ink.span("?", Paint::Accent), head);
    match ran_before(asks, ink.now_ms) {
        Some(before) => page.text(&before, Paint::Warn),
        None => page.text(&english::ask_cause(&asks.cause), Paint::Dim),
    }
    page.push(detail);
    is_cut
}

/// The first and the last of these lines if there are too many, and the number of lines between.
fn folded(mut lines: Vec<Line<'static>>, most: usize, ink: DrawParameters<'_>) -> Vec<Line<'static>> {
    if lines.len() <= most {
        return lines;
    }
    let shown = most.saturating_sub(1).max(2);
    let (first, last) = (shown.div_ceil(2), shown / 2);
    let between = lines.len().saturating_sub(first + last);
    let all = ink.keys.named(Command::Output);
    let more = format!("… {}, {all} shows all", words::count(between as u64, "more line"));
    let more = doc::cut(&more, ink.theme.style(Paint::Warn), ink.room().into());
    drop(lines.splice(first..first + between, [Line::from(more)]));
    lines
}

/// The possible answers, and what they allow.
fn answers(page: &mut Page<'_>, asks: &PendingApproval, asking: Asking) {
    if !asking.is_small {
        key(page, asking, Command::AllowOnce, ALLOW);
    }
    if let Some(rule) = agent::chosen(&asks.offers, asking.offer) {
        key(page, asking, Command::AllowHere, &format!("allow {}", agent::allows(rule, RuleExtent::Here)));
        key(page, asking, Command::AllowAlways, &format!("allow {}", agent::the_same(rule)));
    }
    if let Some(next) = agent::wider(&asks.offers, asking.offer) {
        let how = match (next, agent::chosen(&asks.offers, next)) {
            (_, None) => "narrower again: this call alone".to_owned(),
            (0, Some(rule)) => format!("narrower again: {}", agent::what(rule, RuleExtent::Here)),
            (_, Some(rule)) => format!("wider: {}", agent::what(rule, RuleExtent::Here)),
        };
        key(page, asking, Command::AllowWider, &how);
    }
    if !asking.is_small {
        let is_wide = usize::from(page.ink.room()) > doc::columns(DENY_WIDE) + 4;
        key(page, asking, Command::Deny, if is_wide { DENY_WIDE } else { DENY });
    }
    if asking.is_writing {
        let send = page.ink.keys.named(Command::Send);
        page.text(
            &format!("while you write, letters do not answer; {send} refuses with your text"),
            Paint::Dim,
        );
    }
}

/// A valid key and its effect.
fn key(page: &mut Page<'_>, asking: Asking, command: Command, help: &str) {
    let ink = page.ink;
    let (name, wide) = match (asking.is_writing, ink.keys.beside_words(command)) {
        (true, None) => return,
        (true, Some(key)) => (key.to_string(), 6),
        (false, _) => (ink.keys.named(command), 3),
    };
    let beside = wide.max(doc::columns(&name)) + 1;
    let help = doc::Run::of(help, ink.theme.style(Paint::Plain));
    let room = usize::from(ink.room()).saturating_sub(beside).max(1);
    let mut name = Some(name);
    page.push(help.wrap(room).into_iter().map(|spans| {
        let name = ink.span(format!("{:<beside$}", name.take().unwrap_or_default()), Paint::Accent);
        Line::from_iter(std::iter::once(name).chain(spans))
    }));
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
