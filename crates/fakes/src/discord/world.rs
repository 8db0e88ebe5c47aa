//! The state of the fake: guilds, channels, messages, nonces, interactions and sessions, as objects of the API. It changes only under
//! one lock. Must never hold a rule: those are in `rules.rs` and `messages.rs`.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value, json};

use super::gateway::Session;
use super::refused::{Answered, Refused};
use crate::control::Control;

/// The first second of 2015: what ids count from [D reference].
const EPOCH_MS: i64 = 1_420_070_400_000;

/// The intents for guilds, for messages in guilds and in direct messages, and for content [D gateway].
pub(super) const GUILDS: u64 = 1 << 0;
pub(super) const GUILD_MESSAGES: u64 = 1 << 9;
pub(super) const DIRECT_MESSAGES: u64 = 1 << 12;
pub(super) const MESSAGE_CONTENT: u64 = 1 << 15;

/// A guild: its object, and the roles of its members.
#[derive(Debug, Default)]
pub(super) struct Guild {
    pub(super) object: Value,
    pub(super) members: BTreeMap<String, Vec<String>>,
}

/// An interaction that may be answered.
#[derive(Debug)]
pub(super) struct Interaction {
    pub(super) id: String,
    pub(super) user: String,
    pub(super) at_ms: i64,
    pub(super) is_answered: bool,
}

/// A text that only one person sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whisper {
    /// The person's id.
    pub user: String,
    /// The text.
    pub text: String,
}

#[derive(Debug)]
pub(super) struct World {
    pub(super) control: Control,
    pub(super) base: String,
    pub(super) token: String,
    pub(super) me: String,
    pub(super) application: String,
    /// The flags of the application.
    pub(super) flags: u64,
    pub(super) users: BTreeMap<String, Value>,
    pub(super) guilds: BTreeMap<String, Guild>,
    pub(super) channels: BTreeMap<String, Value>,
    pub(super) messages: BTreeMap<String, BTreeMap<u64, Value>>,
    /// The message of a nonce in a channel, and when it was sent.
    pub(super) nonces: HashMap<(String, String), (u64, i64)>,
    pub(super) interactions: HashMap<String, Interaction>,
    pub(super) whispers: Vec<Whisper>,
    /// The bytes behind the paths of the server for files.
    pub(super) files: HashMap<String, Vec<u8>>,
    pub(super) live: Live,
}

/// What concerns the gateway and switches of tests.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) sessions: BTreeMap<String, Session>,
    pub(super) last_id: u64,
    pub(super) heartbeat_ms: u64,
    pub(super) is_mute: bool,
    pub(super) identifies_left: u64,
    /// Whether archived threads refuse deletions, too.
    pub(super) archived_refuse: bool,
}

impl World {
    pub(super) fn new(control: Control, token: &str) -> Self {
        let live = Live {
            sessions: BTreeMap::new(),
            last_id: 0,
            heartbeat_ms: 41_250,
            is_mute: false,
            identifies_left: 1_000,
            archived_refuse: false,
        };
        let mut world = Self {
            control,
            base: String::new(),
            token: token.to_owned(),
            me: String::new(),
            application: String::new(),
            flags: 1 << 19,
            users: BTreeMap::new(),
            guilds: BTreeMap::new(),
            channels: BTreeMap::new(),
            messages: BTreeMap::new(),
            nonces: HashMap::new(),
            interactions: HashMap::new(),
            whispers: Vec::new(),
            files: HashMap::new(),
            live,
        };
        world.me = world.user("retake", true);
        // The id of a newer bot is that of its application [U].
        world.application = world.me.clone();
        world
    }

    /// A new id with the virtual time in it [D reference].
    pub(super) fn id(&mut self) -> u64 {
        let now = u64::try_from(self.control.now_ms() - EPOCH_MS).expect("BUG: the clock is before 2015");
        self.live.last_id = (now << 22).max(self.live.last_id + 1);
        self.live.last_id
    }

    pub(super) fn user(&mut self, name: &str, is_bot: bool) -> String {
        let id = self.id().to_string();
        let user = json!({
            "id": id, "username": name, "global_name": null, "discriminator": "0", "avatar": null,
            "bot": is_bot, "flags": 0, "public_flags": 0,
        });
        self.users.insert(id.clone(), user);
        id
    }

    /// The object of a message with all fields that are always there [D message].
    pub(super) fn message(&mut self, channel: &str, author: &str, more: &Map<String, Value>) -> Value {
        let id = self.id();
        let user = self.users.get(author).cloned().unwrap_or_default();
        let mut message = json!({
            "id": id.to_string(), "channel_id": channel, "author": user, "content": "",
            "timestamp": timestamp(self.control.now_ms()), "edited_timestamp": null, "tts": false,
            "mention_everyone": false, "mentions": [], "mention_roles": [], "attachments": [], "embeds": [],
            "pinned": false, "type": 0, "flags": 0, "components": [],
        });
        for (name, value) in more {
            message[name] = value.clone();
        }
        self.messages.entry(channel.to_owned()).or_default().insert(id, message.clone());
        message
    }

