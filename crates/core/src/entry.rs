//! Entries: one message or action of a person, a model or a tool. An entry never changes.

use crate::content::{Part, Role, Usage};
use crate::id::{EntryId, Pos, Revision, Time};

/// Running totals up to an entry along its own path, that entry included, whatever its marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Totals {
    /// Entries.
    pub messages: u64,
    /// Tool calls in them.
    pub calls: u64,
    /// Turns opened.
    pub turns: u64,
}

impl Totals {
    /// The totals with those of one more entry.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            messages: self.messages + other.messages,
            calls: self.calls + other.calls,
            turns: self.turns + other.turns,
        }
    }

    /// The difference between `earlier` and this, on one path.
    #[must_use]
    pub fn minus(self, earlier: Self) -> Self {
        Self {
            messages: self.messages - earlier.messages,
            calls: self.calls - earlier.calls,
            turns: self.turns - earlier.turns,
        }
    }
}

/// Flags of an entry that is not an ordinary message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags {
    /// Created by a program, not by a person or a model: opens no turn.
    pub synthetic: bool,
    /// A group chat message that was not addressed to the agent: context, opens no turn.
    pub observed: bool,
    /// A model's interrupted answer.
    pub interrupted: bool,
    /// A late result of a turn that was no longer on the path: it moved nothing.
    pub detached: bool,
    /// Its content was erased.
    pub erased: bool,
}

/// An entry without its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meta {
    /// Its stable id.
    pub id: EntryId,
    /// Its position.
    pub pos: Pos,
    /// The tip when it was appended.
    pub after: Option<Pos>,
    /// The entry that opened its turn; itself if it opened one.
    pub turn: Option<Pos>,
    /// Its role.
    pub role: Role,
    /// Its flags.
    pub flags: Flags,
    /// Its time.
    pub time: Time,
    /// Running totals up to and including it.
    pub totals: Totals,
    /// The revision that stored it.
    pub revision: Revision,
    /// The number of its tool calls.
    pub calls: u32,
    /// For a tool's result: the entry with its call. They are one atom.
    pub answers: Option<Pos>,
}

impl Meta {
    /// Whether it opened a turn.
    pub fn opens_turn(&self) -> bool {
        self.turn == Some(self.pos)
    }

    /// Its own part of the totals.
    pub fn own_totals(&self) -> Totals {
        Totals { messages: 1, calls: self.calls.into(), turns: self.opens_turn().into() }
    }
}

/// An entry with its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// All except the content.
    pub meta: Meta,
    /// A person's name, a model's (`provider/model`) or a tool's; may be empty.
    pub author: String,
    /// Its content.
    pub parts: Vec<Part>,
    /// The usage of a model's answer.
    pub usage: Option<Usage>,
    /// Its id on the chat platform that it came from.
    pub platform_id: Option<String>,
    /// For a message of a chat: where it came from.
    pub origin: Option<crate::chat::ChatOrigin>,
}

/// Whether an entry of `role` with these flags opens a turn: a person's message does; a synthetic, an observed
/// or a detached entry does not.
pub fn opens_turn(role: Role, flags: Flags) -> bool {
    role == Role::User && !flags.synthetic && !flags.observed && !flags.detached
}

/// The number of tool calls among the parts.
pub fn count_calls(parts: &[Part]) -> u32 {
    u32::try_from(parts.iter().filter(|part| part.call_id().is_some()).count()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_person_says_to_the_agent_opens_a_turn() {
        let plain = Flags::default();
        let rows = [
            (Role::User, plain, true),
            (Role::Assistant, plain, false),
            (Role::Tool, plain, false),
            (Role::System, plain, false),
            (Role::User, Flags { synthetic: true, ..plain }, false),
            (Role::User, Flags { observed: true, ..plain }, false),
            (Role::User, Flags { detached: true, ..plain }, false),
            (Role::User, Flags { interrupted: true, erased: true, ..plain }, true),
        ];
        for (role, flags, opens) in rows {
            assert_eq!(opens_turn(role, flags), opens, "{role:?} {flags:?}");
        }
    }

    #[test]
    fn totals_are_added_and_taken_away_one_by_one() {
        let (one, other) =
            (Totals { messages: 5, calls: 3, turns: 2 }, Totals { messages: 2, calls: 2, turns: 1 });
        assert_eq!(one.plus(other), Totals { messages: 7, calls: 5, turns: 3 });
        assert_eq!(one.minus(other), Totals { messages: 3, calls: 1, turns: 1 });
        let call = || Part::ToolCall { id: String::new(), name: String::new(), arguments: String::new() };
        assert_eq!(count_calls(&[call(), Part::text("and"), call()]), 2);
        assert_eq!(count_calls(&[Part::text("none")]), 0);
    }
}
