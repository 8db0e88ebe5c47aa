//! A reading of a conversation: its messages one below the other. Must never show a mark as a colour only.

use retake_wire::reply::{Entries, Entry, Prompt};

use super::calls::Begun;
use super::id::Ids;
use super::{calls, content, words};
use crate::text::Look;
use crate::text::safe;
use crate::text::style::Style;

/// Messages are indented by so much below their heading.
const INDENT: usize = 4;

/// A page of a reading.
pub fn entries(look: &Look, page: &Entries) -> String {
    if page.entries.is_empty() {
        return dim(look, "nothing has been said here yet");
    }
    let ids = ids(&page.entries);
    let mut text = String::new();
    if let Some(first) = page.entries.first().filter(|_| page.earlier) {
        let hint = beyond(look, "… earlier ones", "before", ids.short(&first.id));
        text.push_str(&dim(look, &hint));
        text.push('\n');
    }
    text.push_str(&list(look, &page.entries, &page.unbegun, &page.cut_off));
    if let Some(last) = page.entries.last().filter(|_| page.later) {
        let hint = beyond(look, "… later ones", "after", ids.short(&last.id));
        text.push('\n');
        text.push_str(&dim(look, &hint));
    }
    text
}

fn beyond(look: &Look, what: &str, where_to: &str, id: &str) -> String {
    if look.ids { format!("{what} {where_to} {id}") } else { what.to_owned() }
}

/// Messages, an empty line between them; of calls that were cut off before they began or later, that they were.
pub fn list(look: &Look, entries: &[Entry], unbegun: &[String], cut_off: &[String]) -> String {
    let ids = ids(entries);
    let shown: Vec<String> = entries.iter().map(|entry| one(look, entry, &ids, (unbegun, cut_off))).collect();
    shown.join("\n")
}

fn ids(entries: &[Entry]) -> Ids<'_> {
    entries.iter().map(|entry| entry.id.as_str()).collect()
}

fn one(look: &Look, entry: &Entry, ids: &Ids<'_>, (unbegun, cut_off): (&[String], &[String])) -> String {
    let (speaker, style) = words::speaker(entry.role, &entry.author);
    let turn = if entry.opens_turn { format!("t{}", entry.turn) } else { String::new() };
    let mut about = words::when(look, entry.time_ms);
    if look.ids {
        about.push_str(&format!(" · {}", ids.short(&entry.id)));
    }
    let mut heading = format!(
        "{turn:<width$}{} {}",
        look.palette.paint(style, speaker),
        look.palette.paint(Style::Dim, about),
        width = INDENT
    );
    if turn.len() >= INDENT {
        heading.insert(turn.len(), ' ');
    }
    for flag in flags(entry) {
        let flag = look.palette.paint(Style::Warn, format!("[{flag}]"));
        heading.push_str(&format!(" {flag}"));
    }
    let note = |number: usize, name: &str| {
        let call = format!("{}-{number}", entry.id);
        let begun = match () {
            () if unbegun.contains(&call) => Begun::No,
            () if cut_off.contains(&call) => Begun::Yes,
            () => return None,
        };
        Some(calls::cut_off(name, begun))
    };
    let body = content::parts_noted(look, &entry.parts, INDENT, &note);
    let usage = entry.usage.as_ref().and_then(content::usage);
    let usage = usage.map(|usage| content::block(look, &usage, INDENT, Some(Style::Dim)));
    format!("{heading}\n{body}{}", usage.unwrap_or_default())
}

/// Of what nobody said, but a program.
pub(crate) const BY_PROGRAM: &str = "said by a program";

/// What is special about a message.
pub(crate) fn flags(entry: &Entry) -> Vec<String> {
    let mut flags = Vec::new();
    if let Some(label) = &entry.label {
        flags.push(format!("label {}", safe::line(label)));
    }
    if entry.mark != "normal" {
        flags.push(safe::line(&entry.mark).into_owned());
    }
    if let Some(fold) = &entry.fold {
        flags.push(format!("in fold {}", safe::line(fold)));
    }
    flags.extend(alternative(entry));
    for (is, flag) in [
        (entry.interrupted, "interrupted"),
        (entry.synthetic, BY_PROGRAM),
        (entry.observed, "not said to the agent"),
        (entry.erased, "erased"),
    ] {
        if is {
            flags.push(flag.to_owned());
        }
    }
    flags
}

/// Which of several answers it is.
pub(crate) fn alternative(entry: &Entry) -> Option<String> {
    entry.alternative.map(|(number, of)| format!("alternative {number} of {of}"))
}

/// A prompt as a provider gets it.
pub fn prompt(look: &Look, prompt: &Prompt) -> String {
    if prompt.messages.is_empty() {
        return dim(look, "the prompt is empty");
    }
    let one = |message: &retake_wire::reply::PromptMessage| {
        let (speaker, style) = words::speaker(message.role, "");
        let body = content::parts(look, &message.parts, INDENT);
        format!("{}\n{body}", look.palette.paint(style, speaker))
    };
    let shown: Vec<String> = prompt.messages.iter().map(one).collect();
    shown.join("\n")
}

/// A line that is beside the point.
pub fn dim(look: &Look, line: &str) -> String {
    content::block(look, line, 0, Some(Style::Dim))
}
