//! One Rust file for the checks. It knows its place in the workspace and which parts of it are tests; it must never
//! judge.

use crate::finding::Finding;
use crate::lex::{self, Views};

/// A Rust file of the workspace.
#[derive(Debug)]
pub(crate) struct Source {
    path: String,
    text: String,
    views: Views,
    production: Views,
}

impl Source {
    /// A file from its path (relative to the root, with `/`) and text.
    pub(crate) fn new(path: &str, text: &str) -> Self {
        let views = lex::split(text);
        let production = without_tests(&views);
        Self { path: path.to_owned(), text: text.to_owned(), views, production }
    }

    /// Relative to the root, with `/`.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// The text of the file.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The whole file, including tests.
    pub(crate) fn all(&self) -> &Views {
        &self.views
    }

    /// The file without its `#[cfg(test)]` items.
    pub(crate) fn production(&self) -> &Views {
        &self.production
    }

    /// The folder below `crates/`.
    pub(crate) fn krate(&self) -> &str {
        self.path.strip_prefix("crates/").and_then(|rest| rest.split('/').next()).unwrap_or("")
    }

    /// Whether the whole file belongs to tests.
    pub(crate) fn is_test(&self) -> bool {
        self.path.contains("/tests/") || ["/tests.rs", "_tests.rs"].iter().any(|end| self.path.ends_with(end))
    }

    /// One finding for each occurrence of the words in a view.
    pub(crate) fn find(&self, view: &str, words: &str, what: &str) -> Vec<Finding> {
        places(view, words).into_iter().map(|at| self.finding(at, what)).collect()
    }

    /// A finding at a byte position of any view.
    pub(crate) fn finding(&self, at: usize, what: impl Into<String>) -> Finding {
        let line = 1 + self.text.as_bytes()[..at].iter().filter(|b| **b == b'\n').count();
        Finding::new(&self.path, line, what)
    }
}

/// Byte positions of the words as whole words: `now` is not found in `known`.
pub(crate) fn places(view: &str, words: &str) -> Vec<usize> {
    let alone = |at: usize| {
        let before = view[..at].chars().next_back();
        let after = view[at + words.len()..].chars().next();
        let joined_before = words.starts_with(lex::is_word) && before.is_some_and(lex::is_word);
        let joined_after = words.ends_with(lex::is_word) && after.is_some_and(lex::is_word);
        !joined_before && !joined_after
    };
    view.match_indices(words).map(|(at, _)| at).filter(|at| alone(*at)).collect()
}

/// The position after the bracket that closes the one at `open`; the end of the view if none does.
pub(crate) fn closing(code: &str, open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, c) in code[open..].char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => continue,
        }
        if depth == 0 {
            return open + at + 1;
        }
    }
    code.len()
}

fn without_tests(views: &Views) -> Views {
    let mut kept = Views {
        code: views.code.clone(),
        literals: views.literals.clone(),
        comments: views.comments.clone(),
    };
    for (start, _) in views.code.match_indices("#[cfg(test)]") {
        let body = views.code[start..].find(['{', ';']).map(|at| start + at);
        let end = match body {
            Some(at) if views.code[at..].starts_with('{') => closing(&views.code, at),
            Some(at) => at + 1,
            None => views.code.len(),
        };
        for view in [&mut kept.code, &mut kept.literals, &mut kept.comments] {
            let blank = lex::blank(&view[start..end]);
            view.replace_range(start..end, &blank);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::{Source, places};

    #[test]
    fn production_leaves_test_items_out() {
        let source = Source::new(
            "crates/core/src/a.rs",
            "fn a() {}\n#[cfg(test)]\nmod tests { fn b() {} }\nfn c() {}\n",
        );
        assert!(!source.production().code.contains("fn b"));
        assert!(source.production().code.contains("fn c"));
        assert!(source.all().code.contains("fn b"));
        assert_eq!(source.krate(), "core");
    }

    #[test]
    fn words_stand_alone() {
        assert_eq!(places("known now nowhere x::now()", "now"), [6, 21]);
    }

    #[test]
    fn findings_name_the_line() {
        let source = Source::new("crates/core/src/a.rs", "a\nb\nc d\n");
        let found = source.find(&source.all().code, "d", "no d");
        assert_eq!(found[0].to_string(), "crates/core/src/a.rs:3: no d");
    }
}
