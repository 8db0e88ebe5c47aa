//! One thing that is not in order, and where. It must always say what to do about it.

use std::fmt;

/// One untidy place: printed as `path:line: what`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    path: String,
    line: usize,
    what: String,
}

impl Finding {
    /// A finding in a line (counted from 1) of a file, or in the file as a whole (line 0).
    pub(crate) fn new(path: &str, line: usize, what: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, what: what.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.what),
            line => write!(f, "{}:{line}: {}", self.path, self.what),
        }
    }
}
