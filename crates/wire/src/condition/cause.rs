//! Why something is as it is or cannot be: typed codes with fields. Only shapes; `english` makes the sentences.

use serde::{Deserialize, Serialize};

use crate::files::{Against, FileName};

/// A path that is not covered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UncoveredPath {
    /// The path; what is not UTF-8 or acts on a terminal stands in it as an escape.
    pub path: String,
    /// Why it is not covered.
    pub why: String,
}

/// Why a path is left alone, or which uncertain change stays in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum PathCause {
    /// Somebody else changed the same.
    Clash {
        /// Who.
        by: Against,
        /// What.
        change: PathChange,
        /// It is not certain that this turn did it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        uncertain: bool,
    },
    /// A folder is in its place, and not all in it can be removed.
    FolderInTheWay,
    /// The folder that it belongs in is no folder any more.
    NoParent {
        /// The turn that changed that, where one did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Against>,
    },
    /// A folder stays, since something in it comes back.
    Needed,
    /// A folder stays, since something else is in it.
    NotEmpty {
        /// Who put it there; absent where that happened while the step ran.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Against>,
    },
    /// Somebody else has made it since.
    MadeSince {
        /// Who.
        by: Against,
    },
    /// The author of its change is not known.
    Uncertain {
        /// When it changed.
        when: Vec<UncertainWhen>,
    },
    /// It changes, and an uncertain change stays in it.
    KeepsUncertain {
        /// When that change happened.
        when: Vec<UncertainWhen>,
    },
    /// A call moved it with what git keeps there: the folder moves back as a whole.
    MovedWithGit,
    /// It is what git's HEAD has, which a command moved: only git goes back there.
    GitHead,
    /// It is not covered.
    NotCovered {
        /// Why.
        why: String,
    },
    /// A person chose to decide later: a later step asks again.
    Undecided,
    /// A person chose what is there: it counts as theirs.
    ChosenDisk,
    /// Somebody wrote there while the step ran.
    WrittenMeanwhile,
    /// Its folder is gone, is a link, or is on another device.
    Unreachable,
}

/// What was done to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PathChange {
    /// It was removed.
    Removed,
    /// It was made.
    Made,
    /// Its permissions.
    Permissions,
    /// It became another kind of thing, such as a folder in the place of a file.
    Kind,
    /// The same lines.
    SamePlace,
    /// Something else in the file.
    File,
    /// The folder that it is in.
    Folder,
}

/// When a path changed, so that the author is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum UncertainWhen {
    /// An earlier version recorded no reason.
    Unrecorded,
    /// It was found late: the time is not known.
    Late,
    /// While a background job ran.
    Job,
    /// Around a call that was cut off.
    CutOff,
    /// While several calls ran.
    Several,
}

/// A path that a step left alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeftPath {
    /// Which path.
    #[serde(flatten)]
    pub name: FileName,
    /// Why.
    pub cause: PathCause,
    /// Where the content is kept that could not be put in its place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<String>,
}
