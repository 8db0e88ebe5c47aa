//! Parses the typed text of a query, and prints a query. Nothing is an error: meaningless parts are left out and
//! reported.
//!
//! Text without a space, a quote or a parenthesis is one term: `src/main.rs` is a phrase of three words. A hyphen
//! has no meaning: `rm -rf build` is three words. Only NOT excludes.

use std::fmt;
use std::mem::take;

use super::words::{folded, words};
use super::{Clause, Item, Query, Term};

/// The longest query in characters; the rest is ignored.
const MOST_CHARS: usize = 1_000;
/// The most terms; the rest is ignored.
const MOST_TERMS: usize = 64;
/// The deepest nesting of parentheses; deeper ones are ignored. An index has a limit, too.
const MOST_DEPTH: usize = 8;
/// The end of a truncated query.
const CUT: &str = " …";

impl Query {
    /// The meaning of the query `typed`; and its text as it was understood, if this differs by more than case,
    /// diacritics and white space.
    pub fn parse(typed: &str) -> (Self, Option<String>) {
        let read = readable(typed);
        let mut cut = read.len() < typed.len();
        let mut rest = read;
        let mut groups = Groups::default();
        while let Some(token) = next_token(&mut rest) {
            match token {
                Token::Not => groups.here.not = true,
                Token::Or => groups.here.end_clause(),
                Token::Open => groups.open(),
                Token::Close => groups.close(),
                Token::Term(_) if groups.terms == MOST_TERMS => {
                    cut = true;
                    break;
                }
                Token::Term(term) => groups.add(term),
            }
        }
        let excludes = groups.excludes;
        let any = positive(groups.end());
        let only_excludes = excludes && any.is_empty();
        let mut query = Self { any, verbatim: None, only_excludes };
        let verbatim = term(read, false).filter(|_| excludes || query.any.is_empty());
        match verbatim {
            Some(term) if query.any.is_empty() => {
                query.any.push(Clause { must: vec![term.into()], not: Vec::new() });
            }
            verbatim => query.verbatim = verbatim,
        }
        if cut {
            query.cut(typed, read.len());
        }
        let understood = query.to_string();
        let said = match cut {
            true => Some(understood + CUT),
            false => (folded(typed) != folded(&understood)).then_some(understood),
        };
        (query, said)
    }

    /// If the only word is too long, it counts as a prefix.
    fn cut(&mut self, typed: &str, end: usize) {
        let goes_on = words(typed).take_while(|word| word.range.start < end).last();
        if goes_on.is_some_and(|word| word.range.end > end)
            && let [Clause { must, .. }] = self.any.as_mut_slice()
            && let [Item::Term(term)] = must.as_mut_slice()
        {
            term.prefix = true;
        }
    }
}

/// The part of a query that is read: only a too long word is cut in the middle.
fn readable(typed: &str) -> &str {
    let Some((end, _)) = typed.char_indices().nth(MOST_CHARS) else {
        return typed;
    };
    let last = words(typed).take_while(|word| word.range.start < end).last();
    match last {
        Some(word) if word.range.end > end && words(&typed[..word.range.start]).next().is_some() => {
            &typed[..word.range.start]
        }
        _ => &typed[..end],
    }
}

/// Clauses with a required item. A clause that only excludes would find nearly everything.
fn positive(mut clauses: Vec<Clause>) -> Vec<Clause> {
    clauses.retain(|clause| !clause.must.is_empty());
    clauses
}

/// The content of a query, or of parentheses.
#[derive(Default)]
struct Group {
    any: Vec<Clause>,
    clause: Clause,
    /// Whether the next item is excluded.
    not: bool,
}

impl Group {
    fn end_clause(&mut self) {
        self.not = false;
        let mut clause = take(&mut self.clause);
        match (clause.must.as_mut_slice(), clause.not.is_empty()) {
            ([], true) => {}
            // Alternatives within alternatives.
            ([Item::Any(inner)], true) => self.any.append(inner),
            _ => self.any.push(clause),
        }
    }

    fn end(mut self) -> Vec<Clause> {
        self.end_clause();
        self.any
    }

    /// Adds the content of parentheses; as an item only if the parentheses make a difference.
    fn add_group(&mut self, group: Vec<Clause>) {
        let not = take(&mut self.not);
        let mut clauses = if group.len() > 1 { positive(group) } else { group };
        match (clauses.len(), not) {
            (0, _) => {}
            (1, false) => {
                let clause = clauses.remove(0);
                self.clause.must.extend(clause.must);
                self.clause.not.extend(clause.not);
            }
            (_, false) => self.clause.must.push(Item::Any(clauses)),
            (_, true) => clauses.into_iter().for_each(|clause| self.exclude(clause)),
        }
    }

