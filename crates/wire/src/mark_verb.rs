//! The verbs that mark messages. Only their names.

use serde::{Deserialize, Serialize};

/// The verbs of marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MarkVerb {
    /// As if deleted.
    Hide,
    /// Brings hidden entries back.
    Show,
    /// People see it, the model does not.
    Exclude,
    /// The model sees it again.
    Include,
    /// Takes whole turns out of the middle, with the files that they changed; any entry names its turn.
    Drop,
}

impl MarkVerb {
    /// Its name in JSON and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hide => "hide",
            Self::Show => "show",
            Self::Exclude => "exclude",
            Self::Include => "include",
            Self::Drop => "drop",
        }
    }
}
