//! Chats, members, messages and files of the fake Bot API. Must never hold an update.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Value, json};

use super::BOT;

/// Everything but the updates.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) chats: HashMap<i64, Value>,
    /// By chat and user.
    pub(super) members: HashMap<(i64, i64), Value>,
    /// By chat and id.
    pub(super) messages: BTreeMap<(i64, i64), Value>,
    /// The ids of groups and of the supergroups that they became.
    pub(super) migrated: HashMap<i64, i64>,
    /// Closed topics, by chat and thread.
    pub(super) closed: HashSet<(i64, i64)>,
    /// By id: path and bytes.
    pub(super) files: HashMap<String, (String, Vec<u8>)>,
    /// Callback queries that were not answered.
    pub(super) queries: HashSet<String>,
    pub(super) reads_all: bool,
    pub(super) refusals: Vec<(String, u16, String)>,
    last_message: i64,
}

impl State {
    pub(super) fn add_chat(&mut self, chat: Value) {
        let id = chat["id"].as_i64().expect("BUG: a chat needs a number");
        self.members.insert((id, BOT), json!({ "status": "member" }));
        self.chats.insert(id, chat);
    }

    pub(super) fn add_message(&mut self, chat: i64, from: i64, fields: Value, now_ms: i64) -> Value {
        self.last_message += 1;
        let id = self.last_message;
        let person = json!({ "id": from, "is_bot": from == BOT, "first_name": format!("P{from}") });
        // Dates are in seconds [D].
        let mut message = json!({ "message_id": id, "from": person, "date": now_ms / 1000 });
        message["chat"] = self.chats.get(&chat).cloned().expect("BUG: the chat is not there");
        for (name, value) in fields.as_object().into_iter().flatten() {
            message[name] = value.clone();
        }
        self.messages.insert((chat, id), message.clone());
        message
    }

    pub(super) fn take_refusal(&mut self, method: &str) -> Option<(u16, String)> {
        let position = self.refusals.iter().position(|(of, ..)| of == method)?;
        let (_, code, description) = self.refusals.remove(position);
        Some((code, description))
    }
}
