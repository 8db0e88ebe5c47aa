//! The documents for people: they are there, they name every crate and no test that is gone, and the commands they
//! give are those that the checks run.

use std::collections::BTreeSet;

use crate::finding::Finding;
use crate::lex;
use crate::source::{Source, places};

const MOST_LINES: usize = 300;

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

/// The commands that the README gives a new user, and whether `.ci/run` runs them too.
pub(crate) const COMMANDS: &[(&str, bool)] = &[("cargo run --release", false), ("cargo xtask test", true)];

/// ARCHITECTURE.md names every crate, and stays short enough to be read.
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

/// A document says which tests hold what; each of them is a function somewhere. Names of four words and more are
/// taken for tests: those of lints are shorter.
pub(crate) fn tests(path: &str, text: &str, sources: &[Source]) -> Vec<Finding> {
    let functions: BTreeSet<&str> = sources.iter().flat_map(functions).collect();
    let is_test = |name: &str| name.split('_').count() > 3 && name.chars().all(lex::is_word);
    let named = text.split('`').skip(1).step_by(2).filter(|name| is_test(name));
    let gone = named.filter(|name| !functions.contains(name)).collect::<BTreeSet<_>>();
    let finding = |name| Finding::new(path, 0, format!("there is no test `{name}`"));
    gone.into_iter().map(finding).collect()
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
    use super::{architecture, commands, tests};
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
    fn the_readme_gives_the_commands() {
        let readme = "    cargo run --release\n    cargo xtask test\n";
        assert_eq!(commands(readme, "cargo xtask test").len(), 0);
        assert_eq!(commands(readme, "cargo test").len(), 1);
        assert_eq!(commands("cargo run --release", "cargo xtask test").len(), 1);
    }
}
