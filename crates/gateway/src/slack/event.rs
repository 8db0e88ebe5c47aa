//! Payloads of Slack as events of the gateway. Everything in a payload is untrusted: a field that is missing or odd is as if it were
//! not there. Must never call the platform.

use retake_wire::chat::{Addressed, Audience, Inbound, InboundFile, InboundMessage, Person, Place};
use serde_json::Value;

use super::{Us, text, ts};

/// Kinds of messages that people, and other bots, write. All others are notes of Slack.
const WRITTEN: [Option<&str>; 5] =
    [None, Some("bot_message"), Some("file_share"), Some("me_message"), Some("thread_broadcast")];

/// An event with its transport key.
pub(super) type Keyed = (String, Inbound);

/// Reads payloads of one account.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'a> {
    pub(super) account: &'a str,
    pub(super) us: &'a Us,
}

impl Reader<'_> {
    /// The event of the Events API, if it is one for us.
    pub(super) fn event(self, event: &Value) -> Option<Keyed> {
        let channel = event["channel"].as_str()?;
        match event["type"].as_str()? {
            "message" => match event["subtype"].as_str() {
                Some("message_changed") => self.changed(channel, event),
                Some("message_deleted") => self.deleted(channel, event),
                _ => self.message(channel, event),
            },
            // It comes beside the `message` of the same text [?]: the key makes them one.
            "app_mention" => self.message(channel, event),
            kind @ ("member_joined_channel" | "member_left_channel") => {
                if event["user"].as_str()? != self.us.user {
                    return None;
                }
                let place = self.place(channel, None);
                let is_member = kind == "member_joined_channel";
                let key = format!("{channel}:member:{}", event["event_ts"].as_str().unwrap_or_default());
                Some((key, Inbound::Membership { place, is_member }))
            }
            _ => None,
        }
    }

    /// A message, also of the history, which does not repeat the channel in it. Our own are left out.
    pub(super) fn message(self, channel: &str, message: &Value) -> Option<Keyed> {
        let read = self.read(channel, message)?;
        Some((format!("{channel}:{}", read.message), Inbound::Message(read)))
    }

    /// A press on a button.
    pub(super) fn press(self, payload: &Value) -> Option<Keyed> {
        if payload["type"].as_str()? != "block_actions" {
            return None;
        }
        let (container, message, action) =
            (&payload["container"], &payload["message"], payload["actions"].get(0)?);
        let channel = payload["channel"]["id"].as_str().or_else(|| container["channel_id"].as_str())?;
        let post = container["message_ts"].as_str().or_else(|| message["ts"].as_str())?;
        let thread = message["thread_ts"].as_str().or_else(|| container["thread_ts"].as_str());
        let user = &payload["user"];
        let id = user["id"].as_str()?;
        let name = user["name"].as_str().or_else(|| user["username"].as_str()).unwrap_or_default();
        let at = action["action_ts"].as_str().unwrap_or_default();
        let pressed = Inbound::Pressed {
            place: self.place(channel, thread.or_else(|| self.root(channel, post))),
            post: post.to_owned(),
            person: Person { id: id.to_owned(), name: name.to_owned(), is_bot: false },
            button: action["value"].as_str()?.to_owned(),
            answer_to: payload["trigger_id"].as_str().unwrap_or_default().to_owned(),
        };
        Some((format!("{channel}:{post}:press:{id}:{at}"), pressed))
    }

    /// Slack reports a change for link previews, too. An edit has another text than before.
    fn changed(self, channel: &str, event: &Value) -> Option<Keyed> {
        let (message, previous) = (&event["message"], &event["previous_message"]);
        // What remains of a parent with replies [U].
        if message["subtype"].as_str() == Some("tombstone") {
            return Some(self.recalled(channel, message["ts"].as_str()?, message));
        }
        let is_other_text = match previous["text"].as_str() {
            Some(text) => message["text"].as_str() != Some(text),
            None => message["edited"].is_object(),
        };
        if !is_other_text {
            return None;
        }
        let read = self.read(channel, message)?;
        let at = message["edited"]["ts"].as_str().or_else(|| event["event_ts"].as_str()).unwrap_or_default();
        Some((format!("{channel}:{}:edit:{at}", read.message), Inbound::Edited(read)))
    }

    fn deleted(self, channel: &str, event: &Value) -> Option<Keyed> {
        let previous = &event["previous_message"];
        let id = event["deleted_ts"].as_str().or_else(|| previous["ts"].as_str())?;
        Some(self.recalled(channel, id, previous))
    }

    /// Slack does not say who deleted it.
    fn recalled(self, channel: &str, id: &str, message: &Value) -> Keyed {
        let place = self.place(channel, message["thread_ts"].as_str().or_else(|| self.root(channel, id)));
        (format!("{channel}:{id}:deleted"), Inbound::Recalled { place, message: id.to_owned(), by: None })
    }

    fn read(self, channel: &str, message: &Value) -> Option<InboundMessage> {
        if !WRITTEN.contains(&message["subtype"].as_str()) {
            return None;
        }
        let id = message["ts"].as_str()?;
        let person = self.author(message)?;
        let attached: Vec<InboundFile> =
            message["files"].as_array().into_iter().flatten().filter_map(attached).collect();
        let raw = message["text"].as_str().unwrap_or_default();
        if raw.is_empty() && attached.is_empty() {
            return None;
        }
        let read = text::read(raw, self.us);
        let audience = audience(channel, message);
        let is_under_ours = message["parent_user_id"].as_str() == Some(&self.us.user);
        let addressed = match audience {
            Audience::Private => Addressed::Mention,
            Audience::Shared if read.is_mention => Addressed::Mention,
            Audience::Shared if is_under_ours => Addressed::Reply,
            Audience::Shared => Addressed::No,
        };
        let thread = message["thread_ts"].as_str().or_else(|| self.root(channel, id));
        Some(InboundMessage {
            place: self.place(channel, thread),
            audience,
            message: id.to_owned(),
            person,
            sent_ms: ts::ms(id).unwrap_or_default(),
            text: read.text,
            addressed,
            // Each message of a thread hangs on its first one: that is the place, and no reply to one message.
            reply_to: None,
            album: None,
            is_forward: message["attachments"].as_array().is_some_and(|all| all.iter().any(is_shared)),
            attached,
        })
    }

    /// The author, if it is not us. Events have no name of a person: the caller adds it.
    fn author(self, message: &Value) -> Option<Person> {
        let (user, bot) = (message["user"].as_str(), message["bot_id"].as_str());
        let is_ours = user == Some(&self.us.user) || (bot.is_some() && bot == self.us.bot.as_deref());
        if is_ours {
            return None;
        }
        let name = message["username"].as_str().or_else(|| message["bot_profile"]["name"].as_str());
        Some(Person {
            id: user.or(bot)?.to_owned(),
            name: name.filter(|_| bot.is_some()).unwrap_or_default().to_owned(),
            is_bot: bot.is_some(),
        })
    }

    /// In a channel, each message that stands in no thread is the root in which we answer (section 7 of the spec).
    fn root<'a>(self, channel: &str, id: &'a str) -> Option<&'a str> {
        (!is_private(channel)).then_some(id)
    }

    fn place(self, channel: &str, thread: Option<&str>) -> Place {
        let thread = thread.map(str::to_owned);
        Place { account: self.account.to_owned(), chat: channel.to_owned(), thread }
    }
}

