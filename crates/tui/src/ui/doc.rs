//! Texts as lines of a width: Markdown, code in colours, diffs, output of tools. Pure: the same text looks the same, except code
//! whose grammar is still loading. Must never make a line wider than requested, and must never pass on an escape sequence.

mod blocks;
mod code;
mod diff;
mod markdown;
mod plain;
mod stream;
mod table;
mod wrap;

use ratatui::text::Line;

use super::theme::Theme;

pub(crate) use code::generation;
#[cfg(test)]
pub(crate) use code::warm;
pub(crate) use diff::{diff, is_diff};
pub(crate) use plain::{plain, said, stripped};
pub(crate) use stream::Streaming;
pub(crate) use wrap::{Run, columns, cut, rewrap};

/// The most columns of prose: longer lines are hard to read. Code and diffs take all columns.
pub(crate) const PROSE: u16 = 100;

/// A Markdown text.
pub(crate) fn markdown(text: &str, width: u16, theme: Theme) -> Vec<Line<'static>> {
    let mut lines: Vec<Line<'static>> = Vec::new();
    let known = addresses(text);
    let mut rest = text;
    while !rest.is_empty() {
        let (block, after) = rest.split_at(blocks::first(rest).end);
        let block = markdown::lay(block, width.into(), theme, &known).lines;
        if !block.is_empty() && !lines.is_empty() {
            lines.push(Line::default());
        }
        lines.extend(block);
        rest = after;
    }
    lines
}

