//! The branches of a conversation, its forks, and its subagents. Must never hold hidden text.

use serde::{Deserialize, Serialize};

use super::Line;

/// A page of the branches of a conversation, of its forks and its subagents.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tree {
    /// The current head.
    pub head: String,
    /// The branches, oldest first.
    pub branches: Vec<Branch>,
    /// The forks of this conversation. In the order of pages they follow the last branch.
    pub forks: Vec<ForkLine>,
    /// The subagents that answers on the path have started, in the order in which they began. All of them are on each page.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub subagents: Vec<SubagentLine>,
    /// Whether more branches or forks follow.
    #[serde(default)]
    pub more: bool,
}

impl Tree {
    /// The value of `after` for the next page. `None` if there is no next page.
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
        Self { head: next.head, more: next.more, subagents: next.subagents, ..self }
    }
}

/// A branch of the conversation's tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Branch {
    /// The last entry of the branch, its leaf. A checkout of this entry moves to the branch.
    pub leaf: String,
    /// Whether the branch is the current one.
    pub current: bool,
    /// The last entry that the branch shares with an older branch.
    pub from: Option<Line>,
    /// The leaf of that older branch. The entry `from` is one of the own entries of that branch.
    pub onto: Option<String>,
    /// The last entry that both this branch and the current path show. Only for a branch that is not the current one. To see what
    /// differs there, read the log of this `branch` `after` that entry.
    pub shared: Option<Line>,
    /// The first own entry of the branch.
    pub first: Option<Line>,
    /// The entry that names the branch: the first message of a person that is on no other branch. Without one: the first entry
    /// that is on no other branch. None for a branch that only marks the current place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub called: Option<Line>,
    /// The leaf as one line. Hidden text is not shown.
    pub last: Line,
    /// The number of messages on its path from the root.
    pub messages: u64,
    /// The number of its own messages.
    pub own: u64,
    /// A label on one of its own entries.
    pub label: Option<String>,
}

/// A fork of the conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ForkLine {
    /// The id of the fork.
    pub conversation: String,
    /// The title of the fork, or its first message.
    pub title: String,
    /// The entry after which the fork begins.
    pub from: Option<String>,
}

/// A subagent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SubagentLine {
    /// The id of its conversation.
    pub conversation: String,
    /// The name of the agent, and its task in a few words.
    pub title: String,
    /// The answer that asks for it.
    pub entry: String,
    /// The id of the call, as in the events of a run. It names the conversation, too.
    pub call: String,
    /// Whether it is at work.
    pub running: bool,
}
