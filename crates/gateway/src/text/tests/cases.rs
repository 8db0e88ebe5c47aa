//! Cases 31, 33 and 34 of the specification, and the choice of cuts.

use super::super::{length, parse, plain, split, stay_below};
use super::{html, shown};
use crate::adapter::StyledText;
use crate::capabilities::LengthUnit;

const UNITS: [LengthUnit; 3] = [LengthUnit::Utf16, LengthUnit::Chars, LengthUnit::Bytes];

fn cut(source: &str, longest: usize, unit: LengthUnit) -> Vec<StyledText> {
    split(&parse(source), longest, &|text| length(&text.text, unit))
}

/// The posts with their styles, for a limit in characters after the margin.
fn cuts(source: &str, limit: usize) -> Vec<String> {
    let longest = (limit..2 * limit + 2).find(|it| stay_below(*it) == limit).unwrap();
    cut(source, longest, LengthUnit::Chars).iter().map(shown).collect()
}

#[test]
fn gateways_case_31_text_at_the_limit_is_one_post_and_one_over_it_is_two() {
    let sizes = |letter: &str, count: usize| -> Vec<Vec<usize>> {
        let text = letter.repeat(count);
        let of = |unit| cut(&text, 2000, unit).iter().map(|it| length(&it.text, unit)).collect();
        UNITS.map(of).to_vec()
    };
    assert_eq!(sizes("a", 1900), [[1900], [1900], [1900]]);
    assert_eq!(sizes("a", 1901), [[1900, 1], [1900, 1], [1900, 1]]);
    // Two code units, one character, four bytes.
    assert_eq!(sizes("😀", 950), [vec![1900], vec![950], vec![1900, 1900]]);
    assert_eq!(sizes("字", 1901)[1], [1900, 1]);
    // Seven characters that are one grapheme.
    assert_eq!(sizes("👩‍👩‍👧‍👦", 300), [vec![1892, 1408], vec![1897, 203], vec![1900, 1900, 1900, 1800]]);
}

#[test]
fn gateways_case_31_fence_is_closed_and_opened_again_with_its_language() {
    let source = "Intro.\n\n```rust\nlet a = 1;\n    let b = 2;\n\n    let c = 3;\n```\n\nEnd.";
    let expected = [
        "Intro.\n\n<pre rust>let a = 1;</pre>",
        "<pre rust>    let b = 2;</pre>",
        "<pre rust>    let c = 3;</pre>\n\nEnd.",
    ];
    assert_eq!(cuts(source, 22), expected);
}

#[test]
fn gateways_case_31_long_word_is_cut_between_graphemes() {
    let source = format!("a {} b", "e\u{301}".repeat(10));
    let expected = [
        "a".to_owned(),
        "e\u{301}".repeat(3),
        "e\u{301}".repeat(3),
        "e\u{301}".repeat(3),
        "e\u{301} b".to_owned(),
    ];
    assert_eq!(cuts(&source, 7), expected);
}

#[test]
fn grapheme_longer_than_a_post_is_cut_between_characters() {
    let zalgo = format!("z{}", "\u{301}".repeat(50_000));
    let source = format!("a {zalgo} b {zalgo}");
    for unit in UNITS {
        let posts = cut(&source, 1000, unit);
        assert!(posts.iter().all(|post| length(&post.text, unit) <= 950));
        let joined: String = posts.iter().map(|post| post.text.replace(' ', "")).collect();
        assert_eq!(joined, source.replace(' ', ""));
    }
    // No character fits: one is sent all the same.
    assert_eq!(cut("ab", 1, LengthUnit::Chars).len(), 2);
}

#[test]
fn cuts_are_made_at_the_best_place_of_the_second_half() {
    let rows: &[(&str, usize, &[&str])] = &[
        ("one two three.\n\nfour. five six", 24, &["one two three.", "four. five six"]),
        ("one two three\nfo. five", 18, &["one two three", "fo. five"]),
        ("one two. six seven", 14, &["one two.", "six seven"]),
        ("one two three", 9, &["one two", "three"]),
        // A paragraph in the first half is no reason to cut there.
        ("a\n\nbcd efg hij klm nop qrs", 20, &["a\n\nbcd efg hij klm", "nop qrs"]),
        // Rather outside of a style, else within it.
        ("aa **bb cc** dd", 10, &["aa <b>bb cc</b>", "dd"]),
        ("a **bb cc dd ee ff**", 10, &["a <b>bb cc dd</b>", "<b>ee ff</b>"]),
        ("漢字。漢字漢字", 5, &["漢字。", "漢字漢字"]),
    ];
    for (source, limit, expected) in rows {
        assert_eq!(cuts(source, *limit), *expected, "{source}");
    }
}

