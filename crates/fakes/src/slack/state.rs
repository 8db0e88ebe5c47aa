//! Channels, messages and files of the fake Slack. Must never hold an event.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Value, json};

use super::{BOT, USER};

/// Everything but events and sockets.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) base: String,
    pub(super) scopes: String,
    /// The address of sockets, if it is not the usual one.
    pub(super) socket: Option<String>,
    pub(super) channels: HashMap<String, Value>,
    /// By channel and id. All ids have the same length, so they sort by time.
    pub(super) messages: BTreeMap<(String, String), Value>,
    /// By id.
    pub(super) files: BTreeMap<String, File>,
    /// Methods, and the error codes of their next calls.
    pub(super) refusals: Vec<(String, &'static str)>,
    pub(super) last_ms: i64,
    pub(super) count: i64,
}

/// A file.
#[derive(Clone, Debug)]
pub(super) struct File {
    pub(super) name: String,
    pub(super) media_type: String,
    pub(super) bytes: Option<Vec<u8>>,
    /// Where it was shared: channel and message.
    pub(super) shares: Vec<(String, String)>,
}

impl State {
    /// A new id of a message: the time and a number \[D\].
    fn next_ts(&mut self, now_ms: i64) -> String {
        // Ids grow with each message, also when the clock stands still.
        self.count = if now_ms > self.last_ms { 0 } else { self.count + 1 };
        self.last_ms = self.last_ms.max(now_ms);
        format!("{}.{:03}{:03}", self.last_ms / 1000, self.last_ms % 1000, self.count)
    }

    /// Adds a message. Returns its event.
    pub(super) fn add_message(&mut self, channel: &str, from: &str, fields: Value, now_ms: i64) -> Value {
        let ts = self.next_ts(now_ms);
        let mut message = json!({ "type": "message", "user": from, "ts": ts, "text": "" });
        if from == USER {
            message["bot_id"] = BOT.into();
        }
        for (name, value) in fields.as_object().into_iter().flatten() {
            message[name] = value.clone();
        }
        if let Some(thread) = message["thread_ts"].as_str().map(str::to_owned) {
            let root = self.messages.get_mut(&(channel.to_owned(), thread.clone()));
            if let Some(root) = root {
                message["parent_user_id"] = root["user"].clone();
                root["thread_ts"] = thread.into();
                root["reply_count"] = (root["reply_count"].as_i64().unwrap_or_default() + 1).into();
            }
        }
        self.messages.insert((channel.to_owned(), ts.clone()), message.clone());
        let mut event = message;
        event["channel"] = channel.into();
        event["channel_type"] = if channel.starts_with('D') { "im" } else { "channel" }.into();
        event["event_ts"] = ts.into();
        event
    }

    pub(super) fn take_refusal(&mut self, method: &str) -> Option<&'static str> {
        let position = self.refusals.iter().position(|(of, _)| of == method)?;
        Some(self.refusals.remove(position).1)
    }

    pub(super) fn add_file(&mut self, name: &str, media_type: &str, bytes: Vec<u8>) -> String {
        let id = self.begin_file(name, media_type);
        self.files.get_mut(&id).expect("BUG: it was added").bytes = Some(bytes);
        self.address_of(&id)
    }

    pub(super) fn begin_file(&mut self, name: &str, media_type: &str) -> String {
        let id = format!("F{:03}", self.files.len());
        let file = File {
            name: name.to_owned(),
            media_type: media_type.to_owned(),
            bytes: None,
            shares: Vec::new(),
        };
        self.files.insert(id.clone(), file);
        id
    }

    pub(super) fn address_of(&self, id: &str) -> String {
        format!("{}/files/{id}/{}", self.base, self.files[id].name)
    }

    /// The messages that stand in a thread, without its root.
    pub(super) fn replies(&self, channel: &str, root: &str) -> Vec<String> {
        let is_reply = |((at, ts), message): &(&(String, String), &Value)| {
            at == channel && ts != root && message["thread_ts"] == *root
        };
        self.messages.iter().filter(is_reply).map(|((_, ts), _)| ts.clone()).collect()
    }
}
