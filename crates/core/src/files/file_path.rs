//! A path below the root of a workspace. It is bytes and need not be UTF-8. A path that leaves the root, or that is in
//! git's own folder, cannot be created.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use strum::IntoStaticStr;

/// A path below a workspace's root: components separated by `/`, at least one, none of them empty, `.`, `..` or `.git`
/// in any case (spec `rewind.md`, *Capture*, case 29). Ordered by components, so that a folder comes right before its
/// content. Cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct FilePath(Arc<[u8]>);

/// A name that is not a path below a root.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("“{path}” can't be a path below the root: {}", why.text())]
pub struct BadFilePath {
    path: String,
    why: PathDefect,
}

/// What is wrong with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum PathDefect {
    /// It begins with `/`.
    Absolute,
    /// It is longer than the system accepts.
    TooLong,
    /// It has a component `..`.
    LeavesRoot,
    /// It holds a zero byte.
    ZeroByte,
    /// It is in git's own folder.
    Git,
    /// It has no component.
    Empty,
}

impl PathDefect {
    /// Its name for programs.
    pub fn name(self) -> &'static str {
        self.into()
    }

    fn text(self) -> &'static str {
        match self {
            Self::Absolute => "it is absolute",
            Self::TooLong => "it is too long",
            Self::LeavesRoot => "it leaves the root",
            Self::ZeroByte => "it holds a zero byte",
            Self::Git => "what git keeps for itself is never touched",
            Self::Empty => "it names nothing",
        }
    }
}

/// The longest path that the system accepts, in bytes.
const LONGEST: usize = 4095;

impl BadFilePath {
    /// The name, with what is not UTF-8 replaced.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What is wrong with it.
    pub fn why(&self) -> PathDefect {
        self.why
    }
}

impl FilePath {
    /// The path with these bytes; `./a`, `a//b` and `a/` become `a`, `a/b` and `a`.
    pub fn new(bytes: &[u8]) -> Result<Self, BadFilePath> {
        let bad = |why| BadFilePath { path: String::from_utf8_lossy(bytes).into_owned(), why };
        if bytes.first() == Some(&b'/') {
            return Err(bad(PathDefect::Absolute));
        }
        if bytes.len() > LONGEST {
            return Err(bad(PathDefect::TooLong));
        }
        let mut clean = Vec::with_capacity(bytes.len());
        for component in bytes.split(|byte| *byte == b'/') {
            match component {
                b"" | b"." => continue,
                b".." => return Err(bad(PathDefect::LeavesRoot)),
                _ if component.contains(&0) => return Err(bad(PathDefect::ZeroByte)),
                _ if is_git(component) => return Err(bad(PathDefect::Git)),
                _ => {}
            }
            if !clean.is_empty() {
                clean.push(b'/');
            }
            clean.extend_from_slice(component);
        }
        if clean.is_empty() { Err(bad(PathDefect::Empty)) } else { Ok(Self(clean.into())) }
    }

    /// The bytes, without a leading or a trailing `/`.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Its components, outermost first.
    pub fn components(&self) -> impl DoubleEndedIterator<Item = &[u8]> {
        self.0.split(|byte| *byte == b'/')
    }

    /// The last component.
    pub fn name(&self) -> &[u8] {
        self.0.rsplit(|byte| *byte == b'/').next().unwrap_or_default()
    }

    /// Its folder; `None` is the root.
    pub fn parent(&self) -> Option<Self> {
        let cut = self.0.iter().rposition(|byte| *byte == b'/')?;
        Some(Self(self.0[..cut].into()))
    }

    /// The path of an entry in this folder.
    pub fn join(&self, name: &[u8]) -> Result<Self, BadFilePath> {
        Self::new(&[&self.0, b"/".as_slice(), name].concat())
    }

    /// Whether this is `folder` or below it.
    pub fn is_within(&self, folder: &Self) -> bool {
        self.0.strip_prefix(&*folder.0).is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
    }
}

/// Whether git keeps its own files under this name, also on file systems that treat `.GIT` as the same.
fn is_git(component: &[u8]) -> bool {
    component.eq_ignore_ascii_case(b".git")
}

impl Ord for FilePath {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |byte: &u8| if *byte == b'/' { 0 } else { *byte };
        self.0.iter().map(key).cmp(other.0.iter().map(key))
    }
}

impl PartialOrd for FilePath {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Invalid UTF-8 and terminal control characters are shown as escapes.
        for chunk in self.0.utf8_chunks() {
            for letter in chunk.valid().chars() {
                match letter.is_control() {
                    true => write!(f, "{}", letter.escape_default())?,
                    false => write!(f, "{letter}")?,
                }
            }
            for byte in chunk.invalid() {
                write!(f, "\\x{byte:02x}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FilePath({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> FilePath {
        FilePath::new(text.as_bytes()).unwrap()
    }

    #[test]
    fn forms_of_one_path_are_one() {
        for form in ["a/b.txt", "./a/b.txt", "a//b.txt", "a/./b.txt", "a/b.txt/"] {
            assert_eq!(path(form).as_bytes(), b"a/b.txt", "{form}");
        }
    }

    #[test]
    fn a_path_that_leaves_the_root_can_not_be_made() {
        for bad in
            ["", ".", "/", "/etc/passwd", "..", "../a", "a/../../b", "a/..", ".git", "a/.GIT/hooks", "a\0b"]
        {
            assert!(FilePath::new(bad.as_bytes()).is_err(), "{bad:?}");
        }
        assert!(FilePath::new(&[b'a'; 5000]).is_err());
        assert!(FilePath::new(b".gitignore").is_ok());
    }

    #[test]
    fn folder_is_sorted_right_before_its_content() {
        let mut paths = ["a.txt", "a/b", "a", "a-b", "a/b/c", "b"].map(path);
        paths.sort();
        assert_eq!(paths.map(|path| path.to_string()), ["a", "a/b", "a/b/c", "a-b", "a.txt", "b"]);
    }

    #[test]
    fn parents_and_what_is_within() {
        assert_eq!(path("a/b/c").parent(), Some(path("a/b")));
        assert_eq!(path("a").parent(), None);
        assert!(path("a/b").is_within(&path("a")) && path("a").is_within(&path("a")));
        assert!(!path("ab").is_within(&path("a")));
        assert_eq!(path("a").join(b"b").unwrap(), path("a/b"));
        assert!(path("a").join(b"..").is_err());
    }

    #[test]
    fn shown_path_has_no_terminal_control_characters() {
        let hostile = FilePath::new(b"a\x1b[2J\xff\n").unwrap();
        assert_eq!(hostile.to_string(), "a\\u{1b}[2J\\xff\\n");
    }

    #[test]
    fn a_path_has_components_and_a_debug_form() {
        let parts: Vec<_> = path("a/b/c").components().map(<[u8]>::to_vec).collect();
        assert_eq!(parts, [b"a", b"b", b"c"]);
        assert_eq!(format!("{:?}", path("a/b")), "FilePath(a/b)");
    }
}
