//! The branches of a conversation, each with a distinguishing text. Must never show hidden text.

use retake_core::{Alternative, Branch, ConversationId, EntryId, EntryLine, Leaf, Path, Pos, Records as _};

use super::Store;
use super::decide::locate;
use super::load::Loaded;
use super::read::{alternatives, first_in, line};
use crate::error::Result;
use crate::rows::Rows;

impl Store {
    /// The branches.
    pub async fn branches(&self, conversation: ConversationId) -> Result<Vec<Branch>> {
        self.with(conversation, branches).await
    }

    /// The alternatives of a visible answer.
    pub async fn alternatives(
        &self,
        conversation: ConversationId,
        entry: EntryId,
    ) -> Result<Vec<Alternative>> {
        self.with(conversation, move |rows, loaded| alternatives(rows, loaded, entry)).await
    }

    /// The answer with the alternatives of an entry: any entry of its turn names it.
    pub async fn answer_named(&self, conversation: ConversationId, entry: EntryId) -> Result<EntryId> {
        self.with(conversation, move |rows, loaded| {
            let records = loaded.records(rows);
            let answer = loaded.conversation.answer_named(&records, locate(rows, loaded, entry)?)?;
            Ok(records.meta(answer)?.id)
        })
        .await
    }
}

/// The branches, oldest first.
pub(super) fn branches(rows: &dyn Rows, loaded: &Loaded) -> Result<Vec<Branch>> {
    let conversation = &loaded.conversation;
    let now = conversation.path();
    let leaves = conversation.tree.leaves();
    let mut branches = Vec::new();
    for leaf in &leaves {
        let path = conversation.tree.path(Some(leaf.pos));
        let own = path.behind(leaf.fork);
        let label = conversation.state.labels.iter().find_map(|(target, name)| match target {
            retake_core::LabelTarget::Entry(pos) if own.contains(*pos) => Some(name.clone()),
            _ => None,
        });
        let current = conversation.is_on_path(leaf.pos);
        let shared = path.common_prefix(&now).filter(|_| !current);
        let shared = shared.and_then(|end| conversation.visible(&path.up_to(Some(end))).last());
        let from = leaf.fork.map(|pos| line(rows, loaded, pos)).transpose()?;
        branches.push(Branch {
            current,
            shared: match shared {
                Some(_) if leaf.fork == shared => from.clone(),
                shared => shared.map(|pos| line(rows, loaded, pos)).transpose()?,
            },
            onto: leaf.onto.map(|pos| id_of(rows, loaded, pos)).transpose()?,
            from,
            first: own.first().map(|pos| line(rows, loaded, pos)).transpose()?,
            called: called(rows, loaded, &path.behind(alone(loaded, leaf, &leaves)))?,
            last: line(rows, loaded, leaf.pos)?,
            messages: path.len(),
            own: own.len(),
            label,
            leaf: *leaf,
        });
    }
    // If the tip is not a leaf, the branch with the newest leaf contains it.
    if let Some(tip) = conversation.state.tip
        && !branches.iter().any(|branch| branch.current && branch.leaf.pos == tip)
    {
        let onto = conversation.tree.branch_of(tip);
        branches.push(Branch {
            leaf: retake_core::Leaf { pos: tip, fork: None, onto: Some(onto) },
            onto: Some(id_of(rows, loaded, onto)?),
            current: true,
            shared: None,
            from: None,
            first: now.first().map(|pos| line(rows, loaded, pos)).transpose()?,
            called: None,
            last: line(rows, loaded, tip)?,
            messages: now.len(),
            own: 0,
            label: None,
        });
    }
    Ok(branches)
}

/// The last entry of a branch that it shares with another branch or with the path: later entries are on this branch alone.
fn alone(loaded: &Loaded, leaf: &Leaf, leaves: &[Leaf]) -> Option<Pos> {
    let conversation = &loaded.conversation;
    let leaving = leaves.iter().filter(|other| other.onto == Some(leaf.pos)).filter_map(|other| other.fork);
    let tip = conversation.state.tip.filter(|tip| *tip != leaf.pos);
    let tip = tip.filter(|tip| conversation.tree.branch_of(*tip) == leaf.pos);
    leaving.chain(leaf.fork).chain(tip).max()
}

/// The name of a branch: the first message of a person on it alone, or else its first entry there.
fn called(rows: &dyn Rows, loaded: &Loaded, alone: &Path) -> Result<Option<EntryLine>> {
    match first_in(rows, loaded, &loaded.conversation.visible(alone))? {
        Some(line) => Ok(Some(line)),
        None => alone.first().map(|pos| line(rows, loaded, pos)).transpose(),
    }
}

/// The id of an entry.
fn id_of(rows: &dyn Rows, loaded: &Loaded, pos: Pos) -> Result<EntryId> {
    Ok(rows.meta(loaded.key(pos)?)?.id)
}
