//! Why a server cannot be used: a kind for programs, and a text. Must never contain the value of a variable or a
//! header.

use std::fmt;

use strum::IntoStaticStr;

/// Why a server cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The kind.
    pub kind: FailureKind,
    /// The text, with the server's last output if that helps.
    pub why: String,
}

/// The kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum FailureKind {
    /// A variable in its entry is not set.
    UnsetVariable,
    /// Its address or a header of its entry is not valid.
    BadAddress,
    /// Its command can't be started.
    NotStarted,
    /// It does not answer within the time limit.
    Silent,
    /// It requires authorisation.
    Unauthorized,
    /// It cannot be reached.
    Unreachable,
    /// It ended, or closed the connection.
    Closed,
    /// It refuses the request.
    Refused,
    /// Its answer violates the protocol.
    BadReply,
}

impl FailureKind {
    /// The name used in every format.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// A failure of this kind with this text.
    pub(super) fn with(self, why: impl Into<String>) -> Failure {
        Failure { kind: self, why: why.into() }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}
