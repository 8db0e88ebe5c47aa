//! Permissions and states of threads: who may do what where. Each rule names the vendor's page \[D\]. Must never allow what the vendor
//! does not say.

use serde_json::Value;

use super::refused::Refused;
use super::world::World;

/// Permissions [D permissions].
pub(super) const ADMINISTRATOR: u64 = 1 << 3;
pub(super) const VIEW_CHANNEL: u64 = 1 << 10;
pub(super) const SEND_MESSAGES: u64 = 1 << 11;
pub(super) const MANAGE_MESSAGES: u64 = 1 << 13;
pub(super) const READ_MESSAGE_HISTORY: u64 = 1 << 16;
pub(super) const MENTION_EVERYONE: u64 = 1 << 17;
pub(super) const MANAGE_THREADS: u64 = 1 << 34;
pub(super) const SEND_MESSAGES_IN_THREADS: u64 = 1 << 38;

/// The state of a thread [D threads].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ThreadState {
    pub(super) is_archived: bool,
    pub(super) is_locked: bool,
}

impl World {
    /// The permissions of a user in a channel. In direct messages, its people have all of them [D permissions].
    pub(super) fn permissions(&self, channel: &str, user: &str) -> u64 {
        let Some(object) = self.channels.get(channel) else { return 0 };
        let Some(guild_id) = object["guild_id"].as_str() else { return u64::MAX };
        let Some(guild) = self.guilds.get(guild_id) else { return 0 };
        if guild.object["owner_id"].as_str() == Some(user) {
            return u64::MAX;
        }
        let Some(roles) = guild.members.get(user) else { return 0 };
        let mut allowed = 0;
        for role in guild.object["roles"].as_array().into_iter().flatten() {
            let id = role["id"].as_str().unwrap_or_default();
            if id == guild_id || roles.iter().any(|role| role == id) {
                allowed |= number(&role["permissions"]);
            }
        }
        if allowed & ADMINISTRATOR != 0 {
            return u64::MAX;
        }
        // A thread has the overwrites of its parent [D threads].
        let parent = object["parent_id"].as_str().filter(|_| object["thread_metadata"].is_object());
        let overwrites = parent.and_then(|parent| self.channels.get(parent)).unwrap_or(object);
        let overwrites = overwrites["permission_overwrites"].as_array().map_or(&[][..], Vec::as_slice);
        // First that of everybody, then those of roles together, then that of the member.
        let is_role = |id: &str| roles.iter().any(|role| role == id);
        let steps: [&dyn Fn(&str) -> bool; 3] = [&|id| id == guild_id, &is_role, &|id| id == user];
        for is_meant in steps {
            let (mut allow, mut deny) = (0, 0);
            for rule in overwrites.iter().filter(|rule| rule["id"].as_str().is_some_and(is_meant)) {
                allow |= number(&rule["allow"]);
                deny |= number(&rule["deny"]);
            }
            allowed = allowed & !deny | allow;
        }
        if allowed & VIEW_CHANNEL == 0 { 0 } else { allowed }
    }

    /// Whether our bot has the permission: an error says what is missing.
    pub(super) fn require(&self, channel: &str, permission: u64) -> Result<(), Refused> {
        self.channel(channel)?;
        let permissions = self.permissions(channel, &self.me);
        match permissions & VIEW_CHANNEL != 0 {
            false => Err(Refused::MISSING_ACCESS),
            true if permissions & permission != permission => Err(Refused::MISSING_PERMISSION),
            true => Ok(()),
        }
    }

    pub(super) fn has(&self, channel: &str, permission: u64) -> bool {
        self.permissions(channel, &self.me) & permission == permission
    }

    pub(super) fn thread(&self, channel: &str) -> Option<ThreadState> {
        let state = &self.channels.get(channel)?["thread_metadata"];
        let is = |name: &str| state[name].as_bool().unwrap_or(false);
        state.is_object().then(|| ThreadState { is_archived: is("archived"), is_locked: is("locked") })
    }

    /// Whether messages may be deleted in the thread. In an archived one they may, unless it is locked [D threads]. A test can make
    /// archived threads refuse deletions: the text of the code 50083 is that of any operation on one \[D\].
    pub(super) fn require_deletable(&self, channel: &str) -> Result<(), Refused> {
        match self.thread(channel) {
            Some(thread) if thread.is_archived && (thread.is_locked || self.live.archived_refuse) => {
                self.require_manager(channel, thread)
            }
            _ => Ok(()),
        }
    }

    /// Managers of threads may also change locked ones [D threads]. That this holds while they are archived is not said.
    fn require_manager(&self, channel: &str, thread: ThreadState) -> Result<(), Refused> {
        let is_manager = self.has(channel, MANAGE_THREADS) && !thread.is_archived;
        if is_manager { Ok(()) } else { Err(Refused::ARCHIVED) }
    }

    /// Whether messages may be created or updated in the thread [D threads].
    pub(super) fn require_writable(&self, channel: &str) -> Result<(), Refused> {
        match self.thread(channel) {
            Some(thread) if thread.is_locked => {
                self.require_manager(channel, thread).map_err(|_| Refused::LOCKED)
            }
            _ => Ok(()),
        }
    }
}

fn number(value: &Value) -> u64 {
    value.as_str().and_then(|text| text.parse().ok()).unwrap_or(0)
}
