//! How a face reaches the owner, whatever lies between them.

#[cfg(feature = "client")]
mod http;

use async_trait::async_trait;
use futures::stream::BoxStream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::event::{Follow, Told};
use crate::hint::Hint;
use crate::reply::Reply;
use crate::request::Request;
use crate::run::{Run, RunEvent};

#[cfg(feature = "client")]
pub use http::{HttpClient, Reach};

/// The owner as a face sees it. In one process or over a socket, the verbs are the same.
#[async_trait]
pub trait Client: Send + Sync {
    /// Sends a request and waits for its reply.
    async fn call(&self, request: Request) -> Result<Reply, Problem>;

    /// Starts a model run. Its events come in order, the last is `Ended`; dropping the stream stops nothing
    /// ([`Request::Cancel`] does).
    async fn run(&self, run: Run) -> Result<BoxStream<'static, RunEvent>, Problem>;

    /// Follows a conversation, or the list of them: first how it is, or what changed since a named event, then everything
    /// that happens. A stream that ends is to be taken up again with the id of its last event.
    async fn follow(&self, follow: Follow) -> Result<BoxStream<'static, Told>, Problem>;
}

/// Why a request was not carried out. Nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[error("{message}")]
pub struct Problem {
    /// A stable word for programs, such as `stale_head`.
    pub code: String,
    /// What kind it is.
    pub kind: ProblemKind,
    /// What was attempted, on what, and why it failed. A sentence without a full stop.
    pub message: String,
    /// What to do next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<Hint>,
    /// The causes, outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<String>,
    /// The head now, when the request's was stale.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
}

/// Kinds of problems; each has an exit code of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProblemKind {
    /// The request makes no sense as it is.
    Usage,
    /// Something named in it is not there.
    NotFound,
    /// It does not fit the state of things now.
    Refused,
    /// The author saw an older state.
    Stale,
    /// The model or its provider failed.
    Model,
    /// The store or the machine failed.
    Storage,
    /// A defect of ours.
    Internal,
}

impl ProblemKind {
    /// The exit code of a command that ends with this: documented in the manual page.
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
