//! Random Markdown: nothing of it is lost, and posts keep their promises. A place at which a post may end or begin is defined here.

use proptest::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use super::super::split::pieces;
use super::super::{length, parse, utf16_ranges, walk};
use super::html;
use crate::adapter::{Style, Styled, StyledText};
use crate::capabilities::LengthUnit;
use crate::text::Part;

/// Pieces of Markdown. `WORD` becomes a word that is nowhere else.
const PIECES: &[&str] = &[
    "WORD",
    " WORD ",
    "\n",
    "\n\n",
    "**",
    "*",
    "_",
    "~~",
    "`",
    "```",
    "```rust\n",
    "\n```\n",
    "    ",
    "# ",
    "- ",
    "1. ",
    "> ",
    "[WORD](https://WORD.example)",
    "[WORD](tg://WORD \"WORD\")",
    "![WORD](http://WORD.example 'WORD')",
    "[",
    "]",
    "(",
    ")",
    "](https://WORD.example)",
    "[WORD]: https://WORD.example\n",
    "\n[WORD]: /WORD \"WORD\"\n",
    "[WORD][",
    "![",
    "<b>",
    "</b>",
    "<!-- WORD -->",
    "<WORD@WORD.example>",
    "<https://WORD.example>",
    "| WORD | WORD |\n|--|--|\n",
    "| WORD ",
    "|\n",
    "\\",
    "&amp;",
    "~~~ WORD WORD\n",
    "---\n",
    "===\n",
    "👩‍👩‍👧‍👦",
    "e\u{301}\u{302}",
    "🇩🇪🇫🇷",
    "漢字。",
    "\u{200d}",
    " \u{301}",
    "\t",
    "\r\n",
    "!",
    ". ",
    "WORDWORDWORDWORD",
];

fn markdown() -> impl Strategy<Value = String> {
    prop::collection::vec(0..PIECES.len(), 0..60).prop_map(|picked| {
        let mut number = 0;
        let mut out = String::new();
        for piece in picked {
            for (at, part) in PIECES[piece].split("WORD").enumerate() {
                if at > 0 {
                    number += 1;
                    out.push_str(&format!("w{number}x"));
                }
                out.push_str(part);
            }
        }
        out
    })
}

fn anything() -> impl Strategy<Value = String> {
    prop_oneof![3 => markdown(), 1 => "\\PC{0,200}", 1 => any::<String>()]
}

/// All texts that people or clients see of it.
fn seen(text: &StyledText) -> String {
    let mut seen = text.text.clone();
    for it in &text.styles {
        if let Style::Link(address) | Style::Block(Some(address)) = &it.style {
            seen.push('\n');
            seen.push_str(address);
        }
    }
    seen
}

fn words(text: &str) -> Vec<String> {
    let is_word = |word: &&str| word.starts_with('w') && word.ends_with('x');
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter(is_word).map(str::to_owned).collect()
}

