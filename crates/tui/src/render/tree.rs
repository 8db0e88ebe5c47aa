//! The branches of a conversation, its forks and its subagents. Must never show the text of a hidden entry: the reply does not
//! contain it.

use retake_wire::reply::{Branch, Line, Tree};

use super::id::Ids;
use super::{entries, words};
use crate::text::style::Style;
use crate::text::styled::text;
use crate::text::{Look, Text, safe};

/// All branches, oldest first, and all forks.
pub fn tree(look: &Look, tree: &Tree) -> Text {
    if tree.branches.is_empty() && tree.forks.is_empty() && tree.subagents.is_empty() {
        return entries::dim(look, "there is no branch yet: nothing has been said");
    }
    let mut text = branches(look, tree);
    if !tree.branches.iter().any(|branch| branch.current) {
        text.push(text![(Style::Good, "●"), " the beginning (you are here)\n"]);
    }
    text + forks(look, tree) + subagents(look, tree)
}

/// A page of them. It says where the conversation is only if that branch is on the page.
pub fn page(look: &Look, page: &Tree) -> Text {
    let text = branches(look, page) + forks(look, page) + subagents(look, page);
    match page.next() {
        Some(last) => text + entries::dim(look, &format!("… more: --after {last}")),
        None if text.is_empty() => entries::dim(look, "there are no more"),
        None => text,
    }
}

fn branches(look: &Look, tree: &Tree) -> Text {
    let ids: Ids = tree.branches.iter().map(|it| it.leaf.as_str()).collect();
    tree.branches.iter().map(|branch| one(look, branch, &ids)).collect()
}

fn forks(look: &Look, tree: &Tree) -> Text {
    let mut text = Text::new();
    for fork in &tree.forks {
        let from =
            fork.from.as_deref().map(|from| format!(" after {}", super::id::short(from))).unwrap_or_default();
        let id = super::id::short(&fork.conversation);
        let title = words::quoted(&fork.title, look.columns.saturating_sub(40).max(20));
        text.push(text![(Style::Accent, "fork"), format!(" {id}{title}{from}\n")]);
    }
    text
}

fn subagents(look: &Look, tree: &Tree) -> Text {
    let mut text = Text::new();
    for subagent in &tree.subagents {
        let id = super::id::short(&subagent.conversation);
        let title = words::quoted(&subagent.title, look.columns.saturating_sub(48).max(20));
        let asked = super::id::short(&subagent.entry);
        let now = if subagent.running { " (at work)" } else { "" };
        text.push(text![(Style::Accent, "subagent"), format!(" {id}{title} of {asked}{now}\n")]);
    }
    text
}

fn one(look: &Look, branch: &Branch, ids: &Ids<'_>) -> Text {
    let (sign, style) = if branch.current { ("●", Style::Good) } else { ("○", Style::Dim) };
    let here = if branch.current { " (you are here)" } else { "" };
    let (id, about) = (ids.short(&branch.leaf), about(look, branch));
    let mut text = text![(style, sign), " ", (Style::Accent, id), here, "  ", (Style::Dim, about), "\n"];
    let room = look.columns.saturating_sub(14).max(20);
    let mut say = |what: &str, line: &Line| {
        if line.preview.is_empty() {
            return;
        }
        let (speaker, _) = words::said_by(line);
        let quoted = words::quote(&line.preview, room.saturating_sub(speaker.len() + 1));
        text.push(format!("    {what:<7} {speaker} {quoted}\n"));
    };
    if let Some(from) = &branch.from {
        say("after", from);
    }
    if let Some(first) = &branch.first {
        say("begins", first);
    }
    let apart = branch.called.as_ref().filter(|called| called.id != branch.last.id);
    if let Some(called) =
        apart.filter(|called| branch.first.as_ref().is_none_or(|first| first.id != called.id))
    {
        say("own", called);
    }
    if branch.first.as_ref().is_none_or(|first| first.id != branch.last.id) {
        say("ends", &branch.last);
    }
    text
}

/// A branch in one line.
pub fn about(look: &Look, branch: &Branch) -> String {
    let mut text = words::count(branch.messages, "message");
    if branch.own != branch.messages {
        text.push_str(&format!(", {} of its own", words::number(branch.own)));
    }
    text.push_str(&format!(" · {}", words::when(look, branch.last.time_ms)));
    if let Some(label) = &branch.label {
        text.push_str(&format!(" · label {}", safe::line(label)));
    }
    text
}
