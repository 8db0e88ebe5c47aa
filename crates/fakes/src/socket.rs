//! WebSockets of a fake (RFC 6455). Must never know a platform.

use axum::body::Body;
use axum::http::{HeaderValue, Request, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio_websockets::{ServerBuilder, WebSocketStream};

use crate::control::Control;

/// A connected socket: a stream and a sink of messages.
pub type Socket = WebSocketStream<TokioIo<Upgraded>>;

/// What the standard puts behind the key of a request (RFC 6455, 1.3).
const SALT: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// Turns a request into a socket. The task runs with the socket and ends with the fake. Returns the answer to the request: 426 if it
/// asks for no socket.
pub fn accept<F>(
    control: &Control,
    request: Request<Body>,
    task: impl FnOnce(Socket) -> F + Send + 'static,
) -> Response
where
    F: Future<Output = ()> + Send + 'static,
{
    let Some(key) = request.headers().get(header::SEC_WEBSOCKET_KEY).and_then(|key| key.to_str().ok()) else {
        return StatusCode::UPGRADE_REQUIRED.into_response();
    };
    let salted = format!("{key}{SALT}");
    let digest = ring::digest::digest(&ring::digest::SHA1_FOR_LEGACY_USE_ONLY, salted.as_bytes());
    let accepted = HeaderValue::from_str(&STANDARD.encode(digest)).expect("BUG: Base64 is a header value");
    let upgrade = hyper::upgrade::on(request);
    control.spawn(async move {
        if let Ok(stream) = upgrade.await {
            task(ServerBuilder::new().serve(TokioIo::new(stream))).await;
        }
    });
    let headers = [
        (header::CONNECTION, HeaderValue::from_static("upgrade")),
        (header::UPGRADE, HeaderValue::from_static("websocket")),
        (header::SEC_WEBSOCKET_ACCEPT, accepted),
    ];
    (StatusCode::SWITCHING_PROTOCOLS, headers).into_response()
}