    fn exclude(&mut self, mut clause: Clause) {
        match (clause.must.len(), clause.not.len()) {
            (1, 0) => self.clause.not.append(&mut clause.must),
            // A NOT of a clause that only excludes one item requires that item.
            (0, 1) => self.clause.must.append(&mut clause.not),
            (0, _) => {
                let one = |item| Clause { must: vec![item], not: Vec::new() };
                self.clause.must.push(Item::Any(clause.not.into_iter().map(one).collect()));
            }
            _ => self.clause.not.push(Item::Any(vec![clause])),
        }
    }
}

/// The open parentheses around the current place.
#[derive(Default)]
struct Groups {
    around: Vec<Group>,
    here: Group,
    /// The number of open parentheses beyond the limit.
    deeper: usize,
    terms: usize,
    /// Whether the query excludes anything.
    excludes: bool,
}

impl Groups {
    fn add(&mut self, term: Term) {
        self.terms += 1;
        let not = take(&mut self.here.not);
        self.excludes |= not;
        let clause = &mut self.here.clause;
        if not { &mut clause.not } else { &mut clause.must }.push(term.into());
    }

    fn open(&mut self) {
        if self.around.len() == MOST_DEPTH {
            self.deeper += 1;
            return;
        }
        self.excludes |= self.here.not;
        self.around.push(take(&mut self.here));
    }

    /// A closing parenthesis without an opening one is ignored.
    fn close(&mut self) {
        if self.deeper > 0 {
            self.deeper -= 1;
        } else if let Some(around) = self.around.pop() {
            let group = std::mem::replace(&mut self.here, around).end();
            self.here.add_group(group);
        }
    }

    /// Closes all open parentheses.
    fn end(mut self) -> Vec<Clause> {
        self.deeper = 0;
        while !self.around.is_empty() {
            self.close();
        }
        self.here.end()
    }
}

/// A piece of the typed text.
enum Token {
    Not,
    Or,
    Open,
    Close,
    Term(Term),
}

/// Takes the next meaningful piece. AND means the same as two terms side by side.
fn next_token(rest: &mut &str) -> Option<Token> {
    loop {
        *rest = rest.trim_start();
        let first = rest.chars().next()?;
        let term = if is_quote(first) {
            let inside = &rest[first.len_utf8()..];
            let (phrase, behind) = inside.split_once(is_quote).unwrap_or((inside, ""));
            *rest = behind;
            term(phrase, behind.starts_with('*'))
        } else if is_open(first) || is_close(first) {
            *rest = &rest[first.len_utf8()..];
            return Some(if is_open(first) { Token::Open } else { Token::Close });
        } else {
            let ends = |c: char| c.is_whitespace() || is_quote(c) || is_open(c) || is_close(c);
            let (token, behind) = rest.split_at(rest.find(ends).unwrap_or(rest.len()));
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

fn is_open(c: char) -> bool {
    matches!(c, '(' | '（')
}

fn is_close(c: char) -> bool {
    matches!(c, ')' | '）')
}

/// Straight quotes, and the typographic ones of phones.
fn is_quote(c: char) -> bool {
    matches!(c, '"' | '“' | '”' | '„' | '＂')
}

impl fmt::Display for Query {
    /// In the form in which it could be typed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        any(&self.any, f)
    }
}

fn any(clauses: &[Clause], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for (number, clause) in clauses.iter().enumerate() {
        if number > 0 {
            f.write_str(" OR ")?;
        }
        write!(f, "{clause}")?;
    }
    Ok(())
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Term(term) => term.fmt(f),
            Self::Any(clauses) => {
                f.write_str("(")?;
                any(clauses, f)?;
                f.write_str(")")
            }
        }
    }
}

impl fmt::Display for Clause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, item) in self.must.iter().enumerate() {
            if number > 0 {
                f.write_str(" ")?;
            }
            item.fmt(f)?;
        }
        self.not.iter().try_for_each(|item| write!(f, " NOT {item}"))
    }
}

