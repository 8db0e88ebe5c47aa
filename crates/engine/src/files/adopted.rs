//! What a step makes the person's own, and what it gives back to its turns (spec `rewind.md`, *Adoption*): said in its plan and its
//! receipt. Must never change anything.

use retake_core::{By, ConversationId, Scope, Seen};
use retake_store::{Action, Apply};

use super::plan::FolderPlan;
use super::wish::FilesWish;
use crate::engine::Engine;
use crate::error::Result;

impl Engine {
    /// Which files become the person's own with an action, and which belong to their turns again: a sentence each.
    pub(crate) async fn kept_by(
        &self,
        conversation: ConversationId,
        action: &Action,
        wish: &FilesWish,
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
        Ok(lines.into_iter().filter(|(count, _)| *count > 0).map(|(_, line)| line).collect())
    }
}
