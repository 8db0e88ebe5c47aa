//! The marks of messages, and the verbs that set them. Only their names.

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

/// The mark of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// People and the model see it.
    Normal,
    /// People see it, the model does not.
    Excluded,
    /// Neither sees it.
    Hidden,
    /// Its turn is taken out of the middle, with its file changes.
    Dropped,
    /// A mark that only a newer owner knows.
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}

impl Mark {
    /// The name of the mark in JSON and on the command line.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The same, for requests; none for a mark that only a newer owner knows.
    pub fn known_name(self) -> Option<&'static str> {
        (self != Self::Unknown).then(|| self.name())
    }
}

/// A verb that sets or removes the mark of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MarkVerb {
    /// Hides entries from people and from the model.
    Hide,
    /// Shows hidden or dropped entries again.
    Show,
    /// Excludes entries: people see them, the model does not.
    Exclude,
    /// Includes excluded entries: the model sees them again.
    Include,
    /// Takes whole turns out of the middle, with their file changes. Any entry names its turn.
    Drop,
}

impl MarkVerb {
    /// The name of the verb in JSON and on the command line.
    pub fn name(self) -> &'static str {
        self.into()
    }
}
