//! Draws a row of the tree. Must never be wider than its room.

use retake_wire::reply::{Branch, Line};

use super::{Node, NodeKind};
use crate::render::words;
use crate::text::{time, width};
use crate::ui::rows::RowSpans;
use crate::ui::theme::Paint;

/// A message with its author.
pub(super) fn said(line: &Line) -> String {
    let (speaker, _) = words::said_by(line);
    if line.preview.is_empty() { speaker } else { format!("{speaker} {}", words::quote(&line.preview, 60)) }
}

/// Draws one, after its part of the graph.
pub(super) fn draw(node: &Node, lanes: usize, ink: &mut RowSpans<'_>, now_ms: i64) {
    let here = match &node.is {
        NodeKind::Tip(branch) => branch.current,
        NodeKind::Beginning(here) => *here,
        _ => false,
    };
    if lanes > 0 && !matches!(node.is, NodeKind::Heading(_) | NodeKind::Fork(..) | NodeKind::Subagent(_)) {
        let lanes = lanes.min(ink.room() / 3).max(1);
        ink.column(&node.lanes, lanes, if here { Paint::Good } else { Paint::Accent });
        ink.space(1);
    }
    match &node.is {
        NodeKind::Tip(branch) => draw_branch(branch, ink, now_ms),
        NodeKind::Parting(line) => ink.text(&format!("after {}", said(line)), Paint::Dim),
        NodeKind::Beginning(here) => {
            ink.field(0, usize::MAX, if *here { Paint::Good } else { Paint::Dim });
            ink.text(if *here { " · you are here" } else { "" }, Paint::Good);
        }
        NodeKind::Heading(text) => ink.text(text, Paint::Dim),
        NodeKind::Subagent(subagent) => {
            ink.text("⇉ ", Paint::Accent);
            let now = if subagent.running { "at work" } else { "" };
            ink.field_column(0, ink.room().saturating_sub(width::columns(now) + 1), Paint::Plain);
            ink.column_right(now, width::columns(now) + 1, Paint::Good);
        }
        NodeKind::Fork(_, after) => {
            ink.text("⑂ ", Paint::Accent);
            let after = after.as_ref().filter(|_| ink.room() >= 50);
            let about = after.map_or(0, |_| ink.room() / 2);
            ink.field_column(0, ink.room().saturating_sub(about), Paint::Plain);
            let after = after.map(|after| {
                let when = time::relative(now_ms, after.time_ms);
                let room = about.saturating_sub(width::columns(&when) + 10);
                format!("after {} · {when}", width::truncate(&said(after), room))
            });
            let after = after.unwrap_or_default();
            ink.column_right(&after, about, Paint::Dim);
        }
    }
}

/// Whether its name is also its last message.
pub(super) fn is_one(branch: &Branch) -> bool {
    branch.called.as_ref().is_some_and(|called| called.id == branch.last.id)
}

fn draw_branch(branch: &Branch, ink: &mut RowSpans<'_>, now_ms: i64) {
    let room = ink.room();
    let (counts, when) = match room {
        80.. => (20, 18),
        66.. => (16, 18),
        44.. => (0, 18),
        _ => (0, 0),
    };
    let time = time::relative(now_ms, branch.last.time_ms);
    // Without another column, it takes no more than it needs.
    let when = if counts == 0 { when.min(width::columns(&time) + 2) } else { when };
    let right = counts + when;
    if branch.current {
        ink.text("you are here ", Paint::Good);
    }
    if branch.label.is_some() {
        ink.text("[", Paint::Dim);
        ink.field(2, 20, Paint::Warn);
        ink.text("] ", Paint::Dim);
    }
    let left = ink.room().saturating_sub(right);
    match branch.own {
        0 => {
            let at = format!("after {}", said(&branch.last));
            ink.column(&at, left, Paint::Plain);
        }
        _ if is_one(branch) => ink.field_column(0, left, Paint::Plain),
        _ => {
            let before = ink.room();
            ink.field(0, left * 3 / 5, Paint::Plain);
            ink.text(" → ", Paint::Dim);
            let left = left.saturating_sub(before - ink.room());
            ink.field_column(1, left, Paint::Plain);
        }
    }
    let own = match branch.own {
        0 => String::new(),
        own if own == branch.messages => words::count(own, "message"),
        own => {
            let of = format!("{own} of {}", words::number(branch.messages));
            let in_words = format!("{of} messages");
            if width::columns(&in_words) + 2 > counts { of } else { in_words }
        }
    };
    ink.column_right(&own, counts, Paint::Dim);
    ink.column_right(&time, when, Paint::Dim);
}
