//! Marks of unfinished code or disabled lints, and examples that nothing runs. Use `#[expect(…, reason = "…")]` for a lint that does
//! not fit.

use crate::finding::Finding;
use crate::source::Source;

/// Words that code must not keep, each with the alternative.
const BANNED: &[(&str, &str)] = &[
    ("#[allow(", "a silenced lint; mend it, or say why: `#[expect(lint, reason = \"…\")]`"),
    ("#![allow(", "a silenced lint; mend it, or say why: `#[expect(lint, reason = \"…\")]`"),
    ("#[ignore", "an ignored test; mend it or delete it"),
    ("todo!(", "an unfinished place; finish it or leave it out"),
    ("unimplemented!(", "an unfinished place; finish it or leave it out"),
];

/// Words of comments that need an issue's number: `WORD(#12)`.
const NEEDS_ISSUE: &[&str] = &["TODO", "FIXME", "XXX"];

/// No disabled lint, no ignored test, no unfinished code, no example.
pub(crate) fn check(source: &Source) -> Vec<Finding> {
    let code = &source.all().code;
    let banned = BANNED.iter().flat_map(|(words, what)| source.find(code, words, what));
    banned.chain(without_issue(source)).chain(examples(source)).collect()
}

/// Blocks of code in comments: the packages have `doctest = false`, so nobody would notice when one is wrong.
fn examples(source: &Source) -> Vec<Finding> {
    let (mut found, mut at, mut is_open) = (Vec::new(), 0, false);
    for line in source.text().split_inclusive('\n') {
        let comment = line.trim().strip_prefix("///").or_else(|| line.trim().strip_prefix("//!"));
        match comment.map(|comment| comment.trim().strip_prefix("```")) {
            None => is_open = false,
            Some(None) => {}
            Some(Some(_)) if is_open => is_open = false,
            Some(Some(language)) => {
                is_open = true;
                if language != "text" {
                    found
                        .push(source.finding(at, "no test runs an example in a comment; write it as a test"));
                }
            }
        }
        at += line.len();
    }
    found
}

fn without_issue(source: &Source) -> Vec<Finding> {
    let comments = &source.all().comments;
    let mut found = Vec::new();
    for word in NEEDS_ISSUE {
        for at in crate::source::places(comments, word) {
            if !names_issue(&comments[at + word.len()..]) {
                found.push(
                    source.finding(at, format!("write `{word}(#N)` with the issue's number, or do it")),
                );
            }
        }
    }
    found
}

fn names_issue(rest: &str) -> bool {
    let Some((number, _)) = rest.strip_prefix("(#").and_then(|rest| rest.split_once(')')) else {
        return false;
    };
    !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::source::Source;

    #[test]
    fn marks_are_found_in_code_and_comments_only() {
        let rows = [
            ("#[allow(dead_code)]\nfn a() {}", 1),
            ("#![allow(dead_code)]", 1),
            ("#[expect(dead_code, reason = \"b\")]", 0),
            ("#[ignore]\n#[test]\nfn a() {}", 1),
            ("#[ignore = \"slow\"]", 1),
            ("fn a() { todo!() }", 1),
            ("let a = \"todo!()\";", 0),
            ("// TODO mend", 1),
            ("// TODO(#) mend", 1),
            ("// TODO(#12) mend", 0),
            ("// #[allow(x)] is banned", 0),
            ("/// FIXME", 1),
            ("/// ```\n/// f();\n/// ```\nfn f() {}", 1),
            ("//! ```rust,no_run\n//! f();\n//! ```\n", 1),
            ("/// ```no_run\n/// f();\n/// ```\nfn f() {}", 1),
            ("/// ```text\n/// a b\n/// ```\nfn f() {}", 0),
            ("/// ```text\nfn f() {}\n/// ```\nfn g() {}", 1),
            ("// ```\nfn f() {}", 0),
        ];
        for (text, count) in rows {
            let found = check(&Source::new("crates/core/src/a.rs", text));
            assert_eq!(found.len(), count, "{text}: {found:?}");
        }
    }
}
