//! Events of a room as inbound messages. Reads every field with care: all of them are from strangers, and any may be missing or of another
//! type. Must never fail because of an event.

use retake_wire::chat::{Addressed, Audience, Inbound, InboundFile, InboundMessage, Person, Place};
use serde_json::Value;

use super::mention::{Names, without_fallback};

/// What is known of an earlier event of a room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) sender: String,
    /// The root of its thread.
    pub(super) thread: Option<String>,
    pub(super) reply_to: Option<String>,
    pub(super) is_edit: bool,
}

impl Known {
    /// `None` if it is no message, or was redacted.
    pub(super) fn of(event: &Value) -> Option<Self> {
        if event["type"] != "m.room.message" || is_redacted(event) {
            return None;
        }
        let relates = &event["content"]["m.relates_to"];
        let is_thread = relates["rel_type"] == "m.thread";
        let id = |value: &Value| value.as_str().filter(|id| id.starts_with('$')).map(str::to_owned);
        // In a thread, a reply may stand only for clients that show no threads [D].
        let is_reply = !is_thread || relates["is_falling_back"] != true;
        Some(Self {
            sender: event["sender"].as_str()?.to_owned(),
            thread: id(&relates["event_id"]).filter(|_| is_thread),
            reply_to: id(&relates["m.in_reply_to"]["event_id"]).filter(|_| is_reply),
            is_edit: relates["rel_type"] == "m.replace",
        })
    }
}

/// The event whose text this one replaces.
pub(super) fn replaces(event: &Value) -> Option<&str> {
    let relates = &event["content"]["m.relates_to"];
    relates["event_id"].as_str().filter(|_| relates["rel_type"] == "m.replace")
}

/// Whether the server has removed the content.
pub(super) fn is_redacted(event: &Value) -> bool {
    event["unsigned"]["redacted_because"].is_object()
}

/// The event that a redaction is for. It stands in the content since version 11 of rooms, before that beside it \[D\].
pub(super) fn redacts(event: &Value) -> Option<&str> {
    event["content"]["redacts"].as_str().or_else(|| event["redacts"].as_str())
}

/// Where a message was written, and to whom.
#[derive(Debug)]
pub(super) struct Setting<'a> {
    pub(super) account: &'a str,
    pub(super) room: &'a str,
    pub(super) audience: Audience,
    pub(super) names: &'a Names,
    /// The name of the author, if the room has one.
    pub(super) author: Option<&'a str>,
    /// Whether the message that it replies to is ours.
    pub(super) is_reply_to_us: bool,
}

impl Setting<'_> {
    /// A message, or the new form of one. `of` is the original event: its relations hold for its edits, too \[D\].
    pub(super) fn message(&self, event: &Value, of: &Known, original: Option<&str>) -> Option<Inbound> {
        let content = if original.is_some() { &event["content"]["m.new_content"] } else { &event["content"] };
        let kind = content["msgtype"].as_str()?;
        // A request to verify a device: nothing for us.
        if kind == "m.key.verification.request" {
            return None;
        }
        let body = content["body"].as_str()?;
        let file = file(content, kind);
        // With a file, the body is a caption only if the name stands elsewhere [D].
        let is_caption = content["filename"].as_str().is_some_and(|name| name != body);
        let body = if file.is_some() && !is_caption { "" } else { body };
        let body = if of.reply_to.is_some() { without_fallback(body) } else { body };
        let heard = self.names.hear(&content["m.mentions"], body);
        let addressed = match self.audience {
            _ if self.is_reply_to_us => Addressed::Reply,
            _ if heard.is_mention => Addressed::Mention,
            Audience::Private => Addressed::Mention,
            Audience::Shared => Addressed::No,
        };
        let message = InboundMessage {
            place: self.place(of.thread.clone()),
            audience: self.audience,
            message: original.or(event["event_id"].as_str())?.to_owned(),
            person: self.person(&of.sender, kind == "m.notice"),
            sent_ms: event["origin_server_ts"].as_i64().unwrap_or_default(),
            text: heard.text,
            addressed,
            reply_to: of.reply_to.clone(),
            album: None,
            is_forward: false,
            attached: file.into_iter().collect(),
        };
        Some(if original.is_some() { Inbound::Edited(message) } else { Inbound::Message(message) })
    }

    fn place(&self, thread: Option<String>) -> Place {
        Place { account: self.account.to_owned(), chat: self.room.to_owned(), thread }
    }

    /// Programs send notices, and answer none \[D\]. Accounts do not say whether they are a program's.
    fn person(&self, id: &str, is_bot: bool) -> Person {
        Person { id: id.to_owned(), name: self.author.unwrap_or(id).to_owned(), is_bot }
    }

    /// The redaction of a message.
    pub(super) fn recall(&self, event: &Value, thread: Option<String>) -> Option<Inbound> {
        let by = event["sender"].as_str().map(|id| self.person(id, false));
        Some(Inbound::Recalled { place: self.place(thread), message: redacts(event)?.to_owned(), by })
    }

    /// Whether we are in the room.
    pub(super) fn membership(&self, is_member: bool) -> Inbound {
        Inbound::Membership { place: self.place(None), is_member }
    }
}

