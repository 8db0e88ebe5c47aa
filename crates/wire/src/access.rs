//! Access: rights, grants and tokens in requests and replies. Must never hold the secret of a token, except in the reply to the
//! request that made it.

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

#[cfg(feature = "schema")]
use crate::shape;

/// What a grant permits. Each right includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, IntoStaticStr)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Right {
    /// To read.
    Read,
    /// To say something, and to stop runs.
    Talk,
    /// To change what counts: rewind, undo, hide, edit, choose.
    Rewind,
    /// To decide for the user: approvals, permissions, commands, settings, erasures, tokens.
    Administer,
}

/// A right, and where it holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Grant {
    /// The right.
    pub right: Right,
    /// The only conversation in which it holds, with those of its subagents. Absent: it holds in all conversations, also in new
    /// ones, and for what belongs to no conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
}

/// A new token.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TokenCreate {
    /// The name: letters, digits, `_` and `-`. No later token can get it again.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::TOKEN_NAME)))]
    pub name: String,
    /// What it may do: at least one grant, at most 100; for a gateway none.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(length(max = MOST_GRANTS)))]
    pub grants: Vec<Grant>,
    /// The account of a chat platform whose gateway gets the token. It permits the requests of that gateway and nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::TOKEN_NAME)))]
    pub gateway: Option<String>,
    /// How long it is accepted, in seconds. Absent: until it is revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = LONGEST_LIFE_S)))]
    pub expires_in_s: Option<u64>,
}

/// The most grants of one token.
pub const MOST_GRANTS: usize = 100;

/// The longest time until a token expires: a hundred years.
pub const LONGEST_LIFE_S: u64 = 3_155_760_000;

/// Names a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TokenTarget {
    /// The name of the token.
    pub name: String,
}

/// A token, without its secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Token {
    /// Its name. Operations that its bearer makes are recorded with it.
    pub name: String,
    /// What it may do.
    pub grants: Vec<Grant>,
    /// For a gateway's token: the account that it receives events of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gateway: Option<String>,
    /// When it was made, in Unix milliseconds.
    pub created_ms: i64,
    /// From when on it is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_ms: Option<i64>,
    /// When it was revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_ms: Option<i64>,
    /// Whether it is accepted now.
    pub is_valid: bool,
}

/// All tokens, by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tokens {
    /// The tokens, also revoked and expired ones. The list is bounded by the tokens that were made.
    pub tokens: Vec<Token>,
}

/// A new token, with its secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NewToken {
    /// The token.
    pub token: Token,
    /// Its secret. It is shown once: the owner keeps a digest only.
    pub secret: String,
}

/// Who asked for an operation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Principal {
    /// The user of the machine, or the owner itself.
    #[default]
    Local,
    /// The bearer of a token.
    Token {
        /// The name of the token.
        name: String,
    },
    /// A member of a chat, for whom a gateway acted.
    Member {
        /// The account on the platform.
        account: String,
        /// The platform's id of the person; empty if it was erased.
        person: String,
    },
}

impl Principal {
    /// Whether it is the user of the machine.
    pub fn is_local(&self) -> bool {
        *self == Self::Local
    }
}

/// Where a request needs a right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Over {
    /// Everywhere: it concerns all conversations, or none.
    Everything,
    /// In the conversation that it names; without one, everywhere.
    Named,
    /// Somewhere: the reply holds only what the grants cover.
    Somewhere,
    /// In the account that it names. Only the token of its gateway has that, and nothing else.
    Account,
}

/// What a kind of request needs at least. Some contents of it need more: [`crate::Request::demand`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Need {
    /// The right.
    pub right: Right,
    /// Where.
    pub over: Over,
}

/// What one request needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Demand<'a> {
    /// The right, and where.
    pub need: Need,
    /// The conversation that the request names; for a gateway's request, the account.
    pub named: Option<&'a str>,
}
