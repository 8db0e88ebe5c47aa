//! Counts statements: formatting, comments and moved code do not change the numbers, so they show a real reduction. It must never
//! judge.
//!
//! The rule, by tokens, for the code of `src` without tests:
//!
//! - a `;` counts one, but not in an array such as `[u8; 4]`, and not at the end of `use …;` and `mod …;`;
//! - the `=>` of a match arm counts one;
//! - the last expression of a block counts one if no `;` follows it, unless it ends with a block of its own, whose parts are
//!   counted.
//!
//! Tests are: `#[cfg(test)]` items and the modules that they declare, `tests.rs`, `…_tests.rs`, folders named `tests`, modules behind
//! the feature `conformance`, and modules named `conformance`, `stage`, `testing` or `samples`. The crates for development are listed
//! apart.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::checkout::Checkout;
use crate::lex::{Token, tokens};
use crate::source::{Source, places};

/// Crates that are for development only.
const DEVELOPMENT: &[&str] = &["bench", "fakes", "testkit", "xtask"];

/// Modules that only tests use.
const TEST_MODULES: &[&str] = &["conformance", "stage", "testing", "samples", "tests"];

/// Words that begin an item whose braces contain no statements.
const ITEMS: &[&str] = &["struct", "enum", "union", "trait", "impl", "mod", "extern", "macro_rules"];

/// Words before a block of statements.
const BLOCKS: &[&str] =
    &["fn", "if", "else", "for", "while", "loop", "unsafe", "async", "move", "const", "static", "try"];

/// Statements of each crate and in total, as a table for people.
#[must_use]
pub fn count(tree: &Checkout) -> String {
    let tests = test_files(&tree.sources);
    let mut crates: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for source in tree.sources.iter().filter(|source| is_counted(source, &tests)) {
        let of_crate = crates.entry(source.krate()).or_default();
        of_crate.0 += statements(&source.production().literals);
        of_crate.1 += 1;
    }
    let mut text = format!("{:12} {:>10} {:>6}\n", "crate", "statements", "files");
    let (mut all, mut files) = (0, 0);
    let mut row = |name: &str, (statements, files): (usize, usize)| {
        writeln!(text, "{name:12} {statements:>10} {files:>6}").expect("BUG: a string takes all text");
    };
    for (krate, counts) in crates.iter().filter(|(krate, _)| !DEVELOPMENT.contains(krate)) {
        row(krate, *counts);
        all += counts.0;
        files += counts.1;
    }
    row("total", (all, files));
    for (krate, counts) in crates.iter().filter(|(krate, _)| DEVELOPMENT.contains(krate)) {
        row(&format!("({krate})"), *counts);
    }
    text
}

/// Whether a file is part of the product: below `src`, and no test.
pub(crate) fn is_counted(source: &Source, tests: &BTreeSet<String>) -> bool {
    let is_of_test = |part: &str| TEST_MODULES.contains(&part.trim_end_matches(".rs"));
    source.path().starts_with(&format!("crates/{}/src/", source.krate()))
        && !source.is_test()
        && !source.path().split('/').any(is_of_test)
        && !tests.iter().any(|file| source.path().starts_with(file.as_str()))
}

/// Path prefixes of modules that are declared for tests: `#[cfg(test)] mod a;`.
pub(crate) fn test_files(sources: &[Source]) -> BTreeSet<String> {
    let mut files = BTreeSet::new();
    for source in sources {
        let code = &source.all().code;
        for at in places(code, "#[cfg(test)]") {
            let mut rest = code[at + "#[cfg(test)]".len()..].trim_start();
            for skipped in ["pub(crate)", "pub(super)", "pub"] {
                rest = rest.strip_prefix(skipped).unwrap_or(rest).trim_start();
            }
            if let Some((name, _)) = rest.strip_prefix("mod ").and_then(|rest| rest.split_once(';')) {
                let path = source.path();
                let stem = path.trim_end_matches(".rs");
                let is_root = ["/lib.rs", "/main.rs"].iter().any(|end| path.ends_with(end));
                let folder =
                    if is_root { path.rsplit_once('/').map_or("", |(folder, _)| folder) } else { stem };
                files.insert(format!("{folder}/{name}.rs"));
                files.insert(format!("{folder}/{name}/"));
            }
        }
    }
    files
}

/// What a pair of braces, brackets or parentheses contains.
#[derive(Clone, Copy, PartialEq)]
enum BracketContent {
    Statements,
    Arms,
    Items,
    Values,
    Array,
}

/// Statements of a text; it may contain literals, and comments count nothing.
fn statements(text: &str) -> usize {
    let tokens = tokens(text);
    let mut count = 0;
    // The first token of the current item, for each open bracket.
    let mut open = vec![(BracketContent::Items, 0)];
    for (index, token) in tokens.iter().enumerate() {
        let (holds, begin) = *open.last().expect("BUG: the file itself is never closed");
        let header = &tokens[begin..index];
        match token.text {
            "{" => open.push((held(header, holds), index + 1)),
            "[" => open.push((BracketContent::Array, index + 1)),
            "(" => open.push((BracketContent::Values, index + 1)),
            "}" | "]" | ")" => {
                if token.text == "}" && holds == BracketContent::Statements && is_tail(tokens[index - 1]) {
                    count += 1;
                }
                if open.len() > 1 {
                    open.pop();
                }
                if token.text == "}" && holds != BracketContent::Values {
                    restart(&mut open, index);
                }
            }
            ";" => {
                count += usize::from(holds != BracketContent::Array && !is_declaration(header));
                restart(&mut open, index);
            }
            "=>" => {
                count += usize::from(holds == BracketContent::Arms);
                restart(&mut open, index);
            }
            "," => restart(&mut open, index),
            _ => {}
        }
    }
    count
}

