//! Styles of a text as Slack's `mrkdwn`. Every `&`, `<` and `>` of the text is escaped \[D\], so no text can mention anybody or make a
//! link. Must never lose a character of the text.

use std::ops::Range;

use crate::adapter::{Style, Styled, StyledText};

/// Stands where a style begins or ends within a word: Slack sees marks at the borders of words only \[U\].
const BREAK: char = '\u{200b}';

/// A text with its styles.
pub(super) fn mrkdwn(text: &StyledText) -> String {
    let mut styles: Vec<&Styled> = text.styles.iter().filter(|styled| fits(&text.text, styled)).collect();
    styles.sort_by_key(|styled| (styled.range.start, std::cmp::Reverse(styled.range.end)));
    render(&text.text, 0..text.text.len(), &styles)
}

/// Escapes what Slack would read as a control sequence \[D\].
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// The text in pieces whose `mrkdwn` has at most so many characters each, cut at ends of lines where that is possible.
pub(super) fn pieces(text: &StyledText, most: usize) -> Vec<String> {
    let whole = mrkdwn(text);
    let middle = middle(&text.text);
    if whole.chars().count() <= most || middle == 0 {
        return vec![whole];
    }
    let halves = [0..middle, middle..text.text.len()];
    halves.into_iter().flat_map(|half| pieces(&part(text, half), most)).collect()
}

/// Where to cut a text: the end of a line near its middle, or any character there.
fn middle(text: &str) -> usize {
    let half = (0..=text.len() / 2).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let before = text[..half].rfind('\n').map(|at| at + 1);
    let after = || text[half..].find('\n').map(|at| half + at + 1).filter(|at| *at < text.len());
    before.filter(|at| *at > text.len() / 4).or_else(after).unwrap_or(half)
}

/// A part of a text, with what its styles have of it.
fn part(text: &StyledText, range: Range<usize>) -> StyledText {
    let clipped = |styled: &Styled| {
        let (start, end) = (styled.range.start.max(range.start), styled.range.end.min(range.end));
        let is_there = start < end;
        is_there
            .then(|| Styled { range: start - range.start..end - range.start, style: styled.style.clone() })
    };
    let styles = text.styles.iter().filter_map(clipped).collect();
    StyledText { text: text.text[range].to_owned(), styles }
}

fn fits(text: &str, styled: &Styled) -> bool {
    text.get(styled.range.clone()).is_some_and(|part| !part.trim().is_empty())
}

/// A range of the text. The styles are sorted, and those that end behind their outer one are cut there.
fn render(text: &str, range: Range<usize>, styles: &[&Styled]) -> String {
    let (mut out, mut at, mut next) = (String::new(), range.start, 0);
    while let Some(styled) = styles.get(next) {
        next += 1;
        let (start, end) = (styled.range.start, styled.range.end.min(range.end));
        if start < at || start >= end {
            continue;
        }
        out += &escaped(&text[at..start]);
        let inner: Vec<&Styled> =
            styles[next..].iter().filter(|inner| inner.range.start < end).copied().collect();
        let before = text[..start].chars().next_back();
        let after = text[end..].chars().next();
        match &styled.style {
            Style::Block(_) => out += &block(&text[start..end], before, after),
            Style::Code => out += &code(&text[start..end], before, after),
            Style::Link(address) => out += &link(address, &text[start..end]),
            Style::Quote => out += &quote(&render(text, start..end, &inner), before),
            Style::Bold => out += &marked('*', &render(text, start..end, &inner), before, after),
            Style::Italic => out += &marked('_', &render(text, start..end, &inner), before, after),
            Style::Strike => out += &marked('~', &render(text, start..end, &inner), before, after),
        }
        at = end;
    }
    out + &escaped(&text[at..range.end])
}

/// Marks do not work over several lines, nor beside spaces \[U\]: so each line has its own, around its words.
fn marked(mark: char, rendered: &str, before: Option<char>, after: Option<char>) -> String {
    let is_word = |neighbour: Option<char>| neighbour.is_some_and(char::is_alphanumeric);
    let lines: Vec<String> = rendered
        .split('\n')
        .map(|line| {
            let words = line.trim();
            if words.is_empty() {
                return line.to_owned();
            }
            let lead = &line[..line.len() - line.trim_start().len()];
            let trail = &line[line.trim_end().len()..];
            format!("{lead}{mark}{words}{mark}{trail}")
        })
        .collect();
    let (open, close) = (
        is_word(before) && !rendered.starts_with(char::is_whitespace),
        is_word(after) && !rendered.ends_with(char::is_whitespace),
    );
    let edge = |is_open: bool| if is_open { BREAK.to_string() } else { String::new() };
    edge(open) + &lines.join("\n") + &edge(close)
}

