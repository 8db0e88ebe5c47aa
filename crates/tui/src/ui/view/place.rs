//! The scroll position: at the end, following new text, or at a line of an entry, which stays in place whatever changes around
//! it. Must never search the whole conversation if nothing has moved.

use retake_wire::Role;

use super::find::{self, Hit, SearchPattern};
use super::live;
use super::stage::{Place, ViewContent};
use crate::ui::talk::LoadedConversation;

/// The start of the screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Anchor {
    /// Shows the end.
    #[default]
    End,
    /// At the first entry, also when earlier ones are loaded.
    Top,
    /// At a line of a block.
    At {
        /// The entry; `None` for the part after the entries.
        entry: Option<String>,
        /// Its place then.
        place: Place,
        /// The lines of the block then.
        of: usize,
        /// The number of entries then.
        entries: usize,
    },
}

impl Anchor {
    /// At a place.
    pub(super) fn at(stage: &mut ViewContent<'_>, place: Place) -> Self {
        let entry = stage.talk.entries.get(place.block).map(|entry| entry.id.clone());
        let of = stage.height(place.block);
        Self::At { entry, place, of, entries: stage.talk.entries.len() }
    }

    /// Its place now.
    pub(super) fn place(&self, stage: &mut ViewContent<'_>, rows: usize) -> Place {
        let (entry, place, of, entries) = match self {
            Self::End => return stage.last_screen(rows),
            Self::Top => return Place::default(),
            Self::At { entry, place, of, entries } => (entry, place, of, entries),
        };
        let block = match entry {
            Some(id) if stage.talk.entries.get(place.block).is_some_and(|entry| entry.id == *id) => {
                place.block
            }
            Some(id) => match index(stage.talk, id) {
                Some(block) => block,
                None => return stage.last_screen(rows),
            },
            None => behind(stage, place.block - entries),
        };
        let height = stage.height(block);
        let line = if height == *of || *of == 0 { place.line } else { place.line * height / of };
        Place { block, line: line.min(height.saturating_sub(1)) }
    }
}

/// The block after the entries with this number; an answer that has become an entry is that entry.
fn behind(stage: &mut ViewContent<'_>, number: usize) -> usize {
    let entries = stage.talk.entries.len();
    if number > 0 || stage.height(entries) > 0 {
        return entries + number;
    }
    let answer = stage.talk.entries.iter().rposition(|entry| entry.role == Role::Assistant);
    answer.unwrap_or(entries)
}

/// The index of an entry.
pub(super) fn index(talk: &LoadedConversation, id: &str) -> Option<usize> {
    talk.entries.iter().rposition(|entry| entry.id == id)
}

/// The screen, moved to show an entry: all of it, or its beginning.
pub(super) fn with_entry(stage: &mut ViewContent<'_>, top: Place, rows: usize, id: &str) -> Place {
    let Some(block) = index(stage.talk, id) else { return top };
    let begin = Place { block, line: 0 };
    if begin <= top {
        return begin;
    }
    let screen = stage.screen(top, rows);
    let end = Place { block, line: stage.height(block).saturating_sub(1) };
    if screen.last().is_some_and(|last| *last >= end) {
        return top;
    }
    stage.up(Place { block: block + 1, line: 0 }, rows).min(begin)
}

/// The screen, moved to show a hit.
pub(super) fn with_hit(
    stage: &mut ViewContent<'_>,
    top: Place,
    rows: usize,
    hit: &Hit,
    needle: &SearchPattern,
) -> Place {
    let Some(block) = index(stage.talk, &hit.entry) else { return top };
    let places = find::places(&stage.entry(block), needle);
    let place = places.get(hit.number).or(places.last()).and_then(|pieces| pieces.first());
    let line = place.map_or(0, |(line, _)| *line);
    let place = Place { block, line };
    if stage.screen(top, rows).contains(&place) { top } else { stage.up(place, rows / 3) }
}

/// The end of the conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ConversationEnd {
    last: Option<String>,
    said: (usize, usize),
}

impl ConversationEnd {
    /// As it is now.
    pub(super) fn of(talk: &LoadedConversation) -> Self {
        Self { last: talk.entries.last().map(|entry| entry.id.clone()), said: live::news(talk) }
    }

    /// Whether something was added.
    pub(super) fn is_more_than(&self, seen: &Self) -> bool {
        self.last != seen.last || self.said.0 > seen.said.0 || self.said.1 > seen.said.1
    }
}
