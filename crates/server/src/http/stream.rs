//! Streams of events, as server-sent events.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use retake_wire::RunEvent;
use serde::Serialize;

use super::slow_readers::Followed;
use crate::events::Frame;
use crate::presence::AttachedClient;

/// How often a silent stream sends a keep-alive.
const ALIVE: Duration = Duration::from_secs(15);

/// The events of a conversation, or of the list.
pub(super) fn follow(
    frames: BoxStream<'static, Arc<Frame>>,
    followed: Followed,
    over: impl Future<Output = ()> + Send + 'static,
) -> Response {
    let alive = stream::unfold((), |()| async {
        tokio::time::sleep(ALIVE).await;
        Some((Some(Bytes::from_static(b":\n\n")), ()))
    });
    let frames = frames.map(|frame| frame.bytes()).map(Some).chain(stream::once(async { None }));
    // The stream ends with its events, not with the keep-alives.
    let all = stream::select(frames, alive).take_while(|piece| std::future::ready(piece.is_some()));
    let body = all.filter_map(std::future::ready).take_until(Box::pin(over));
    let body = body.inspect(move |_| followed.takes()).map(Ok::<_, Infallible>);
    let kind = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-cache")];
    (kind, Body::from_stream(body)).into_response()
}

/// The events of a run. They have no ids: missed ones are in the conversation's own stream.
pub(super) fn run(
    events: BoxStream<'static, RunEvent>,
    over: impl Future<Output = ()> + Send + 'static,
) -> Response {
    let events = events.take_until(Box::pin(over)).map(|event| Ok::<_, Infallible>(said(&event)));
    Sse::new(events).keep_alive(KeepAlive::new().interval(ALIVE)).into_response()
}

/// The stream of an attached client: it only has the client's number and keep-alives. A client that leaves drops it.
pub(super) fn present(
    attending: AttachedClient,
    over: impl Future<Output = ()> + Send + 'static,
) -> Response {
    let json = serde_json::to_string(&attending.number()).unwrap_or_default();
    let first = stream::once(async move { Bytes::from(format!("data: {json}\n\n")) });
    let alive = stream::unfold(attending, |attending| async {
        tokio::time::sleep(ALIVE).await;
        Some((Bytes::from_static(b":\n\n"), attending))
    });
    let body = first.chain(alive).take_until(Box::pin(over)).map(Ok::<_, Infallible>);
    let kind = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-cache")];
    (kind, Body::from_stream(body)).into_response()
}

/// An event with its own JSON.
fn said(event: &impl Serialize) -> Event {
    // The wire's types have string keys and finite numbers.
    let json = serde_json::to_string(event).unwrap_or_default();
    Event::default().data(json)
}
