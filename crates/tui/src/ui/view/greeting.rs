//! The first screen of a conversation: what it is, the most important keys, the last conversations. Must never name a key that does
//! something else.

use ratatui::text::{Line, Span};

use super::page::{DrawParameters, Page};
use super::state::Greeting;
use crate::render::words;
use crate::text::{safe, time};
use crate::ui::doc;
use crate::ui::keymap::Command;
use crate::ui::theme::Paint;

/// The columns for the name of a conversation.
const TITLE: usize = 40;

/// The text of an empty conversation: in few rows, the most necessary first.
pub(super) fn greeting(ink: DrawParameters<'_>, it: &Greeting, rows: u16) -> Vec<Line<'static>> {
    let all = greeted(ink, it, true);
    if all.len() <= usize::from(rows) { all } else { greeted(ink, it, false) }
}

fn greeted(ink: DrawParameters<'_>, it: &Greeting, whole: bool) -> Vec<Line<'static>> {
    let mut page = Page::new(ink);
    let mut first = doc::Run::of("retake", ink.theme.style(Paint::Accent));
    if !it.version.is_empty() {
        first.push(&format!(" {}", it.version), ink.theme.style(Paint::Dim));
    }
    first.push(": an AI agent in which nothing is final", ink.theme.style(Paint::Plain));
    page.push(first.wrap(ink.room().into()).into_iter().map(Line::from));
    if let (Some(place), true) = (&it.place, whole) {
        page.text(place, Paint::Dim);
    }
    for limit in it.limits.iter().flatten() {
        page.text(&safe::line(limit), Paint::Warn);
    }
    page.gap();
    let things = things(ink, it, whole);
    let names: Vec<_> = things.iter().map(|(command, _)| ink.keys.named(*command)).collect();
    let wide = names.iter().map(|name| doc::columns(name)).max().unwrap_or(0);
    for (name, (_, help)) in names.iter().zip(things) {
        let fill = " ".repeat(wide - doc::columns(name) + 2);
        let name = Span::styled(name.clone(), ink.theme.style(Paint::Accent));
        let room = usize::from(ink.room()).saturating_sub(wide + 2);
        let help = doc::cut(&help, ink.theme.style(Paint::Plain), room);
        let line = doc::rewrap(vec![Line::from(vec![name, Span::raw(fill), help])], ink.room().into());
        page.push(line);
    }
    page.gap();
    match it.model.as_deref() {
        Some(model) if model == "demo" || model.starts_with("demo:") => {
            page.text("the demo model answers: it needs no key", Paint::Dim);
            page.text("for a real one: retake config set model.default PROVIDER/MODEL", Paint::Plain);
        }
        Some(model) => page.text(&format!("{} answers", safe::line(model)), Paint::Dim),
        None => page.text(&format!("{} chooses the model", ink.keys.named(Command::Model)), Paint::Dim),
    }
    page.lines
}

/// The most important commands, and what they do now.
fn things(ink: DrawParameters<'_>, it: &Greeting, whole: bool) -> Vec<(Command, String)> {
    let mut recent = it.recent.iter().map(|(name, when_ms)| {
        let name = if name.is_empty() { "one without a name".to_owned() } else { words::quote(name, TITLE) };
        format!("{name}, {}", time::relative(ink.now_ms, *when_ms))
    });
    let last = recent.next().map(|last| (Command::GoOn, format!("continue {last}")));
    let others: Vec<_> = recent.collect();
    let others = if others.is_empty() {
        "your other conversations".to_owned()
    } else {
        format!("your other conversations: {}", others.join(" · "))
    };
    let mut things = vec![(Command::Send, "say what you want done".to_owned())];
    things.extend(last);
    things.extend([
        (Command::Rewind, "go back to before any message, files included".to_owned()),
        (Command::Undo, "take back the last thing said or done".to_owned()),
        (Command::List, others),
        (Command::Help, "all keys and commands".to_owned()),
    ]);
    if whole {
        things.push((Command::Quit, "quit; everything is kept".to_owned()));
    }
    things
}
