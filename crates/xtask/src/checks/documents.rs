//! The documents for people: they are there, they name every crate, and the commands they give are those that the
//! checks run.

use crate::finding::Finding;

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
    use super::{architecture, commands};

    #[test]
    fn architecture_names_every_crate() {
        assert_eq!(architecture("`core` and `store`", &["core", "store"]).len(), 0);
        assert_eq!(architecture("`core` and the store", &["core", "store"]).len(), 1);
        assert_eq!(architecture(&"x\n".repeat(301), &[]).len(), 1);
    }

    #[test]
    fn the_readme_gives_the_commands() {
        let readme = "    cargo run --release\n    cargo xtask test\n";
        assert_eq!(commands(readme, "cargo xtask test").len(), 0);
        assert_eq!(commands(readme, "cargo test").len(), 1);
        assert_eq!(commands("cargo run --release", "cargo xtask test").len(), 1);
    }
}
