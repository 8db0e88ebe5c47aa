//! Streams of events, as server-sent events.

use std::convert::Infallible;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::StreamExt;
use futures::stream::BoxStream;
use retake_wire::RunEvent;
use serde::Serialize;

/// How often a silent stream says that it lives.
const ALIVE: Duration = Duration::from_secs(15);

/// The events of a run. They have no ids: what was missed is in the conversation's own stream.
pub(super) fn run(
    events: BoxStream<'static, RunEvent>,
    over: impl Future<Output = ()> + Send + 'static,
) -> Response {
    let events = events.take_until(Box::pin(over)).map(|event| Ok::<_, Infallible>(said(&event)));
    Sse::new(events).keep_alive(KeepAlive::new().interval(ALIVE)).into_response()
}

/// An event with its own JSON.
fn said(event: &impl Serialize) -> Event {
    // What the wire says has string keys and finite numbers.
    let json = serde_json::to_string(event).unwrap_or_default();
    Event::default().data(json)
}
