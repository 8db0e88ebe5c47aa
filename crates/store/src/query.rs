//! The query language of searches: how text is split into words, and what a query means. The same for every backend.
//!
//! A word is a run of letters, digits and combining marks, folded to lower case and without diacritics. Some scripts have no
//! spaces (Chinese, Japanese, Korean, Thai, Lao, Khmer, Burmese). There each character with its marks is a word, so that words
//! inside of a run are found; a run of them in a query is a phrase. Emoji, arrows and other symbols that are not ASCII are
//! words, too. A query is never a syntax error, and text that was copied from a message finds the message.

mod calls;
mod content;
mod parse;
mod snippet;
mod words;

use retake_core::{Role, SearchRequest, Time};

pub use content::{index_text, indexed};
pub use snippet::Snippet;
pub use words::{Word, words};

/// Whether a search includes an entry, by its role, author and time.
pub(crate) fn looks_through(request: &SearchRequest, role: Role, author: &str, time: Time) -> bool {
    request.role.is_none_or(|wanted| role == wanted)
        && request.source.as_ref().is_none_or(|source| author == source)
        && !request.not_source.iter().any(|source| author == source)
        && request.from.is_none_or(|from| time >= from)
        && request.to.is_none_or(|to| time < to)
}

/// A query: alternatives of clauses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// Clauses, joined by OR. An empty list finds nothing.
    pub any: Vec<Clause>,
    /// The query as plain text, if it excludes something: a message that contains this text is found anyway.
    pub verbatim: Option<Term>,
    /// Whether it only excludes.
    pub only_excludes: bool,
}

/// Required and excluded items.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clause {
    /// Required items, at least one.
    pub must: Vec<Item>,
    /// Excluded items.
    pub not: Vec<Item>,
}

/// A term, or a group in parentheses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A term.
    Term(Term),
    /// Alternatives of clauses, each with a required item.
    Any(Vec<Clause>),
}

/// Neighbouring words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Term {
    /// Folded words, at least one.
    pub words: Vec<String>,
    /// Whether the last word is a prefix.
    pub prefix: bool,
}

impl From<Term> for Item {
    fn from(term: Term) -> Self {
        Self::Term(term)
    }
}

impl Query {
    /// Whether a text with these words matches. This defines the meaning of a query; a backend's index must agree with it.
    pub fn matches(&self, words: &[String]) -> bool {
        self.any.iter().any(|clause| clause.matches(words))
            || self.verbatim.as_ref().is_some_and(|term| term.occurrences(words) > 0)
    }

    /// The number of occurrences of the query's terms in a matching text.
    pub(crate) fn occurrences(&self, words: &[String]) -> usize {
        let verbatim = self.verbatim.as_ref().map_or(0, |term| term.occurrences(words));
        verbatim + in_clauses(&self.any, words)
    }

    /// The terms of the query that are not excluded.
    fn terms(&self) -> Vec<&Term> {
        let mut terms: Vec<&Term> = self.verbatim.iter().collect();
        self.any.iter().for_each(|clause| clause.terms(&mut terms));
        terms
    }
}

/// The number of occurrences in the matching clauses.
fn in_clauses(clauses: &[Clause], words: &[String]) -> usize {
    let found = clauses.iter().filter(|clause| clause.matches(words));
    found.flat_map(|clause| &clause.must).map(|item| item.occurrences(words)).sum()
}

impl Clause {
    fn matches(&self, words: &[String]) -> bool {
        let found = |item: &Item| item.occurrences(words) > 0;
        !self.must.is_empty() && self.must.iter().all(found) && !self.not.iter().any(found)
    }

    fn terms<'a>(&'a self, terms: &mut Vec<&'a Term>) {
        for item in &self.must {
            match item {
                Item::Term(term) => terms.push(term),
                Item::Any(clauses) => clauses.iter().for_each(|clause| clause.terms(terms)),
            }
        }
    }
}

impl Item {
    fn occurrences(&self, words: &[String]) -> usize {
        match self {
            Self::Term(term) => term.occurrences(words),
            Self::Any(clauses) => in_clauses(clauses, words),
        }
    }
}

impl Term {
    fn occurrences(&self, words: &[String]) -> usize {
        let places = words.windows(self.words.len().max(1));
        places.filter(|place| self.begins(place.iter())).count()
    }