#[test]
fn link_and_code_are_cut_only_if_they_are_longer_than_a_post() {
    let link = "<a https://x.example>";
    assert_eq!(cuts("aaa [b c d](https://x.example) e", 8), ["aaa".to_owned(), format!("{link}b c d</a> e")]);
    assert_eq!(cuts("aaaa[bbbbb](https://x.example)", 8), ["aaaa".to_owned(), format!("{link}bbbbb</a>")]);
    assert_eq!(cuts("aaa `b c d` e", 8), ["aaa", "<code>b c d</code> e"]);
    assert_eq!(
        cuts("[bbb ccc ddd](https://x.example)", 8),
        [format!("{link}bbb ccc</a>"), format!("{link}ddd</a>")]
    );
}

#[test]
fn length_that_counts_is_that_of_the_rendering() {
    let source = "**a** & *b* < `c` > [d](https://e.example) ".repeat(40);
    let posts = split(&parse(&source), 200, &|text| html(text).len());
    let sizes: Vec<usize> = posts.iter().map(|post| html(post).len()).collect();
    assert!(sizes.iter().all(|size| *size <= 190), "{sizes:?}");
    assert!(sizes[..sizes.len() - 1].iter().all(|size| *size > 90), "{sizes:?}");
}

#[test]
fn address_that_needs_half_a_post_becomes_text() {
    let source = format!("**see [this](https://{}.example) now**", "a".repeat(300));
    let posts = split(&parse(&source), 400, &|text| html(text).len());
    assert!(posts.iter().all(|post| html(post).len() <= 380 && !shown(post).contains("<a ")));
    let text: String = posts.iter().map(|post| post.text.as_str()).collect();
    assert!(text.contains("this (https://aaa") && text.ends_with("now"), "{text}");
}

#[test]
fn post_without_room_for_its_styles_has_none() {
    let posts = split(&parse("***~~ab~~***"), 10, &|text| html(text).len());
    assert_eq!(posts.iter().map(html).collect::<String>(), "ab");
}

#[test]
fn white_space_alone_is_no_post() {
    for source in ["", " \n\n ", "```\n\n\n```", &format!("a\n```\nb{}\nc\n```", "\n".repeat(200))] {
        let posts = cut(source, 20, LengthUnit::Chars);
        assert!(posts.iter().all(|post| !post.text.trim().is_empty()), "{posts:?}");
    }
}

#[test]
fn gateways_case_33_markup_of_all_platforms_loses_nothing() {
    let source = "*[]()~>#+-=|{}.!\\ **unbalanced *mixed_ ~~x `y ||spoiler|| __u__ \
                  @everyone @here @room <!channel> <!here> <@U12> <#C1|c> &lt; <b>raw</b> [p](tg://user?id=7)";
    let text = parse(source).text;
    let words = [
        "unbalanced",
        "*mixed_",
        "~~x",
        "`y",
        "||spoiler||",
        "@everyone",
        "<!channel>",
        "<@U12>",
        "<#C1|c>",
        "<b>raw</b>",
    ];
    for word in words.into_iter().chain(["[p](tg://user?id=7)", "*[]()~>#+-=|{}.!"]) {
        assert!(text.contains(word), "{word} in {text}");
    }
}

#[test]
fn gateways_case_34_plain_form_has_no_escapes() {
    let posts = cut("1\\. a\\_b **c** & <d> `e*f`", 100, LengthUnit::Chars);
    assert_eq!(plain(&posts[0], 100, LengthUnit::Chars), "1. a_b c & <d> e*f");
}

#[test]
fn answer_of_a_megabyte_is_cut_in_linear_work() {
    let mut source = "Word **bold** and `code` [link](https://a.example/b) é😀 ".repeat(16_000);
    source.push_str(&"x".repeat(100_000));
    let text = parse(&source);
    let measured = std::cell::Cell::new(0);
    let measure = |text: &StyledText| {
        measured.set(measured.get() + text.text.len());
        length(&text.text, LengthUnit::Utf16)
    };
    let posts = split(&text, 2000, &measure);
    assert!(posts.len() < 600, "{}", posts.len());
    assert!(measured.get() < 20 * text.text.len(), "{} for {}", measured.get(), text.text.len());
}
