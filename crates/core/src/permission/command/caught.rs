//! Whether a command is what a rule that denies or asks names, also with options before the words of the rule:
//! `git -C . push` is a `git push`. Where it is not known whether an option has a value, both are tried.

use super::base;
use crate::permission::glob;

/// Options of git that take the next word as their value.
const GIT: &[&str] = &[
    "-C",
    "-c",
    "--attr-source",
    "--config-env",
    "--git-dir",
    "--namespace",
    "--super-prefix",
    "--work-tree",
];

/// Whether a command begins with the words of a rule.
pub(super) fn catches(words: &[String], prefix: &str) -> bool {
    let mut patterns = prefix.split_whitespace();
    let (Some(program), Some(name)) = (words.first(), patterns.next()) else { return false };
    if !glob::word(name, program) && !glob::word(name, base(program)) {
        return false;
    }
    // Whether the word after an option may be looked at, and whether the one after that.
    let skips = |option: &str| match base(program) {
        "git" => (!GIT.contains(&option), GIT.contains(&option)),
        _ => (true, option != "--" && !option.contains('=')),
    };
    // Where the next word of the rule may stand.
    let mut places = vec![false; words.len() + 2];
    places[1] = true;
    for pattern in patterns {
        let mut next = vec![false; places.len()];
        for (at, word) in words.iter().enumerate().skip(1) {
            if !places[at] {
                continue;
            }
            next[at + 1] |= glob::word(pattern, word);
            if is_option(word) {
                let (one, two) = skips(word);
                places[at + 1] |= one;
                places[at + 2] |= two;
            }
        }
        places = next;
    }
    places.contains(&true)
}

fn is_option(word: &str) -> bool {
    word.len() > 1 && word.starts_with(['-', '+'])
}
