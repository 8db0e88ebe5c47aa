//! What waits to be delivered to destinations outside. Must never hold a text of a message or an address.

use serde::{Deserialize, Serialize};

/// What waits, and what was passed over, at most 1000 of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Outbox {
    /// The items, by conversation and destination: at most 1000.
    pub items: Vec<OutboxItem>,
    /// How many items this request tried again or gave up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<u64>,
}

/// What a destination is owed of a conversation, or a delivery that was passed over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutboxItem {
    /// Names it in requests.
    pub id: String,
    /// The name of the destination, such as a hook of the settings.
    pub destination: String,
    /// Whether the settings still have the destination. Otherwise it waits until they have it again.
    pub configured: bool,
    /// The id of the conversation.
    pub conversation: String,
    /// The number of messages and operations that the destination does not know.
    pub changes: u64,
    /// When the next attempt is, in Unix milliseconds. Absent if no more is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_ms: Option<i64>,
    /// The attempts at the current delivery.
    pub attempts: u32,
    /// When the first of them began, in Unix milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since_ms: Option<i64>,
    /// Why the delivery was passed over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<OutboxFailure>,
    /// The result of the last attempt, such as a status of HTTP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_result: Option<String>,
}

/// Why a delivery was passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum OutboxFailure {
    /// The destination, or what the delivery is about, is no longer there.
    AlreadyGone,
    /// The destination does not permit it, or its command cannot be confined.
    NotPermitted,
    /// It was tried for as long as the settings say.
    TooOld,
    /// The destination refused it.
    Refused,
    /// A reason that only a newer owner knows.
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}
