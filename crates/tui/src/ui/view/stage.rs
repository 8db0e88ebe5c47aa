//! The conversation as one long column of lines, of which only those near the screen are laid out. Must never lay out an entry
//! that is not needed for the screen.

use std::collections::HashMap;
use std::sync::Arc;

use ratatui::text::{Line, Span};

use super::entry::{self, Open};
use super::live::After;
use super::page::DrawParameters;
use crate::ui::doc;
use crate::ui::talk::LoadedConversation;
use crate::ui::theme::Theme;

/// The most laid out entries that are kept.
const KEPT: usize = 400;

/// The version of an entry's layout.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Version {
    content: u64,
    open: Open,
    width: u16,
    theme: Theme,
}

#[derive(Debug)]
struct LaidOutEntry {
    version: Version,
    /// The version of the grammars, if it holds code: code looks different once a grammar is loaded.
    code: Option<u64>,
    lines: Arc<[Line<'static>]>,
    used: u64,
}

/// Laid out entries.
#[derive(Debug, Default)]
pub(super) struct Cache {
    laid: HashMap<String, LaidOutEntry>,
    /// Counts drawings.
    turn: u64,
    /// Number of layouts.
    #[cfg(test)]
    pub(super) count: usize,
}

impl Cache {
    /// Number of kept entries.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.laid.len()
    }

    /// Starts another drawing: removes what the last ones did not need.
    pub(super) fn turn(&mut self) {
        self.turn += 1;
        if self.laid.len() > KEPT {
            let turn = self.turn;
            self.laid.retain(|_, laid| laid.used + 8 > turn);
        }
    }
}

/// The position of a line: its block, and the line in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// An entry; after the last one the answer being written, then the rest.
    pub(super) block: usize,
    /// The line in it.
    pub(super) line: usize,
}

/// Everything that can be shown.
pub(super) struct ViewContent<'a> {
    /// The conversation.
    pub(super) talk: &'a LoadedConversation,
    /// The parameters.
    pub(super) ink: DrawParameters<'a>,
    /// What is unfolded of an entry.
    pub(super) open: &'a dyn Fn(&str) -> Open,
    /// The layouts.
    pub(super) cache: &'a mut Cache,
    /// The answer being written: the lines before it, and its own.
    pub(super) live: (Vec<Line<'static>>, &'a [Line<'static>]),
    /// The lines after it.
    pub(super) rest: After,
}

impl ViewContent<'_> {
    /// The beginning of the first approval request.
    pub(super) fn asked(&self) -> Place {
        Place { block: self.talk.entries.len() + 1, line: self.rest.asked_at }
    }

    /// Number of blocks.
    pub(super) fn blocks(&self) -> usize {
        self.talk.entries.len() + 2
    }

    /// The lines of an entry.
    pub(super) fn entry(&mut self, at: usize) -> Arc<[Line<'static>]> {
        let id = &self.talk.entries[at].id;
        let version = Version {
            content: entry::version(self.talk, at),
            open: (self.open)(id),
            width: self.ink.width,
            theme: self.ink.theme,
        };
        let now = doc::generation();
        let turn = self.cache.turn;
        if let Some(laid) = self
            .cache
            .laid
            .get_mut(id)
            .filter(|laid| laid.version == version && laid.code.is_none_or(|code| code == now))
        {
            laid.used = turn;
            return Arc::clone(&laid.lines);
        }
        #[cfg(test)]
        {
            self.cache.count += 1;
        }
        let lines: Arc<[_]> = entry::lines(self.talk, at, self.ink, version.open).into();
        let code = entry::has_code(&self.talk.entries[at]).then_some(now);
        let laid = LaidOutEntry { version, code, lines: Arc::clone(&lines), used: turn };
        self.cache.laid.insert(id.clone(), laid);
        lines
    }

    /// Number of lines of a block.
    pub(super) fn height(&mut self, block: usize) -> usize {
        match block.checked_sub(self.talk.entries.len()) {
            None => self.entry(block).len(),
            Some(0) => self.live.0.len() + self.live.1.len(),
            Some(_) => self.rest.lines.len(),
        }
    }

    /// An existing line.
    pub(super) fn line(&mut self, place: Place) -> Line<'static> {
        let line = match place.block.checked_sub(self.talk.entries.len()) {
            None => self.entry(place.block).get(place.line).cloned(),
            Some(0) => match place.line.checked_sub(self.live.0.len()) {
                None => self.live.0.get(place.line).cloned(),
                Some(line) => self.live.1.get(line).cloned().map(|mut line| {
                    line.spans.insert(0, Span::raw("  "));
                    line
                }),
            },
            Some(_) => self.rest.lines.get(place.line).cloned(),
        };
        line.unwrap_or_default()
    }

    /// The position this many lines above.
    pub(super) fn up(&mut self, mut place: Place, mut lines: usize) -> Place {
        while lines > place.line {
            if place.block == 0 {
                return Place::default();
            }
            lines -= place.line;
            place.block -= 1;
            place.line = self.height(place.block);
        }
        place.line -= lines;
        place
    }

    /// The position this many lines below, or the end.
    pub(super) fn down(&mut self, mut place: Place, lines: usize) -> Place {
        place.line += lines;
        while place.block < self.blocks() {
            let height = self.height(place.block);
            if place.line < height {
                return place;
            }
            place.line -= height;
            place.block += 1;
        }
        self.end()
    }

    /// After the last line.
    pub(super) fn end(&self) -> Place {
        Place { block: self.blocks(), line: 0 }
    }

    /// The first line of a screen of so many rows that shows the end.
    pub(super) fn last_screen(&mut self, rows: usize) -> Place {
        let end = self.end();
        self.up(end, rows)
    }

    /// The positions of the lines of a screen.
    pub(super) fn screen(&mut self, top: Place, rows: usize) -> Vec<Place> {
        let mut places = Vec::with_capacity(rows);
        let mut place = top;
        while places.len() < rows && place.block < self.blocks() {
            let height = self.height(place.block);
            while places.len() < rows && place.line < height {
                places.push(place);
                place.line += 1;
            }
            place = Place { block: place.block + 1, line: 0 };
        }
        places
    }
}
