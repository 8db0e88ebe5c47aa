//! HTML for `formatted_body`, made of styles and never of markup in the text. Must never nest elements wrongly, whatever the styles are.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::adapter::{Style, StyledText};

/// The order of elements, outermost first: the kind, then the longer one. The last number is the index of the style.
type Rank = (u8, usize, Reverse<usize>, usize);

/// The text as HTML. `None` if it has no styles: then the text alone shows the same.
pub(super) fn html(styled: &StyledText) -> Option<String> {
    let ranges = ranges(styled);
    if ranges.is_empty() {
        return None;
    }
    let mut bounds: Vec<usize> =
        ranges.iter().flat_map(|(_, start, Reverse(end), _)| [*start, *end]).collect();
    bounds.extend([0, styled.text.len()]);
    bounds.sort_unstable();
    bounds.dedup();
    let mut starting = ranges.clone();
    starting.sort_unstable_by_key(|(_, start, ..)| Reverse(*start));
    let mut writer = Writer { styled, out: String::new(), open: Vec::new(), after_block: false };
    let mut active = BTreeSet::new();
    for (from, to) in bounds.iter().zip(bounds.iter().skip(1)) {
        active.retain(|(_, _, Reverse(end), _): &Rank| end > from);
        while let Some(rank) = starting.pop_if(|(_, start, ..)| *start <= *from) {
            active.insert(rank);
        }
        writer.switch(&shown(styled, &active));
        writer.text(&styled.text[*from..*to]);
    }
    writer.switch(&[]);
    Some(writer.out)
}

/// The styles that can be shown, with ranges that lie on characters.
fn ranges(styled: &StyledText) -> Vec<Rank> {
    let mut ranges = Vec::new();
    for (index, style) in styled.styles.iter().enumerate() {
        let start = styled.text.floor_char_boundary(style.range.start);
        let end = styled.text.floor_char_boundary(style.range.end);
        if start < end && link(&style.style).is_none_or(is_link) {
            ranges.push((kind(&style.style), start, Reverse(end), index));
        }
    }
    ranges
}

fn kind(style: &Style) -> u8 {
    match style {
        Style::Quote => 0,
        Style::Block(_) => 1,
        Style::Link(_) => 2,
        Style::Bold => 3,
        Style::Italic => 4,
        Style::Strike => 5,
        Style::Code => 6,
    }
}

fn link(style: &Style) -> Option<&str> {
    if let Style::Link(address) = style { Some(address) } else { None }
}

/// Clients show no other links \[D\].
fn is_link(address: &str) -> bool {
    ["http://", "https://", "mailto:"].iter().any(|scheme| address.starts_with(scheme))
}

/// The styles of a piece of text, outermost first: nothing but text in a block of code, and no element in itself, except quotes.
fn shown(styled: &StyledText, active: &BTreeSet<Rank>) -> Vec<usize> {
    let mut shown: Vec<usize> = Vec::new();
    for (rank, .., index) in active {
        let last = shown.last().map(|last| kind(&styled.styles[*last].style));
        let in_block = last == Some(kind(&Style::Block(None)));
        // More than a hundred levels are not shown [D].
        if !in_block && (last != Some(*rank) || *rank == kind(&Style::Quote)) && shown.len() < 50 {
            shown.push(*index);
        }
    }
    shown
}

struct Writer<'a> {
    styled: &'a StyledText,
    out: String,
    open: Vec<usize>,
    /// The element that was closed last ends its line itself.
    after_block: bool,
}

impl Writer<'_> {
    /// Closes and opens elements, until exactly these are open.
    fn switch(&mut self, wanted: &[usize]) {
        let common = self.open.iter().zip(wanted).take_while(|(open, wanted)| open == wanted).count();
        let opens_block = wanted[common..].iter().any(|index| is_block(&self.styled.styles[*index].style));
        if opens_block {
            // A block begins a line itself.
            self.out.truncate(self.out.strip_suffix("<br>").unwrap_or(&self.out).len());
            self.after_block = false;
        }
        for index in self.open.split_off(common).into_iter().rev() {
            self.close(index);
        }
        for index in &wanted[common..] {
            self.start(*index);
        }
        self.open = wanted.to_vec();
    }

    fn start(&mut self, index: usize) {
        let style = &self.styled.styles[index].style;
        match style {
            Style::Bold => self.out.push_str("<strong>"),
            Style::Italic => self.out.push_str("<em>"),
            Style::Strike => self.out.push_str("<del>"),
            Style::Code => self.out.push_str("<code>"),
            Style::Quote => self.out.push_str("<blockquote>"),
            Style::Link(address) => {
                self.out.push_str("<a href=\"");
                escape(address, &mut self.out);
                self.out.push_str("\">");
            }
            Style::Block(language) => {
                self.out.push_str("<pre><code");
                if let Some(language) = language.as_deref().filter(|language| is_language(language)) {
                    self.out.push_str(" class=\"language-");
                    self.out.push_str(language);
                    self.out.push('"');
                }
                self.out.push('>');
            }
        }
    }

    fn close(&mut self, index: usize) {
        let style = &self.styled.styles[index].style;
        self.out.push_str(match style {
            Style::Bold => "</strong>",
            Style::Italic => "</em>",
            Style::Strike => "</del>",
            Style::Code => "</code>",
            Style::Quote => "</blockquote>",
            Style::Link(_) => "</a>",
            Style::Block(_) => "</code></pre>",
        });
        self.after_block |= is_block(style);
    }

    fn text(&mut self, mut text: &str) {
        if self.after_block {
            text = text.strip_prefix('\n').unwrap_or(text);
            self.after_block = false;
        }
        let in_block =
            self.open.last().is_some_and(|last| matches!(self.styled.styles[*last].style, Style::Block(_)));
        if in_block {
            escape(text, &mut self.out);
            return;
        }
        for (number, line) in text.split('\n').enumerate() {
            if number > 0 {
                self.out.push_str("<br>");
            }
            escape(line, &mut self.out);
        }
    }
}

