//! The adapter for Slack, with the fake of `retake-fakes` and with a real test server.

mod deleting;
mod fetching;
mod real;
mod receiving;
mod secrets;
mod sending;

use std::sync::Arc;

use retake_fakes::slack::{APP_TOKEN, BOT_TOKEN, Slack as Fake};
use retake_gateway::{Marker, Outgoing, Slack, SlackConfig, StyledText};
use retake_wire::chat::Place;

const CHANNEL: &str = "C1";
pub(crate) const DIRECT: &str = "D1";

/// A fake with a channel and a direct chat, and an adapter for it.
pub(crate) async fn start() -> (Fake, Arc<Slack>) {
    let fake = Fake::start(&["chat:write"]).await;
    fake.add_channel(CHANNEL);
    fake.add_channel(DIRECT);
    let adapter = adapter(&fake.base(), BOT_TOKEN, APP_TOKEN);
    (fake, adapter)
}

fn adapter(base: &str, bot: &str, app: &str) -> Arc<Slack> {
    let config = SlackConfig {
        account: "sl".into(),
        bot_token: bot.into(),
        app_token: app.into(),
        base: Some(base.to_owned()),
    };
    Arc::new(Slack::new(config).expect("BUG: the HTTP client cannot be made"))
}

fn place(chat: &str, thread: Option<&str>) -> Place {
    Place { account: "sl".into(), chat: chat.into(), thread: thread.map(str::to_owned) }
}

fn post(text: &str) -> Outgoing {
    Outgoing { text: StyledText { text: text.into(), styles: Vec::new() }, ..Outgoing::default() }
}

fn marker(key: &str) -> Marker {
    Marker { key: key.into(), digest: "d1".into() }
}
