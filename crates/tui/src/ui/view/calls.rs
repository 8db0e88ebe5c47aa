//! Tool calls as cards: the outcome, what the call does, its duration, and as much of its result as a person reads. Must never
//! show more unless the person unfolds it. Must never call a call successful if its result is unknown.

use ratatui::text::{Line, Span};
use retake_wire::CallShown;
use serde_json::Value;

use super::page::{DrawParameters, Page};
use crate::render::calls::{self, CallStart, reads};
use crate::render::words;
use crate::text::{safe, time};
use crate::ui::doc;
use crate::ui::keymap::Command;
use crate::ui::theme::Paint;

/// Lines shown of a call's output or of the reason for its failure.
const LINES: usize = 5;

/// Lines shown of a diff.
const DIFF_LINES: usize = 16;

/// Lines shown of anything unfolded: as many as an approval request shows.
const MOST: usize = 20_000;

/// The outcome of a call.
#[derive(Clone, Copy, Debug)]
pub(super) enum CallOutcome<'a> {
    /// It waits for the calls before it.
    Waits,
    /// It never ran, or its result is not here.
    Unknown,
    /// Its run was interrupted.
    Cut {
        /// Whether it had started; not while it waited for approval.
        begun: CallStart,
        /// The conversation has not continued since.
        is_last: bool,
    },
    /// It is over.
    Over {
        /// Its result.
        content: &'a str,
        /// Whether it failed.
        failed: bool,
        /// Its duration, if known.
        took_ms: Option<i64>,
    },
}

/// What a call does, in a line.
pub(super) fn line(name: &str, arguments: &str) -> String {
    safe::line(&retake_wire::call_line(name, arguments)).into_owned()
}

/// What a call should do, if one line is too short for all of it.
fn whole(name: &str, arguments: &str) -> Option<String> {
    let given: Value = serde_json::from_str(arguments).ok()?;
    match name {
        "shell" => {
            let command = given.get("command")?.as_str()?;
            (command.contains('\n') || doc::columns(command) > 60).then(|| command.to_owned())
        }
        "edit" | "write" | "patch" | "todo" => None,
        _ => (arguments.len() > 60).then(|| format!("{given:#}")),
    }
}

/// The hunks of an edit according to its result, shown below its first line.
fn hunks(name: &str, came: CallOutcome<'_>) -> Option<String> {
    let CallOutcome::Over { content, failed: false, .. } = came else { return None };
    let (_, hunks) = content.split_once("\n@@ ").filter(|_| name == "edit")?;
    Some(format!("@@ {hunks}"))
}

/// A diff without its last line, if that says how many lines the tool left out; and their number.
fn left_out(hunks: &str) -> (&str, usize) {
    let (shown, last) = hunks.trim_end().rsplit_once('\n').unwrap_or_default();
    let number = last.strip_prefix('[').and_then(|last| last.strip_suffix(" not shown]"));
    match number.and_then(|number| number.split(' ').next()?.parse().ok()) {
        Some(number) => (shown, number),
        None => (hunks, 0),
    }
}

/// The diff of a call, as far as its arguments contain it.
fn change(name: &str, arguments: &str) -> Option<String> {
    if !matches!(name, "edit" | "write" | "patch") {
        return None;
    }
    let given: Value = serde_json::from_str(arguments).ok()?;
    let word = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    match name {
        "patch" => word(&given, "patch"),
        "write" => Some(replaced("", &word(&given, "content")?)),
        _ => {
            let edits = given.get("edits")?.as_array()?;
            let one = |edit: &Value| Some(replaced(&word(edit, "old")?, &word(edit, "new")?));
            Some(edits.iter().filter_map(one).collect::<Vec<_>>().join("@@\n"))
        }
    }
}

/// The file that a call changes.
fn file(arguments: &str) -> Option<String> {
    let given: Value = serde_json::from_str(arguments).ok()?;
    given.get("path").and_then(Value::as_str).map(str::to_owned)
}

/// The lines that an edit removes and adds, with one line of context.
fn replaced(old: &str, new: &str) -> String {
    let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
    let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let (old_rest, new_rest) = (&old[same..], &new[same..]);
    let after = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(old, new)| old == new).count();
    let mut diff = String::new();
    let mut push = |sign: char, lines: &[&str]| {
        for line in lines {
            diff.push(sign);
            diff.push_str(line);
            diff.push('\n');
        }
    };
    push(' ', &old[same.saturating_sub(1)..same]);
    push('-', &old_rest[..old_rest.len() - after]);
    push('+', &new_rest[..new_rest.len() - after]);
    push(' ', &new_rest[new_rest.len() - after..][..after.min(1)]);
    diff
}

