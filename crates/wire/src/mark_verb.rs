//! The verbs that mark messages. Only their names.

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

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
