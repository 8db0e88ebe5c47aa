//! The permissions of a member in a channel, computed as the vendor describes it \[D\]. Must never ask the platform.

use serde_json::Value;

/// A set of permissions. The platform sends it as a number in text \[D\].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Permissions(u128);

const ADMINISTRATOR: u128 = 1 << 3;
const VIEW_CHANNEL: u128 = 1 << 10;
const MANAGE_MESSAGES: u128 = 1 << 13;
const READ_MESSAGE_HISTORY: u128 = 1 << 16;

/// What the permissions of a channel follow from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules<'a> {
    /// The guild, with its roles and its owner.
    pub(super) guild: &'a Value,
    /// The member, with the ids of the roles.
    pub(super) member: &'a Value,
    /// The channel with the overwrites; for a thread its parent \[D\].
    pub(super) channel: &'a Value,
}

impl Permissions {
    /// Whether the member may delete other people's messages, and several messages at once.
    pub(super) fn manages_messages(self) -> bool {
        self.0 & MANAGE_MESSAGES != 0
    }

    /// Whether the member sees earlier messages. Without this permission the history is empty \[D\].
    pub(super) fn reads_history(self) -> bool {
        self.0 & READ_MESSAGE_HISTORY != 0
    }

    /// What a user may do in a channel of a guild.
    pub(super) fn of(user: &str, rules: Rules<'_>) -> Self {
        let Rules { guild, member, channel } = rules;
        let guild_id = guild["id"].as_str().unwrap_or_default();
        if guild["owner_id"].as_str() == Some(user) {
            return Self(u128::MAX);
        }
        let has_role = |id: &str| items(&member["roles"]).iter().any(|role| role.as_str() == Some(id));
        // The role of everybody has the guild's id [D].
        let roles = items(&guild["roles"]).iter();
        let roles = roles.filter(|role| role["id"].as_str().is_some_and(|id| id == guild_id || has_role(id)));
        let base = roles.fold(0, |all, role| all | bits(&role["permissions"]));
        if base & ADMINISTRATOR != 0 {
            return Self(u128::MAX);
        }
        let overwrites = items(&channel["permission_overwrites"]);
        let change = |base: u128, is_meant: &dyn Fn(&str) -> bool| {
            let meant = overwrites.iter().filter(|rule| rule["id"].as_str().is_some_and(is_meant));
            let (denied, allowed) = meant.fold((0, 0), |(denied, allowed), rule| {
                (denied | bits(&rule["deny"]), allowed | bits(&rule["allow"]))
            });
            base & !denied | allowed
        };
        let base = change(base, &|id| id == guild_id);
        let base = change(base, &|id| id != guild_id && has_role(id));
        let base = change(base, &|id| id == user);
        // Without the right to see the channel, no other one counts [D].
        Self(if base & VIEW_CHANNEL == 0 { 0 } else { base })
    }
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn bits(value: &Value) -> u128 {
    value.as_str().and_then(|text| text.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{ADMINISTRATOR, MANAGE_MESSAGES, Permissions, READ_MESSAGE_HISTORY, Rules, VIEW_CHANNEL};

    fn guild(everyone: u128, role: u128) -> Value {
        let roles = json!([
            {"id": "1", "permissions": everyone.to_string()},
            {"id": "2", "permissions": role.to_string()},
        ]);
        json!({"id": "1", "owner_id": "9", "roles": roles})
    }

    fn manages(user: &str, guild: &Value, overwrites: &Value) -> bool {
        let member = json!({"roles": ["2"]});
        let channel = json!({"permission_overwrites": overwrites});
        Permissions::of(user, Rules { guild, member: &member, channel: &channel }).manages_messages()
    }

    fn overwrite(id: &str, allow: u128, deny: u128) -> Value {
        json!({"id": id, "allow": allow.to_string(), "deny": deny.to_string()})
    }

    #[test]
    fn roles_and_overwrites_decide() {
        let plain = guild(VIEW_CHANNEL, 0);
        let strong = guild(VIEW_CHANNEL, MANAGE_MESSAGES);
        assert!(!manages("5", &plain, &json!([])));
        assert!(manages("9", &plain, &json!([])), "the owner may everything");
        assert!(manages("5", &strong, &json!([])));
        assert!(manages(
            "5",
            &guild(VIEW_CHANNEL, ADMINISTRATOR),
            &json!([overwrite("5", 0, MANAGE_MESSAGES)])
        ));
        let rows = [
            (overwrite("1", 0, MANAGE_MESSAGES), false),
            (overwrite("2", 0, MANAGE_MESSAGES), false),
            (overwrite("3", 0, MANAGE_MESSAGES), true),
            (overwrite("5", 0, MANAGE_MESSAGES), false),
            (overwrite("5", 0, VIEW_CHANNEL), false),
        ];
        for (rule, expected) in rows {
            assert_eq!(manages("5", &strong, &json!([rule])), expected, "{rule}");
        }
        let both = json!([overwrite("2", 0, MANAGE_MESSAGES), overwrite("5", MANAGE_MESSAGES, 0)]);
        assert!(manages("5", &strong, &both), "the member's rule comes after that of the role");
    }

    #[test]
    fn odd_values_give_no_permission() {
        for odd in [json!(null), json!(7), json!({"roles": 5, "id": [], "owner_id": {}}), json!("x")] {
            let rules = Rules { guild: &odd, member: &odd, channel: &odd };
            assert!(!Permissions::of("5", rules).manages_messages());
        }
        let channel = json!({"permission_overwrites": []});
        let plain = guild(VIEW_CHANNEL | READ_MESSAGE_HISTORY, 0);
        let rules = Rules { guild: &plain, member: &json!(null), channel: &channel };
        assert!(Permissions::of("5", rules).reads_history());
    }
}
