//! The snippet of a text that shows its first match.
//!
//! It reads up to the first match and the window around it, no further. Must never split a grapheme.

use std::collections::VecDeque;
use std::ops::Range;

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

use super::Query;
use super::words::{Word, words};

/// A piece of a text with its matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snippet {
    /// The piece: white space folded, `…` where it was truncated.
    pub text: String,
    /// The matches: byte ranges in the piece, in order, without overlaps.
    pub marks: Vec<Range<usize>>,
}

impl Query {
    /// The piece around the first match, at most `max_chars` characters long with its dots. Without a match, the
    /// beginning.
    pub fn snippet(&self, text: &str, max_chars: usize) -> Snippet {
        let found = self.hits(text).next().map_or(0, |hit| hit.start);
        let window = Window::around(text, found, max_chars);
        let mut marks: Vec<Range<usize>> = Vec::new();
        for hit in self.hits(&text[found..]) {
            let Some(mark) = window.place(found + hit.start, found + hit.end) else {
                break;
            };
            match marks.last_mut() {
                Some(last) if mark.start < last.end => last.end = last.end.max(mark.end),
                _ => marks.push(mark),
            }
        }
        Snippet { text: window.text, marks }
    }

    /// The places of the query's terms in a text, by their beginnings; the longest one at each place.
    fn hits<'a>(&'a self, text: &'a str) -> impl Iterator<Item = Range<usize>> {
        let terms = self.terms();
        let longest = terms.iter().map(|term| term.words.len()).max().unwrap_or(0);
        let mut words = words(text);
        let mut ahead: VecDeque<Word> = VecDeque::new();
        std::iter::from_fn(move || {
            loop {
                ahead.pop_front();
                ahead.extend(words.by_ref().take(longest - ahead.len()));
                let start = ahead.front()?.range.start;
                let here = terms.iter().filter(|term| term.begins(ahead.iter().map(|word| &word.text)));
                if let Some(length) = here.map(|term| term.words.len()).max() {
                    return Some(start..ahead[length - 1].range.end);
                }
            }
        })
    }
}

/// A piece of a text.
#[derive(Default)]
struct Window {
    text: String,
    /// The length that comes from the text, without dots.
    own: usize,
    /// For each grapheme: its place in the text, and in the piece.
    places: Vec<(usize, usize)>,
    /// Its end in the text.
    end: usize,
}

impl Window {
    /// The piece with the byte `at` in its first half, if enough text follows it.
    fn around(text: &str, at: usize, max_chars: usize) -> Self {
        let text = text.trim_end();
        let at = grapheme_start(text, at.min(text.len()));
        let behind = shown(text[at..].grapheme_indices(true)).take(max_chars);
        let behind: usize = behind.map(|(_, grapheme)| chars(grapheme)).sum();
        let lead = max_chars - behind.min(max_chars * 2 / 3);
        let from = match begin(text, at, lead) {
            0 => 0,
            _ => begin(text, at, lead.saturating_sub(1)),
        };
        let mut window = Self::default();
        let mut room = max_chars;
        if from > 0 && room > 0 {
            window.text.push('…');
            room -= 1;
        }
        window.fill(text, from, room);
        window
    }

    /// Appends text up to the available room.
    fn fill(&mut self, text: &str, from: usize, mut room: usize) {
        self.end = text.len();
        for (start, grapheme) in shown(text[from..].grapheme_indices(true)) {
            if grapheme == " " && self.places.is_empty() {
                continue;
            }
            let Some(left) = room.checked_sub(chars(grapheme)) else {
                self.end = from + start;
                self.cut(room);
                return;
            };
            room = left;
            self.places.push((from + start, self.text.len()));
            self.text.push_str(grapheme);
        }
        self.own = self.text.len();
    }

    /// Ends with dots; the last grapheme makes room for them if needed.
    fn cut(&mut self, mut room: usize) {
        while room == 0
            && let Some((start, at)) = self.places.pop()
        {
            room = chars(&self.text[at..]);
            self.text.truncate(at);
            self.end = start;
        }
        self.text.truncate(self.text.trim_end().len());
        self.own = self.text.len();
        if room > 0 {
            self.text.push('…');
        }
    }

    /// The place of a byte range of the text in the piece, if it is in it.
    fn place(&self, start: usize, end: usize) -> Option<Range<usize>> {
        let first = self.places.partition_point(|(from, _)| *from <= start);
        let behind = self.places.partition_point(|(from, _)| *from < end);
        let (_, start_here) = *self.places.get(first.checked_sub(1)?)?;
        let end_here = self.places.get(behind).map_or(self.own, |(_, at)| *at);
        (start < self.end && start_here < end_here).then_some(start_here..end_here)
    }
}

/// The number of characters.
fn chars(text: &str) -> usize {
    text.chars().count()
}