fn is_block(style: &Style) -> bool {
    matches!(style, Style::Quote | Style::Block(_))
}

fn is_language(language: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "+#.-_".contains(c);
    !language.is_empty() && language.len() <= 30 && language.chars().all(is_plain)
}

fn escape(text: &str, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.extend(visible(c)),
        }
    }
}

/// The character, without its power over a terminal or a database.
pub(super) fn visible(c: char) -> Option<char> {
    match c {
        '\r' => None,
        '\n' | '\t' => Some(c),
        c if c.is_control() => Some(char::REPLACEMENT_CHARACTER),
        c => Some(c),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::html;
    use crate::adapter::{Style, Styled, StyledText};

    fn styled(text: &str, styles: &[(std::ops::Range<usize>, Style)]) -> StyledText {
        let styles =
            styles.iter().map(|(range, style)| Styled { range: range.clone(), style: style.clone() });
        StyledText { text: text.into(), styles: styles.collect() }
    }

    #[test]
    fn styles_become_elements() {
        let link = |address: &str| Style::Link(address.into());
        let block = |language: &str| Style::Block(Some(language.into()));
        let cases = [
            (styled("a b", &[(0..1, Style::Bold)]), "<strong>a</strong> b"),
            (styled("ab", &[(0..2, Style::Bold), (1..2, Style::Italic)]), "<strong>a<em>b</em></strong>"),
            // Ranges that cross are cut.
            (
                styled("abc", &[(0..2, Style::Italic), (1..3, Style::Bold)]),
                "<em>a</em><strong><em>b</em>c</strong>",
            ),
            (styled("x\n<y>&", &[(0..1, Style::Code)]), "<code>x</code><br>&lt;y&gt;&amp;"),
            (
                styled("s", &[(0..1, link("https://a.test/?x=\"&y"))]),
                "<a href=\"https://a.test/?x=&quot;&amp;y\">s</a>",
            ),
            (styled("s", &[(0..1, link("javascript:x")), (0..1, Style::Bold)]), "<strong>s</strong>"),
            (
                styled("a\nlet x;\nb", &[(2..8, block("rust")), (2..5, Style::Bold)]),
                "a<pre><code class=\"language-rust\">let x;</code></pre>b",
            ),
            (styled("x", &[(0..1, block("\" onload=\""))]), "<pre><code>x</code></pre>"),
            (
                styled("a\nq\nr\nb", &[(2..5, Style::Quote), (0..7, Style::Bold)]),
                "<strong>a</strong><blockquote><strong>q<br>r</strong></blockquote><strong>b</strong>",
            ),
            (
                styled("ab", &[(0..1, Style::Quote), (1..2, Style::Quote)]),
                "<blockquote>a</blockquote><blockquote>b</blockquote>",
            ),
            (styled("a\u{1b}[1m", &[(0..9, Style::Bold)]), "<strong>a\u{fffd}[1m</strong>"),
        ];
        for (text, expected) in cases {
            assert_eq!(html(&text).as_deref(), Some(expected));
        }
        assert_eq!(html(&styled("a < b", &[(9..99, Style::Bold), (2..2, Style::Bold)])), None);
    }

    fn style() -> impl Strategy<Value = Style> {
        prop_oneof![
            Just(Style::Bold),
            Just(Style::Italic),
            Just(Style::Code),
            Just(Style::Quote),
            Just(Style::Block(None)),
            Just(Style::Link("https://a.test".into())),
        ]
    }

    proptest! {
        #[test]
        fn elements_are_always_nested_and_no_text_is_lost(
            text in "[aé\u{1F600}<>&]{0,20}",
            styles in prop::collection::vec((0..40_usize, 0..40_usize, style()), 1..8),
        ) {
            let styles: Vec<_> = styles.into_iter().map(|(from, to, style)| (from..to, style)).collect();
            if let Some(html) = html(&styled(&text, &styles)) {
                let (mut open, mut plain, mut rest) = (Vec::new(), String::new(), html.as_str());
                while let Some((before, after)) = rest.split_once('<') {
                    plain.push_str(before);
                    let (tag, after) = after.split_once('>').unwrap();
                    match tag.strip_prefix('/') {
                        Some(name) => prop_assert_eq!(open.pop(), Some(name), "{}", html),
                        None => open.push(tag.split(' ').next().unwrap()),
                    }
                    rest = after;
                }
                plain.push_str(rest);
                let plain = plain.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
                prop_assert!(open.is_empty(), "{}", html);
                prop_assert_eq!(plain, text);
            }
        }
    }
}
