//! Logic must not depend on prose: programs decide by typed codes. So code outside of tests compares no value with a text for
//! people.
//!
//! Two kinds of literals are found. One has two words of letters with a space between them. The other is compared with a value
//! that is named like a message (`MESSAGES`). Both count beside `==` or `!=`, as an argument of a searching method (`SEARCHES`),
//! and as a pattern of a match.

use std::collections::BTreeMap;

use crate::count::{is_counted, test_files};
use crate::finding::Finding;
use crate::lex::{Token, tokens};
use crate::source::Source;

/// Methods that search a text in another one.
const SEARCHES: &[&str] = &[
    "contains",
    "starts_with",
    "ends_with",
    "strip_prefix",
    "strip_suffix",
    "trim_start_matches",
    "trim_end_matches",
    "find",
    "rfind",
    "split_once",
    "rsplit_once",
    "matches",
    "eq_ignore_ascii_case",
];

/// Names of values that hold texts for people.
const MESSAGES: &[&str] = &["message", "hint", "prose", "sentence", "advice"];

/// Texts from elsewhere: file formats, output of other programs, words that a person types. Each is a file, and the beginning of
/// the literal.
const FOREIGN: &[(&str, &str)] = &[
    // Patches and man pages.
    ("files/patch/parse.rs", ""),
    ("files/patch/envelope.rs", ""),
    ("verbs/man.rs", ".SH"),
    // Output of git and the JSON parser, which have no code for it.
    ("tools/src/shell.rs", "config file"),
    ("verbs/import.rs", " at line "),
    // Errors of Telegram's Bot API, which has no code for them.
    ("telegram/api.rs", ""),
    // Words that a person types.
    ("model/demo/words.rs", "after me"),
    ("ui/app/answers.rs", ""),
];

/// Every comparison with prose in one crate.
pub(crate) fn check(krate: &str, sources: &[Source]) -> Vec<Finding> {
    let folder = format!("crates/{krate}/src/");
    if ["xtask", "bench", "fakes", "testkit"].contains(&krate) {
        return Vec::new();
    }
    let tests = test_files(sources);
    let is_checked = |source: &&Source| source.path().starts_with(&folder) && is_counted(source, &tests);
    let files: Vec<_> = sources
        .iter()
        .filter(is_checked)
        .map(|source| (source, tokens(&source.production().literals)))
        .collect();
    let named: BTreeMap<&str, &str> = files.iter().flat_map(|(_, tokens)| constants(tokens)).collect();
    files.iter().flat_map(|(source, tokens)| of_file(source, tokens, &named)).collect()
}

/// Constants that are a text of prose.
fn constants<'a>(tokens: &[Token<'a>]) -> Vec<(&'a str, &'a str)> {
    let constant = |window: &[Token<'a>]| match window {
        [begin, name, colon, and, kind, sign, text]
            if begin.text == "const"
                && [colon.text, and.text, kind.text, sign.text] == [":", "&", "str", "="]
                && is_prose(text.text) =>
        {
            Some((name.text, text.text))
        }
        _ => None,
    };
    tokens.windows(7).filter_map(constant).collect()
}

fn of_file(source: &Source, tokens: &[Token<'_>], named: &BTreeMap<&str, &str>) -> Vec<Finding> {
    let mut found = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let is_text = token.is_literal && token.text.contains('"');
        let Some(text) = Some(token.text).filter(|_| is_text).or_else(|| named.get(token.text).copied())
        else {
            continue;
        };
        if is_listed(FOREIGN, source.path(), text) {
            continue;
        }
        if let Some(compared) = compared(&tokens[..index], &tokens[index + 1..])
            && (is_prose(text) || MESSAGES.contains(&compared))
        {
            found.push(
                source.finding(token.at, format!("decides by the words {text}; decide by a typed code")),
            );
        }
    }
    found
}

/// The name of the value that a literal is compared with, empty if it has none; `None` if it is not compared.
fn compared<'a>(before: &[Token<'a>], after: &[Token<'a>]) -> Option<&'a str> {
    let word =
        |token: Option<&Token<'a>>| token.filter(|token| token.is_word()).map_or("", |token| token.text);
    let mut before = before;
    while let [rest @ .., last] = before
        && ["&", "*"].contains(&last.text)
    {
        before = rest;
    }
    match before {
        [rest @ .., sign] if ["==", "!="].contains(&sign.text) => return Some(word(rest.last())),
        [rest @ .., dot, method, open]
            if open.text == "(" && dot.text == "." && SEARCHES.contains(&method.text) =>
        {
            return Some(word(rest.last()));
        }
        _ => {}
    }
    match after {
        [sign, rest @ ..] if ["==", "!="].contains(&sign.text) => Some(last_name(rest)),
        [sign, ..] if sign.text == "=>" => Some(""),
        [sign, next, ..] if sign.text == "|" && next.is_literal => Some(""),
        _ if matches!(before, [.., one, sign] if sign.text == "|" && one.is_literal) => Some(""),
        _ => None,
    }
}

/// The last name of `a.b.c`.
fn last_name<'a>(tokens: &[Token<'a>]) -> &'a str {
    let is_part = |token: &&Token<'a>| token.is_word() || [".", "&", "::"].contains(&token.text);
    tokens.iter().take_while(is_part).filter(|token| token.is_word()).last().map_or("", |token| token.text)
}

/// Two words of letters with a space between them, as in a sentence.
fn is_prose(literal: &str) -> bool {
    let inside = literal.trim_matches(['r', 'b', '#', '"']);
    let words: Vec<&str> = inside.split(' ').collect();
    let is_plain = |word: &str| {
        word.len() > 1 && word.chars().all(|c| c.is_ascii_alphabetic() || ",.:;!?'’".contains(c))
    };
    words.windows(2).any(|pair| pair.iter().all(|word| is_plain(word)))
}

fn is_listed(list: &[(&str, &str)], path: &str, literal: &str) -> bool {
    list.iter()
        .any(|(file, begin)| path.ends_with(file) && literal.trim_start_matches('"').starts_with(begin))
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::source::Source;

    #[test]
    fn comparisons_with_prose_are_found() {
        let rows = [
            ("a == \"it is done\"", 1),
            ("\"it is done\" != a.b()", 1),
            ("a.contains(\"not found\")", 1),
            ("a.starts_with(&\"the run\")", 1),
            ("match a { \"not found\" => 1, _ => 2 }", 1),
            ("matches!(a, \"not found\" | \"it is gone\")", 2),
            ("problem.message == \"x\"", 1),
            ("message.starts_with(\"head\")", 1),
            ("\"x\" == problem.hint", 1),
            ("a == \"git\"", 0),
            ("a.contains(\": \")", 0),
            ("a.strip_prefix(\"data: {\")", 0),
            ("format!(\"it is done\") == b", 0),
            ("let a = \"it is done\";", 0),
            ("const A: &str = \"it is done\";\nfn b() { c == A }", 1),
            ("a.map_err(|_| \"it is wrong\")", 0),
            ("// a == \"it is done\"", 0),
            ("#[cfg(test)]\nmod tests { fn a() { b == \"it is done\" } }", 0),
        ];
        for (text, count) in rows {
            let found = check("tui", &[Source::new("crates/tui/src/a.rs", text)]);
            assert_eq!(found.len(), count, "{text}: {found:?}");
        }
        assert_eq!(check("tui", &[Source::new("crates/tui/tests/a.rs", rows[0].0)]), []);
    }
}
