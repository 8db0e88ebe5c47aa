//! What a crate must not access: `core` no part of the outside world, all others only the injected clock and
//! randomness. Clippy checks the same bans by type; this check also sees the inside of macros and grouped
//! imports.

use crate::finding::Finding;
use crate::source::{Source, closing, places};

/// Modules of `std` that `core` must not name, in a path or in a grouped import.
const WORLD: &[&str] = &["fs", "net", "env", "process", "thread"];

/// Words that `core` must not use.
const IMPURE: &[&str] =
    &["SystemTime", "Instant", "async fn", "async move", "println!", "eprintln!", "print!", "eprint!"];

/// Sources of time and randomness, each with one owner.
const CLOCKS: &[&str] = &["Uuid::now_v7", "Uuid::new_v4", "SystemTime::now", "Timestamp::now", "Zoned::now"];

/// The owners, and the crates for development only.
const CLOCK_OWNERS: &[&str] =
    &["crates/engine/src/clock.rs", "crates/engine/src/ids.rs", "crates/bench/", "crates/xtask/"];

/// `core` uses no files, no network, no clock, no environment and no async, and prints nothing.
pub(crate) fn core(source: &Source) -> Vec<Finding> {
    if !source.path().starts_with("crates/core/src/") {
        return Vec::new();
    }
    let code = &source.all().code;
    let mut found = Vec::new();
    for module in WORLD {
        let what = format!("core may not use std::{module}; take the data as an argument");
        found.extend(source.find(code, &format!("std::{module}"), &what));
        for group in places(code, "std::{") {
            let end = closing(code, group + "std::".len());
            if !places(&code[group..end], module).is_empty() {
                found.push(source.finding(group, what.clone()));
            }
        }
    }
    for words in IMPURE {
        let what = format!("core may not use `{words}`; it receives the world as data");
        found.extend(source.find(code, words, &what));
    }
    found
}

/// Time and randomness come from the engine's clock and ids.
pub(crate) fn clock(source: &Source) -> Vec<Finding> {
    let owner = CLOCK_OWNERS.iter().any(|owner| source.path().starts_with(owner));
    if owner || source.is_test() {
        return Vec::new();
    }
    let find = |words: &&str| {
        let what =
            format!("`{words}` belongs to engine/src/clock.rs and engine/src/ids.rs; have it passed in");
        source.find(&source.production().code, words, &what)
    };
    CLOCKS.iter().flat_map(find).collect()
}

#[cfg(test)]
mod tests {
    use super::{clock, core};
    use crate::source::Source;

    #[test]
    fn core_may_do_nothing() {
        let rows = [
            ("use std::fs;", 1),
            ("use std::{collections::BTreeMap, fs::File};", 1),
            ("use std::{collections::BTreeMap, fmt};", 0),
            ("let a = std::env::var(x);", 1),
            ("use std::time::Instant;", 1),
            ("async fn a() {}", 1),
            ("fn a() { println!() }", 1),
            ("// println! and std::fs are banned", 0),
        ];
        for (text, count) in rows {
            let found = core(&Source::new("crates/core/src/a.rs", text));
            assert_eq!(found.len(), count, "{text}: {found:?}");
        }
        assert!(core(&Source::new("crates/store/src/a.rs", "use std::fs;")).is_empty());
    }

    #[test]
    fn the_clock_has_one_owner() {
        let found = |path, text| clock(&Source::new(path, text)).len();
        let now = "fn a() { SystemTime::now(); jiff::Timestamp::now(); Uuid::now_v7(); }";
        assert_eq!(found("crates/store/src/a.rs", now), 3);
        assert_eq!(found("crates/engine/src/a.rs", now), 3);
        assert_eq!(found("crates/engine/src/clock.rs", now), 0);
        assert_eq!(found("crates/store/tests/a.rs", now), 0);
        assert_eq!(
            found("crates/store/src/a.rs", "#[cfg(test)]\nmod tests { fn a() { SystemTime::now(); } }"),
            0
        );
    }
}
