//! The search in a conversation: lower case matches both cases, a capital only itself. It goes back from the newest entry in
//! pieces, and loads earlier ones. Must never read more than a piece at a time, and must never count what it has not found.

use std::ops::Range;

use ratatui::text::{Line, Span};
use retake_wire::Part;

use super::{calls, entry};
use crate::render::words;
use crate::ui::talk::LoadedConversation;
use crate::ui::theme::{Paint, Theme};

/// The most bytes searched at a time.
const PIECE: usize = 256 * 1024;

/// Hits that are searched in advance beyond the shown one.
const AHEAD: usize = 50;

/// The text to find.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SearchPattern {
    letters: Vec<char>,
    /// Upper and lower case differ.
    exact: bool,
}

impl SearchPattern {
    /// For this text.
    pub(super) fn new(words: &str) -> Self {
        let exact = words.chars().any(char::is_uppercase);
        let letters = if exact {
            words.chars().collect()
        } else {
            words.chars().flat_map(char::to_lowercase).collect()
        };
        Self { letters, exact }
    }

    /// Its occurrences in a text, without overlaps.
    pub(super) fn hits(&self, text: &str) -> Vec<Range<usize>> {
        let mut hits = Vec::new();
        let mut rest = text;
        while let Some((hit, after)) = self.next(rest) {
            let from = text.len() - rest.len();
            hits.push(from + hit.start..from + hit.end);
            rest = after;
        }
        hits
    }

    fn next<'a>(&self, text: &'a str) -> Option<(Range<usize>, &'a str)> {
        let first = *self.letters.first()?;
        for (at, letter) in text.char_indices() {
            let same = letter == first || (!self.exact && letter.to_lowercase().next() == Some(first));
            if let Some(length) = same.then(|| self.length(&text[at..])).flatten() {
                return Some((at..at + length, &text[at + length..]));
            }
        }
        None
    }

    /// Its length in bytes at the start of a text, if the text begins with it.
    fn length(&self, text: &str) -> Option<usize> {
        let mut wanted = self.letters.iter();
        for (at, letter) in text.char_indices() {
            if wanted.len() == 0 {
                return Some(at);
            }
            if self.exact {
                if wanted.next() != Some(&letter) {
                    return None;
                }
            } else if !letter.to_lowercase().all(|letter| wanted.next() == Some(&letter)) {
                return None;
            }
        }
        (wanted.len() == 0).then_some(text.len())
    }
}

/// A hit: the entry that shows it, and its number there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) entry: String,
    pub(super) number: usize,
}

/// A search: from the newest entry back, a piece at a time.
#[derive(Debug, Default)]
pub(super) struct Find {
    pub(super) needle: SearchPattern,
    /// Newest first.
    pub(super) hits: Vec<Hit>,
    /// The shown hit.
    pub(super) at: Option<usize>,
    /// An older hit than the known ones is wanted.
    wanted: bool,
    /// Entries from here on are searched.
    from: usize,
    /// The entries loaded then: their number, the first and the last.
    of: Option<(usize, String, String)>,
    /// The hit shown before everything had to be searched again.
    shown: Option<Hit>,
    /// There are entries before the loaded ones.
    earlier: bool,
}

impl Find {
    /// A search for this text. The newest hit is wanted.
    pub(super) fn new(words: &str) -> Self {
        Self { needle: SearchPattern::new(words), wanted: true, ..Self::default() }
    }

    /// Continues by a piece. Returns whether to show another hit now.
    pub(super) fn go_on(&mut self, talk: &LoadedConversation) -> bool {
        self.keep_place(talk);
        let mut left = PIECE;
        while self.from > 0 && left > 0 {
            left = left.saturating_sub(self.search_before(talk));
        }
        if self.wanted && self.hits.len() > self.at.map_or(0, |at| at + 1) {
            self.at = Some(self.at.map_or(0, |at| at + 1));
            self.wanted = false;
            return true;
        }
        self.wanted &= self.has_more();
        false
    }

