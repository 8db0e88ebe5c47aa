//! Separates comments, string literals and code of a Rust file, so that a check never mistakes a word in
//! a comment for a call. It must keep every byte position: parts left out of a view become spaces.

/// Three views of one text, with the same length and the same lines.
#[derive(Debug)]
pub(crate) struct Views {
    /// Code without comments and without the contents of literals.
    pub(crate) code: String,
    /// Code with literals, without comments.
    pub(crate) literals: String,
    /// Comments only.
    pub(crate) comments: String,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Code,
    Literal,
    Comment,
}

/// Splits a text into its views.
pub(crate) fn split(text: &str) -> Views {
    let mut views = Views {
        code: String::with_capacity(text.len()),
        literals: String::with_capacity(text.len()),
        comments: String::with_capacity(text.len()),
    };
    let mut at = 0;
    while at < text.len() {
        let (kind, len) = next_span(&text[at..]);
        let span = &text[at..at + len];
        put(&mut views.code, span, kind == Kind::Code);
        put(&mut views.literals, span, kind != Kind::Comment);
        put(&mut views.comments, span, kind == Kind::Comment);
        at += len;
    }
    views
}

/// One token of code: a word, a literal or a sign such as `;`, `=>` or `::`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Token<'a> {
    /// Byte position of its beginning.
    pub(crate) at: usize,
    /// The token as written, a literal with its quotes.
    pub(crate) text: &'a str,
    /// Whether it is a string or a character.
    pub(crate) is_literal: bool,
}

impl Token<'_> {
    /// Whether it is an identifier, a keyword or a number.
    pub(crate) fn is_word(&self) -> bool {
        !self.is_literal && self.text.starts_with(is_word)
    }
}

/// Signs of two characters; all others have one.
const PAIRS: &[&str] = &["=>", "->", "::", "==", "!=", "<=", ">=", "&&", "||", ".."];

/// The tokens of a text, without its comments.
pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let (kind, span) = next_span(rest);
        let is_pair = || PAIRS.iter().any(|pair| rest.starts_with(pair));
        let len = match kind {
            Kind::Code if span == 1 && rest.starts_with(|c: char| c.is_ascii_punctuation()) && is_pair() => 2,
            _ => span,
        };
        if kind != Kind::Comment && !rest[..len].trim().is_empty() {
            tokens.push(Token { at, text: &rest[..len], is_literal: kind == Kind::Literal });
        }
        at += len;
    }
    tokens
}

/// Whether a character can be part of an identifier.
pub(crate) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The span with everything except line breaks replaced by spaces, byte for byte.
pub(crate) fn blank(span: &str) -> String {
    let mut out = String::with_capacity(span.len());
    put(&mut out, span, false);
    out
}

fn put(view: &mut String, span: &str, shown: bool) {
    if shown {
        view.push_str(span);
        return;
    }
    for byte in span.bytes() {
        view.push(if byte == b'\n' { '\n' } else { ' ' });
    }
}

/// The next piece of a text that is of one kind: at least a whole word, and all spaces up to the next character.
fn next_span(rest: &str) -> (Kind, usize) {
    let first = rest.chars().next().expect("BUG: spans are asked for inside the text");
    let literal = match first {
        '/' if rest.starts_with("//") => return (Kind::Comment, rest.find('\n').unwrap_or(rest.len())),
        '/' if rest.starts_with("/*") => return (Kind::Comment, block_comment(rest)),
        '"' => Some(1 + quoted(&rest[1..], '"')),
        'r' | 'b' | 'c' => raw_string(rest),
        '\'' => char_literal(rest),
        _ => None,
    };
    let up_to = |is_in: fn(char) -> bool| rest.find(|c| !is_in(c)).unwrap_or(rest.len());
    match literal {
        Some(len) => (Kind::Literal, len),
        None if is_word(first) => (Kind::Code, up_to(is_word)),
        None if first.is_whitespace() => (Kind::Code, up_to(char::is_whitespace)),
        None => (Kind::Code, first.len_utf8()),
    }
}

fn block_comment(rest: &str) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

/// The length up to the closing quote, inclusive, for the text after the opening one.
fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices() {
        if c == quote && !escaped {
            return at + c.len_utf8();
        }
        escaped = c == '\\' && !escaped;
    }
    rest.len()
}

fn raw_string(rest: &str) -> Option<usize> {
    let body = ["r", "br", "cr"]
        .iter()
        .find_map(|prefix| rest.strip_prefix(prefix))
        .filter(|body| body.starts_with(['#', '"']))?;
    let hashes = body.len() - body.trim_start_matches('#').len();
    let inside = body[hashes..].strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(hashes));
    let end = inside.find(&close).map_or(inside.len(), |at| at + close.len());
    Some(rest.len() - inside.len() + end)
}

/// A character in quotes; a lifetime is none.
fn char_literal(rest: &str) -> Option<usize> {
    let inside = rest.strip_prefix('\'')?;
    if inside.starts_with('\\') {
        return Some(1 + quoted(inside, '\''));
    }
    let c = inside.chars().next()?;
    inside[c.len_utf8()..].starts_with('\'').then(|| 2 + c.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::{split, tokens};

    #[test]
    fn tokens_are_words_literals_and_signs() {
        let text = "fn a<'b>() -> u8 { x::y(r\"; }\", 'c') => b\"d\" } // e";
        let found: Vec<_> = tokens(text).iter().map(|token| token.text).collect();
        let expected = [
            "fn", "a", "<", "'", "b", ">", "(", ")", "->", "u8", "{", "x", "::", "y", "(", "r\"; }\"", ",",
            "'c'", ")", "=>", "b", "\"d\"", "}",
        ];
        assert_eq!(found, expected);
        assert!(
            tokens(text)
                .iter()
                .filter(|token| token.is_literal)
                .all(|token| text[token.at..].starts_with(token.text))
        );
    }

    #[test]
    fn comments_are_not_code() {
        let views = split("a /* b /* c */ d */ e // f\ng");
        assert_eq!(views.code, "a                   e     \ng");
        assert_eq!(views.comments, "  /* b /* c */ d */   // f\n ");
    }

    #[test]
    fn literals_are_not_code() {
        let cases = [
            (r#"x("a\"b")"#, "x(      )"),
            (r###"x(r#"a"b"#)"###, "x(        )"),
            ("x('\"', y)", "x(   , y)"),
            ("x('\\'', y)", "x(    , y)"),
            ("fn f<'a>(x: &'a str)", "fn f<'a>(x: &'a str)"),
            ("\"// no\" y", "        y"),
            ("r#type", "r#type"),
            ("\"é\"z", "    z"),
        ];
        for (text, code) in cases {
            let views = split(text);
            assert_eq!(views.code, code, "code of {text}");
            assert_eq!(views.literals, text, "literals of {text}");
        }
    }
}
