//! An entry of the timeline as lines. Must never drop a part or a mark silently.

use std::hash::{DefaultHasher, Hash, Hasher};

use ratatui::text::{Line, Span};
use retake_wire::reply::Entry;
use retake_wire::{Mark, Part, Role};

use super::calls::{self, CallOutcome};
use super::page::{DrawParameters, Page};
use crate::render::calls::CallStart;
use crate::render::{chat, content, entries, words};
use crate::text::{safe, width};
use crate::ui::doc;
use crate::ui::keymap::Command;
use crate::ui::talk::LoadedConversation;
use crate::ui::theme::{LABEL, Paint};

/// Lines shown of a person's message.
pub(super) const SAID: usize = 24;

/// The bar beside a person's message.
pub(super) const BAR: &str = "┃";

/// With at least so many columns, messages show the numbers of their turns.
const NUMBERED: u16 = 60;

/// How far after a call its result is searched.
const NEAR: usize = 64;

/// What is unfolded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Open {
    /// The reasoning.
    pub(super) reasoning: bool,
    /// The output of tools.
    pub(super) output: bool,
    /// Everything of this entry.
    pub(super) all: bool,
}

/// Whether the entry at this index is a result in the card of its call.
pub(super) fn is_joined(talk: &LoadedConversation, at: usize) -> bool {
    let of = |entry: &Entry| entry.parts.iter().find_map(result_of).map(str::to_owned);
    let entry = &talk.entries[at];
    let Some(call) = of(entry).filter(|_| entry.role == Role::Tool) else { return false };
    let before = talk.entries[..at].iter().rev().take(NEAR).find(|before| before.role != Role::Tool);
    before.is_some_and(|before| calls_of(before).any(|id| id == call))
}

fn result_of(part: &Part) -> Option<&str> {
    match part {
        Part::ToolResult { call, .. } => Some(call),
        _ => None,
    }
}

fn calls_of(entry: &Entry) -> impl Iterator<Item = &str> {
    entry.parts.iter().filter_map(|part| match part {
        Part::ToolCall { id, .. } => Some(id.as_str()),
        _ => None,
    })
}

/// The results after an entry that belong to its cards.
fn results(talk: &LoadedConversation, at: usize) -> impl Iterator<Item = &Entry> {
    let asks = calls_of(&talk.entries[at]).next().is_some();
    let after = if asks { &talk.entries[at + 1..] } else { &[] };
    after.iter().take(NEAR).take_while(|entry| entry.role == Role::Tool)
}

/// The outcome of a call, by its number in its entry. `None` while it is shown as running or waiting for approval.
fn came<'a>(talk: &'a LoadedConversation, at: usize, number: usize, id: &str) -> Option<CallOutcome<'a>> {
    let over = results(talk, at).find_map(|entry| {
        entry.parts.iter().find_map(|part| match part {
            Part::ToolResult { call, content, failed } if call == id => {
                Some(CallOutcome::Over { content, failed: *failed, took_ms: entry.took_ms })
            }
            _ => None,
        })
    });
    let key = key(&talk.entries[at], number);
    match (&talk.live, over) {
        (_, Some(over)) => Some(over),
        (Some(live), None) if is_newest(talk, at) => {
            let running = live.calls.iter().map(|call| &call.now.call);
            let asked = live.asks.iter().map(|asks| &asks.call);
            let shown = running.chain(asked).any(|call| call.call == key);
            (!shown).then_some(CallOutcome::Waits)
        }
        (None, None) if is_newest(talk, at) => {
            Some(CallOutcome::Cut { begun: talk.begun(&key), is_last: true })
        }
        _ => Some(match talk.begun(&key) {
            CallStart::Yes => CallOutcome::Cut { begun: CallStart::Yes, is_last: false },
            _ => CallOutcome::Unknown,
        }),
    }
}

/// A run's name for a call: its entry, and its number there, from 1.
fn key(entry: &Entry, number: usize) -> String {
    format!("{}-{number}", entry.id)
}

