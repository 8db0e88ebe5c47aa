//! Patterns: `*` and `?` within a name, `**` for any number of folders. Linear in the length of the text, so that no
//! pattern can take long; must never read a file.

/// Whether a name matches a pattern in which `*` stands for any letters and `?` for one.
pub(super) fn word(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    starred(&pattern, &name, |c| *c == '*', |p, c| *p == '?' || p == c)
}

/// Whether a path, as its names, matches a glob. Without names the path is the folder at which globs begin.
pub(super) fn path(glob: &str, names: &[&str]) -> bool {
    let glob: Vec<&str> = glob.split('/').filter(|name| !name.is_empty() && *name != ".").collect();
    starred(&glob, names, |name| *name == "**", |pattern, name| word(pattern, name))
}

/// Matches stars: on a mismatch the latest star takes one more. Earlier stars never need to.
fn starred<P, T>(
    pattern: &[P],
    text: &[T],
    is_star: impl Fn(&P) -> bool,
    fits: impl Fn(&P, &T) -> bool,
) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        if pattern.get(p).is_some_and(&is_star) {
            star = Some((p, t));
            p += 1;
        } else if pattern.get(p).is_some_and(|pattern| fits(pattern, &text[t])) {
            p += 1;
            t += 1;
        } else if let Some((at, taken)) = star {
            star = Some((at, taken + 1));
            p = at + 1;
            t = taken + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(is_star)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn glob_matches_paths() {
        for (glob, path_text, expected) in [
            ("src/main.rs", "src/main.rs", true),
            ("./src//main.rs", "src/main.rs", true),
            ("src/*.rs", "src/main.rs", true),
            ("src/*.rs", "src/a/main.rs", false),
            ("src/**", "src/a/b.rs", true),
            ("src/**", "src", true),
            ("src/**", "srcs/a", false),
            ("**/*.rs", "main.rs", true),
            ("**/*.rs", "a/b/main.rs", true),
            ("a/**/z", "a/z", true),
            ("a/**/z", "a/b/c/z", true),
            ("a/**/b/**/z", "a/b/x/b/y/z", true),
            ("a/**/b/**/z", "a/c/z", false),
            ("**", "anything/at/all", true),
            ("*", "one", true),
            ("*", "one/two", false),
            ("?.rs", "a.rs", true),
            ("?.rs", "ab.rs", false),
            (".env*", ".env.local", true),
            ("m*n.r?", "main.rs", true),
        ] {
            let names: Vec<&str> = path_text.split('/').collect();
            assert_eq!(path(glob, &names), expected, "{glob} {path_text}");
        }
        assert!(path("**", &[]) && !path("*", &[]));
    }

    #[test]
    fn glob_with_many_stars_is_matched_in_bounded_time() {
        let pattern = "*a".repeat(30) + "b";
        assert!(!word(&pattern, &"a".repeat(10_000)));
    }
}