/// Ids of direct messages begin with `D` \[D\]. Messages of the history do not say their kind of channel.
fn is_private(channel: &str) -> bool {
    channel.starts_with('D')
}

fn audience(channel: &str, message: &Value) -> Audience {
    let is_private = message["channel_type"].as_str().map_or(is_private(channel), |kind| kind == "im");
    if is_private { Audience::Private } else { Audience::Shared }
}

/// A message that somebody shared from elsewhere \[D\].
fn is_shared(attachment: &Value) -> bool {
    ["is_share", "is_msg_unfurl"].iter().any(|field| attachment[field].as_bool() == Some(true))
}

fn attached(file: &Value) -> Option<InboundFile> {
    let text = |name: &str| file[name].as_str().map(str::to_owned);
    Some(InboundFile {
        handle: text("url_private_download").or_else(|| text("url_private"))?,
        name: text("name"),
        media_type: text("mimetype"),
        size: file["size"].as_u64(),
        is_voice: file["subtype"].as_str() == Some("slack_audio"),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::Reader;
    use crate::{odd, slack::Us};

    fn us() -> Us {
        Us { user: "U1".into(), bot: Some("B1".into()), name: "retake".into() }
    }

    fn payloads() -> Vec<Value> {
        let message = json!({
            "type": "message", "user": "U2", "ts": "5.000100", "text": "<@U1> hi", "channel": "C1", "thread_ts": "4.1",
            "files": [{"url_private": "https://x", "size": 4}], "edited": {"ts": "6.1"}, "attachments": [{"is_share": true}],
        });
        let changed = json!({
            "type": "message", "subtype": "message_changed", "channel": "C1", "event_ts": "6.1", "message": message,
            "previous_message": {"text": "hi"},
        });
        let deleted = json!({
            "type": "message", "subtype": "message_deleted", "channel": "C1", "deleted_ts": "5.1",
            "previous_message": message,
        });
        let press = json!({
            "type": "block_actions", "user": {"id": "U2"}, "container": {"message_ts": "5.1", "channel_id": "C1"},
            "actions": [{"value": "yes", "action_ts": "6.1"}],
        });
        let joined =
            json!({"type": "member_joined_channel", "user": "U1", "channel": "C1", "event_ts": "5.1"});
        vec![message, changed, deleted, press, joined]
    }

    proptest! {
        #[test]
        fn odd_payloads_never_panic(
            sample in 0..5_usize,
            picks in odd::picks(),
        ) {
            let payload = odd::with(payloads().remove(sample), picks);
            let us = us();
            let reader = Reader { account: "sl", us: &us };
            reader.event(&payload);
            reader.press(&payload);
        }
    }

    #[test]
    fn each_sample_is_an_event() {
        let us = us();
        let reader = Reader { account: "sl", us: &us };
        let is_event = |payload: &Value| reader.event(payload).or_else(|| reader.press(payload)).is_some();
        assert!(payloads().iter().all(is_event));
    }
}