    /// Whether these words begin with the term.
    fn begins<'a>(&self, mut words: impl Iterator<Item = &'a String>) -> bool {
        let Some((last, first)) = self.words.split_last() else {
            return false;
        };
        first.iter().all(|word| words.next() == Some(word))
            && words.next().is_some_and(|word| word == last || self.prefix && word.starts_with(last.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(query: &str, text: &str) -> bool {
        let (query, _) = Query::parse(query);
        let words: Vec<String> = words(text).map(|word| word.text).collect();
        assert_eq!(query.matches(&words), query.occurrences(&words) > 0);
        query.matches(&words)
    }

    #[test]
    fn query_finds_the_texts_that_it_describes() {
        let rows: &[(&str, &[&str], &[&str])] = &[
            ("", &[], &["", "a"]),
            ("a b", &["b a", "A, B!"], &["a", "b", "ab"]),
            ("a OR b c", &["a", "c b"], &["b", "c"]),
            ("a NOT b", &["a c"], &["a b", "c"]),
            ("a NOT \"b c\"", &["a", "a c b"], &["a b c"]),
            ("-a", &["a"], &["b"]),
            ("\"a b\"", &["x a b"], &["b a", "a x b", "a bc"]),
            ("\"a b\"*", &["x a bc"], &["a x bc", "a"]),
            ("caf*", &["Cafés", "caf"], &["ca", "decaf"]),
            ("cafe", &["café", "CAFE\u{301}"], &["cafes"]),
            ("rust", &["rust!"], &["trust", "rusty"]),
            ("src/main.rs", &["in `src/main.rs`"], &["main.rs in src"]),
            ("中", &["中文"], &["文"]),
            ("中文", &["说中文吗"], &["文中", "中国文"]),
            ("カメラ", &["新しいｶﾒﾗ"], &["カラメ"]),
            ("가나", &["다가나다"], &["나가"]),
            ("a (b OR c)", &["a b", "c a"], &["a", "b c"]),
            ("a NOT (b OR c)", &["a"], &["a b", "a c"]),
            ("a NOT (b c)", &["a b", "a c"], &["a b c"]),
            ("(a OR b) (c OR d NOT e)", &["a c", "b d", "a c e"], &["a b", "b d e"]),
            ("a (b (c OR d) OR e)", &["a b d", "a e"], &["a b", "c d a"]),
            ("NOT (a OR b) c", &["c"], &["a c", "a b"]),
        ];
        for (query, hits, misses) in rows {
            for text in *hits {
                assert!(found(query, text), "{query} finds {text}");
            }
            for text in *misses {
                assert!(!found(query, text), "{query} does not find {text}");
            }
        }
    }

    #[test]
    fn trial_14_pasted_text_finds_itself() {
        let texts = [
            "rm -rf build",
            "tar -xzf a.tar.gz",
            "git log --oneline -5 -- src",
            "a != b && !(c || d) ;; -x",
            "SELECT a FROM t WHERE b IS NOT NULL AND (c OR d)",
            "do NOT touch",
            "NOT",
            "AND",
            "f(x) - g(-y) OR \"z",
            "fn main() { println!(\"{}\", -1); }",
        ];
        for text in texts {
            assert!(found(text, &format!("Then: {text} -- and more")), "{text}");
        }
        assert!(!found("rm -rf build", "rm build"), "an option is a word as any other");
    }

    #[test]
    fn trial_14_words_inside_of_a_run_are_found() {
        let rows = [
            ("กรุงเทพ", "ผมอยู่ที่กรุงเทพมหานคร", "กรุงศรี"),
            ("น้ำ", "ดื่มน้ำเย็น", "ดื่มนม"),
            ("ວຽງຈັນ", "ນະຄອນຫຼວງວຽງຈັນ", "ນະຄອນ"),
            ("ភ្នំ", "រាជធានីភ្នំពេញ", "រាជធានី"),
            ("ကုန်", "ရန်ကုန်မြို့", "ရန်မြို့"),
        ];
        for (query, hit, miss) in rows {
            assert!(found(query, hit) && !found(query, miss), "{query}");
        }
    }

    proptest! {
        #[test]
        fn trial_14_any_text_finds_itself(
            text in r#"(\PC{0,6}|[a-c]{1,2}| |\n|[-"*()!]|AND|OR|NOT|NOT \(|[中か각กเน้ำကန်ក្ម]|e\u{301}){0,60}"#,
            before in "[a-c ]{0,5}",
            times in 1_usize..20,
        ) {
            let text = format!("{text} ").repeat(times);
            let (query, _) = Query::parse(&text);
            let of = |text: &str| words(text).map(|word| word.text).collect::<Vec<_>>();
            let own = of(&text);
            prop_assert_eq!(query.matches(&own), !own.is_empty());
            prop_assert_eq!(query.matches(&of(&format!("{before} {text}"))), !own.is_empty());
        }
    }

    #[test]
    fn occurrences_count_in_the_clauses_that_match() {
        let (query, _) = Query::parse("a b* OR c OR a NOT x");
        let count = |text: &str| {
            let words: Vec<String> = words(text).map(|word| word.text).collect();
            query.occurrences(&words)
        };
        assert_eq!(count("a a b bb"), 6);
        assert_eq!(count("a x c c"), 2);
        assert_eq!(count("x a"), 0);
    }
}
