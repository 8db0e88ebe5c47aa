//! How a client talks to the owner, over any transport.

#[cfg(feature = "client")]
mod http;

use async_trait::async_trait;
use futures::stream::BoxStream;

use crate::event::{Follow, NumberedEvent};
use crate::problem::Problem;
use crate::reply::Reply;
use crate::request::Request;
use crate::run::{Run, RunEvent};

#[cfg(feature = "client")]
pub use http::{HttpClient, OwnerAddress};

/// A connection to the owner. The verbs are the same in one process and over a socket.
#[async_trait]
pub trait Client: Send + Sync {
    /// Sends a request and waits for its reply.
    async fn call(&self, request: Request) -> Result<Reply, Problem>;

    /// Starts a model run. Its events come in order, and the last one is `Ended`. Dropping the stream does not stop the run:
    /// [`Request::Cancel`] does.
    async fn run(&self, run: Run) -> Result<BoxStream<'static, RunEvent>, Problem>;

    /// Subscribes to a conversation, or to the list of conversations. The stream begins with a snapshot, or with the changes
    /// since a named event. Then it contains every later event. If the stream ends, subscribe again with the id of its last
    /// event.
    async fn follow(&self, follow: Follow) -> Result<BoxStream<'static, NumberedEvent>, Problem>;
}