fn restart(open: &mut [(BracketContent, usize)], index: usize) {
    open.last_mut().expect("BUG: the file itself is never closed").1 = index + 1;
}

/// Whether a block that ends after this token has a last expression that is not counted yet.
fn is_tail(last: Token<'_>) -> bool {
    last.is_literal || ![";", "{", "}", ","].contains(&last.text)
}

/// Whether it is `use …` or `mod …`.
fn is_declaration(header: &[Token<'_>]) -> bool {
    header.iter().take(6).any(|token| ["use", "mod"].contains(&token.text))
}

/// What a `{` after these tokens opens.
fn held(header: &[Token<'_>], around: BracketContent) -> BracketContent {
    let last_of = |words: &[&str]| header.iter().rposition(|token| words.contains(&token.text));
    let is_pattern = last_of(&["let", "for"]) > last_of(&["=", "in", "else"]).max(last_of(&["impl"]));
    if last_of(&["use"]).is_some_and(|at| at < 6) {
        return BracketContent::Values;
    }
    if is_pattern {
        return BracketContent::Values;
    }
    if last_of(&["match"]).is_some() {
        return BracketContent::Arms;
    }
    if last_of(BLOCKS).is_some() {
        return BracketContent::Statements;
    }
    if last_of(ITEMS).is_some() {
        return BracketContent::Items;
    }
    let is_value = header.last().is_some_and(|last| last.is_word() || last.text == ">");
    if is_value || around == BracketContent::Items {
        BracketContent::Values
    } else {
        BracketContent::Statements
    }
}

#[cfg(test)]
mod tests {
    use super::{count, is_counted, statements, test_files};
    use crate::checkout::Checkout;
    use crate::source::Source;

    #[test]
    fn statements_are_counted_by_a_simple_rule() {
        let rows = [
            ("use a::{b, c};\nmod d;\npub(crate) use e;", 0),
            ("const A: [u8; 4] = [0; 4];", 1),
            ("struct A { b: u8, c: u8 }\nstruct B;\nenum C { D { e: u8 }, F }", 1),
            ("fn a() {}", 0),
            ("fn a() -> B { B { c, d: 1 } }", 0),
            ("fn a() -> u8 { 1 }", 1),
            ("fn a() -> &str { \"b; c\" }", 1),
            ("fn a() { let b = 1; b(b); }", 2),
            ("fn a() { match b { C { d } => e, F => g } }", 2),
            ("fn a() { match b { C => { d(); e }\nF => g(h, |i| i) } }", 4),
            ("fn a() { if let B { c } = d { e() } else { f() } }", 2),
            ("fn a() { b.map(|c| { d; e }) }", 3),
            ("fn a() { for B { c } in d { e(c); } }", 1),
            ("impl A for B<C> { fn d(&self) -> u8 { self.e } }", 1),
            ("trait A { fn b(&self); }", 1),
            ("fn a() { let B { c } = d else { return }; }", 2),
            ("fn a() { b(C { d: 1, e: 2 }); }", 1),
        ];
        for (text, expected) in rows {
            assert_eq!(statements(text), expected, "{text}");
        }
    }

    #[test]
    fn tests_are_not_counted() {
        let sources = [
            Source::new("crates/x/src/lib.rs", "#[cfg(test)]\npub(crate) mod scene;\nmod a;"),
            Source::new("crates/x/src/a.rs", "fn a() { b(); }\n#[cfg(test)]\nmod tests { fn c() { d(); } }"),
            Source::new("crates/x/src/scene.rs", ""),
            Source::new("crates/x/src/scene/more.rs", ""),
            Source::new("crates/x/src/a/tests.rs", ""),
            Source::new("crates/x/src/conformance/a.rs", ""),
            Source::new("crates/x/tests/a.rs", ""),
        ];
        let tests = test_files(&sources);
        let counted: Vec<_> = sources.iter().filter(|source| is_counted(source, &tests)).collect();
        assert_eq!(
            counted.iter().map(|source| source.path()).collect::<Vec<_>>(),
            ["crates/x/src/lib.rs", "crates/x/src/a.rs"]
        );
        assert_eq!(statements(&counted[1].production().literals), 1);
    }

    #[test]
    fn the_table_has_a_row_for_each_crate_and_a_total() {
        let text = count(&Checkout::read(&crate::root()).unwrap());
        assert!(text.lines().any(|line| line.starts_with("core ")), "{text}");
        assert!(text.lines().any(|line| line.starts_with("total ")), "{text}");
        assert!(text.lines().any(|line| line.starts_with("(xtask)")), "{text}");
    }
}
