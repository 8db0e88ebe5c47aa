//! The shape of a file: a header, the line limit, the name. Clippy limits functions.

use crate::finding::Finding;
use crate::source::Source;

/// The most lines of a file, including tests.
const MOST_LINES: usize = 500;

/// The first item of a file is its header.
pub(crate) fn header(source: &Source) -> Vec<Finding> {
    let first = source.text().lines().find(|line| !line.trim().is_empty());
    let has_words = |line: &str| line.strip_prefix("//!").is_some_and(|rest| !rest.trim().is_empty());
    if first.is_some_and(has_words) {
        return Vec::new();
    }
    let what = "no header; begin with `//!`: what the file is for and what it must never do";
    vec![Finding::new(source.path(), 1, what)]
}

/// A file stays small enough to read at once.
pub(crate) fn budget(source: &Source) -> Vec<Finding> {
    let lines = source.text().lines().count();
    if lines <= MOST_LINES {
        return Vec::new();
    }
    let what = format!("{lines} lines; split it, at most {MOST_LINES} are allowed");
    vec![Finding::new(source.path(), 0, what)]
}

/// Modules are `foo.rs` beside `foo/`.
pub(crate) fn name(source: &Source) -> Vec<Finding> {
    if !source.path().ends_with("/mod.rs") {
        return Vec::new();
    }
    vec![Finding::new(source.path(), 0, "name the module `foo.rs` beside `foo/`, not `mod.rs`")]
}

#[cfg(test)]
mod tests {
    use super::{MOST_LINES, budget, header, name};
    use crate::source::Source;

    #[test]
    fn a_file_begins_with_its_header() {
        let found = |text| header(&Source::new("crates/core/src/a.rs", text)).len();
        assert_eq!(found("//! Ids. Never reads a clock.\n"), 0);
        assert_eq!(found("\n//! Ids.\nuse x;\n"), 0);
        assert_eq!(found("use x;\n//! Ids.\n"), 1);
        assert_eq!(found("//!\n"), 1);
        assert_eq!(found("/// Ids.\n"), 1);
        assert_eq!(found(""), 1);
    }

    #[test]
    fn a_file_has_at_most_500_lines() {
        let found = |lines: usize| budget(&Source::new("crates/core/src/a.rs", &"x\n".repeat(lines))).len();
        assert_eq!(found(MOST_LINES), 0);
        assert_eq!(found(MOST_LINES + 1), 1);
    }

    #[test]
    fn no_module_is_named_mod() {
        let found = |path| name(&Source::new(path, "")).len();
        assert_eq!(found("crates/core/src/a.rs"), 0);
        assert_eq!(found("crates/core/src/a/mod.rs"), 1);
    }
}
