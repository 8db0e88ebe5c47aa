//! Why a server can't be used: a kind for programs, and words. Must never hold a value of a variable or a header.

use std::fmt;

/// Why a server can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What failed.
    pub kind: FailureKind,
    /// The same in words, with the last that the server said where that helps.
    pub why: String,
}

/// What failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// A variable that its entry names is not set.
    UnsetVariable,
    /// Its address or a header of its entry is not valid.
    BadEntry,
    /// Its command can't be started.
    NotStarted,
    /// It does not answer in time.
    Silent,
    /// It wants to be authorized.
    Unauthorized,
    /// It can't be reached.
    Unreachable,
    /// It ended, or closed the connection.
    Closed,
    /// It refuses the request.
    Refused,
    /// What it answers is not what the protocol says.
    BadReply,
}

impl FailureKind {
    /// The name used in every format.
    pub fn name(self) -> &'static str {
        match self {
            Self::UnsetVariable => "unset_variable",
            Self::BadEntry => "bad_entry",
            Self::NotStarted => "not_started",
            Self::Silent => "silent",
            Self::Unauthorized => "unauthorized",
            Self::Unreachable => "unreachable",
            Self::Closed => "closed",
            Self::Refused => "refused",
            Self::BadReply => "bad_reply",
        }
    }

    /// A failure of this kind, in these words.
    pub(super) fn with(self, why: impl Into<String>) -> Failure {
        Failure { kind: self, why: why.into() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}
