//! Patterns of file names, as settings have them.

use std::path::Path;

use globset::GlobMatcher;

use crate::files::matcher;

/// Patterns of files. Each is about the end of a path: `*.rs` about names in any folder, `src/**` about any folder `src`.
#[derive(Clone, Debug, Default)]
pub struct FileNames(Vec<GlobMatcher>);

impl FileNames {
    /// These patterns.
    ///
    /// # Errors
    /// Why one of them is not a pattern.
    pub fn new(patterns: &[String]) -> Result<Self, String> {
        let at_the_end = |pattern: &String| {
            matcher(pattern)?;
            matcher(&format!("**/{}", pattern.strip_prefix("./").unwrap_or(pattern)))
        };
        patterns.iter().map(at_the_end).collect::<Result<_, _>>().map(Self)
    }

    /// Whether a pattern is about this absolute path.
    pub(crate) fn fit(&self, path: &Path) -> bool {
        self.0.iter().any(|pattern| pattern.is_match(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_about_the_end_of_a_path() {
        let rows = [
            ("*.rs", "/w/a.rs", true),
            ("*.rs", "/w/src/a.rs", true),
            ("*.rs", "/w/a.rs.txt", false),
            ("src/*.rs", "/w/crate/src/a.rs", true),
            ("./src/*.rs", "/w/src/a.rs", true),
            ("src/*.rs", "/w/src/b/a.rs", false),
            ("src/**", "/w/src/b/a.rs", true),
            ("Makefile", "/w/Makefile", true),
            ("Makefile", "/w/Makefile.in", false),
        ];
        for (pattern, path, fits) in rows {
            let names = FileNames::new(&[pattern.to_owned()]).expect("a pattern");
            assert_eq!(names.fit(Path::new(path)), fits, "{pattern} {path}");
        }
        for wrong in ["[", "/etc/*", "../*"] {
            assert!(FileNames::new(&[wrong.to_owned()]).is_err(), "{wrong}");
        }
    }
}