/// A stored call.
pub(super) fn stored(page: &mut Page<'_>, name: &str, arguments: &str, came: CallOutcome<'_>, open: bool) {
    let (sign, paint) = match came {
        CallOutcome::Waits | CallOutcome::Unknown => ("○", Paint::Dim),
        CallOutcome::Cut { .. } => ("!", Paint::Warn),
        CallOutcome::Over { failed: true, .. } => ("✗", Paint::Error),
        CallOutcome::Over { .. } => ("✓", Paint::Good),
    };
    let mut about = Vec::new();
    match came {
        CallOutcome::Waits => about.push("waits".to_owned()),
        CallOutcome::Unknown => about.push("no result".to_owned()),
        CallOutcome::Cut { begun: CallStart::Perhaps, .. } => about.push("no result".to_owned()),
        CallOutcome::Cut { .. } => about.push("interrupted".to_owned()),
        CallOutcome::Over { content, failed, took_ms } => {
            if reads(name) && !failed && !open && name != "todo" {
                about.push(words::count(content.lines().count() as u64, "line"));
            }
            let took = took_ms.filter(|took| *took >= 1_000).map(time::lasted);
            about.extend(took.map(|took| format!("took {took}")));
        }
    }
    let sign = page.ink.span(sign, paint);
    head(page, sign, &line(name, arguments), &about.join(" · "));
    if let Some(all) = whole(name, arguments).filter(|_| open) {
        page.text(&all, Paint::Code);
    }
    let change = match hunks(name, came) {
        // The arguments have all of it, without the numbers of lines.
        Some(hunks) if open && left_out(&hunks).1 > 0 => change(name, arguments).or(Some(hunks)),
        Some(hunks) => Some(hunks),
        None => change(name, arguments),
    };
    match came {
        CallOutcome::Cut { begun, is_last } => page.text(&cut_off(name, begun, is_last), Paint::Warn),
        CallOutcome::Over { content, failed: true, .. } => end(page, content, Paint::Plain, open),
        _ if change.is_some() => {
            let change = change.unwrap_or_default();
            let file = file(arguments);
            beginning(page, left_out(&change), DIFF_LINES, Some(file.as_deref()), open);
        }
        CallOutcome::Over { content, .. } if open && reads(name) => {
            beginning(page, (content, 0), MOST, doc::is_diff(content).then_some(None), open);
        }
        CallOutcome::Over { content, .. } if !reads(name) => {
            if doc::is_diff(content) {
                beginning(page, left_out(content), DIFF_LINES, Some(None), open);
            } else {
                end(page, content, Paint::Dim, open);
            }
        }
        _ => {}
    }
}

/// The outcome of an interrupted call, and what to do.
fn cut_off(name: &str, begun: CallStart, is_last: bool) -> String {
    let what = calls::cut_off(name, begun);
    if !is_last {
        return what.to_owned();
    }
    let then = if what.contains(':') { "; " } else { ": " };
    format!("{what}{then}/retry asks again")
}

/// A result without its call.
pub(super) fn orphan(page: &mut Page<'_>, content: &str, failed: bool, open: bool) {
    let (sign, paint) = if failed { ("✗", Paint::Error) } else { ("✓", Paint::Good) };
    let sign = page.ink.span(sign, paint);
    head(page, sign, "result of a call", "");
    end(page, content, if failed { Paint::Plain } else { Paint::Dim }, open);
}

/// A running call, with the end of its output.
pub(super) fn running(page: &mut Page<'_>, call: &CallShown, printed: &str, since_ms: i64) {
    let took = page.ink.now_ms - since_ms;
    let about = if took >= 1_000 { time::lasted(took) } else { String::new() };
    let sign = spinner(&page.ink);
    head(page, sign, &safe::line(&call.line), &about);
    end(page, printed, Paint::Dim, false);
}

/// A spinner that turns while something goes on.
pub(super) fn spinner(ink: &DrawParameters<'_>) -> Span<'static> {
    const TURNS: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
    let turn = usize::try_from(ink.now_ms.rem_euclid(1_000) / 100).unwrap_or(0);
    ink.span(TURNS[turn % TURNS.len()], Paint::Accent)
}

/// The first line of a card.
pub(super) fn head(page: &mut Page<'_>, sign: Span<'static>, line: &str, about: &str) {
    let ink = page.ink;
    let room = usize::from(ink.room());
    let about = if about.is_empty() { String::new() } else { format!(" · {about}") };
    let beside = doc::columns(&about);
    let beside = if beside * 2 > room { 0 } else { beside };
    let mut spans = vec![doc::cut(line, ink.theme.style(Paint::Bold), room - beside)];
    if beside > 0 {
        spans.push(ink.span(about, Paint::Dim));
    }
    page.signed(sign, [Line::from(spans)]);
}

/// The first lines of a text that lacks so many at its end. For a diff, also the name of its file, if that is known otherwise.
pub(super) fn beginning(
    page: &mut Page<'_>,
    (text, lacks): (&str, usize),
    most: usize,
    diff: Option<Option<&str>>,
    open: bool,
) {
    let most = if open { MOST } else { most };
    let all = text.trim_end().lines().count();
    let first: Vec<&str> = text.trim_end().lines().take(most).collect();
    if first.is_empty() {
        return;
    }
    let (first, room, theme) = (first.join("\n"), page.ink.room(), page.ink.theme);
    page.push(match diff {
        Some(file) => doc::diff(&first, file, room, theme),
        None => doc::plain(&first, room, theme, Paint::Dim),
    });
    let more = all.saturating_sub(most) + lacks;
    if more > 0 {
        let how = match (open, diff) {
            (true, Some(_)) => DIFF.to_owned(),
            _ => unfold(page, open),
        };
        page.cut(&format!("… {}{how}", words::count(more as u64, "more line")), Paint::Dim);
    }
}

/// How to see the rest of a diff.
const DIFF: &str = ": /diff compares the files with those before the last turn";

/// The last lines of a text.
fn end(page: &mut Page<'_>, text: &str, paint: Paint, open: bool) {
    // Reads no more of it than can be shown.
    let text = text.trim_end();
    let most = if open { MOST } else { LINES };
    let all = text.lines().count();
    if all > most {
        let before = format!("… {} before{}", words::count((all - most) as u64, "line"), unfold(page, open));
        page.cut(&before, Paint::Dim);
    }
    let last: Vec<&str> = text.lines().skip(all.saturating_sub(most)).collect();
    for line in doc::stripped(&last.join("\n")).split('\n').filter(|_| !last.is_empty()) {
        if open {
            page.text(line, paint);
        } else {
            page.cut(line, paint);
        }
    }
}

fn unfold(page: &Page<'_>, open: bool) -> String {
    if open { String::new() } else { format!(", {} shows", page.ink.keys.named(Command::Output)) }
}