/// Whether only results follow.
fn is_newest(talk: &LoadedConversation, at: usize) -> bool {
    let after = &talk.entries[at + 1..];
    after.len() <= NEAR && after.iter().all(|entry| entry.role == Role::Tool)
}

/// A number that changes whenever the entry looks different, apart from width and colours. The content of an entry never
/// changes: it can only be erased.
pub(super) fn version(talk: &LoadedConversation, at: usize) -> u64 {
    let mut hasher = DefaultHasher::new();
    let entry = &talk.entries[at];
    (&entry.mark, &entry.fold, &entry.label, entry.flags.interrupted, entry.flags.erased).hash(&mut hasher);
    (entry.alternative, entry.parts.len(), entry.usage.is_some(), follows_card(talk, at)).hash(&mut hasher);
    for result in results(talk, at) {
        (&result.id, result.flags.erased, result.took_ms).hash(&mut hasher);
    }
    for (number, id) in (1..).zip(calls_of(entry)) {
        match came(talk, at, number, id) {
            None => 0,
            Some(CallOutcome::Waits) => 1,
            Some(CallOutcome::Unknown) => 2,
            Some(CallOutcome::Over { .. }) => 3,
            Some(CallOutcome::Cut { begun, is_last }) => 4 + 2 * begun as u8 + u8::from(is_last),
        }
        .hash(&mut hasher);
    }
    hasher.finish()
}

/// Whether an entry holds code that may have colours.
pub(super) fn has_code(entry: &Entry) -> bool {
    let is_code = |text: &str| text.contains("```") || text.contains("~~~");
    entry.parts.iter().any(|part| match part {
        Part::Text { text } => is_code(text),
        // Diffs have colours, too.
        Part::ToolCall { .. } => true,
        _ => false,
    })
}

/// Whether the entry begins with a card directly below another one.
fn follows_card(talk: &LoadedConversation, at: usize) -> bool {
    let is_card = |part: Option<&Part>| matches!(part, Some(Part::ToolCall { .. }));
    let first = talk.entries[at].parts.iter().find(|part| !matches!(part, Part::Reasoning { .. }));
    let before = talk.entries[..at].iter().rev().take(NEAR).find(|entry| entry.role != Role::Tool);
    talk.entries[at].alternative.is_none()
        && is_card(first)
        && before.is_some_and(|before| is_card(before.parts.last()))
}

/// The lines of an entry; none if it is in the card of its call.
pub(super) fn lines(
    talk: &LoadedConversation,
    at: usize,
    ink: DrawParameters<'_>,
    open: Open,
) -> Vec<Line<'static>> {
    if is_joined(talk, at) {
        return Vec::new();
    }
    let entry = &talk.entries[at];
    let mut page = Page::new(ink);
    if at > 0 && !follows_card(talk, at) {
        page.gap();
    }
    let begun = page.lines.len();
    let faint = entry.mark != Mark::Normal || entry.fold.is_some();
    match entry.role {
        _ if entry.flags.synthetic && !open.all => {
            by_program(&mut page, entry);
            return page.lines;
        }
        Role::User => said(&mut page, entry, faint, open),
        Role::System => {
            let text = parts_text(&entry.parts);
            page.cut(if entry.flags.synthetic { words::PROGRAM } else { "system" }, Paint::Warn);
            calls::beginning(&mut page, (&text, 0), SAID, None, open.all);
        }
        Role::Assistant | Role::Tool => {
            // An answer says first that there are alternatives.
            if let Some(which) = entries::alternative(entry) {
                page.text(&format!("[{which}]"), Paint::Warn);
            }
            answer(&mut page, talk, at, faint, open);
        }
    }
    marks(&mut page, entry);
    if page.lines.len() == begun {
        // All of it is shown elsewhere while it runs.
        page.lines.clear();
    }
    page.lines
}

