//! What an action would do. Must never leave out what can't be taken back.

use serde::{Deserialize, Serialize};

use super::{Composer, Counts, Line, Steps};
use crate::files::FilesPlan;

/// What an action would do. Nothing has happened yet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The conversation.
    pub conversation: String,
    /// The head it was made from; apply it with this one.
    pub head: String,
    /// Nothing would change.
    pub unchanged: bool,
    /// Of an undo or a redo, how far it would go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<Steps>,
    /// What would leave the timeline.
    pub taken_back: Counts,
    /// The first of that, in path order, at most 20.
    pub gone: Vec<Line>,
    /// What would come into the timeline.
    pub brought_back: Counts,
    /// The first of that, at most 20.
    pub came: Vec<Line>,
    /// Folds that would no longer be in force.
    pub lifted: Vec<String>,
    /// Folds that would be in force again.
    pub in_force: Vec<String>,
    /// The text that would return to the composer.
    pub composer: Option<Composer>,
    /// What would become of files; absent where they stay as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<FilesPlan>,
    /// Calls that would be taken back and of which processes still run: they are ended first, or it is refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub running: Vec<Running>,
    /// What would not change or can't be taken back, a sentence each.
    pub stays: Vec<String>,
}

/// A call of which processes still run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Running {
    /// The entry that made it.
    pub entry: String,
    /// The number of its processes.
    pub processes: usize,
}
