//! Serves a fake on a free port of 127.0.0.1. A connection can end without an answer. Nothing of it outlives the value.

use std::net::SocketAddr;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use axum::response::{IntoResponse, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};
use tower::ServiceExt as _;

use crate::control::Control;

/// A running fake. It ends when this is dropped.
#[derive(Debug)]
pub struct Serving {
    address: SocketAddr,
    control: Control,
    accepting: JoinHandle<()>,
}

impl Serving {
    /// Serves these routes.
    ///
    /// # Panics
    /// No port is free.
    pub async fn start(routes: Router, control: Control) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("BUG: no port is free");
        let address = listener.local_addr().expect("BUG: a bound listener has an address");
        let accepting = tokio::spawn(accept_all(listener, routes));
        Self { address, control, accepting }
    }

    /// The address, such as `http://127.0.0.1:4117`, without a slash at its end.
    pub fn base(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The host and the port.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends the fake, and waits until nothing listens any more.
    pub async fn end(mut self) {
        self.accepting.abort();
        // It was aborted.
        drop((&mut self.accepting).await);
    }

    /// What a test controls.
    pub fn control(&self) -> &Control {
        &self.control
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.accepting.abort();
        self.control.end();
    }
}

/// The answer that ends the connection before a byte of an answer is sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lost;

impl IntoResponse for Lost {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::empty());
        response.extensions_mut().insert(self);
        response
    }
}

/// The answer that ends the connection before a byte of an answer is sent. For calls that need more than [`Control::answer`] does.
pub fn lost() -> Response {
    Lost.into_response()
}

async fn accept_all(listener: TcpListener, routes: Router) {
    // Dropped with this future: then all connections end.
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                let Ok((stream, _)) = accepted else { return };
                connections.spawn(connection(stream, routes.clone()));
            }
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn connection(stream: TcpStream, routes: Router) {
    let service = service_fn(move |request: Request<Incoming>| {
        let routes = routes.clone();
        async move {
            let Ok(response) = routes.oneshot(request.map(Body::new)).await;
            if response.extensions().get::<Lost>().is_some() {
                return Err(std::io::Error::other("the answer is lost"));
            }
            Ok(response)
        }
    });
    // An error ends this connection only: it is what a test asked for, or the client's.
    drop(http1::Builder::new().serve_connection(TokioIo::new(stream), service).with_upgrades().await);
}
