//! Socket Mode of the fake Slack. An envelope that is not acknowledged is not redelivered by itself: what Slack does is not known [?].

use std::sync::Arc;

use futures::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio_websockets::{CloseCode, Message};

use super::Shared;
use crate::socket::Socket;

/// The requests to end sockets: how many there were, and the reason of the last one.
#[derive(Debug, Default)]
pub(super) struct Sockets {
    ends: watch::Sender<(u64, String)>,
}

impl Sockets {
    pub(super) fn disconnect(&self, reason: &str) {
        self.ends.send_modify(|(count, last)| {
            *count += 1;
            reason.clone_into(last);
        });
    }
}

/// Serves one socket until it ends. It gets the events from now on, and logs the calls `hello` and `acknowledge`.
pub(super) async fn serve(shared: Arc<Shared>, mut socket: Socket) {
    let mut ends = shared.sockets.ends.subscribe();
    let mut position = shared.events.len();
    let hello = json!({ "type": "hello", "num_connections": 1, "connection_info": { "app_id": "A1" } });
    if socket.send(Message::text(hello.to_string())).await.is_err() {
        return;
    }
    shared.control.begin("hello", json!({}));
    loop {
        tokio::select! {
            biased;
            _ = ends.changed() => {
                let reason = ends.borrow_and_update().1.clone();
                if !reason.is_empty() {
                    let last = json!({ "type": "disconnect", "reason": reason });
                    drop(socket.send(Message::text(last.to_string())).await);
                    drop(socket.send(Message::close(Some(CloseCode::NORMAL_CLOSURE), "")).await);
                }
                return;
            }
            message = socket.next() => {
                let Some(Ok(message)) = message else { return };
                let answer = message.as_text().and_then(|text| serde_json::from_str::<Value>(text).ok());
                if let Some(answer) = answer {
                    shared.control.begin("acknowledge", answer);
                }
            }
            mut envelope = shared.events.wait_for(position) => {
                envelope["envelope_id"] = format!("e{position}").into();
                position += 1;
                if socket.send(Message::text(envelope.to_string())).await.is_err() {
                    return;
                }
            }
        }
    }
}