/// The link addresses that a text defines; of two definitions the first counts.
fn addresses(text: &str) -> markdown::Addresses {
    let mut known = markdown::Addresses::new();
    let mut rest = if text.contains("]:") { text } else { "" };
    while !rest.is_empty() {
        let (block, after) = rest.split_at(blocks::first(rest).end);
        markdown::names(block).into_iter().for_each(|(label, address)| {
            known.entry(label).or_insert(address);
        });
        rest = after;
    }
    known
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::wrap::spans_columns;
    use super::*;
    use crate::text::safe;
    use crate::ui::theme::{Background, Colours, Paint};

    const THEME: Theme = Theme::usual(Colours::True, Background::Dark);

    fn text_of(lines: &[Line<'_>]) -> String {
        lines.iter().map(|line| format!("{}\n", line.to_string().trim_end())).collect()
    }

    fn shown(text: &str, width: u16) -> String {
        text_of(&markdown(text, width, THEME))
    }

    #[test]
    fn paragraphs_are_wrapped() {
        assert_eq!(shown("the quick\nbrown **fox** jumps", 12), "the quick\nbrown fox\njumps\n");
        assert_eq!(shown("one  \ntwo", 12), "one\ntwo\n");
        assert_eq!(shown("# Title\nunder it", 20), "Title\n\nunder it\n");
    }

    #[test]
    fn prose_is_narrower_than_a_wide_view_and_code_is_not() {
        let words = "word ".repeat(60);
        let text = format!("{words}\n\n- {words}\n\n> {words}\n\n```\n{}\n```\n", "x".repeat(180));
        let lines = markdown(&text, 200, THEME);
        let widest = |code: bool| {
            let some = lines.iter().map(ToString::to_string).filter(|line| line.contains("xx") == code);
            some.map(|line| columns(&line)).max()
        };
        assert!(widest(false).is_some_and(|most| (95..=104).contains(&most)), "{:?}", widest(false));
        assert_eq!(widest(true), Some(182));
    }

    #[test]
    fn lists_are_nested() {
        insta::assert_snapshot!(shown("- one that is long\n- two\n  - deep\n    more\n- [x] done\n- [ ] open\n\n9. nine\n10. ten", 14), @"
        • one that is
          long
        • two
          ◦ deep more
        ☑ done
        ☐ open

        9. nine
        10. ten
        ");
    }

    #[test]
    fn a_numbered_list_under_a_paragraph_stands_apart() {
        assert_eq!(shown("so:\n1. one\n2. two", 30), "so:\n\n1. one\n2. two\n");
        assert_eq!(shown("so:\n2. two\n3. three", 30), "so:\n\n2. two\n3. three\n", "wherever it begins");
        assert_eq!(shown("it was in\n1984. So.", 30), "it was in 1984. So.\n", "a number is no list");
        assert_eq!(shown("```\nso:\n2. x\n3. y\n```", 9), "  so:\n  2. x\n  3. y\n", "code is code");
    }

    #[test]
    fn nested_blocks_have_a_depth_limit() {
        for sign in [">", "> - ", "- "] {
            let text = format!("{}deep\n\nafter", sign.repeat(120_000));
            let shown = shown(&text, 200);
            let first = shown.lines().next().unwrap_or_default();
            let signs = first.trim_end_matches("deep").chars().filter(|c| !c.is_whitespace()).count();
            assert!(first.ends_with("deep") && (16..=32).contains(&signs), "{sign}: {signs}");
            assert!(shown.ends_with("\nafter\n"), "{sign}: what comes behind stands alone");
        }
    }

    #[test]
    fn code_says_its_language_where_there_is_room() {
        assert_eq!(shown("```sh\nls\n```", 20), "  ls              sh\n");
        assert_eq!(shown("```sh\nls -la folder\n```", 20), "  ls -la folder\n");
    }

    #[test]
    fn quotes_and_rules_and_code() {
        insta::assert_snapshot!(shown("> said\n> ```\n> code\n> ```\n\n---\n\n```rust\nfn main() { println!(\"long\"); }\n\n}\n```\n", 24), @r#"
        ▏ said
        ▏
        ▏   code

        ────────────────────────

          fn main() { println!("
        ┊ long"); }

          }
        "#);
    }

    #[test]
    fn addresses_stand_behind_links() {
        insta::assert_snapshot!(shown("[a](http://e.org) <http://e.org> ![cat](c.png) `x` ~~no~~", 60), @"a (http://e.org) http://e.org [image: cat] (c.png) x no");
        assert_eq!(
            shown("see [a][1] and [b][2]\n\n[1]: http://e.org", 60),
            "see a (http://e.org) and [b][2]\n\n[1]: http://e.org\n"
        );
        assert_eq!(
            shown("[One  Thing], [x]\n\n- y\n\n[one thing]: http://e.org\n[one thing]: http://no.org", 60),
            "One  Thing (http://e.org), [x]\n\n• y\n\n[one thing]: http://e.org\n[one thing]: http://no.org\n"
        );
        assert_eq!(shown("[a]\n\n```\n[a]: x\n```", 60), "[a]\n\n  [a]: x\n", "code names nothing");
        assert_eq!(
            shown("see [a][1]\n[1]: x\n\n[1]: http://e.org", 60),
            "see a (http://e.org) 1 (http://e.org): x\n\n[1]: http://e.org\n"
        );
        let plain = Theme { colours: Colours::None, ..THEME };
        assert_eq!(text_of(&markdown("`x`", 9, plain)), "`x`\n");
    }

    #[test]
    fn tables_fit() {
        let table = "| name | what it is |\n|---|--:|\n| a | first of them |\n| longer name | b |\n";
        insta::assert_snapshot!(shown(table, 40), @"
        name        │    what it is
        ────────────┼──────────────
        a           │ first of them
        longer name │             b
        ");
        insta::assert_snapshot!(shown(table, 18), @"
        name    │  what it
                │       is
        ────────┼─────────
        a       │ first of
                │     them
        longer  │        b
        name    │
        ");
        insta::assert_snapshot!(shown(table, 8), @"
        name: a
        what it
        is:
        first of
        them

        name:
        longer
        name
        what it
        is: b
        ");
    }

    #[test]
    fn control_characters_of_a_text_are_shown() {
        for text in [
            "a\x1b[2Jb",
            "&#27;[2J",
            "```\n\x1b]0;x\x07\n```",
            "[x](\x1b\u{202e})",
            "`\x1b`",
            "| \x1b |\n|-|\n",
        ] {
            for line in markdown(text, 40, THEME) {
                assert!(!line.to_string().contains(safe::acts_on_terminal), "{text:?} {line:?}");
            }
        }
    }

    fn pieces() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            proptest::sample::select(vec![
                "\n",
                "\n\n",
                "- ",
                "1. ",
                "  ",
                "    ",
                "> ",
                "```",
                "```rust\n",
                "~~~\n",
                "# ",
                "| a | b |\n|---|---|\n| ",
                "**",
                "*",
                "`",
                "[x](y)",
                "[x][1]",
                "[1]",
                "\n\n[1]: http://e.org\n\n",
                "---\n",
                "- [ ] ",
                "let x = 1;",
                "漢字",
                "👩‍👩‍👧",
                "e\u{301}",
                "مرحبا",
                "\t",
                "\r\n",
                "\r",
                "\x1b[31m",
                "<b>",
                "<!-- ",
                "&#27;",
                "![",
                "word",
                " ",
                "https://example.org/a/long/path",
            ])
            .prop_map(str::to_owned),
            "\\PC{0,6}",
        ];
        proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
    }

    fn fit(lines: &[Line<'_>], width: u16) -> Result<(), TestCaseError> {
        for line in lines {
            prop_assert!(spans_columns(&line.spans) <= usize::from(width), "{width} {line:?}");
            prop_assert!(
                !line.to_string().contains(|c| safe::acts_on_terminal(c) || c == '\n' || c == '\t'),
                "{line:?}"
            );
        }
        Ok(())
    }

    fn grows(text: &str, width: u16) -> Result<(), TestCaseError> {
        let mut streaming = Streaming::default();
        for end in (0..=text.len()).filter(|end| text.is_char_boundary(*end)) {
            let whole = markdown(&text[..end], width, THEME);
            let lines = streaming.update(&text[..end], width, THEME);
            prop_assert_eq!(lines, &whole[..], "{:?}", &text[..end]);
        }
        Ok(())
    }

    #[test]
    fn code_whose_language_has_an_escape_is_drawn_like_the_whole_text() {
        for info in ["&#27;", "a&amp;b", "a\\`b", "\\"] {
            grows(&format!("```{info}\n\n[1]: http://e.org\n\n"), 20).unwrap();
        }
    }

    proptest! {
        #[test]
        fn no_line_is_wider_than_requested(text in pieces(), width in 1u16..40) {
            fit(&markdown(&text, width, THEME), width)?;
            fit(&diff(&text, Some("x.rs"), width, THEME), width)?;
            fit(&plain(&text, width, THEME, Paint::Plain), width)?;
            fit(&[Line::from(cut(&stripped(&text).replace('\n', " "), THEME.style(Paint::Dim), width.into()))], width)?;
            let lines: Vec<_> = stripped(&text).lines().map(|line| Line::raw(line.to_owned())).collect();
            fit(&rewrap(lines, width.into()), width)?;
        }

        #[test]
        fn growing_text_is_drawn_like_the_whole_text(text in pieces(), width in 8u16..40) {
            warm("rust");
            grows(&text, width)?;
        }
    }

    /// Counts layouts while no other test loads a grammar or paints code: if one does, the count restarts.
    fn undisturbed<T>(count: impl Fn() -> T) -> T {
        let known = || (code::languages(), code::generation());
        loop {
            let before = known();
            let counted = count();
            if known() == before {
                return counted;
            }
        }
    }

    #[test]
    fn disturbed_count_is_repeated() {
        let runs = std::cell::Cell::new(0);
        let counted = undisturbed(|| {
            runs.set(runs.get() + 1);
            if runs.get() == 1 {
                code::learned();
            }
            runs.get()
        });
        assert!(counted > 1);
    }

    /// Adds the pieces one after another.
    fn grown(pieces: impl Iterator<Item = String>) -> (Streaming, String) {
        let (mut streaming, mut text) = (Streaming::default(), String::new());
        for piece in pieces {
            text.push_str(&piece);
            streaming.update(&text, 40, THEME);
        }
        (streaming, text)
    }

    #[test]
    fn finished_blocks_are_not_read_again() {
        let pieces =
            |number: usize| ["A para", "graph of words ", &number.to_string(), ".\n\n"].map(str::to_owned);
        let (streaming, text) = undisturbed(|| grown((0..200).flat_map(pieces)));
        assert!(streaming.parsed < 16 * text.len(), "{} of {}", streaming.parsed, text.len());
        assert_eq!(streaming.lines(), markdown(&text, 40, THEME));
    }

    #[test]
    fn address_at_the_end_redraws_only_blocks_that_refer_to_it() {
        let (streaming, before, text) = undisturbed(|| {
            let mut text =
                "See [this][1].\n\n".to_owned() + &"A paragraph of [words], as usual.\n\n".repeat(500);
            let mut streaming = Streaming::default();
            streaming.update(&text, 40, THEME);
            let before = streaming.parsed;
            for piece in ["[1]:", " http", "://example", ".org\n\n", "And so on.\n"] {
                text.push_str(piece);
                streaming.update(&text, 40, THEME);
            }
            (streaming, before, text)
        });
        assert!(streaming.parsed < before + 1_000, "{} after {before}", streaming.parsed);
        assert_eq!(streaming.lines(), markdown(&text, 40, THEME));
        assert!(streaming.lines()[0].to_string().contains("this (http://example.org)"));
    }

    #[test]
    fn long_code_is_drawn_line_after_line() {
        let (streaming, text) = undisturbed(|| {
            let lines = (0..500).flat_map(|number| ["line ".to_owned(), number.to_string(), "\n".to_owned()]);
            grown(std::iter::once("So:\n\n```\n".to_owned()).chain(lines))
        });
        assert!(streaming.parsed < 16 * text.len(), "{} of {}", streaming.parsed, text.len());
        assert_eq!(streaming.lines(), markdown(&text, 40, THEME));
    }

    #[test]
    fn long_code_keeps_its_colours_when_it_ends() {
        warm("rust");
        let mut text = "```rust\n".to_owned();
        let mut streaming = Streaming::default();
        for number in 0..60 {
            text.push_str(&format!("let kept_{number} = \"so\";\n"));
            streaming.update(&text, 40, THEME);
        }
        let open = streaming.lines().to_vec();
        text.push_str("```\n");
        assert_eq!(streaming.update(&text, 40, THEME), open);
        assert_eq!(markdown(&text, 40, THEME), open);
        assert!(open[0].spans.len() > 2, "it has colours");
    }

    #[test]
    fn another_text_is_laid_out_from_its_beginning() {
        let mut streaming = Streaming::default();
        streaming.update("first one\n\nsecond\n\nthird", 40, THEME);
        for text in ["", "other\n\nwords that are longer than those\n\nbefore"] {
            assert_eq!(streaming.update(text, 40, THEME), markdown(text, 40, THEME));
        }
    }
}
