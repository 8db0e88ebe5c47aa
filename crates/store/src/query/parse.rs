//! What somebody typed, as a query, and back. Anything can be typed: nothing is an error, what means nothing is
//! left out and said.
//!
//! What stands together without a space, a quote or a parenthesis is one term: `src/main.rs` is a phrase of three
//! words, `-well-known` is one NOT.

use std::fmt;

use super::words::{folded, words};
use super::{Clause, Query, Term};

/// The longest query, in characters; what is behind is not read.
const MOST_CHARS: usize = 1_000;
/// The most terms; what is behind is not read.
const MOST_TERMS: usize = 64;
/// Stands behind a query that was cut.
const CUT: &str = " …";

impl Query {
    /// The query that `typed` means; and as it was understood, when that differs by more than case, diacritics and
    /// white space from what was typed.
    pub fn parse(typed: &str) -> (Self, Option<String>) {
        let end = typed.char_indices().nth(MOST_CHARS).map(|(at, _)| at);
        let mut rest = &typed[..end.unwrap_or(typed.len())];
        let mut query = Self::default();
        let (mut clause, mut terms, mut not) = (Clause::default(), 0, false);
        let mut cut = end.is_some();
        while let Some(token) = next_token(&mut rest) {
            match token {
                Token::Not => not = true,
                Token::Or => {
                    query.push(std::mem::take(&mut clause));
                    not = false;
                }
                Token::Term(_) if terms == MOST_TERMS => {
                    cut = true;
                    break;
                }
                Token::Term(term) => {
                    let kind = if not { &mut clause.not } else { &mut clause.must };
                    kind.push(term);
                    terms += 1;
                    not = false;
                }
            }
        }
        query.push(clause);
        let understood = query.to_string();
        let said = match cut {
            true => Some(understood + CUT),
            false => (folded(typed) != folded(&understood)).then_some(understood),
        };
        (query, said)
    }

    /// Adds a clause, if it says what to look for.
    fn push(&mut self, clause: Clause) {
        if !clause.must.is_empty() {
            self.any.push(clause);
        }
    }
}

/// A piece of what was typed.
enum Token {
    Not,
    Or,
    Term(Term),
}

/// Takes the next piece that means something. AND means nothing that two terms side by side don't.
fn next_token(rest: &mut &str) -> Option<Token> {
    loop {
        *rest = rest.trim_start_matches(is_space);
        let first = rest.chars().next()?;
        let term = if is_quote(first) {
            let inside = &rest[first.len_utf8()..];
            let (phrase, behind) = inside.split_once(is_quote).unwrap_or((inside, ""));
            *rest = behind;
            term(phrase, behind.starts_with('*'))
        } else if first == '-' && rest[1..].starts_with(|c| is_quote(c) || c.is_alphanumeric()) {
            *rest = &rest[1..];
            return Some(Token::Not);
        } else {
            let end = rest.find(|c| is_space(c) || is_quote(c));
            let (token, behind) = rest.split_at(end.unwrap_or(rest.len()));
            *rest = behind;
            match token {
                "AND" => None,
                "OR" => return Some(Token::Or),
                "NOT" => return Some(Token::Not),
                _ => term(token, false),
            }
        };
        if let Some(term) = term {
            return Some(Token::Term(term));
        }
    }
}

/// The words of a piece of text, as a term.
fn term(text: &str, starred: bool) -> Option<Term> {
    let found: Vec<_> = words(text).collect();
    let behind = &text[found.last()?.range.end..];
    Some(Term {
        prefix: starred || behind.starts_with('*'),
        words: found.into_iter().map(|word| word.text).collect(),
    })
}

fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '(' | ')' | '（' | '）')
}

/// The straight quotes, and those that telephones make of them.
fn is_quote(c: char) -> bool {
    matches!(c, '"' | '“' | '”' | '„' | '＂')
}

impl fmt::Display for Query {
    /// As it could be typed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, clause) in self.any.iter().enumerate() {
            if number > 0 {
                f.write_str(" OR ")?;
            }
            clause.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, term) in self.must.iter().enumerate() {
            if number > 0 {
                f.write_str(" ")?;
            }
            term.fmt(f)?;
        }
        self.not.iter().try_for_each(|term| write!(f, " NOT {term}"))
    }
}

