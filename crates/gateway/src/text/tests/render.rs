//! The helpers for adapters: the walk, offsets, the plain form and the digest.

use super::super::{
    Delivery, beginning, delivery, digest, length, parse, plain, stay_below, utf16_ranges, walk,
};
use super::shown;
use crate::adapter::{Style, Styled, StyledText};
use crate::capabilities::LengthUnit;

fn styled(text: &str, styles: &[(std::ops::Range<usize>, Style)]) -> StyledText {
    let styles = styles.iter().map(|(range, style)| Styled { range: range.clone(), style: style.clone() });
    StyledText { text: text.to_owned(), styles: styles.collect() }
}

#[test]
fn walk_nests_overlapping_styles_and_ignores_impossible_ranges() {
    let rows = [
        (vec![(0..4, Style::Bold), (2..6, Style::Italic)], "<b>ab<i>cd</i></b><i>ef</i>"),
        (vec![(0..2, Style::Bold), (0..4, Style::Italic)], "<i><b>ab</b>cd</i>ef"),
        (vec![(1..3, Style::Code), (2..5, Style::Bold)], "a<code>bc</code><b>de</b>f"),
        (vec![(0..6, Style::Block(None)), (2..3, Style::Link("x".into()))], "<pre ->abcdef</pre>"),
        (vec![(2..2, Style::Bold), (4..9, Style::Bold), (7..9, Style::Italic)], "abcdef"),
    ];
    for (styles, expected) in rows {
        assert_eq!(shown(&styled("abcdef", &styles)), expected);
    }
    assert_eq!(shown(&styled("é", &[(0..1, Style::Bold)])), "é");
    assert_eq!(walk(&StyledText::default()), []);
}

#[test]
fn offsets_count_utf16_code_units() {
    let text = styled(
        "a😀é日b",
        &[(1..5, Style::Bold), (5..10, Style::Italic), (10..11, Style::Code), (2..3, Style::Code)],
    );
    let expected = [(1..3, &Style::Bold), (3..5, &Style::Italic), (5..6, &Style::Code)];
    assert_eq!(utf16_ranges(&text), expected);
}

#[test]
fn lengths_are_counted_in_the_unit_with_a_margin() {
    let text = "a😀é";
    let counted = [LengthUnit::Utf16, LengthUnit::Chars, LengthUnit::Bytes].map(|unit| length(text, unit));
    assert_eq!(counted, [4, 3, 7]);
    assert_eq!([0, 1, 20, 2000, 4096].map(stay_below), [0, 0, 19, 1900, 3891]);
}

#[test]
fn plain_form_has_the_addresses_that_fit() {
    let text = parse("**a** [b](https://c.example) <https://d.example> [e](https://f.example) * _ `g`");
    let all = "a b (https://c.example) https://d.example e (https://f.example) * _ g";
    assert_eq!(plain(&text, 1000, LengthUnit::Chars), all);
    let first = "a b (https://c.example) https://d.example e * _ g";
    assert_eq!(plain(&text, first.len(), LengthUnit::Chars), first);
    assert_eq!(plain(&text, 1, LengthUnit::Chars), text.text);
}

#[test]
fn answer_of_many_posts_is_its_beginning_and_a_file() {
    let posts: Vec<StyledText> = ["a", "b", "c"].map(|it| styled(it, &[])).to_vec();
    for most in [None, Some(3)] {
        assert_eq!(delivery(posts.clone(), most, "a b c"), Delivery { posts: posts.clone(), file: None });
    }
    for most in [Some(2), Some(0)] {
        let it = delivery(posts.clone(), most, "a b c");
        assert_eq!((it.posts.len(), it.file.map(|file| file.bytes)), (1, Some(b"a b c".to_vec())));
    }
}

#[test]
fn beginning_has_whole_graphemes() {
    let rows = [
        ("abc", 5, "abc"),
        ("abc", 2, "ab"),
        ("ae\u{301}b", 2, "a"),
        ("ae\u{301}b", 3, "ae\u{301}"),
        ("a😀", 2, "a"),
        ("", 0, ""),
    ];
    for (text, most, expected) in rows {
        assert_eq!(beginning(text, most, LengthUnit::Utf16), expected);
    }
}

#[test]
fn digest_depends_on_the_text_without_the_space_around_it() {
    assert_eq!(digest("a b"), digest("\na b "));
    assert_ne!(digest("a b"), digest("a  b"));
    assert_eq!(digest("").len(), 32);
}