    /// Handles newly loaded earlier entries; if others changed, everything is searched again.
    fn keep_place(&mut self, talk: &LoadedConversation) {
        self.earlier = talk.earlier;
        let (Some(first), Some(last)) = (talk.entries.first(), talk.entries.last()) else {
            let (needle, wanted) = (self.needle.clone(), self.wanted);
            *self = Self { needle, wanted, earlier: talk.earlier, ..Self::default() };
            return;
        };
        let loaded = talk.entries.len();
        let came = self.of.as_ref().and_then(|(before, was_first, was_last)| {
            let came = loaded.checked_sub(*before)?;
            (*was_last == last.id && talk.entries[came].id == *was_first).then_some(came)
        });
        match came {
            Some(0) => return,
            Some(came) => {
                self.from += came;
                // Results whose calls were not loaded are now in the cards of these.
                while self.from < loaded && entry::is_joined(talk, self.from) {
                    let joined = &talk.entries[self.from].id;
                    self.hits.retain(|hit| hit.entry != *joined);
                    self.from += 1;
                }
                self.wanted |= self.at.is_some() && self.hits.is_empty();
                self.at = self.hits.len().checked_sub(1).and_then(|last| Some(self.at?.min(last)));
            }
            None => {
                self.shown = self.at.take().and_then(|at| self.hits.get(at)).cloned().or(self.shown.take());
                self.hits.clear();
                self.from = loaded;
            }
        }
        self.of = Some((loaded, first.id.clone(), last.id.clone()));
    }

    /// Searches the previous message, with the results of its calls; returns the number of bytes.
    fn search_before(&mut self, talk: &LoadedConversation) -> usize {
        let end = self.from;
        let mut begin = end - 1;
        while begin > 0 && entry::is_joined(talk, begin) {
            begin -= 1;
        }
        let (mut size, mut count) = (0, 0);
        for part in talk.entries[begin..end].iter().flat_map(|entry| &entry.parts) {
            let mut seek = |text: &str| {
                size += text.len() + 64;
                count += self.needle.hits(text).len();
            };
            match part {
                Part::Text { text } => seek(text),
                Part::ToolCall { name, arguments, .. } => seek(&calls::line(name, arguments)),
                Part::ToolResult { content, .. } => seek(content),
                _ => {}
            }
        }
        for number in (0..count).rev() {
            let hit = Hit { entry: talk.entries[begin].id.clone(), number };
            if self.shown.as_ref() == Some(&hit) {
                self.at = Some(self.hits.len());
                self.shown = None;
            }
            self.hits.push(hit);
        }
        self.from = begin;
        size.max(64)
    }

    /// Moves to an older or newer hit. Returns whether it is known already.
    pub(super) fn step(&mut self, newer: bool) -> bool {
        let last = self.hits.len().checked_sub(1);
        self.wanted = false;
        self.at = match (self.at, last) {
            (at, None) => {
                self.wanted = true;
                at
            }
            (None, Some(_)) => Some(0),
            (Some(at), Some(last)) if newer => Some(at.checked_sub(1).unwrap_or(last)),
            (Some(at), Some(last)) if at < last => Some(at + 1),
            (Some(at), Some(_)) if self.has_more() => {
                self.wanted = true;
                Some(at)
            }
            (Some(_), Some(_)) => Some(0),
        };
        !self.wanted
    }

    fn has_more(&self) -> bool {
        self.from > 0 || self.earlier
    }

    /// Whether earlier entries must be loaded: while few hits older than the shown one are known.
    pub(super) fn wants_earlier(&self) -> bool {
        let older = self.hits.len().saturating_sub(self.at.unwrap_or(0));
        self.earlier && self.from == 0 && (self.wanted || older < AHEAD)
    }

    /// Whether it continues by itself.
    pub(super) fn looks(&self) -> bool {
        self.from > 0 || self.wants_earlier()
    }