impl fmt::Display for Term {
    /// Words that need no space between them to be cut again stand without one.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let run = self.words.concat();
        if words(&run).map(|word| word.text).eq(self.words.iter().cloned()) {
            f.write_str(&run)?;
        } else {
            write!(f, "\"{}\"", self.words.join(" "))?;
        }
        f.write_str(if self.prefix { "*" } else { "" })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn anything_typed_means_something() {
        let rows = [
            ("", ""),
            ("  \t", ""),
            ("\"", ""),
            ("*", ""),
            ("AND", ""),
            ("OR OR", ""),
            ("NOT", ""),
            ("-", ""),
            ("(((", ""),
            ("🙂", ""),
            ("\0", ""),
            ("a OR", "a"),
            ("OR a", "a"),
            ("a AND b", "a b"),
            ("a AND AND b", "a b"),
            ("a and b or not c", "a and b or not c"),
            ("NEAR(a b)", "near a b"),
            ("col:x", "\"col x\""),
            ("don't", "\"don t\""),
            ("C++ --json -1", "c json NOT 1"),
            ("a -b-c d", "a d NOT \"b c\""),
            ("a -\"b c\" - d", "a d NOT \"b c\""),
            ("well-known", "\"well known\""),
            ("NOT a", ""),
            ("NOT a OR b", "b"),
            ("a NOT OR b", "a OR b"),
            ("NOT NOT a b", "b NOT a"),
            ("a b OR c d NOT e", "a b OR c d NOT e"),
            ("\"a  b", "\"a b\""),
            ("\"AND\" \"OR\"", "and or"),
            ("a\"b c\"d", "a \"b c\" d"),
            ("“a b”", "\"a b\""),
            ("Caf* \"x y*\" \"x y\"* z *", "caf* \"x y\"* \"x y\"* z"),
            ("中文 手机*", "中文 手机*"),
            ("\"中 文\"", "中文"),
            ("iPhone手机", "iphone手机"),
            ("ｶﾞｸ 각", "ガク 각"),
            ("a\0b 🙂 ½", "\"a b\" \"1 2\""),
        ];
        for (typed, understood) in rows {
            let (query, said) = Query::parse(typed);
            assert_eq!(query.to_string(), understood, "{typed}");
            assert_eq!(Query::parse(understood), (query, None), "{typed}");
            if let Some(said) = said {
                assert_eq!(said, understood, "{typed}");
            }
        }
    }

    #[test]
    fn it_is_said_when_something_else_was_understood() {
        for same in ["", "Café  Paris", " 中文 ", "a OR b NOT \"c d\"*", "ǅ İ ß"] {
            assert_eq!(Query::parse(same).1, None, "{same}");
        }
        for (typed, said) in [("C++", "c"), ("a -b", "a NOT b"), ("-b", ""), ("a AND b", "a b")] {
            assert_eq!(Query::parse(typed).1.as_deref(), Some(said), "{typed}");
        }
    }

    #[test]
    fn long_queries_are_cut_and_it_is_said() {
        let (query, said) = Query::parse(&"é".repeat(1_001));
        assert_eq!(query.any[0].must[0].words, ["e".repeat(1_000)]);
        assert!(said.is_some_and(|said| said.ends_with("e …")));
        assert_eq!(Query::parse(&"e".repeat(1_000)).1, None);

        let (query, said) = Query::parse(&"a OR -b ".repeat(40));
        let clauses = query.any.iter();
        assert_eq!(clauses.map(|c| c.must.len() + c.not.len()).sum::<usize>(), 63);
        assert!(said.is_some_and(|said| Query::parse(&said).0 == query));
        assert_eq!(Query::parse(&"a ".repeat(64)).1, None);
    }

    proptest! {
        #[test]
        fn whatever_is_typed_is_understood_and_stays_so(
            typed in r#"(\PC|[ "*()-]|AND |OR |NOT | OR| NOT|[a-dé中か각가]|\x00){0,30}"#,
        ) {
            let (query, _) = Query::parse(&typed);
            prop_assert_eq!(Query::parse(&query.to_string()), (query.clone(), None));
            prop_assert!(query.any.iter().all(|clause| !clause.must.is_empty()));
        }
    }
}
