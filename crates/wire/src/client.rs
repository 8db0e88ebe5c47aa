//! How a client reaches the owner, over any transport.

#[cfg(feature = "client")]
mod http;

use async_trait::async_trait;
use futures::stream::BoxStream;

use crate::event::{Follow, Told};
use crate::problem::Problem;
use crate::reply::Reply;
use crate::request::Request;
use crate::run::{Run, RunEvent};

#[cfg(feature = "client")]
pub use http::{HttpClient, Reach};

/// The owner as a client sees it. In one process or over a socket, the verbs are the same.
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
