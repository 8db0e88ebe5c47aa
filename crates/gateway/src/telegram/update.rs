//! Updates of the Bot API as events of the gateway. Everything in an update is untrusted: a field that is missing or odd is as if it
//! were not there. Must never call the platform.

use retake_wire::chat::{Addressed, Audience, Inbound, InboundFile, InboundMessage, Person, Place};
use serde_json::Value;

use super::mention::{self, Us};

/// Larger dates are milliseconds: a test server sends them \[T\]. The Bot API sends seconds \[D\].
const MOST_SECONDS: i64 = 100_000_000_000;

/// The kinds of updates that we ask for.
pub(super) const KINDS: [&str; 4] = ["message", "edited_message", "callback_query", "my_chat_member"];

/// The event of an update, if it is one for us. Our own messages are none.
pub(super) fn event(account: &str, us: &Us, update: &Value) -> Option<Inbound> {
    let reader = Reader { account, us };
    if let Some(message) = object(update, "message") {
        return match text_of(&message["migrate_to_chat_id"]) {
            Some(to) => {
                let from = text_of(&message["chat"]["id"])?;
                Some(Inbound::Migrated { account: account.to_owned(), from, to })
            }
            None => reader.message(message).map(Inbound::Message),
        };
    }
    if let Some(message) = object(update, "edited_message") {
        return reader.message(message).map(Inbound::Edited);
    }
    if let Some(query) = object(update, "callback_query") {
        return reader.press(query);
    }
    reader.membership(object(update, "my_chat_member")?)
}

/// When a message was sent, in Unix milliseconds. An inaccessible message has the date 0 \[D\].
pub(super) fn sent_ms(message: &Value) -> Option<i64> {
    let date = message["date"].as_i64().filter(|date| *date > 0)?;
    Some(if date >= MOST_SECONDS { date } else { date * 1000 })
}

/// A number or a text, as a text.
pub(super) fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => Some(text.clone()),
        _ => None,
    }
}

fn object<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    value.get(name).filter(|value| value.is_object())
}

struct Reader<'a> {
    account: &'a str,
    us: &'a Us,
}

impl Reader<'_> {
    fn message(&self, message: &Value) -> Option<InboundMessage> {
        let person = author(message)?;
        if person.id == self.us.id {
            return None;
        }
        let (text, entities) = match message["text"].as_str() {
            Some(text) => (text, &message["entities"]),
            None => (message["caption"].as_str().unwrap_or_default(), &message["caption_entities"]),
        };
        let attached = attached(message);
        if text.is_empty() && attached.is_empty() {
            return None;
        }
        let audience = audience(&message["chat"]);
        let read = mention::read(text, entities, self.us);
        let place = self.place(message)?;
        let reply = replied_to(message, place.thread.as_deref());
        let is_reply_to_us = reply.and_then(author).is_some_and(|author| author.id == self.us.id);
        let addressed = match read.addressed {
            Addressed::No if audience == Audience::Private => Addressed::Mention,
            Addressed::No if is_reply_to_us => Addressed::Reply,
            addressed => addressed,
        };
        Some(InboundMessage {
            place,
            audience,
            message: text_of(&message["message_id"])?,
            person,
            sent_ms: sent_ms(message).unwrap_or_default(),
            text: read.text,
            addressed,
            reply_to: reply.and_then(|reply| text_of(&reply["message_id"])),
            album: text_of(&message["media_group_id"]),
            is_forward: ["forward_origin", "forward_date"].iter().any(|field| message.get(field).is_some()),
            attached,
        })
    }

    /// The person is the one who pressed: the author of the message is the bot (section 7 of the spec).
    fn press(&self, query: &Value) -> Option<Inbound> {
        let message = object(query, "message")?;
        Some(Inbound::Pressed {
            place: self.place(message)?,
            post: text_of(&message["message_id"])?,
            person: user(&query["from"])?,
            button: query["data"].as_str()?.to_owned(),
            answer_to: text_of(&query["id"])?,
        })
    }

    fn membership(&self, changed: &Value) -> Option<Inbound> {
        let member = object(changed, "new_chat_member")?;
        if text_of(&member["user"]["id"])? != self.us.id {
            return None;
        }
        Some(Inbound::Membership { place: self.place(changed)?, is_member: can_post(member) })
    }

    /// The thread counts only in topics: a plain reply in a supergroup carries a `message_thread_id`, too (hermes#13195 \[U\]).
    fn place(&self, message: &Value) -> Option<Place> {
        let is_topic = message["is_topic_message"].as_bool() == Some(true);
        let thread = text_of(&message["message_thread_id"]).filter(|_| is_topic);
        Some(Place { account: self.account.to_owned(), chat: text_of(&message["chat"]["id"])?, thread })
    }
}

