//! Whether a command matches a rule that denies or asks, also with options before the words of the rule: `git
//! -C . push` is a `git push`. If it is not known whether an option has a value, both are tried.

use super::base;
use super::runners::{is_option, option_words};
use crate::permission::glob;

/// Whether a command begins with the words of a rule.
pub(super) fn catches(words: &[String], prefix: &str) -> bool {
    let mut patterns = prefix.split_whitespace();
    let (Some(program), Some(name)) = (words.first(), patterns.next()) else { return false };
    if !glob::word(name, program) && !glob::word(name, base(program)) {
        return false;
    }
    // The possible places of the rule's next word.
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
                let (least, most) = option_words(program, word);
                places[at + least] = true;
                places[at + most] = true;
            }
        }
        places = next;
    }
    places.contains(&true)
}
