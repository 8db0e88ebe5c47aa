//! What clients get to see: rows of styled texts, and random ones.

use proptest::prelude::*;

use super::{LONGEST, content, length};
use crate::adapter::{Style, Styled, StyledText};
use crate::failure::{Failure, Refused};

fn styled(text: &str, styles: &[(&str, Style)]) -> String {
    let range = |part: &str| {
        let start = text.find(part).expect("BUG: a part of the text");
        start..start + part.len()
    };
    let styles = styles.iter().map(|(part, style)| Styled { range: range(part), style: style.clone() });
    content(&StyledText { text: text.to_owned(), styles: styles.collect() }).expect("it fits")
}

#[test]
fn styles_become_markup() {
    let link = |target: &str| Style::Link(target.to_owned());
    let rows = [
        (styled("a bold c", &[("bold", Style::Bold)]), "a **bold** c"),
        (styled("a bold c", &[(" bold ", Style::Bold)]), "a **bold** c"),
        (styled("an it.", &[("it", Style::Italic)]), "an _it_."),
        (styled("reread", &[("read", Style::Italic)]), "re*read*"),
        (styled("ab", &[("ab", Style::Bold), ("ab", Style::Italic)]), "**_ab_**"),
        (styled("abc", &[("abc", Style::Bold), ("b", Style::Bold)]), "**abc**"),
        (styled("gone", &[("gone", Style::Strike)]), "~~gone~~"),
        (styled("x a*b y", &[("a*b", Style::Code)]), "x `a*b` y"),
        (styled("x a`b", &[("a`b", Style::Code)]), "x ``a`b``"),
        (styled("x `a", &[("`a", Style::Code)]), "x `` `a ``"),
        (styled("see it", &[("it", link("https://a.example/x(1)"))]), "see [it](https://a.example/x%281%29)"),
        (
            styled("https://a.example/x_y", &[("https://a.example/x_y", link("https://a.example/x_y"))]),
            "https://a.example/x_y",
        ),
        (
            styled("https://a.example", &[("https://a.example", link("https://b.example"))]),
            "https://a.example (<https://b.example>)",
        ),
        (styled("me", &[("me", link("tg://user?id=1"))]), "me (`tg://user?id=1`)"),
        (styled("a@b.example", &[("a@b.example", link("mailto:a@b.example"))]), "a@b.example"),
    ];
    for (got, expected) in rows {
        assert_eq!(got, expected);
    }
}

#[test]
fn blocks_and_quotes_stand_on_lines_of_their_own() {
    let block = Style::Block(Some("rust".to_owned()));
    assert_eq!(styled("a fn x() b", &[("fn x()", block.clone())]), "a \n```rust\nfn x()\n```\n b");
    assert_eq!(styled("a\nfn x()\nb", &[("fn x()\n", block)]), "a\n```rust\nfn x()\n```\nb");
    let odd = Style::Block(Some("a b`".to_owned()));
    assert_eq!(styled("```", &[("```", odd)]), "```\n`\u{200b}``\n```");
    assert_eq!(styled("x\na\n\nb\nc", &[("a\n\nb", Style::Quote)]), "x\n> a\n> \n> b\nc");
    assert_eq!(
        styled("a b c", &[("a b", Style::Quote), ("b", Style::Block(None))]),
        "> a \n> ```\n> b\n> ```\n c",
    );
}

/// Case 33: markup characters of the text are shown as they are.
#[test]
fn gateways_case_33_characters_of_the_text_are_no_markup() {
    let rows = [
        ("*a* _b_ ~~c~~ ||d|| `e`", "\\*a\\* \\_b\\_ \\~\\~c\\~\\~ \\|\\|d\\|\\| \\`e\\`"),
        ("# a\n-# b\n- c\n  > d\n+ e", "\\# a\n\\-# b\n\\- c\n  \\> d\n\\+ e"),
        ("a # b - c > d", "a # b - c > d"),
        ("[x](https://evil.example)", "\\[x\\](https://evil.example)"),
        ("<@1> <#2> <@&3> <t:0> <:e:4>", "\\<@1> \\<#2> \\<@&3> \\<t:0> \\<:e:4>"),
        ("a\\*b", "a\\\\\\*b"),
        ("https://a.example/a_b_c* d_", "https://a.example/a_b_c* d\\_"),
        ("```", "\\`\\`\\`"),
        ("  padded \n", "padded"),
    ];
    for (text, expected) in rows {
        assert_eq!(styled(text, &[]), expected);
    }
}

