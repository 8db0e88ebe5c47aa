//! The known channels: their guild, and the parent of threads. This is a cache: the adapter requests a missing channel again. Must
//! never grow without a limit.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use retake_wire::chat::{Audience, Place};
use serde_json::Value;

/// The most channels that are remembered.
const MOST: usize = 50_000;

/// The type of a direct message channel \[D\].
const DIRECT: u64 = 1;

/// The types of threads: of announcements, public, private \[D\].
const THREADS: std::ops::RangeInclusive<u64> = 10..=12;

/// A channel, or a thread: on Discord a thread is a channel \[D\].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Channel {
    pub(super) id: String,
    /// The guild. Direct messages have none.
    pub(super) guild: Option<String>,
    /// The channel of a thread.
    pub(super) parent: Option<String>,
}

impl Channel {
    /// Reads a channel. `guild` is its guild, if the object does not say so.
    pub(super) fn read(channel: &Value, guild: Option<&str>) -> Option<Self> {
        let text = |name: &str| channel[name].as_str().map(str::to_owned);
        let kind = channel["type"].as_u64()?;
        let guild = text("guild_id").or_else(|| guild.map(str::to_owned));
        // The parent of other channels is their category.
        let parent = text("parent_id").filter(|_| THREADS.contains(&kind));
        Some(Self { id: text("id")?, guild: guild.filter(|_| kind != DIRECT), parent })
    }

    /// Its place: a thread stands in its parent.
    pub(super) fn place(&self, account: &str) -> Place {
        let (chat, thread) = match &self.parent {
            Some(parent) => (parent.clone(), Some(self.id.clone())),
            None => (self.id.clone(), None),
        };
        Place { account: account.to_owned(), chat, thread }
    }

    pub(super) fn audience(&self) -> Audience {
        if self.guild.is_none() { Audience::Private } else { Audience::Shared }
    }
}

/// The channel of a place: that of the thread, where there is one.
pub(super) fn channel_of(place: &Place) -> &str {
    place.thread.as_deref().unwrap_or(&place.chat)
}

/// The known channels and guilds.
#[derive(Debug, Default)]
pub(super) struct Channels {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    channels: HashMap<String, Channel>,
    guilds: HashSet<String>,
}

impl Channels {
    pub(super) fn get(&self, id: &str) -> Option<Channel> {
        self.known().channels.get(id).cloned()
    }

    pub(super) fn learn(&self, channel: Channel) {
        let mut known = self.known();
        if known.channels.len() >= MOST {
            known.channels.clear();
        }
        known.channels.insert(channel.id.clone(), channel);
    }

    pub(super) fn forget(&self, id: &str) {
        self.known().channels.remove(id);
    }

    /// The bot is in these guilds when a session begins.
    pub(super) fn begin<'a>(&self, guilds: impl Iterator<Item = &'a str>) {
        self.known().guilds = guilds.map(str::to_owned).collect();
    }

    /// Whether the guild is new: the bot was added to it.
    pub(super) fn joined(&self, guild: &str) -> bool {
        self.known().guilds.insert(guild.to_owned())
    }

    /// The bot was removed from this guild. Returns its known channels.
    pub(super) fn left(&self, guild: &str) -> HashSet<String> {
        let mut known = self.known();
        known.guilds.remove(guild);
        let is_in = |channel: &Channel| channel.guild.as_deref() == Some(guild);
        let (gone, kept) = std::mem::take(&mut known.channels).into_iter().partition(|(_, one)| is_in(one));
        known.channels = kept;
        let gone: HashMap<String, Channel> = gone;
        gone.into_keys().collect()
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use retake_wire::chat::Audience;
    use serde_json::json;

    use super::{Channel, Channels, channel_of};

    #[test]
    fn thread_stands_in_its_parent() {
        let thread = json!({"id": "3", "type": 11, "parent_id": "2", "guild_id": "1"});
        let thread = Channel::read(&thread, None).unwrap();
        let place = thread.place("a");
        assert_eq!((place.chat.as_str(), place.thread.as_deref(), channel_of(&place)), ("2", Some("3"), "3"));
        let channel = Channel::read(&json!({"id": "2", "type": 0, "parent_id": "9"}), Some("1")).unwrap();
        let place = channel.place("a");
        assert_eq!((place.chat.as_str(), place.thread.as_deref(), channel_of(&place)), ("2", None, "2"));
        assert_eq!(channel.audience(), Audience::Shared);
        let direct = Channel::read(&json!({"id": "4", "type": 1}), None).unwrap();
        assert_eq!(direct.audience(), Audience::Private);
        assert_eq!(Channel::read(&json!({"id": 4, "type": 1}), None), None);
        assert_eq!(Channel::read(&json!([]), None), None);
    }

    #[test]
    fn channels_go_with_their_guild() {
        let channels = Channels::default();
        channels.begin(["1"].into_iter());
        assert!(!channels.joined("1"));
        assert!(channels.joined("7"));
        for (id, guild) in [("2", "1"), ("3", "1"), ("8", "7")] {
            channels.learn(Channel { id: id.into(), guild: Some(guild.into()), parent: None });
        }
        assert_eq!(channels.left("1"), ["2".to_owned(), "3".to_owned()].into());
        assert_eq!(channels.get("2"), None);
        assert!(channels.get("8").is_some());
        assert!(channels.joined("1"));
    }
}