/// Graphemes as they are shown: white space as one space.
fn shown<'a>(graphemes: impl Iterator<Item = (usize, &'a str)>) -> impl Iterator<Item = (usize, &'a str)> {
    let mut after_space = false;
    graphemes.filter_map(move |(at, grapheme)| {
        let space = grapheme.trim().is_empty();
        let again = std::mem::replace(&mut after_space, space) && space;
        (!again).then_some((at, if space { " " } else { grapheme }))
    })
}

/// The beginning of the grapheme with the byte `at`.
fn grapheme_start(text: &str, at: usize) -> usize {
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    match cursor.is_boundary(text, 0) {
        Ok(false) => cursor.prev_boundary(text, 0).ok().flatten().unwrap_or(0),
        _ => at,
    }
}

/// The beginning of a piece with at most `room` characters before `at`: the beginning of the text, or of a word
/// if there is one.
fn begin(text: &str, at: usize, mut room: usize) -> usize {
    let mut from = at;
    for (start, grapheme) in shown(text[..at].grapheme_indices(true).rev()) {
        let Some(left) = room.checked_sub(chars(grapheme)) else {
            let gap = text[from..at].find(char::is_whitespace);
            return gap.map_or(from, |gap| from + gap);
        };
        (room, from) = (left, start);
    }
    0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The snippet with its marks in brackets.
    fn snippet(query: &str, text: &str, max: usize) -> String {
        let snippet = Query::parse(query).0.snippet(text, max);
        let mut marked = snippet.text.clone();
        for mark in snippet.marks.iter().rev() {
            marked.insert(mark.end, ']');
            marked.insert(mark.start, '[');
        }
        marked
    }

    #[test]
    fn snippet_shows_the_first_match_and_its_context() {
        let fox = "The quick  brown fox\njumps over the lazy dog and the other fox.";
        let rows = [
            ("fox", "", 20, ""),
            ("fox", "  no match here ", 20, "no match here"),
            ("fox", "no match here at all", 10, "no match…"),
            ("fox", " a\n\tfox ", 20, "a [fox]"),
            ("fox", fox, 99, "The quick brown [fox] jumps over the lazy dog and the other [fox]."),
            ("fox", fox, 26, "…brown [fox] jumps over the…"),
            ("dog OR \"lazy dog and\"", fox, 30, "…the [lazy dog and] the other f…"),
            ("other NOT lazy", fox, 16, "…the [other] fox."),
            ("quick*", "quicker quick", 99, "[quicker] [quick]"),
            ("cafe", "un CAFE\u{301}!", 99, "un [CAFE\u{301}]!"),
            ("中文", "他说中文吗中文", 99, "他说[中文]吗[中文]"),
            ("中文", "一二三四五六七中文八九十", 7, "…六七[中文]八…"),
            ("fox", "xxxxxxxxxxxxxxxxxxxx fox xxxxxxxxxxxxxxxxxxxx", 12, "…[fox] xxxxxx…"),
            ("x*", &"x".repeat(30), 5, "[xxxx]…"),
            ("a b", "a b", 3, "[a] [b]"),
            ("b", "a b c", 1, "…"),
            ("b", "a b c", 0, ""),
            ("\"a b\"", "0 a   b", 99, "0 [a   b]"),
            ("1", "1\u{FE0F}\u{20E3} ½", 99, "[1\u{FE0F}\u{20E3}] [½]"),
        ];
        for (query, text, max, expected) in rows {
            let expected = expected.replace("a   b", "a b");
            assert_eq!(snippet(query, text, max), expected, "{query} in {text}");
        }
    }

    #[test]
    fn snippet_of_a_long_text_reads_only_up_to_its_window() {
        let text = format!("{} needle {}", "hay ".repeat(500_000), "hay ".repeat(2_000_000));
        assert_eq!(snippet("needle", &text, 20), "…hay [needle] hay hay…");
        let dense = "x".repeat(5_000_000) + " needle";
        assert_eq!(snippet("needle", &dense, 12), "…[needle]");
    }

    proptest! {
        #[test]
        fn snippet_fits_and_marks_only_matching_words(
            text in r#"([ab ]|\PC|[中か각 e\u{301}\u{200D}🙂\r\n]){0,60}"#,
            query in "(a|b|ab|中|\"a b\"|e\\*)( OR (a|か))?",
            max in 0_usize..40,
        ) {
            let query = Query::parse(&query).0;
            let snippet = query.snippet(&text, max);
            prop_assert!(snippet.text.chars().count() <= max);
            let mut last = 0;
            for mark in &snippet.marks {
                prop_assert!(last <= mark.start && mark.start < mark.end);
                prop_assert!(!snippet.text[mark.clone()].contains('…') || text.contains('…'));
                last = mark.end;
            }
            let words: Vec<String> = words(&text).map(|word| word.text).collect();
            let whole = query.snippet(&text, 1_000);
            prop_assert_eq!(query.matches(&words), !whole.marks.is_empty());
        }
    }
}
