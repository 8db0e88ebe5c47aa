//! A projection of a conversation: its messages in order. Must never show a mark by colour alone.

use retake_wire::Mark;
use retake_wire::reply::{Entries, Entry, Prompt};

use super::calls::CallStart;
use super::id::Ids;
use super::{calls, content, words};
use crate::text::style::Style;
use crate::text::styled::text;
use crate::text::{Look, Text, safe};

/// Indentation of a message below its heading.
const INDENT: usize = 4;

/// A page of a projection.
pub fn entries(look: &Look, page: &Entries) -> Text {
    if page.entries.is_empty() {
        return dim(look, "nothing has been said here yet");
    }
    let ids = ids(&page.entries);
    let mut text = Text::new();
    if let Some(first) = page.entries.first().filter(|_| page.earlier) {
        let hint = beyond(look, "… earlier ones", "before", ids.short(&first.id));
        text.push(dim(look, &hint));
        text.push("\n");
    }
    text.push(list(look, &page.entries, &page.unbegun, &page.cut_off));
    if let Some(last) = page.entries.last().filter(|_| page.later) {
        let hint = beyond(look, "… later ones", "after", ids.short(&last.id));
        text.push("\n");
        text.push(dim(look, &hint));
    }
    text
}

fn beyond(look: &Look, what: &str, where_to: &str, id: &str) -> String {
    if look.ids { format!("{what} {where_to} {id}") } else { what.to_owned() }
}

/// Messages with an empty line between them. Interrupted calls say whether they had started.
pub fn list(look: &Look, entries: &[Entry], unbegun: &[String], cut_off: &[String]) -> Text {
    let ids = ids(entries);
    Text::join(entries.iter().map(|entry| one(look, entry, &ids, (unbegun, cut_off))), "\n")
}

fn ids(entries: &[Entry]) -> Ids<'_> {
    entries.iter().map(|entry| entry.id.as_str()).collect()
}

fn one(look: &Look, entry: &Entry, ids: &Ids<'_>, (unbegun, cut_off): (&[String], &[String])) -> Text {
    let (speaker, style) = words::speaker(entry.role, &entry.author);
    let turn = if entry.place.opens_turn { format!("t{}", entry.place.turn) } else { String::new() };
    let mut about = words::when(look, entry.time_ms);
    if let Some(origin) = &entry.origin {
        about.push_str(&format!(" · {}", super::chat::place(&origin.place)));
    }
    if look.ids {
        about.push_str(&format!(" · {}", ids.short(&entry.id)));
    }
    let gap = if turn.len() >= INDENT { " " } else { "" };
    let mut heading = text![format!("{turn:<INDENT$}{gap}"), (style, speaker), " ", (Style::Dim, about)];
    for flag in flags(entry) {
        heading.push(" ");
        heading.push((Style::Warn, format!("[{flag}]")));
    }
    let note = |number: usize, name: &str| {
        let call = format!("{}-{number}", entry.id);
        let begun = match () {
            () if unbegun.contains(&call) => CallStart::No,
            () if cut_off.contains(&call) => CallStart::Yes,
            () => return None,
        };
        Some(calls::cut_off(name, begun))
    };
    let body = content::parts_noted(look, &entry.parts, INDENT, &note);
    let usage = entry.usage.as_ref().and_then(content::usage);
    let usage = usage.map(|usage| content::block(look, &usage, INDENT, Some(Style::Dim)));
    text![heading, "\n", body, usage]
}

/// The label of a message that a program wrote.
pub(crate) const BY_PROGRAM: &str = "said by a program";

/// The special properties of a message.
pub(crate) fn flags(entry: &Entry) -> Vec<String> {
    let mut flags = Vec::new();
    if let Some(label) = &entry.label {
        flags.push(format!("label {}", safe::line(label)));
    }
    if entry.mark != Mark::Normal {
        flags.push(entry.mark.name().to_owned());
    }
    if let Some(fold) = &entry.fold {
        flags.push(format!("in fold {}", safe::line(fold)));
    }
    flags.extend(alternative(entry));
    for (is, flag) in [
        (entry.flags.interrupted, "interrupted"),
        (entry.flags.synthetic, BY_PROGRAM),
        (entry.flags.observed, "not said to the agent"),
        (entry.flags.erased, "erased"),
    ] {
        if is {
            flags.push(flag.to_owned());
        }
    }
    flags
}

/// Which of several alternatives it is.
pub(crate) fn alternative(entry: &Entry) -> Option<String> {
    entry.alternative.map(|(number, of)| format!("alternative {number} of {of}"))
}

/// A prompt as a provider gets it.
pub fn prompt(look: &Look, prompt: &Prompt) -> Text {
    if prompt.messages.is_empty() {
        return dim(look, "the prompt is empty");
    }
    let one = |message: &retake_wire::reply::PromptMessage| {
        let (speaker, style) = words::speaker(message.role, "");
        let body = content::parts(look, &message.parts, INDENT);
        text![(style, speaker), "\n", body]
    };
    Text::join(prompt.messages.iter().map(one), "\n")
}

/// A line of secondary information.
pub fn dim(look: &Look, line: &str) -> Text {
    content::block(look, line, 0, Some(Style::Dim))
}
