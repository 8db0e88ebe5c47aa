//! Rights and grants: what a principal may do, and where. The check itself, [`Grants::allow`], is the only one. Must never know
//! a secret: a token is known by its digest.

use strum::{EnumIter, EnumString, IntoStaticStr};

use crate::id::{ConversationId, Time};

/// What a grant permits. Each right includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, EnumIter, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Right {
    /// Read messages, files and states.
    Read,
    /// Say something, and stop runs.
    Talk,
    /// Change what counts: rewind, undo, hide, edit, choose.
    Rewind,
    /// Decide for the user: approvals, permissions, commands, settings, erasures, tokens.
    Administer,
}

/// Where a grant holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GrantScope {
    /// In all conversations, also in new ones, and for what belongs to no conversation.
    All,
    /// In one conversation, and those of its subagents. Forks are conversations of their own.
    Conversation(ConversationId),
}

/// A right, and where it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grant {
    /// The right.
    pub right: Right,
    /// Where it holds.
    pub scope: GrantScope,
}

/// All grants of a principal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grants(pub Vec<Grant>);

impl Grants {
    /// The grants of the local user: everything.
    pub fn all() -> Self {
        Self(vec![Grant { right: Right::Administer, scope: GrantScope::All }])
    }

    /// Whether they permit something everywhere.
    pub fn allow_everywhere(&self, right: Right) -> bool {
        self.0.iter().any(|grant| grant.scope == GrantScope::All && grant.right >= right)
    }

    /// Whether they permit something in a conversation. `line` is the conversation, and for one of a subagent those that its
    /// calls belong to.
    pub fn allow(&self, right: Right, line: &[ConversationId]) -> bool {
        self.0.iter().any(|grant| {
            let covers = match grant.scope {
                GrantScope::All => true,
                GrantScope::Conversation(id) => line.contains(&id),
            };
            covers && grant.right >= right
        })
    }

    /// The conversations in which they permit something; `None` if everywhere.
    pub fn covered(&self, right: Right) -> Option<Vec<ConversationId>> {
        if self.allow_everywhere(right) {
            return None;
        }
        let named = self.0.iter().filter(|grant| grant.right >= right);
        let mut covered: Vec<_> = named
            .filter_map(|grant| match grant.scope {
                GrantScope::Conversation(id) => Some(id),
                GrantScope::All => None,
            })
            .collect();
        covered.sort_unstable();
        covered.dedup();
        Some(covered)
    }
}

/// What a token is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenUse {
    /// For a program or a person, with these grants.
    Grants(Grants),
    /// For the gateway of this account of a chat platform: it hands over events, takes and settles work, and acts for members
    /// of chats. It has no grant of its own.
    Gateway(String),
}

/// A token, without its secret. Its name is that of its principal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessToken {
    /// The name. No later token gets it again.
    pub name: String,
    /// What it is for.
    pub used_for: TokenUse,
    /// When it was made.
    pub created: Time,
    /// From when on it is refused.
    pub expires: Option<Time>,
    /// When it was revoked.
    pub revoked: Option<Time>,
}

impl AccessToken {
    /// Whether it is accepted at this time.
    pub fn is_valid(&self, now: Time) -> bool {
        self.revoked.is_none() && self.expires.is_none_or(|expires| now < expires)
    }
}

#[cfg(test)]
mod tests {
    use strum::IntoEnumIterator as _;

    use super::*;

    fn id(number: u128) -> ConversationId {
        ConversationId::new(uuid::Uuid::from_u128(number))
    }

    #[test]
    fn grant_permits_its_right_and_lesser_ones_in_its_scope_only() {
        let rows = [GrantScope::All, GrantScope::Conversation(id(1))];
        for (scope, granted) in
            rows.into_iter().flat_map(|scope| Right::iter().map(move |right| (scope, right)))
        {
            let grants = Grants(vec![Grant { right: granted, scope }]);
            let is_all = scope == GrantScope::All;
            for right in Right::iter() {
                let is_enough = right <= granted;
                assert_eq!(grants.allow(right, &[id(1)]), is_enough, "{granted:?} for {right:?}");
                assert_eq!(grants.allow(right, &[id(2)]), is_enough && is_all);
                // A conversation of a subagent: its calls belong to the granted one.
                assert_eq!(grants.allow(right, &[id(2), id(1)]), is_enough);
                assert_eq!(grants.allow_everywhere(right), is_enough && is_all);
                let covered = match (is_enough, is_all) {
                    (true, true) => None,
                    (true, false) => Some(vec![id(1)]),
                    (false, _) => Some(vec![]),
                };
                assert_eq!(grants.covered(right), covered);
            }
        }
        assert!(!Grants::default().allow(Right::Read, &[id(1)]));
        assert!(Grants::all().allow_everywhere(Right::Administer));
    }

    #[test]
    fn token_is_valid_until_it_expires_or_is_revoked() {
        let token = |expires: Option<i64>, revoked: Option<i64>| AccessToken {
            name: "phone".to_owned(),
            used_for: TokenUse::Grants(Grants::default()),
            created: Time(0),
            expires: expires.map(Time),
            revoked: revoked.map(Time),
        };
        assert!(token(None, None).is_valid(Time(i64::MAX)));
        assert!(token(Some(10), None).is_valid(Time(9)) && !token(Some(10), None).is_valid(Time(10)));
        assert!(!token(None, Some(5)).is_valid(Time(6)));
    }
}