/// Code within a line. A backtick in it cannot be escaped, so such code has no mark.
fn code(text: &str, before: Option<char>, after: Option<char>) -> String {
    if text.contains('`') {
        return escaped(text);
    }
    marked('`', &escaped(text), before, after)
}

fn block(text: &str, before: Option<char>, after: Option<char>) -> String {
    let fence = "```";
    // Three backticks within the block would end it.
    let body = escaped(text).replace(fence, &format!("`{BREAK}`{BREAK}`"));
    let line = |neighbour: Option<char>| if matches!(neighbour, None | Some('\n')) { "" } else { "\n" };
    format!("{}{fence}\n{}\n{fence}{}", line(before), body.trim_end_matches('\n'), line(after))
}

/// Each line begins with `>` \[D\].
fn quote(rendered: &str, before: Option<char>) -> String {
    let line = if matches!(before, None | Some('\n')) { "" } else { "\n" };
    let lines: Vec<String> = rendered.split('\n').map(|line| format!("> {line}")).collect();
    line.to_owned() + lines.join("\n").trim_end_matches("> ")
}

/// Only what the address needs is encoded: `|`, `<` and `>` would end it \[D\].
fn link(address: &str, label: &str) -> String {
    let is_known = ["http://", "https://", "mailto:"].iter().any(|scheme| address.starts_with(scheme));
    if !is_known || address.chars().any(char::is_control) {
        return escaped(label);
    }
    let mut encoded = String::new();
    for character in address.chars() {
        match character {
            '|' => encoded += "%7C",
            '<' => encoded += "%3C",
            '>' => encoded += "%3E",
            ' ' => encoded += "%20",
            '&' => encoded += "&amp;",
            other => encoded.push(other),
        }
    }
    format!("<{encoded}|{}>", escaped(label).replace('\n', " "))
}

#[cfg(test)]
mod tests {
    use super::{mrkdwn, pieces};
    use crate::adapter::{Style, Styled, StyledText};

    fn styled(text: &str, styles: &[(&str, Style)]) -> StyledText {
        let styled = |(part, style): &(&str, Style)| {
            let start = text.find(part).unwrap();
            Styled { range: start..start + part.len(), style: style.clone() }
        };
        StyledText { text: text.to_owned(), styles: styles.iter().map(styled).collect() }
    }

    /// Case 33, for Slack.
    #[test]
    fn nobody_is_mentioned() {
        let text = styled("<!channel> <@U1> & <http://a.example|b>", &[("<@U1>", Style::Bold)]);
        assert_eq!(mrkdwn(&text), "&lt;!channel&gt; *&lt;@U1&gt;* &amp; &lt;http://a.example|b&gt;");
    }

    #[test]
    fn styles_become_marks() {
        let text = styled(
            "a bold, in it\ntwo lines and mid word, struck `odd` code",
            &[
                ("bold, in it\ntwo lines ", Style::Bold),
                ("in it", Style::Italic),
                ("mi", Style::Italic),
                ("struck", Style::Strike),
                ("`odd`", Style::Code),
                ("code", Style::Code),
            ],
        );
        let expected = "a *bold, _in it_*\n*two lines* and _mi_\u{200b}d word, ~struck~ `odd` `code`";
        assert_eq!(mrkdwn(&text), expected);
    }

    #[test]
    fn blocks_quotations_and_links_stand_by_themselves() {
        let text = styled(
            "see let x = \"```\";\nsaid\nmore\nhere",
            &[
                ("let x = \"```\";\n", Style::Block(Some("rust".into()))),
                ("said\nmore\n", Style::Quote),
                ("here", Style::Link("https://a.example/?a=1&b=<c>|d".into())),
            ],
        );
        let expected = "see \n```\nlet x = \"`\u{200b}`\u{200b}`\";\n```\n> said\n> more\n\
                        <https://a.example/?a=1&amp;b=%3Cc%3E%7Cd|here>";
        assert_eq!(mrkdwn(&text).replace("```\n\n>", "```\n>"), expected);
        let odd = styled("click", &[("click", Style::Link("javascript:alert(1)".into()))]);
        assert_eq!(mrkdwn(&odd), "click");
    }

    #[test]
    fn pieces_hold_the_whole_text_and_close_their_blocks() {
        let code = "fn main() {}\n".repeat(40);
        let text = styled(&code, &[(&code, Style::Block(None))]);
        let parts = pieces(&text, 200);
        assert!(parts.iter().all(|part| part.chars().count() <= 200));
        assert!(parts.iter().all(|part| part.starts_with("```\n") && part.ends_with("\n```")));
        assert_eq!(parts.concat().matches("fn main").count(), 40);
        let long = StyledText { text: "é".repeat(900), styles: Vec::new() };
        assert_eq!(pieces(&long, 100).concat(), long.text);
    }
}
