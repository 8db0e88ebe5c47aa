//! What the receiver remembers of rooms and of recent messages. Only a cache: all of it can be asked for again.

use std::collections::{HashMap, VecDeque};

use retake_wire::chat::Audience;
use serde_json::Value;

use super::inbound::Known;

/// How many messages are remembered.
const MOST: usize = 4_000;

/// The people in a room, with their names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Members(HashMap<String, Option<String>>);

impl Members {
    /// Those of an answer of `joined_members`.
    pub(super) fn joined(answer: &Value) -> Self {
        let name = |member: &Value| name(&member["display_name"]);
        let joined = answer["joined"].as_object().into_iter().flatten();
        Self(joined.map(|(id, member)| (id.clone(), name(member))).collect())
    }

    /// Follows an event of a membership.
    pub(super) fn follow(&mut self, event: &Value) {
        let Some(id) = event["state_key"].as_str() else { return };
        if event["content"]["membership"] == "join" {
            self.0.insert(id.to_owned(), name(&event["content"]["displayname"]));
        } else {
            self.0.remove(id);
        }
    }

    /// The name of a person in the room.
    pub(super) fn name(&self, id: &str) -> Option<&str> {
        self.0.get(id)?.as_deref()
    }

    /// A room with one other person is private. Of a room without known people, nobody knows.
    pub(super) fn audience(&self, us: &str) -> Audience {
        let is_private = self.0.len() == 2 && self.0.contains_key(us);
        if is_private { Audience::Private } else { Audience::Shared }
    }
}

fn name(name: &Value) -> Option<String> {
    name.as_str().filter(|name| !name.trim().is_empty()).map(str::to_owned)
}

/// The last messages, of all rooms.
#[derive(Debug, Default)]
pub(super) struct Recent {
    messages: HashMap<String, Known>,
    order: VecDeque<String>,
}

impl Recent {
    pub(super) fn get(&self, id: &str) -> Option<&Known> {
        self.messages.get(id)
    }

    pub(super) fn add(&mut self, id: &str, known: Known) {
        if self.messages.insert(id.to_owned(), known).is_none() {
            self.order.push_back(id.to_owned());
        }
        if self.order.len() > MOST
            && let Some(oldest) = self.order.pop_front()
        {
            self.messages.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use retake_wire::chat::Audience;
    use serde_json::json;

    use super::{MOST, Members, Recent};
    use crate::matrix::inbound::Known;

    #[test]
    fn room_with_one_other_person_is_private() {
        let mut members =
            Members::joined(&json!({ "joined": { "@us:t": {}, "@anna:t": { "display_name": "Anna" } } }));
        assert_eq!((members.audience("@us:t"), members.name("@anna:t")), (Audience::Private, Some("Anna")));
        let event = |membership: &str| json!({ "state_key": "@ben:t", "content": { "membership": membership, "displayname": " " } });
        members.follow(&event("invite"));
        assert_eq!(members.audience("@us:t"), Audience::Private);
        members.follow(&event("join"));
        assert_eq!((members.audience("@us:t"), members.name("@ben:t")), (Audience::Shared, None));
        members.follow(&event("leave"));
        assert_eq!(members.audience("@us:t"), Audience::Private);
        assert_eq!(Members::joined(&json!([])).audience("@us:t"), Audience::Shared);
    }

    #[test]
    fn only_the_last_messages_are_remembered() {
        let known = Known { sender: "@a:t".into(), thread: None, reply_to: None, is_edit: false };
        let mut recent = Recent::default();
        for number in 0..=MOST {
            recent.add(&number.to_string(), known.clone());
            recent.add("1", known.clone());
        }
        assert!(recent.get("0").is_none() && recent.get("1").is_some());
        assert!(recent.get(&MOST.to_string()).is_some() && recent.messages.len() == MOST);
    }
}
