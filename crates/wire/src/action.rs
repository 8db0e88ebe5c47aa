//! The changes of a conversation's state as one type, for plans and for applying.

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use crate::files::FileName;
use crate::mark::MarkVerb;
#[cfg(feature = "schema")]
use crate::shape;

/// A change of a conversation's state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, IntoStaticStr)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "action", rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Action {
    /// Rewinds to before an entry.
    Rewind {
        /// The entry to rewind to. The conversation continues before it.
        entry: String,
    },
    /// Reverts the last steps.
    Undo {
        /// The number of steps, at least 1.
        #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
        count: usize,
    },
    /// Brings back steps that were undone.
    Redo {
        /// The number of steps, at least 1.
        #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
        count: usize,
    },
    /// Returns to an earlier head.
    Restore {
        /// The head to return to, `OP.SEQ`. (Its name in JSON is `to`, because `head` is the head that the author of the action
        /// saw.)
        #[serde(rename = "to")]
        #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::HEAD)))]
        head: String,
    },
    /// Moves to an entry of any branch.
    Checkout {
        /// The entry, usually the last one of a branch. Default: the beginning of the conversation.
        entry: Option<String>,
    },
    /// Moves to another alternative of an answer.
    Choose {
        /// The answer, or any entry of its turn.
        entry: String,
        /// The number of the alternative, from 1.
        #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
        number: usize,
    },
    /// Moves to before an entry, to continue with another message there. (A run does both in one step:
    /// [`crate::RunStart::Edit`].)
    Edit {
        /// The entry to replace.
        entry: String,
    },
    /// Restores files or folders to an earlier version. The conversation stays as it is.
    RestoreFiles {
        /// The paths of the files and folders, below the folder of the conversation. `.` is the whole folder.
        paths: Vec<FileName>,
        /// The point in time. It is a checkpoint (its name, or `#N` with its number), an entry (the time before it), or a head
        /// (`OP.SEQ`). Default: before the last turn.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<String>,
    },
    /// Hides, shows, excludes, includes or drops entries.
    Mark {
        /// What to do with the entries.
        verb: MarkVerb,
        /// The entries. With `range`, these are two entries, and everything between them is meant, too.
        entries: Vec<String>,
        /// Whether the two entries are the ends of a range.
        #[serde(default)]
        range: bool,
        /// The mark that the author saw on all of the entries: `normal`, `excluded`, `hidden` or `dropped`. The action is refused
        /// if an entry has another mark. Default: any mark.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seen: Option<String>,
    },
    /// Replaces a range of entries by a summary, in the prompt only.
    Fold {
        /// The first entry of the range.
        from: String,
        /// The last entry of the range.
        to: String,
        /// The summary.
        summary: String,
    },
    /// Removes a fold.
    Unfold {
        /// The operation that made the fold, or an entry that the fold covers.
        fold: String,
    },
    /// Sets or removes the label of an entry.
    Label {
        /// The entry.
        entry: String,
        /// The label. Without one, the entry's label is removed.
        #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::SAYS_SOMETHING)))]
        name: Option<String>,
    },
    /// Sets or removes the title of the conversation.
    Title {
        /// The title. Without one, the conversation's title is removed.
        #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::SAYS_SOMETHING)))]
        title: Option<String>,
    },
    /// Overwrites content permanently.
    Erase {
        /// The entries to erase.
        #[serde(default)]
        entries: Vec<String>,
        /// A text to erase: every entry, label, title and summary of the tree of forks that contains it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        matching: Option<String>,
    },
}