    /// The guild of a channel. Direct messages have none.
    pub(super) fn guild_of(&self, channel: &str) -> Option<&str> {
        self.channels.get(channel)?["guild_id"].as_str()
    }

    pub(super) fn channel(&self, id: &str) -> Result<&Value, Refused> {
        self.channels.get(id).ok_or(Refused::UNKNOWN_CHANNEL)
    }

    pub(super) fn stored(&self, channel: &str, id: &str) -> Result<&Value, Refused> {
        let message = id.parse().ok().and_then(|id: u64| self.messages.get(channel)?.get(&id));
        message.ok_or(Refused::UNKNOWN_MESSAGE)
    }

    /// The guild as it is sent to those who are in it [D guild create].
    pub(super) fn whole_guild(&self, id: &str) -> Value {
        let Some(guild) = self.guilds.get(id) else { return Value::Null };
        let mut object = guild.object.clone();
        let is_thread = |channel: &&Value| channel["thread_metadata"].is_object();
        let own = || self.channels.values().filter(|channel| channel["guild_id"].as_str() == Some(id));
        object["channels"] = own().filter(|channel| !is_thread(channel)).cloned().collect();
        let is_active = |channel: &&Value| channel["thread_metadata"]["archived"].as_bool() == Some(false);
        object["threads"] = own().filter(is_thread).filter(is_active).cloned().collect();
        object["members"] = guild.members.keys().filter_map(|user| self.member(id, user)).collect();
        object["member_count"] = json!(guild.members.len());
        object["joined_at"] = json!(timestamp(self.control.now_ms()));
        object["unavailable"] = json!(false);
        object["large"] = json!(false);
        for list in ["presences", "voice_states", "stage_instances", "guild_scheduled_events"] {
            object[list] = json!([]);
        }
        object
    }

    pub(super) fn member(&self, guild: &str, user: &str) -> Option<Value> {
        let roles = self.guilds.get(guild)?.members.get(user)?;
        let joined = timestamp(self.control.now_ms());
        Some(json!({
            "user": self.users.get(user)?, "nick": null, "roles": roles, "joined_at": joined,
            "deaf": false, "mute": false, "flags": 0,
        }))
    }

    /// Delivers an event to all sessions whose intents have it.
    pub(super) fn deliver(&mut self, name: &str, intent: u64, data: &Value) {
        let me = self.me.clone();
        for session in self.live.sessions.values().filter(|session| session.intents & intent == intent) {
            let data = visible(data, session.intents & MESSAGE_CONTENT != 0, &me);
            session.deliver(name, &data);
        }
    }

    /// Delivers an event of messages, with the guild of the channel.
    pub(super) fn deliver_message(&mut self, name: &str, channel: &str, mut data: Value) {
        let Some(guild) = self.guild_of(channel).map(str::to_owned) else {
            return self.deliver(name, DIRECT_MESSAGES, &data);
        };
        data["guild_id"] = json!(guild);
        let author = data["author"]["id"].as_str().unwrap_or_default();
        if let Some(mut member) = self.member(&guild, author).filter(|_| !data["webhook_id"].is_string()) {
            member["user"].take();
            member.as_object_mut().map(|member| member.remove("user"));
            data["member"] = member;
        }
        self.deliver(name, GUILD_MESSAGES, &data);
    }
}

/// A message as an application sees it: without the permission to read content, only its own ones, those that mention it and direct
/// messages have any [D gateway].
pub(super) fn visible(message: &Value, reads_content: bool, me: &str) -> Value {
    let is_me = |user: &Value| user["id"].as_str() == Some(me);
    let mentions = message["mentions"].as_array();
    let is_exempt = is_me(&message["author"])
        || mentions.is_some_and(|users| users.iter().any(is_me))
        || message["guild_id"].is_null();
    let mut message = message.clone();
    if !reads_content && !is_exempt && message["content"].is_string() {
        message["content"] = json!("");
        for list in ["attachments", "embeds", "components"] {
            message[list] = json!([]);
        }
    }
    message
}

/// A time in the form of the platform.
pub(super) fn timestamp(now_ms: i64) -> String {
    let (days, rest) = (now_ms.div_euclid(86_400_000), now_ms.rem_euclid(86_400_000));
    // The civil date of a count of days, with years that begin in March.
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day = days.rem_euclid(146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    let (seconds, ms) = (rest / 1_000, rest % 1_000);
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{date:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}000+00:00")
}

/// An answer with an object.
pub(super) fn object(value: Value) -> Answered {
    Ok((200, value))
}

#[cfg(test)]
mod tests {
    use super::timestamp;

    #[test]
    fn times_are_dates() {
        assert_eq!(timestamp(0), "1970-01-01T00:00:00.000000+00:00");
        assert_eq!(timestamp(951_782_400_000), "2000-02-29T00:00:00.000000+00:00");
        assert_eq!(timestamp(1_790_000_000_123), "2026-09-21T14:13:20.123000+00:00");
    }
}
