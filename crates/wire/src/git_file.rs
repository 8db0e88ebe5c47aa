//! Files that git runs or reads as settings. Only types.

use serde::{Deserialize, Serialize};

/// How a file that git runs or reads changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum GitFileChange {
    /// It is new.
    New,
    /// It has other content or another mode.
    Changed,
    /// It was removed.
    Removed,
    /// A code that only a newer owner knows.
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}

/// What git does with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum GitFileRole {
    /// Git runs it.
    Hook,
    /// Git reads it: settings, attributes and similar.
    Settings,
    /// Git runs its `exec` lines when the rebase continues.
    Rebase,
    /// A code that only a newer owner knows.
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}
