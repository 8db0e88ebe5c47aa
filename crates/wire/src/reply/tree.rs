//! The branches of a conversation, and its forks. Must never hold hidden text.

use serde::{Deserialize, Serialize};

use super::Line;

/// The branches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tree {
    /// The head.
    pub head: String,
    /// Oldest first.
    pub branches: Vec<Branch>,
    /// Forks of this conversation, behind all branches.
    pub forks: Vec<ForkLine>,
    /// Whether there are more.
    #[serde(default)]
    pub more: bool,
}

impl Tree {
    /// Where the next page begins, for `after`; nothing, where there is none.
    pub fn next(&self) -> Option<String> {
        let branch = self.branches.last().map(|branch| &branch.leaf);
        let last = self.forks.last().map(|fork| &fork.conversation).or(branch);
        last.filter(|_| self.more).cloned()
    }

    /// This page and the next one together.
    #[must_use]
    pub fn with(mut self, next: Self) -> Self {
        self.branches.extend(next.branches);
        self.forks.extend(next.forks);
        Self { head: next.head, more: next.more, ..self }
    }
}

/// A branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Branch {
    /// Its leaf: check this out.
    pub leaf: String,
    /// Whether it is the one that is the conversation now.
    pub current: bool,
    /// The last entry that it shares with an older branch.
    pub from: Option<Line>,
    /// The leaf of that older branch, of which that entry is an own one.
    pub onto: Option<String>,
    /// The last entry that it and what is the conversation now both show, where it is another branch. Read a log of this `branch`
    /// `after` that entry to see what is different there.
    pub shared: Option<Line>,
    /// The first entry of its own.
    pub first: Option<Line>,
    /// What it can be called by: the first message of a person among the entries that are on no other branch, else the first of
    /// these entries. None of a branch that only shows where the conversation is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub called: Option<Line>,
    /// Its leaf in one line; hidden text is not shown.
    pub last: Line,
    /// Messages on its path from the root.
    pub messages: u64,
    /// Messages of its own.
    pub own: u64,
    /// A label on one of its own entries.
    pub label: Option<String>,
}

/// A fork.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ForkLine {
    /// The conversation.
    pub conversation: String,
    /// Its title or first message.
    pub title: String,
    /// The entry it begins after.
    pub from: Option<String>,
}
