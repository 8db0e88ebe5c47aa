//! The language of searches: how text is cut into words, what a query means. One for every backend.
//!
//! A word is a run of letters, digits and combining marks, folded to lower case and without diacritics. A
//! Chinese, Japanese or Korean character is a word of its own, so that words of one and two characters are found:
//! a run of them in a query is a phrase. A query is never a syntax error.

mod calls;
mod content;
mod parse;
mod snippet;
mod words;

pub use calls::CallWords;
pub use content::{index_text, indexed};
pub use snippet::Snippet;
pub use words::{Word, words};

/// A query: any of these clauses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    /// Clauses, joined by OR. Empty finds nothing.
    pub any: Vec<Clause>,
}

/// Terms that must all be there, and terms that must not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clause {
    /// At least one.
    pub must: Vec<Term>,
    /// None of these.
    pub not: Vec<Term>,
}

/// Words that stand next to each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Term {
    /// Folded words, at least one.
    pub words: Vec<String>,
    /// Whether the last word may go on.
    pub prefix: bool,
}

impl Query {
    /// Whether a text with these words is found. This is what a query means; a backend's index agrees with it.
    pub fn matches(&self, words: &[String]) -> bool {
        self.any.iter().any(|clause| clause.matches(words))
    }

    /// How often the terms that were looked for stand in a text that is found.
    pub(crate) fn occurrences(&self, words: &[String]) -> usize {
        let clauses = self.any.iter().filter(|clause| clause.matches(words));
        clauses.flat_map(|clause| &clause.must).map(|term| term.occurrences(words)).sum()
    }
}

impl Clause {
    fn matches(&self, words: &[String]) -> bool {
        let found = |term: &Term| term.occurrences(words) > 0;
        !self.must.is_empty() && self.must.iter().all(found) && !self.not.iter().any(found)
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
    use super::*;

    fn found(query: &str, text: &str) -> bool {
        let (query, _) = Query::parse(query);
        let words: Vec<String> = words(text).map(|word| word.text).collect();
        assert_eq!(query.matches(&words), query.occurrences(&words) > 0);
        query.matches(&words)
    }

    #[test]
    fn a_query_finds_what_it_means() {
        let rows: &[(&str, &[&str], &[&str])] = &[
            ("", &[], &["", "a"]),
            ("a b", &["b a", "A, B!"], &["a", "b", "ab"]),
            ("a OR b c", &["a", "c b"], &["b", "c"]),
            ("a NOT b", &["a c"], &["a b", "c"]),
            ("a -\"b c\"", &["a", "a c b"], &["a b c"]),
            ("-a", &[], &["a", "b"]),
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
