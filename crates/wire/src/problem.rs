//! Errors: typed codes, named values and remedies. Only types.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::hint::{Hint, Remedy};
use crate::notice::{NoticeCause, RunNotice};
use crate::problem_code::ProblemCode;

/// Why a request failed. Nothing has changed, unless the code or the message says otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[error("{message}")]
pub struct Problem {
    /// The code, for programs to decide by.
    pub code: ProblemCode,
    /// The kind of problem.
    pub kind: ProblemKind,
    /// Deprecated, the next version leaves it out: what was attempted, on what, and why it failed, as an English sentence without
    /// a full stop. It follows from the code and the fields.
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub message: String,
    /// The named values of the code, such as `seen` and `now` of a stale head. They are bounded by the names in `x-fields` of the
    /// codes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, Value>,
    /// Deprecated, the next version leaves it out: what to do next, as English text with remedies in it. It follows from the code,
    /// the fields and the remedies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub hint: Option<Hint>,
    /// The remedies, in the order in which a hint names them. Each client has its own command for each remedy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remedies: Vec<Remedy>,
    /// The underlying causes, outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<String>,
    /// What happened in addition and is reported nowhere else. `message` ends with it as text. Bounded by the mentions in one
    /// message and by the messages that may wait.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    pub notices: Box<[RunNotice]>,
    /// The current head, if the head in the request was stale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
}

/// Kinds of problems. Each kind has its own exit code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ProblemKind {
    /// The request is not valid as it is.
    Usage,
    /// Something named in the request does not exist.
    NotFound,
    /// The request is not possible in the current state.
    Refused,
    /// The author of the request saw an older state.
    Stale,
    /// The model or its provider failed.
    Model,
    /// The store or the machine failed.
    Storage,
    /// A defect of this program.
    #[default]
    Internal,
}

impl Problem {
    /// Adds a named value of the code.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        debug_assert!(self.code.fields().contains(&name), "BUG: the fields of {} lack {name}", self.code);
        self.fields.insert(name.to_owned(), value.into());
        self
    }
}

impl ProblemKind {
    /// The exit code of a command that fails with this kind of problem, as documented in the manual page.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Internal => 1,
            Self::Usage => 2,
            Self::NotFound => 3,
            Self::Refused => 4,
            Self::Stale => 5,
            Self::Model => 6,
            Self::Storage => 7,
        }
    }
}

impl From<Problem> for NoticeCause {
    fn from(it: Problem) -> Self {
        let Problem { code, message, fields, hint, remedies, causes, .. } = it;
        Self { code, message, fields, hint, remedies, causes }
    }
}
