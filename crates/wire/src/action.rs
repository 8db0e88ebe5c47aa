//! Everything that changes a conversation's state, as one type: for plans and for applying.

use serde::{Deserialize, Serialize};

use crate::files::FileName;
use crate::mark_verb::MarkVerb;
#[cfg(feature = "schema")]
use crate::shape;

/// Something that changes the state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum Action {
    /// Back to before an entry.
    Rewind {
        /// The entry.
        entry: String,
    },
    /// Takes back the last things done.
    Undo {
        /// How many, at least 1.
        #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
        count: usize,
    },
    /// Brings back what was undone.
    Redo {
        /// How many, at least 1.
        #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
        count: usize,
    },
    /// Back to what an earlier head left.
    Restore {
        /// `OP.SEQ`. (In JSON not `head`, which is what the author of the action saw.)
        #[serde(rename = "to")]
        #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::HEAD)))]
        head: String,
    },
    /// To any entry of the tree. Default: to the beginning.
    Checkout {
        /// The entry, usually a leaf.
        entry: Option<String>,
    },
    /// To another alternative of an answer.
    Choose {
        /// The answer, or any entry of its turn.
        entry: String,
        /// Which, from 1.
        #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
        number: usize,
    },
    /// To before an entry, to say something else there. (A run says it in one go: [`crate::RunStart::Edit`].)
    Edit {
        /// The entry.
        entry: String,
    },
    /// Puts files or folders back as they were; the conversation stays.
    RestoreFiles {
        /// Which, below the folder of the conversation; `.` is all of it.
        paths: Vec<FileName>,
        /// To when: a checkpoint by its name or as `#N` by its number, before an entry, or what a head left (`OP.SEQ`); without it,
        /// before the last turn.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<String>,
    },
    /// Hides, shows, excludes or includes entries.
    Mark {
        /// Which of these.
        verb: MarkVerb,
        /// The entries; two ids with `range` mean everything between.
        entries: Vec<String>,
        /// Whether the two entries are the ends of a range.
        #[serde(default)]
        range: bool,
        /// The mark that the author saw on all of them (`normal`, `excluded`, `hidden`), where it must be that.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seen: Option<String>,
    },
    /// Puts a summary instead of a range, in the prompt.
    Fold {
        /// First entry.
        from: String,
        /// Last entry.
        to: String,
        /// The summary.
        summary: String,
    },
    /// Takes a fold away.
    Unfold {
        /// The operation that made it, or an entry that it covers.
        fold: String,
    },
    /// Names an entry, or removes the name.
    Label {
        /// The entry.
        entry: String,
        /// The name; without it, removed.
        #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::SAYS_SOMETHING)))]
        name: Option<String>,
    },
    /// Names the conversation, or removes the name.
    Title {
        /// The title; without it, removed.
        #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::SAYS_SOMETHING)))]
        title: Option<String>,
    },
    /// Overwrites content for good.
    Erase {
        /// These entries.
        #[serde(default)]
        entries: Vec<String>,
        /// Every entry, label, title and summary of the tree of forks that contains this text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        matching: Option<String>,
    },
}
