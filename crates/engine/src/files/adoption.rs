//! Which files a step adopts, which ones it returns to their turns (spec `rewind.md`, *Adoption*), and which marks stay; for its
//! plan and receipt. Must never change anything.

use std::collections::BTreeMap;

use retake_core::{Action, Apply, ChangeOrigin, ConversationId, Head, Mark, Reason, Scope, SeenState};

use super::note::Note;
use super::options::FileOptions;
use super::planned::FolderPlan;
use crate::Engine;
use crate::error::Result;

impl Engine {
    /// The marks that a restore of a head leaves as they are, and the actions that revert them.
    async fn marks_left(&self, conversation: ConversationId, head: Head) -> Result<Option<Note>> {
        let mut others = self.store().other_marks(conversation, head).await?;
        others.sort_unstable_by_key(|((then, now), _)| (*now, *then));
        let (mut counts, mut back) = (BTreeMap::new(), Vec::new());
        for ((then, now), count) in others {
            *counts.entry(now).or_insert(0) += count;
            let verb = match (then, now) {
                (Mark::Normal, Mark::Excluded) => Reason::Include,
                (Mark::Normal, _) => Reason::Show,
                (Mark::Excluded, _) => Reason::Exclude,
                (Mark::Hidden, _) => Reason::Hide,
                (Mark::Dropped, _) => Reason::Drop,
            };
            if !back.contains(&verb) {
                back.push(verb);
            }
        }
        let marks: Vec<(Mark, u64)> = counts.into_iter().collect();
        Ok((!marks.is_empty()).then_some(Note::MarksStay { head, marks, back }))
    }

    /// Which files an action adopts, which ones it returns to their turns, and which marks stay.
    pub(crate) async fn kept_by(
        &self,
        conversation: ConversationId,
        action: &Action,
        options: &FileOptions,
        files: &[FolderPlan],
    ) -> Result<Vec<Note>> {
        let mut adopted =
            files.iter().flat_map(|folder| &folder.plan.paths).filter(|path| path.adopts).count();
        let mut returned = 0;
        let returns = matches!(action, Action::Checkout(_) | Action::Choose(..));
        if options.restore.is_none()
            && (options.scope == Scope::Conversation || returns)
            && self.store().has_changes(conversation).await?
        {
            let half = options.half(Apply {
                action: action.clone(),
                seen: SeenState::Anything,
                by: ChangeOrigin::default(),
            });
            let wanted = self.store().wanted(conversation, half.action).await?;
            adopted += wanted.adopted;
            returned = wanted.returned;
        }
        let marks = match action {
            Action::Restore(head) if options.scope != Scope::Files => {
                self.marks_left(conversation, *head).await?
            }
            _ => None,
        };
        let own = (adopted > 0).then_some(Note::Adopted { files: adopted });
        let back = (returned > 0).then_some(Note::Returned { files: returned });
        Ok(own.into_iter().chain(back).chain(marks).collect())
    }
}
