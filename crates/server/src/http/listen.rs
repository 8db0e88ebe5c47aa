//! Takes connections, as many at once as one listener may have, and reads requests from each. A client that connects and sends
//! nothing, or not a whole head of a request in time, loses the connection: so nobody can use up all descriptors without a token.
//! Must never end a connection with a reply in progress.

use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use axum::response::Response;
use axum::serve::Listener;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use rustix::process::{Resource, getrlimit};
use tokio::sync::Semaphore;
use tower::Service as _;

use super::slow_readers::{ConnectionState, Peer, TimeLimitedListener};

/// The clients of a listener: its number of connections is a part of the process's descriptors.
#[derive(Clone, Copy, Debug)]
pub(super) enum ListenerClients {
    /// Anybody on this machine: the limit leaves enough for the owner and its user.
    Anybody,
    /// The owner's user only.
    User,
}

impl ListenerClients {
    /// The most connections at once.
    pub(super) fn most(self) -> usize {
        let all = getrlimit(Resource::Nofile).current.and_then(|all| usize::try_from(all).ok());
        let all = all.unwrap_or(usize::MAX);
        match self {
            Self::Anybody => (all / 4).clamp(8, 256),
            Self::User => (all / 2).clamp(16, 1024),
        }
    }
}

/// Serves each connection until shutdown; then waits for the replies in progress.
pub(super) async fn listen<L>(
    mut listener: TimeLimitedListener<L>,
    who: ListenerClients,
    router: Router,
    over: impl Future<Output = ()> + Send,
) where
    L: Listener,
    L::Io: Peer,
{
    let (places, connections) = (Arc::new(Semaphore::new(who.most())), GracefulShutdown::new());
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(listener.patience);
    let mut over = pin!(over);
    loop {
        let next = async {
            // Never closed. Further clients wait in the listener's queue.
            let place = Arc::clone(&places).acquire_owned().await;
            (place, listener.accept().await.0)
        };
        let (place, io) = tokio::select! {
            next = next => next,
            () = &mut over => break,
        };
        let (line, router) = (io.line(), router.clone());
        let answer = service_fn(move |request| answer(router.clone(), line.clone(), request));
        let connection = connections.watch(http.serve_connection(TokioIo::new(io), answer));
        tokio::spawn(async move {
            // A connection that failed is over as well.
            if let Err(error) = connection.await {
                let cause = cause(&error);
                tracing::debug!(cause, "a connection has broken off");
            }
            drop(place);
        });
    }
    drop(listener);
    connections.shutdown().await;
}

/// Why a connection failed. Never the message: it may quote what was sent.
fn cause(error: &hyper::Error) -> &'static str {
    match error {
        error if error.is_parse() => "not HTTP",
        error if error.is_timeout() => "too slow",
        error if error.is_incomplete_message() => "closed too early",
        error if error.is_canceled() => "cancelled",
        _ => "closed",
    }
}

async fn answer(
    mut router: Router,
    line: ConnectionState,
    request: hyper::Request<Incoming>,
) -> Result<Response, Infallible> {
    let mut request: Request = request.map(Body::new);
    request.extensions_mut().insert(ConnectInfo(line));
    router.call(request).await
}