proptest! {
    #[test]
    fn no_word_of_the_source_is_lost(source in markdown()) {
        let seen = seen(&parse(&source));
        for word in words(&source) {
            prop_assert!(seen.contains(&word), "{word} of {source:?} in {seen:?}");
        }
    }

    #[test]
    fn styles_are_in_range_sorted_and_nested(source in anything()) {
        let text = parse(&source);
        for it in &text.styles {
            prop_assert!(!it.range.is_empty() && text.text.get(it.range.clone()).is_some(), "{it:?} of {:?}", text.text);
        }
        for (number, outer) in text.styles.iter().enumerate() {
            for inner in &text.styles[number + 1..] {
                let (a, b) = (&outer.range, &inner.range);
                prop_assert!(a.end <= b.start || (a.start <= b.start && b.end <= a.end), "{outer:?} {inner:?}");
            }
        }
        let walked: String = walk(&text).iter().map(|part| if let Part::Text(text) = part { *text } else { "" }).collect();
        prop_assert_eq!(&walked, &text.text);
        for ((range, _), it) in utf16_ranges(&text).iter().zip(&text.styles) {
            prop_assert_eq!(range.len(), length(&text.text[it.range.clone()], LengthUnit::Utf16));
        }
    }

    #[test]
    fn posts_are_the_text_without_white_space_at_the_cuts(source in anything(), limit in 12_usize..80, unit in 0_usize..4) {
        let text = parse(&source);
        let measure = |text: &StyledText| match unit {
            0 => length(&text.text, LengthUnit::Utf16),
            1 => length(&text.text, LengthUnit::Chars),
            2 => length(&text.text, LengthUnit::Bytes),
            _ => html(text).len(),
        };
        let posts = pieces(&text, limit, &measure);
        let boundaries: Vec<usize> =
            text.text.grapheme_indices(true).map(|(at, _)| at).chain([text.text.len()]).collect();
        let is_long = |at: usize| {
            let grapheme = boundaries.partition_point(|it| *it <= at);
            let range = boundaries[grapheme - 1]..boundaries[grapheme];
            measure(&StyledText { text: text.text[range].to_owned(), styles: Vec::new() }) > limit
        };
        let mut at = 0;
        for (range, post) in &posts {
            prop_assert!(text.text[at..range.start].chars().all(char::is_whitespace), "left out: {:?}", &text.text[at..range.start]);
            prop_assert_eq!(&text.text[range.clone()], &post.text);
            prop_assert!(measure(post) <= limit, "{} of {limit}: {post:?}", measure(post));
            prop_assert!(!post.text.trim().is_empty());
            for edge in [range.start, range.end] {
                prop_assert!(boundaries.contains(&edge) || is_long(edge), "{edge} in {:?}", text.text);
            }
            for it in &post.styles {
                prop_assert!(!it.range.is_empty() && post.text.get(it.range.clone()).is_some());
            }
            at = range.end;
        }
        prop_assert!(text.text[at..].chars().all(char::is_whitespace));
    }

    #[test]
    fn styles_of_posts_are_the_styles_of_the_text(source in markdown(), limit in 12_usize..60) {
        let text = parse(&source);
        for (range, post) in pieces(&text, limit, &|text| length(&text.text, LengthUnit::Chars)) {
            let expected: Vec<(usize, usize, &Style)> = text.styles.iter().filter_map(|it| {
                let (from, to) = (it.range.start.max(range.start), it.range.end.min(range.end));
                (from < to).then(|| (from - range.start, to - range.start, &it.style))
            }).collect();
            let found: Vec<(usize, usize, &Style)> =
                post.styles.iter().map(|it| (it.range.start, it.range.end, &it.style)).collect();
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn link_is_whole_unless_it_is_longer_than_a_post(source in markdown(), limit in 12_usize..60) {
        let text = parse(&source);
        let cuts = pieces(&text, limit, &|text| length(&text.text, LengthUnit::Chars));
        let whole = |it: &&Styled| matches!(it.style, Style::Link(_) | Style::Code);
        for (number, it) in text.styles.iter().enumerate().filter(|(_, it)| whole(it)) {
            // Code in a link that is cut may be cut, too.
            if text.styles[..number].iter().any(|outer| whole(&outer) && outer.range.end >= it.range.end) {
                continue;
            }
            let label = &text.text[it.range.clone()];
            // White space at its ends may be left out beside a cut.
            let end = it.range.start + label.trim_end().len();
            let start = it.range.end - label.trim_start().len();
            let is_cut = cuts.iter().any(|(range, _)| start < range.end && range.end < end);
            // A grapheme may reach beyond the link.
            let edges = || text.text.grapheme_indices(true).map(|(at, _)| at).chain([text.text.len()]);
            let from = edges().take_while(|at| *at <= it.range.start).last().unwrap_or_default();
            let to = edges().find(|at| *at >= it.range.end).unwrap_or_default();
            let size = length(&text.text[from..to], LengthUnit::Chars);
            prop_assert!(!is_cut || size > limit, "{it:?} of {:?}", text.text);
        }
    }
}
