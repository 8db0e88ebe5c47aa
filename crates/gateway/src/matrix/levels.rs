//! The power levels of a room: what a person may do there. Must never take a level that it cannot read for a high one.

use serde_json::Value;

/// The first version of rooms whose creators have an infinite level \[D\].
const PRIVILEGED_CREATORS: u32 = 12;

/// The levels of a room.
#[derive(Debug)]
pub(super) struct Levels {
    /// The content of `m.room.power_levels`, if the room has that event.
    pub(super) levels: Option<Value>,
    /// The event `m.room.create`, as far as the server shows it.
    pub(super) create: Value,
}

impl Levels {
    /// The level of a person.
    pub(super) fn of(&self, person: &str) -> i64 {
        match &self.levels {
            _ if self.is_privileged(person) => i64::MAX,
            Some(levels) => {
                number(&levels["users"][person]).or(number(&levels["users_default"])).unwrap_or(0)
            }
            // Without the event, the creator has 100 and others 0 [D].
            None if self.creator() == Some(person) => 100,
            None => 0,
        }
    }

    /// The level that a redaction of one's own message needs: that of its event \[D\]\[T\].
    pub(super) fn for_redaction(&self) -> i64 {
        let levels = self.levels.as_ref().unwrap_or(&Value::Null);
        number(&levels["events"]["m.room.redaction"]).or(number(&levels["events_default"])).unwrap_or(0)
    }

    /// The level that a redaction of other people's messages needs, too.
    pub(super) fn for_moderation(&self) -> i64 {
        let levels = self.levels.as_ref().unwrap_or(&Value::Null);
        number(&levels["redact"]).unwrap_or(50).max(self.for_redaction())
    }

    /// Whether this is a creator of a room in which creators may do everything.
    fn is_privileged(&self, person: &str) -> bool {
        let content = &self.create["content"];
        let version = content["room_version"].as_str().and_then(|version| version.parse::<u32>().ok());
        let also = content["additional_creators"].as_array().map(Vec::as_slice).unwrap_or_default();
        version.is_some_and(|version| version >= PRIVILEGED_CREATORS)
            && (self.creator() == Some(person) || also.iter().any(|creator| creator.as_str() == Some(person)))
    }

    /// The sender of the event. A server that shows only the content has old rooms only, where the content names the creator \[D\].
    fn creator(&self) -> Option<&str> {
        self.create["sender"].as_str().or(self.create["content"]["creator"].as_str())
    }
}

/// A level. Old rooms have some as texts \[D\].
fn number(level: &Value) -> Option<i64> {
    level.as_i64().or_else(|| level.as_str()?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Levels;

    #[test]
    fn levels_are_those_of_the_room_or_the_defaults() {
        let created = |version: &str| json!({ "sender": "@a:t", "content": { "room_version": version, "additional_creators": ["@b:t", 7] } });
        let levels = json!({ "users": { "@a:t": 10, "@c:t": "50", "@d:t": {} }, "users_default": 5, "events": { "m.room.redaction": 60 }, "redact": 30 });
        let room =
            |version, levels: Option<&Value>| Levels { levels: levels.cloned(), create: created(version) };
        let old = room("11", Some(&levels));
        assert_eq!(["@a:t", "@b:t", "@c:t", "@d:t", "@e:t"].map(|person| old.of(person)), [10, 5, 50, 5, 5]);
        assert_eq!((old.for_redaction(), old.for_moderation()), (60, 60));
        let new = room("12", Some(&levels));
        assert_eq!(["@a:t", "@b:t", "@c:t"].map(|person| new.of(person)), [i64::MAX, i64::MAX, 50]);
        let bare = room("11", None);
        assert_eq!((bare.of("@a:t"), bare.of("@b:t")), (100, 0));
        assert_eq!((bare.for_redaction(), bare.for_moderation()), (0, 50));
        let odd = Levels { levels: Some(json!([])), create: Value::Null };
        assert_eq!((odd.of("@a:t"), odd.for_redaction()), (0, 0));
    }
}
