//! Estimated heights of all entries, even without a layout: for the scroll bar. Must never change as entries are laid out, so
//! that the bar does not jump while scrolling.

use retake_wire::reply::Entry;
use retake_wire::{Part, Role};

use super::entry;
use super::page::DrawParameters;
use super::stage::{Place, ViewContent};
use crate::ui::doc;
use crate::ui::talk::LoadedConversation;

/// Identifies the entries that it is for: their number, the first, the last, and the columns.
type HeightsKey = (usize, String, String, u16);

/// Estimated heights of entries, in lines.
#[derive(Debug, Default)]
pub(super) struct Heights {
    of: Option<HeightsKey>,
    /// Lines above each entry, and above the part after the last one.
    above: Vec<usize>,
}

/// The shown part of the whole, in lines.
#[derive(Clone, Copy, Debug)]
pub(super) struct VisibleLines {
    /// Lines above.
    pub(super) above: usize,
    /// All lines.
    pub(super) all: usize,
    /// The last one is shown.
    pub(super) at_end: bool,
}

impl Heights {
    /// Estimates a conversation for this many columns.
    pub(super) fn of(&mut self, talk: &LoadedConversation, ink: DrawParameters<'_>) {
        let ends = talk.entries.first().zip(talk.entries.last());
        let of =
            ends.map(|(first, last)| (talk.entries.len(), first.id.clone(), last.id.clone(), ink.room()));
        if self.of == of && of.is_some() {
            return;
        }
        self.of = of;
        self.above.clear();
        let mut above = 0;
        for (at, entry) in talk.entries.iter().enumerate() {
            self.above.push(above);
            above += if entry::is_joined(talk, at) { 0 } else { about(entry, ink.room().into()) };
        }
        self.above.push(above);
    }

    /// The part of the whole that a screen from here shows.
    pub(super) fn shown(&self, stage: &mut ViewContent<'_>, top: Place, after: Place) -> VisibleLines {
        let entries = stage.talk.entries.len();
        let of = |block: usize| self.above.get(block).copied().unwrap_or(0);
        let comes = stage.height(entries);
        let above = match top.block.checked_sub(entries) {
            None => {
                let about = of(top.block + 1) - of(top.block);
                of(top.block) + top.line * about / stage.height(top.block).max(1)
            }
            Some(0) => of(entries) + top.line,
            Some(_) => of(entries) + comes + top.line,
        };
        let all = of(entries) + comes + stage.height(entries + 1);
        VisibleLines { above, all, at_end: after == stage.end() }
    }
}

/// The estimated height of an entry.
fn about(entry: &Entry, room: usize) -> usize {
    let lines =
        |text: &str| text.lines().map(|line| doc::columns(line).div_ceil(room.max(1)).max(1)).sum::<usize>();
    let of = |part: &Part| match part {
        Part::Text { text } if entry.role == Role::User => lines(text).min(entry::SAID),
        Part::Text { text } => lines(text),
        Part::ToolCall { .. } => 2,
        _ => 1,
    };
    1 + entry.parts.iter().map(of).sum::<usize>()
}
