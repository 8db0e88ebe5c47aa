//! Requests about the owner: backups, checks, and what waits to be delivered.

use serde::{Deserialize, Serialize};

#[cfg(feature = "schema")]
use crate::shape;

/// A backup of the whole store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Backup {
    /// The file to write, as an absolute path. Default: a file with the date in its name, in the data directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::ABSOLUTE)))]
    pub to: Option<String>,
}

/// Names items of the outbox.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutboxItems {
    /// Their names. None of them changes nothing.
    pub items: Vec<String>,
    /// All items, whatever their names.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all: bool,
}

/// A check of the whole store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Doctor {
    /// Whether to repair what can be repaired without losing anything.
    #[serde(default)]
    pub mend: bool,
}
