//! The search in what is loaded of a conversation: small letters find both, a capital finds itself only. Must never read what is not
//! loaded, and must never count what it did not find.

use std::ops::Range;

use ratatui::text::{Line, Span};
use retake_wire::Part;

use super::{calls, entry};
use crate::face::talk::Talk;
use crate::face::theme::{Paint, Theme};

/// What is sought.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Needle {
    letters: Vec<char>,
    /// Capitals are told from small letters.
    exact: bool,
}

impl Needle {
    /// These words.
    pub(super) fn new(words: &str) -> Self {
        let exact = words.chars().any(char::is_uppercase);
        let letters = if exact {
            words.chars().collect()
        } else {
            words.chars().flat_map(char::to_lowercase).collect()
        };
        Self { letters, exact }
    }

    /// Where a text holds it; no two of these overlap.
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

    /// How many bytes it takes where a text begins with it.
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

/// A hit: the entry in which it is shown, and which one there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) entry: String,
    pub(super) number: usize,
}

/// A search.
#[derive(Debug, Default)]
pub(super) struct Find {
    pub(super) needle: Needle,
    /// Oldest first.
    pub(super) hits: Vec<Hit>,
    /// Which one is shown.
    pub(super) at: Option<usize>,
    /// What was searched.
    of: (usize, Option<String>),
}

impl Find {
    /// For these words, in what is loaded.
    pub(super) fn new(words: &str, talk: &Talk) -> Self {
        let mut find = Self { needle: Needle::new(words), ..Self::default() };
        find.search(talk);
        find
    }

    /// Searches again, where something else is loaded.
    pub(super) fn refresh(&mut self, talk: &Talk) {
        if self.of == searched(talk) {
            return;
        }
        let current = self.at.and_then(|at| self.hits.get(at)).cloned();
        self.search(talk);
        self.at = current.and_then(|current| self.hits.iter().position(|hit| *hit == current));
    }

    fn search(&mut self, talk: &Talk) {
        self.of = searched(talk);
        self.hits.clear();
        let mut shown = "";
        let mut number = 0;
        for (at, entry) in talk.entries.iter().enumerate() {
            if !entry::is_joined(talk, at) {
                (shown, number) = (&entry.id, 0);
            }
            for part in &entry.parts {
                let hits = match part {
                    Part::Text { text } => self.needle.hits(text).len(),
                    Part::ToolCall { name, arguments, .. } => {
                        self.needle.hits(&calls::line(name, arguments)).len()
                    }
                    Part::ToolResult { content, .. } => self.needle.hits(content).len(),
                    _ => 0,
                };
                let hit = |number| Hit { entry: shown.to_owned(), number };
                self.hits.extend((number..number + hits).map(hit));
                number += hits;
            }
        }
    }
}

fn searched(talk: &Talk) -> (usize, Option<String>) {
    (talk.entries.len(), talk.entries.first().map(|entry| entry.id.clone()))
}

/// Where the lines of an entry hold it, for each hit and each line of it; also where it goes over the end of a line.
pub(super) fn places(lines: &[Line<'_>], needle: &Needle) -> Vec<Vec<(usize, Range<usize>)>> {
    let mut joined = String::new();
    // Where each line begins in the joined text, and where in itself.
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
        let hits = |words, text| Needle::new(words).hits(text).len();
        assert_eq!(hits("ab", "ab AB aB xab"), 4);
        assert_eq!(hits("Ab", "ab AB Ab"), 1);
        assert_eq!(hits("straße", "STRASSE Straße"), 1);
        assert_eq!(hits("é", "É é e"), 2);
        assert_eq!(hits("aa", "aaaa"), 2);
        assert_eq!(hits("", "a"), 0);
        assert_eq!(Needle::new("漢").hits("x漢字").first(), Some(&(1..4)));
    }

    #[test]
    fn what_goes_over_the_end_of_a_line_is_found() {
        let lines = [Line::raw("> the quick  "), Line::raw("  brown fox"), Line::raw("  brown")];
        assert_eq!(places(&lines, &Needle::new("quick brown")), [[(0, 6..11), (1, 2..7)]]);
        assert_eq!(places(&lines, &Needle::new("brown")).len(), 2);
        assert_eq!(places(&lines, &Needle::new("fox")), [[(1, 8..11)]]);
        let marked = marked(lines[1].clone(), std::slice::from_ref(&(2..7)), Theme::default());
        assert_eq!((marked.spans.len(), marked.to_string().as_str()), (3, "  brown fox"));
    }
}
