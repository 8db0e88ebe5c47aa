//! What a step makes the person's own, what it gives back to its turns (spec `rewind.md`, *Adoption*), and which marks it leaves: said
//! in its plan and its receipt. Must never change anything.

use std::collections::BTreeMap;

use retake_core::{Action, Apply, By, ConversationId, Head, Mark, Scope, Seen};

use super::options::FileOptions;
use super::plan::FolderPlan;
use crate::Engine;
use crate::error::Result;

impl Engine {
    /// The marks that a return to a head leaves as they are, and what takes them back.
    async fn marks_left(&self, conversation: ConversationId, head: Head) -> Result<Option<String>> {
        let mut others = self.store().other_marks(conversation, head).await?;
        others.sort_unstable_by_key(|((then, now), _)| (*now, *then));
        let (mut counts, mut back) = (BTreeMap::new(), Vec::new());
        for ((then, now), count) in others {
            *counts.entry(now).or_insert(0) += count;
            let verb = match (then, now) {
                (Mark::Normal, Mark::Excluded) => "include",
                (Mark::Normal, _) => "show",
                (Mark::Excluded, _) => "exclude",
                (Mark::Hidden, _) => "hide",
                (Mark::Dropped, _) => "drop",
            };
            let command = format!("`retake {verb}`");
            if !back.contains(&command) {
                back.push(command);
            }
        }
        let pieces = counts.into_iter().enumerate().map(|(at, (now, count))| {
            let now = if now == Mark::Normal { "shown" } else { now.name() };
            match (at, count) {
                (0, 1) => format!("1 message {now}"),
                (0, count) => format!("{count} messages {now}"),
                (_, count) => format!("{count} {now}"),
            }
        });
        let pieces: Vec<String> = pieces.collect();
        let (pieces, back) = (pieces.join(", "), back.join(", "));
        let line =
            format!("marks stay as they are now, not as at {head}: {pieces}; take that back with {back}");
        Ok(Some(line).filter(|_| !pieces.is_empty()))
    }

    /// Which files become the person's own with an action, which belong to their turns again, and which marks stay: a sentence each.
    pub(crate) async fn kept_by(
        &self,
        conversation: ConversationId,
        action: &Action,
        wish: &FileOptions,
        files: &[FolderPlan],
    ) -> Result<Vec<String>> {
        let mut adopted =
            files.iter().flat_map(|folder| &folder.plan.paths).filter(|path| path.adopts).count();
        let mut returned = 0;
        let returns = matches!(action, Action::Checkout(_) | Action::Choose(..));
        if wish.restore.is_none()
            && (wish.scope == Scope::Conversation || returns)
            && self.store().has_changes(conversation).await?
        {
            let half = wish.half(Apply { action: action.clone(), seen: Seen::Anything, by: By::default() });
            let wanted = self.store().wanted(conversation, half.action).await?;
            adopted += wanted.adopted;
            returned = wanted.returned;
        }
        let files = |count: usize, one: &str, more: &str| match count {
            1 => format!("1 file {one}"),
            count => format!("{count} files {more}"),
        };
        let own = files(
            adopted,
            "becomes your own: later steps treat it as your edit",
            "become your own: later steps treat them as your edits",
        );
        let back = files(returned, "belongs to its turn again", "belong to their turns again");
        let lines = [(adopted, own), (returned, back)];
        let lines = lines.into_iter().filter(|(count, _)| *count > 0).map(|(_, line)| line);
        let marks = match action {
            Action::Restore(head) if wish.scope != Scope::Files => {
                self.marks_left(conversation, *head).await?
            }
            _ => None,
        };
        Ok(lines.chain(marks).collect())
    }
}
