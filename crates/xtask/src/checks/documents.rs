//! The documents for people: they exist, they name every crate and no removed test, and their commands are those
//! that the checks run.

use std::collections::BTreeSet;

use crate::finding::Finding;
use crate::lex;
use crate::source::{Source, places};

const MOST_LINES: usize = 299;

/// Files that every checkout has.
pub(crate) const REQUIRED: &[&str] = &[
    "README.md",
    "ARCHITECTURE.md",
    "GLOSSARY.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "docs/rewind.svg",
];

/// The commands that the README gives a new user, and whether `.ci/run` also runs them.
pub(crate) const COMMANDS: &[(&str, bool)] = &[("cargo run --release", false), ("cargo xtask test", true)];

/// ARCHITECTURE.md names every crate, and stays short enough to read.
pub(crate) fn architecture(text: &str, crates: &[&str]) -> Vec<Finding> {
    let path = "ARCHITECTURE.md";
    let mut found: Vec<_> = crates
        .iter()
        .filter(|krate| !text.contains(&format!("`{krate}`")))
        .map(|krate| Finding::new(path, 0, format!("the crate `{krate}` is missing")))
        .collect();
    let lines = text.lines().count();
    if lines > MOST_LINES {
        found.push(Finding::new(path, 0, format!("{lines} lines; at most {MOST_LINES} are read")));
    }
    found
}

/// A document names tests; each of them is a function somewhere. Names of four words or more count as tests: lint
/// names are shorter.
pub(crate) fn tests(path: &str, text: &str, sources: &[Source]) -> Vec<Finding> {
    let functions: BTreeSet<&str> = sources.iter().flat_map(functions).collect();
    let is_test = |name: &str| name.split('_').count() > 3 && name.chars().all(lex::is_word);
    let named = text.split('`').skip(1).step_by(2).filter(|name| is_test(name));
    let gone = named.filter(|name| !functions.contains(name)).collect::<BTreeSet<_>>();
    let finding = |name| Finding::new(path, 0, format!("there is no test `{name}`"));
    gone.into_iter().map(finding).collect()
}

/// A document names no removed code file: `core/src/fold.rs`, or a folder such as `server/src/hub/`.
pub(crate) fn files(path: &str, text: &str, sources: &[Source]) -> Vec<Finding> {
    let is_file = |name: &&str| {
        let is_plain = name.contains('/') && name.chars().all(|c| lex::is_word(c) || "/.-".contains(c));
        is_plain && (name.ends_with(".rs") || name.contains("/src/"))
    };
    let is_there = |name: &str| {
        let part = format!("/{}", name.trim_start_matches("crates/"));
        let is_of = |source: &Source| {
            let path = source.path();
            path.ends_with(&part) || path.contains(&format!("{}/", part.trim_end_matches('/')))
        };
        sources.iter().any(|source| is_of(source) || source.path().ends_with(&format!("{part}.rs")))
    };
    let named: BTreeSet<&str> = text.split('`').skip(1).step_by(2).filter(is_file).collect();
    let gone = named.into_iter().filter(|name| !is_there(name));
    gone.map(|name| Finding::new(path, 0, format!("there is no file `{name}`"))).collect()
}

fn functions(source: &Source) -> impl Iterator<Item = &str> {
    let code = &source.all().code;
    places(code, "fn").into_iter().filter_map(|at| {
        let name = code[at + "fn".len()..].trim_start();
        name.split(|c| !lex::is_word(c)).next()
    })
}

/// The README gives the commands, and `.ci/run` proves the one for tests.
pub(crate) fn commands(readme: &str, ci: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    for (command, in_ci) in COMMANDS {
        if !readme.lines().any(|line| line.trim() == *command) {
            found.push(Finding::new("README.md", 0, format!("the command `{command}` is missing")));
        }
        if *in_ci && !ci.contains(command) {
            found.push(Finding::new(".ci/run", 0, format!("does not run the README's `{command}`")));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{architecture, commands, files, tests};
    use crate::source::Source;

    #[test]
    fn architecture_names_every_crate() {
        assert_eq!(architecture("`core` and `store`", &["core", "store"]).len(), 0);
        assert_eq!(architecture("`core` and the store", &["core", "store"]).len(), 1);
        assert_eq!(architecture(&"x\n".repeat(301), &[]).len(), 1);
    }

    #[test]
    fn a_test_that_is_named_is_there() {
        let sources =
            [Source::new("crates/x/src/a.rs", "async fn it_is_still_there() {} // fn it_is_long_gone()")];
        assert_eq!(
            tests("A.md", "`it_is_still_there`, `too_many_lines` and `a/it_is_no_name`", &sources).len(),
            0
        );
        assert_eq!(
            tests("A.md", "`it_is_still_there` and `it_is_long_gone`, `it_is_long_gone`", &sources).len(),
            1
        );
    }

    #[test]
    fn a_file_that_is_named_is_there() {
        let sources = [Source::new("crates/x/src/a/b.rs", "")];
        let text = "`x/src/a/b.rs`, `a/b.rs`, `crates/x/src/a/b.rs`, `x/src/a`, `x/src/a/`, `x/src/a/b`";
        assert_eq!(files("A.md", text, &sources), []);
        assert_eq!(files("A.md", "`x/src/c.rs`, `x/src/b`, `a/c.rs`, `a.rs`", &sources).len(), 3);
    }

    #[test]
    fn the_readme_gives_the_commands() {
        let readme = "    cargo run --release\n    cargo xtask test\n";
        assert_eq!(commands(readme, "cargo xtask test").len(), 0);
        assert_eq!(commands(readme, "cargo test").len(), 1);
        assert_eq!(commands("cargo run --release", "cargo xtask test").len(), 1);
    }
}