impl fmt::Display for Term {
    /// Words that are split without a space are printed without one.
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
    fn any_typed_text_is_a_query() {
        let rows = [
            ("", ""),
            ("  \t", ""),
            ("\"", ""),
            ("*", ""),
            ("AND", "and"),
            ("OR OR", "\"or or\""),
            ("NOT", "not"),
            ("-", ""),
            ("(((", ""),
            ("🙂", "🙂"),
            ("\0", ""),
            ("a OR", "a"),
            ("OR a", "a"),
            ("a AND b", "a b"),
            ("a AND AND b", "a b"),
            ("a and b or not c", "a and b or not c"),
            ("NEAR(a b)", "near a b"),
            ("col:x", "\"col x\""),
            ("don't", "\"don t\""),
            ("C++ --json -1", "c json 1"),
            ("a -b-c d", "a \"b c\" d"),
            ("a -\"b c\" - d", "a \"b c\" d"),
            ("rm -rf build", "rm rf build"),
            ("well-known", "\"well known\""),
            ("NOT a", "\"not a\""),
            ("NOT a OR b", "b"),
            ("(a OR b) c", "(a OR b) c"),
            ("((a) b)", "a b"),
            ("(a OR (b OR c))", "a OR b OR c"),
            ("a NOT (b OR c)", "a NOT b NOT c"),
            ("a NOT (b c)", "a NOT (b c)"),
            ("a NOT (NOT b)", "a b"),
            ("a (NOT b NOT c)", "a NOT b NOT c"),
            ("a NOT (NOT b NOT c)", "a (b OR c)"),
            ("a (b OR NOT c)", "a b"),
            ("a (b NOT c OR d", "a (b NOT c OR d)"),
            ("a OR b) c", "a OR b c"),
            ("if (a || b) { c(); }", "if a b c"),
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
            ("a\0b 🙂 ½", "\"a b\" 🙂 \"1 2\""),
        ];
        for (typed, understood) in rows {
            let (query, said) = Query::parse(typed);
            assert_eq!(query.to_string(), understood, "{typed}");
            let (again, nothing) = Query::parse(understood);
            assert_eq!((again.any, nothing), (query.any, None), "{typed}");
            if let Some(said) = said {
                assert_eq!(said, understood, "{typed}");
            }
        }
    }

    #[test]
    fn query_that_was_read_differently_has_a_note() {
        for same in ["", "Café  Paris", " 中文 ", "a OR b NOT \"c d\"*", "ǅ İ ß"] {
            assert_eq!(Query::parse(same).1, None, "{same}");
        }
        for (typed, said) in [("C++", "c"), ("a -b", "a b"), ("a) b", "a b"), ("a AND b", "a b")] {
            assert_eq!(Query::parse(typed).1.as_deref(), Some(said), "{typed}");
        }
    }

    #[test]
    fn long_query_is_cut_and_has_a_note() {
        let (query, said) = Query::parse(&"é".repeat(1_001));
        assert_eq!(query.any[0].must, [Item::Term(Term { words: vec!["e".repeat(1_000)], prefix: true })]);
        assert!(said.is_some_and(|said| said.ends_with("e* …")));
        assert_eq!(Query::parse(&"e".repeat(1_000)).1, None);
        let (query, _) = Query::parse(&format!("{} other", "a".repeat(996)));
        assert_eq!(query.to_string(), "a".repeat(996));

        let (query, said) = Query::parse(&"a OR NOT b ".repeat(40));
        let clauses = query.any.iter();
        assert_eq!(clauses.map(|c| c.must.len() + c.not.len()).sum::<usize>(), 63);
        assert!(said.is_some_and(|said| Query::parse(&said).0.any == query.any));
        assert_eq!(Query::parse(&"a ".repeat(64)).1, None);
    }

    proptest! {
        #[test]
        fn any_typed_query_is_parsed_and_parses_again_to_itself(
            typed in r#"(\PC|[ "*()-]|AND |OR |NOT | OR| NOT|[a-dé中か각가]|\x00){0,30}"#,
        ) {
            let (query, _) = Query::parse(&typed);
            let (again, nothing) = Query::parse(&query.to_string());
            prop_assert_eq!((&again.any, nothing), (&query.any, None));
            prop_assert!(query.any.iter().all(|clause| !clause.must.is_empty()));
        }

        #[test]
        fn trial_14_parentheses_keep_their_meaning(
            typed in r#"((NOT )?\(?[ab]\)?( OR)? ?){0,12}"#,
            text in proptest::sample::subsequence(vec!["a", "b"], 0..3),
        ) {
            let (query, _) = Query::parse(&typed);
            let (again, _) = Query::parse(&query.to_string());
            let text: Vec<String> = text.into_iter().map(str::to_owned).collect();
            let clauses = |query: &Query| query.any.iter().any(|clause| clause.matches(&text));
            prop_assert_eq!(clauses(&query), clauses(&again));
        }
    }
}