/// The file of a message. One that is encrypted has no `url`, and cannot be read.
fn file(content: &Value, kind: &str) -> Option<InboundFile> {
    if !["m.image", "m.file", "m.audio", "m.video"].contains(&kind) {
        return None;
    }
    let text = |value: &Value| value.as_str().map(str::to_owned);
    Some(InboundFile {
        handle: text(&content["url"])?,
        name: text(&content["filename"]).or_else(|| text(&content["body"])),
        media_type: text(&content["info"]["mimetype"]),
        size: content["info"]["size"].as_u64(),
        // Not in the specification yet: clients send it under this name [U].
        is_voice: content["org.matrix.msc3245.voice"].is_object(),
    })
}

#[cfg(test)]
mod tests {
    use retake_wire::chat::{Addressed, Audience, Inbound, InboundMessage};
    use serde_json::{Value, json};

    use super::{Known, Setting};
    use crate::matrix::mention::Names;

    fn read(content: Value, is_reply_to_us: bool) -> Option<InboundMessage> {
        let event = json!({
            "type": "m.room.message", "event_id": "$e", "sender": "@anna:t", "origin_server_ts": 7, "content": content
        });
        let names = Names { id: "@us:t".into(), shown: vec!["Us".into()] };
        let setting = Setting {
            account: "m",
            room: "!r",
            audience: Audience::Shared,
            names: &names,
            author: Some("Anna"),
            is_reply_to_us,
        };
        match setting.message(&event, &Known::of(&event)?, None)? {
            Inbound::Message(message) => Some(message),
            _ => None,
        }
    }

    #[test]
    fn file_has_its_caption_and_its_name() {
        let file = |rest: Value| {
            let mut content = json!({ "msgtype": "m.audio", "url": "mxc://t/x", "info": { "size": 5, "mimetype": "audio/ogg" } });
            content.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
            read(content, false).unwrap()
        };
        let bare = file(json!({ "body": "a.ogg", "org.matrix.msc3245.voice": {} }));
        assert_eq!((bare.text.as_str(), bare.attached[0].name.as_deref()), ("", Some("a.ogg")));
        assert!(bare.attached[0].is_voice);
        let captioned = file(json!({ "body": "listen", "filename": "a.ogg" }));
        assert_eq!(
            (captioned.text.as_str(), captioned.attached[0].name.as_deref()),
            ("listen", Some("a.ogg"))
        );
        let same = file(json!({ "body": "a.ogg", "filename": "a.ogg" }));
        assert_eq!((same.text.as_str(), same.attached[0].is_voice), ("", false));
        let encrypted =
            read(json!({ "msgtype": "m.file", "body": "x.txt", "file": { "url": "mxc://t/x" } }), false);
        assert!(encrypted.unwrap().attached.is_empty());
    }

    #[test]
    fn reply_in_a_thread_counts_only_if_it_is_meant() {
        let relation = |falls_back: Value| {
            let reply = json!({ "rel_type": "m.thread", "event_id": "$t", "is_falling_back": falls_back, "m.in_reply_to": { "event_id": "$a" } });
            let read =
                read(json!({ "msgtype": "m.text", "body": "x", "m.relates_to": reply }), false).unwrap();
            (read.place.thread, read.reply_to)
        };
        assert_eq!(relation(json!(true)), (Some("$t".into()), None));
        assert_eq!(relation(json!(false)), (Some("$t".into()), Some("$a".into())));
        assert_eq!(relation(Value::Null), (Some("$t".into()), Some("$a".into())));
    }

    #[test]
    fn odd_content_is_left_out_or_read_as_text() {
        for content in [
            json!({}),
            json!([]),
            json!(null),
            json!({ "msgtype": 1, "body": "x" }),
            json!({ "msgtype": "m.text" }),
            json!({ "msgtype": "m.text", "body": {} }),
            json!({ "msgtype": "m.key.verification.request", "body": "x" }),
        ] {
            assert_eq!(read(content, false), None);
        }
        let odd =
            json!({ "msgtype": "m.new_kind", "body": "x", "m.relates_to": [], "m.mentions": 3, "info": "y" });
        assert_eq!(read(odd, false).unwrap().text, "x");
        let notice = read(json!({ "msgtype": "m.notice", "body": "x" }), true).unwrap();
        assert!(notice.person.is_bot && notice.addressed == Addressed::Reply);
    }
}