/// Whether a member can post in its chat. In channels, that is a right of its own \[D\].
fn can_post(member: &Value) -> bool {
    match member["status"].as_str() {
        Some("creator" | "member") => true,
        Some("administrator") => member["can_post_messages"].as_bool() != Some(false),
        Some("restricted") => member["can_send_messages"].as_bool() == Some(true),
        _ => false,
    }
}

/// Whether our own posts can be deleted with this membership: not in a channel without the right to post, nor after a removal.
pub(super) fn is_there(member: &Value) -> bool {
    match member["status"].as_str() {
        Some("restricted") => member["is_member"].as_bool() == Some(true),
        _ => can_post(member),
    }
}

fn audience(chat: &Value) -> Audience {
    match chat["type"].as_str() {
        Some("private") => Audience::Private,
        _ => Audience::Shared,
    }
}

/// A message on behalf of a chat has a made-up author that many messages share \[D\]. So its author is that chat.
fn author(message: &Value) -> Option<Person> {
    let Some(chat) = object(message, "sender_chat") else { return user(&message["from"]) };
    let name = chat["title"].as_str().unwrap_or_default().to_owned();
    Some(Person { id: text_of(&chat["id"])?, name, is_bot: true })
}

fn user(user: &Value) -> Option<Person> {
    let part = |name: &str| user[name].as_str().filter(|part| !part.is_empty());
    let names: Vec<&str> = [part("first_name"), part("last_name")].into_iter().flatten().collect();
    let name =
        if names.is_empty() { part("username").unwrap_or_default().to_owned() } else { names.join(" ") };
    Some(Person { id: text_of(&user["id"])?, name, is_bot: user["is_bot"].as_bool() == Some(true) })
}

/// Each message of a topic that is no reply has the topic's first message as the one that it replies to \[U\].
fn replied_to<'a>(message: &'a Value, thread: Option<&str>) -> Option<&'a Value> {
    let reply = object(message, "reply_to_message")?;
    let is_first = thread.is_some() && text_of(&reply["message_id"]).as_deref() == thread;
    (!is_first && object(reply, "forum_topic_created").is_none()).then_some(reply)
}

/// A message has at most one file \[D\]. An animation has the same one as its document, too \[D\].
fn attached(message: &Value) -> Vec<InboundFile> {
    let photo = message["photo"].as_array().and_then(|sizes| sizes.last());
    let kinds = ["document", "voice", "audio", "video", "video_note", "sticker"];
    let found = kinds.into_iter().find_map(|kind| Some((kind, object(message, kind)?)));
    let Some((kind, file)) = found.or_else(|| Some(("photo", photo?))) else { return Vec::new() };
    let text = |name: &str| file[name].as_str().map(str::to_owned);
    let attached = text("file_id").map(|handle| InboundFile {
        handle,
        name: text("file_name"),
        media_type: text("mime_type"),
        size: file["file_size"].as_u64(),
        is_voice: kind == "voice",
    });
    attached.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::{Us, event};
    use crate::odd;

    fn updates() -> Vec<Value> {
        let chat = json!({"id": -5, "type": "group"});
        let user = json!({"id": 41, "first_name": "Anna", "is_bot": false});
        let message = json!({
            "message_id": 3, "date": 5, "chat": chat, "from": user, "text": "@retake_bot hi", "message_thread_id": 8,
            "is_topic_message": true, "reply_to_message": {"message_id": 2, "from": user}, "media_group_id": "7",
            "entities": [{"type": "mention", "offset": 0, "length": 11}], "photo": [{"file_id": "f", "file_size": 3}],
        });
        let press = json!({"id": "q", "from": user, "message": message, "data": "yes"});
        let member = json!({"chat": chat, "new_chat_member": {"user": {"id": 7}, "status": "member"}});
        vec![
            json!({"message": message}),
            json!({"edited_message": message}),
            json!({"callback_query": press}),
            json!({"my_chat_member": member}),
            json!({"message": {"chat": chat, "migrate_to_chat_id": -100}}),
        ]
    }

    proptest! {
        #[test]
        fn odd_updates_never_panic(
            sample in 0..5_usize,
            picks in odd::picks(),
        ) {
            let update = odd::with(updates().remove(sample), picks);
            event("tg", &Us { id: "7".into(), name: "retake_bot".into() }, &update);
        }
    }

    #[test]
    fn each_sample_is_an_event() {
        let us = Us { id: "7".into(), name: "retake_bot".into() };
        assert!(updates().iter().all(|update| event("tg", &us, update).is_some()));
    }
}