    /// The progress in words. It says if older messages are not searched yet; these are not counted.
    pub(super) fn told(&self) -> String {
        let looks = if self.looks() { ", looking further back" } else { "" };
        let more = if self.has_more() { "+" } else { "" };
        let searched = self.of.as_ref().map_or(0, |(loaded, ..)| loaded - self.from);
        match self.at {
            Some(at) => format!("{}{more}{looks}", super::live::of(at + 1, self.hits.len())),
            None if self.looks() => {
                format!("nothing in the last {}{looks}", entries(searched))
            }
            None => "nothing found".to_owned(),
        }
    }
}

fn entries(amount: usize) -> String {
    match amount {
        1 => "message".to_owned(),
        many => format!("{} messages", words::number(many as u64)),
    }
}

/// The places of each hit in the lines of an entry; a hit may extend over several lines.
pub(super) fn places(lines: &[Line<'_>], needle: &SearchPattern) -> Vec<Vec<(usize, Range<usize>)>> {
    let mut joined = String::new();
    // The start of each line in the joined text and in itself.
    let mut starts = Vec::with_capacity(lines.len());
    for line in lines {
        let text = line.to_string();
        let bare = text.trim_start_matches(' ');
        starts.push((joined.len(), text.len() - bare.len()));
        joined.push_str(bare.trim_end_matches(' '));
        joined.push(' ');
    }
    let one = |hit: Range<usize>| {
        let first = starts.partition_point(|(start, _)| *start <= hit.start).saturating_sub(1);
        let mut pieces = Vec::new();
        for (line, (start, skipped)) in starts.iter().enumerate().skip(first) {
            if *start >= hit.end {
                break;
            }
            let end = starts.get(line + 1).map_or(joined.len(), |next| next.0) - 1;
            let (from, to) = (hit.start.max(*start), hit.end.min(end));
            if from < to {
                pieces.push((line, from - start + skipped..to - start + skipped));
            }
        }
        pieces
    };
    needle.hits(&joined).into_iter().map(one).collect()
}

/// The line with these places marked.
pub(super) fn marked(line: Line<'static>, places: &[Range<usize>], theme: Theme) -> Line<'static> {
    if places.is_empty() {
        return line;
    }
    let text = line.to_string();
    let mut spans = Vec::new();
    let mut from = 0;
    for span in line.spans {
        let to = from + span.content.len();
        let mut at = from;
        for place in places.iter().filter(|place| place.start < to && place.end > from) {
            let (start, end) = (place.start.max(from), place.end.min(to));
            if start > at {
                spans.push(Span::styled(text[at..start].to_owned(), span.style));
            }
            let style = span.style.patch(theme.style(Paint::Match));
            spans.push(Span::styled(text[start..end].to_owned(), style));
            at = end;
        }
        if at < to {
            spans.push(Span::styled(text[at..to].to_owned(), span.style));
        }
        from = to;
    }
    Line { spans, ..line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_letters_find_both() {
        let hits = |words, text| SearchPattern::new(words).hits(text).len();
        assert_eq!(hits("ab", "ab AB aB xab"), 4);
        assert_eq!(hits("Ab", "ab AB Ab"), 1);
        assert_eq!(hits("straße", "STRASSE Straße"), 1);
        assert_eq!(hits("é", "É é e"), 2);
        assert_eq!(hits("aa", "aaaa"), 2);
        assert_eq!(hits("", "a"), 0);
        assert_eq!(SearchPattern::new("漢").hits("x漢字").first(), Some(&(1..4)));
    }

    #[test]
    fn match_across_lines_is_found() {
        let lines = [Line::raw("> the quick  "), Line::raw("  brown fox"), Line::raw("  brown")];
        assert_eq!(places(&lines, &SearchPattern::new("quick brown")), [[(0, 6..11), (1, 2..7)]]);
        assert_eq!(places(&lines, &SearchPattern::new("brown")).len(), 2);
        assert_eq!(places(&lines, &SearchPattern::new("fox")), [[(1, 8..11)]]);
        let marked = marked(lines[1].clone(), std::slice::from_ref(&(2..7)), Theme::default());
        assert_eq!((marked.spans.len(), marked.to_string().as_str()), (3, "  brown fox"));
    }
}