/// A message of a program without a person: one line, as it is meant for the agent.
fn by_program(page: &mut Page<'_>, entry: &Entry) {
    let text = parts_text(&entry.parts);
    let first = text.trim().lines().next().unwrap_or_default().to_owned();
    let lines = text.trim().lines().count();
    let mut flags = entries::flags(entry);
    flags.retain(|flag| flag != entries::BY_PROGRAM);
    let flags: String = flags.iter().map(|flag| format!(" [{flag}]")).collect();
    let keys = [Command::Select, Command::SelectOpen].map(|command| name(page, command));
    let more = if lines > 1 { format!(" … {} shows", keys.join(" ")) } else { String::new() };
    let before = format!("{}: ", entries::BY_PROGRAM);
    let taken = width::columns(&before) + width::columns(&flags) + width::columns(&more);
    let room = usize::from(page.ink.room()).saturating_sub(taken).max(12);
    let first = safe::line(&first).into_owned();
    page.cut(&format!("{before}{}{more}{flags}", width::truncate(&first, room)), Paint::Dim);
}

fn said(page: &mut Page<'_>, entry: &Entry, faint: bool, open: Open) {
    let text = parts_text(&entry.parts);
    let (whole, theme) = (page.ink.prose(), page.ink.theme);
    // Commands name a turn by its number. It has columns of its own if there are enough.
    let turn =
        (entry.place.opens_turn && page.ink.width >= NUMBERED).then(|| format!("t{}", entry.place.turn));
    let taken = turn.as_ref().map_or(0, |turn| u16::try_from(turn.len() + 2).unwrap_or(0));
    let room = whole.saturating_sub(taken);
    // Other white space is a control character, which is shown.
    let text = text.trim_end_matches([' ', '\t', '\n']);
    // Lays out no more of it than is shown.
    let most = if open.all { text.len() } else { SAID * usize::from(room).max(40) };
    let end =
        text.split_inclusive('\n').take(if open.all { usize::MAX } else { SAID + 1 }).map(str::len).sum();
    let end = (most.min(end)..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    let mut lines = doc::said(&text[..end], room, theme, if faint { Paint::Dim } else { Paint::Bold });
    if !open.all && (end < text.len() || lines.len() > SAID + 1) {
        lines.truncate(SAID);
        let keys = [Command::Select, Command::SelectOpen].map(|command| name(page, command));
        let letters = words::count(text.chars().count() as u64, "letter");
        let hint = format!("… {letters} · {} shows", keys.join(" "));
        lines.push(Line::from(doc::cut(&hint, theme.style(Paint::Dim), room.into())));
    }
    let who = match &entry.origin {
        Some(origin) => Some(format!("{} · {}", safe::line(&entry.author), chat::place(&origin.place))),
        None if entry.flags.observed && !entry.author.is_empty() => {
            Some(safe::line(&entry.author).into_owned())
        }
        None => None,
    };
    if let Some(who) = who {
        lines.insert(0, Line::from(doc::cut(&who, theme.style(Paint::Dim), room.into())));
    }
    if let (Some(turn), Some(first)) = (turn, lines.first_mut()) {
        let gap = usize::from(whole).saturating_sub(first.width() + turn.len());
        first.spans.push(Span::raw(" ".repeat(gap)));
        first.spans.push(Span::styled(turn, theme.style(Paint::Dim).add_modifier(LABEL)));
    }
    let bar = page.ink.span(BAR, if faint { Paint::Dim } else { Paint::User });
    page.barred(&bar, lines);
}

fn name(page: &Page<'_>, command: Command) -> String {
    page.ink.keys.named(command)
}

fn answer(page: &mut Page<'_>, talk: &LoadedConversation, at: usize, faint: bool, open: Open) {
    let entry = &talk.entries[at];
    let (mut after_text, mut after_reasoning) = (false, false);
    let mut number = 0;
    for part in &entry.parts {
        match part {
            Part::Text { text } if text.trim().is_empty() => {}
            Part::Text { text } => {
                let (room, theme) = (page.ink.room(), page.ink.theme);
                if std::mem::take(&mut after_reasoning) {
                    page.gap();
                }
                let lines = doc::markdown(text, room, theme);
                let dim = theme.style(Paint::Dim);
                page.push(lines.into_iter().map(|line| if faint { line.patch_style(dim) } else { line }));
                after_text = true;
            }
            Part::Reasoning { text, .. } => {
                let is_open = open.reasoning || open.all;
                reasoning(page, text, is_open);
                // If it is unfolded, it ends with an empty line.
                after_reasoning = !is_open && !text.trim().is_empty();
            }
            Part::ToolCall { id, name, arguments, sent } => {
                number += 1;
                if let Some(came) = came(talk, at, number, id) {
                    if std::mem::take(&mut after_text) {
                        page.gap();
                    }
                    let is_open = open.output || open.all;
                    calls::stored(page, name, arguments, came, is_open);
                    if let Some(sent) = sent.as_ref().filter(|_| is_open) {
                        page.text(&content::sent(sent), Paint::Dim);
                    }
                }
            }
            Part::ToolResult { content, failed, .. } => {
                calls::orphan(page, content, *failed, open.output || open.all);
            }
            Part::Recalled { facts } => match open.output || open.all {
                true => page.text(&content::recalled(facts), Paint::Dim),
                false => page.cut(&content::recalled_line(facts), Paint::Dim),
            },
            Part::Image { .. } | Part::File { .. } | Part::Erased => page.text(&noted(part), Paint::Dim),
        }
    }
    let answers = calls_of(entry).next().is_none();
    if let Some(usage) = entry.usage.as_ref().and_then(content::usage).filter(|_| answers || open.all) {
        page.text(&usage, Paint::Dim);
    }
}

/// The reasoning, or a line that there is some.
pub(super) fn reasoning(page: &mut Page<'_>, text: &str, open: bool) {
    let text = text.trim();
    if text.is_empty() {
        return;
    }
    if open {
        let ink = page.ink;
        page.push(doc::plain(text, ink.prose(), ink.theme, Paint::Dim));
        page.gap();
    } else {
        let lines = words::count(text.lines().count() as u64, "line");
        let line = format!("reasoning · {lines} · {} shows", name(page, Command::Reasoning));
        page.cut(&line, Paint::Dim);
    }
}

/// The special properties of the entry.
fn marks(page: &mut Page<'_>, entry: &Entry) {
    let mut flags = entries::flags(entry);
    if matches!(entry.role, Role::Assistant | Role::Tool) {
        flags.retain(|flag| Some(flag) != entries::alternative(entry).as_ref());
    }
    if !flags.is_empty() {
        page.text(&format!("[{}]", flags.join("] [")), Paint::Warn);
    }
}

/// The placeholder for a part that is no text.
fn noted(part: &Part) -> String {
    match part {
        Part::Image { media_type, url, .. } => match url {
            Some(url) => format!("[image: {}]", safe::line(url)),
            None => format!("[image: {}]", safe::line(media_type)),
        },
        Part::File { name, .. } => format!("[file: {}]", safe::line(name)),
        Part::Recalled { facts } => content::recalled(facts),
        Part::Erased => "[erased]".to_owned(),
        Part::ToolCall { name, arguments, .. } => calls::line(name, arguments),
        Part::Text { text } | Part::Reasoning { text, .. } => text.clone(),
        Part::ToolResult { content, .. } => content.clone(),
    }
}

/// The content of an entry as text: its own text, or placeholders, and the results of its calls, without reasoning.
pub(super) fn text_of(talk: &LoadedConversation, at: usize) -> String {
    let all = std::iter::once(&talk.entries[at]).chain(results(talk, at));
    all.map(|entry| parts_text(&entry.parts)).collect::<Vec<_>>().join("\n")
}

/// The same for parts.
pub(super) fn parts_text(parts: &[Part]) -> String {
    let shown = parts.iter().filter(|part| !matches!(part, Part::Reasoning { .. }));
    shown.map(noted).collect::<Vec<_>>().join("\n")
}