/// Case 31: escapes need room, and the post still has at most 2,000 units.
#[test]
fn gateways_case_31_escapes_never_make_a_post_too_long() {
    let stars = StyledText { text: "*".repeat(1_900), styles: Vec::new() };
    assert_eq!(content(&stars), Ok(format!("```\n{}\n```", "*".repeat(1_900))));
    let links =
        Styled { range: 0..1, style: Style::Link(format!("https://a.example/{}", "x".repeat(2_000))) };
    let link = StyledText { text: "a_b".to_owned(), styles: vec![links] };
    assert_eq!(content(&link).as_deref(), Ok("a\\_b"));
    let long = StyledText { text: "😀".repeat(1_001), styles: Vec::new() };
    assert_eq!(content(&long), Err(Failure::Refused(Refused::TooLong)));
    let fits = StyledText { text: "😀".repeat(1_000), styles: Vec::new() };
    assert_eq!(content(&fits).map(|text| text.encode_utf16().count()), Ok(LONGEST));
}

#[test]
fn length_counts_markup_and_escapes() {
    let bold = Styled { range: 0..2, style: Style::Bold };
    assert_eq!(length(&StyledText { text: "a*😀".to_owned(), styles: vec![bold] }), 9);
    // Long texts are measured before they are split.
    assert_eq!(length(&StyledText { text: "* ".repeat(200_000), styles: Vec::new() }), 599_999);
}

#[test]
fn ranges_that_make_no_sense_lose_their_style_only() {
    let ranges = [(0, 1), (1, 2), (9, 99), (2, 2), (0, 3), (2, 4)];
    let range = |(start, end)| Styled { range: start..end, style: Style::Bold };
    let text = StyledText { text: "é*ab".to_owned(), styles: ranges.into_iter().map(range).collect() };
    assert_eq!(content(&text).as_deref(), Ok("**é\\***ab"));
    let deep = vec![Styled { range: 0..1, style: Style::Quote }; 10_000];
    assert_eq!(content(&StyledText { text: "a".to_owned(), styles: deep }).as_deref(), Ok("> a"));
}

/// The text without its escapes.
fn unescaped(content: &str) -> String {
    let mut characters = content.chars();
    let mut out = String::new();
    while let Some(character) = characters.next() {
        out.extend(if character == '\\' { characters.next() } else { Some(character) });
    }
    out
}

fn style() -> impl Strategy<Value = Style> {
    prop_oneof![
        Just(Style::Bold),
        Just(Style::Italic),
        Just(Style::Strike),
        Just(Style::Code),
        Just(Style::Quote),
        Just(Style::Block(None)),
        Just(Style::Link("https://a.example".to_owned())),
    ]
}

proptest! {
    #[test]
    fn plain_text_comes_back_whole(text in "[ -~éß漢😀\n]{0,300}") {
        prop_assume!(!text.contains("://"));
        let content = styled(&text, &[]);
        prop_assert_eq!(unescaped(&content), text.trim());
    }

    #[test]
    fn every_letter_is_shown_in_order(
        text in "[a-z*_`>#\n ]{1,200}",
        styles in proptest::collection::vec((0..200_usize, 0..50_usize, style()), 0..12),
    ) {
        let ranged = |(start, length, style)| Styled { range: start..start + length, style };
        let styles = styles.into_iter().map(ranged).collect();
        let content = content(&StyledText { text: text.clone(), styles }).expect("it fits");
        let letters = |text: &str| text.chars().filter(char::is_ascii_lowercase).collect::<String>();
        let shown = content.replace("](https://a.example)", "").replace("(<https://a.example>)", "");
        prop_assert_eq!(letters(&shown), letters(&text));
    }
}
