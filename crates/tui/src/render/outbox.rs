//! The outbox: what waits to be delivered, and why. Must never show a result of a destination unescaped.

use retake_wire::reply::{Outbox, OutboxFailure, OutboxItem};

use super::id;
use super::table::{cell, table};
use super::words;
use crate::text::style::Style;
use crate::text::{Look, Text, safe};

/// The items, a line each.
pub fn outbox(look: &Look, it: &Outbox) -> Text {
    let mut text = Text::new();
    if it.items.is_empty() {
        text.push("nothing waits to be delivered\n");
    }
    text.push(table(look, &it.items.iter().map(|item| row(item, look.now_ms)).collect::<Vec<_>>()));
    text
}

fn row(item: &OutboxItem, now_ms: i64) -> Vec<super::table::Cell> {
    let (state, style) = state(item, now_ms);
    vec![
        cell(safe::line(&item.id)),
        cell(id::short(&item.conversation)).style(Style::Dim),
        cell(changes(item)),
        cell(state).style(style),
    ]
}

/// What an item holds. The end of a turn changes no message.
pub fn changes(item: &OutboxItem) -> String {
    match item.changes {
        0 => "the end of a turn".to_owned(),
        changes => words::count(changes, "change"),
    }
}

/// The state of an item, for people.
pub fn state(item: &OutboxItem, now_ms: i64) -> (String, Style) {
    let last = item.last_result.as_deref().map(|last| format!(": {}", safe::line(last))).unwrap_or_default();
    let tried = words::count(u64::from(item.attempts), "attempt");
    match (item.failure, item.next_ms) {
        (Some(failure), None) => {
            (format!("passed over, because {}, after {tried}{last}", why(failure)), Style::Error)
        }
        _ if !item.configured => ("waits: its destination is not set any more".to_owned(), Style::Warn),
        (_, Some(next)) if item.last_result.is_some() => {
            (format!("waits {} after {tried}{last}", seconds(next - now_ms)), Style::Warn)
        }
        _ => ("is being delivered".to_owned(), Style::Dim),
    }
}

fn why(failure: OutboxFailure) -> &'static str {
    match failure {
        OutboxFailure::AlreadyGone => "the destination is gone",
        OutboxFailure::NotPermitted => "it is not permitted",
        OutboxFailure::TooOld => "it was tried for too long",
        OutboxFailure::Refused => "the destination refused it",
        OutboxFailure::Unknown => "it failed",
    }
}

/// A time to wait, for people.
fn seconds(ms: i64) -> String {
    match ms.max(0) / 1000 {
        seconds @ 0..120 => format!("{} s", seconds.max(1)),
        seconds @ 120..7200 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3600),
    }
}
