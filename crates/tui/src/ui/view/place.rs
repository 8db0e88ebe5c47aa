//! Where one looks: at the end, following what comes, or at a line of an entry, which stays in its place whatever comes or goes
//! around it. Must never search the whole conversation for what has not moved.

use retake_wire::Role;

use super::find::{self, Hit, Needle};
use super::live;
use super::stage::{Place, Stage};
use crate::ui::talk::Talk;

/// Where the screen begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Anchor {
    /// So that the end is on it.
    #[default]
    End,
    /// At the first entry, also when earlier ones come.
    Top,
    /// At a line of a block, which had so many then.
    At {
        /// The entry; what is behind the entries, without.
        entry: Option<String>,
        /// Where it was.
        place: Place,
        /// How many lines the block had.
        of: usize,
        /// How many entries there were.
        entries: usize,
    },
}

impl Anchor {
    /// At a place.
    pub(super) fn at(stage: &mut Stage<'_>, place: Place) -> Self {
        let entry = stage.talk.entries.get(place.block).map(|entry| entry.id.clone());
        let of = stage.height(place.block);
        Self::At { entry, place, of, entries: stage.talk.entries.len() }
    }

    /// The place of it now.
    pub(super) fn place(&self, stage: &mut Stage<'_>, rows: usize) -> Place {
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

/// The block behind the entries by its number; an answer that has become an entry is that entry.
fn behind(stage: &mut Stage<'_>, number: usize) -> usize {
    let entries = stage.talk.entries.len();
    if number > 0 || stage.height(entries) > 0 {
        return entries + number;
    }
    let answer = stage.talk.entries.iter().rposition(|entry| entry.role == Role::Assistant);
    answer.unwrap_or(entries)
}

/// Where an entry is.
pub(super) fn index(talk: &Talk, id: &str) -> Option<usize> {
    talk.entries.iter().rposition(|entry| entry.id == id)
}

/// The screen, moved so that an entry is on it: all of it, or its beginning.
pub(super) fn with_entry(stage: &mut Stage<'_>, top: Place, rows: usize, id: &str) -> Place {
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

/// The screen, moved so that a hit is on it.
pub(super) fn with_hit(stage: &mut Stage<'_>, top: Place, rows: usize, hit: &Hit, needle: &Needle) -> Place {
    let Some(block) = index(stage.talk, &hit.entry) else { return top };
    let places = find::places(&stage.entry(block), needle);
    let place = places.get(hit.number).or(places.last()).and_then(|pieces| pieces.first());
    let line = place.map_or(0, |(line, _)| *line);
    let place = Place { block, line };
    if stage.screen(top, rows).contains(&place) { top } else { stage.up(place, rows / 3) }
}

/// What is at the end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct News {
    last: Option<String>,
    said: (usize, usize),
}

impl News {
    /// Now.
    pub(super) fn of(talk: &Talk) -> Self {
        Self { last: talk.entries.last().map(|entry| entry.id.clone()), said: live::news(talk) }
    }

    /// Whether something came.
    pub(super) fn is_more_than(&self, seen: &Self) -> bool {
        self.last != seen.last || self.said.0 > seen.said.0 || self.said.1 > seen.said.1
    }
}
