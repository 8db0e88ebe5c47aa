//! The adapter for Telegram, with the fake of `retake-fakes` and with a real test server.

mod deleting;
mod fetching;
mod real;
mod receiving;
mod secrets;
mod sending;

use std::sync::Arc;

use retake_fakes::telegram::{TOKEN, Telegram as Fake};
use retake_gateway::{Marker, Outgoing, StyledText, Telegram, TelegramConfig};
use retake_wire::chat::Place;
use serde_json::json;

pub(crate) const ANNA: i64 = 41;
pub(crate) const BEN: i64 = 42;
pub(crate) const GROUP: i64 = -1_001_000;

/// A fake with Anna's private chat and a group, and an adapter for it.
pub(crate) async fn start() -> (Fake, Arc<Telegram>) {
    let fake = Fake::start().await;
    fake.add_chat(json!({"id": ANNA, "type": "private"}));
    fake.add_chat(json!({"id": GROUP, "type": "supergroup", "title": "Team"}));
    let adapter = adapter(&fake.base(), TOKEN);
    (fake, adapter)
}

fn adapter(base: &str, token: &str) -> Arc<Telegram> {
    let config = TelegramConfig { account: "tg".into(), token: token.into(), base: Some(base.to_owned()) };
    Arc::new(Telegram::new(config).expect("BUG: the HTTP client cannot be made"))
}

fn place(chat: i64) -> Place {
    Place { account: "tg".into(), chat: chat.to_string(), thread: None }
}

fn post(text: &str) -> Outgoing {
    Outgoing { text: StyledText { text: text.into(), styles: Vec::new() }, ..Outgoing::default() }
}

fn marker() -> Marker {
    Marker { key: "k1".into(), digest: "d1".into() }
}
