//! The language of searches: how text is cut into words, what a query means. One for every backend.
//!
//! A word is a run of letters, digits and combining marks, folded to lower case and without diacritics. A
//! Chinese, Japanese or Korean character is a word of its own, so that words of one and two characters are found:
//! a run of them in a query is a phrase. A query is never a syntax error.

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
