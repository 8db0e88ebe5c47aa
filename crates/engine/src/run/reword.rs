//! Another wording of a message: the step back, with what it does to files, and the words in its place. The words are in the
//! store before anything is taken back, so that none are lost.

use std::sync::Arc;

use retake_core::{ConversationId, EntryId, Fence, NewRun, Part, RunEnding, RunInput, Seen, Steer, Words};
use retake_store::{Action, Apply, By, Receipt};

use super::queue::{said_of, skipped, started};
use crate::engine::{Claim, Engine, not_blank};
use crate::error::Result;
use crate::files::{FilesWish, Scope};

/// Words in the place of others.
pub(super) struct Reworded {
    /// The step back.
    pub(super) moved: Receipt,
    /// The words.
    pub(super) said: Receipt,
    /// The leave to write of the run that they began, where they began one.
    pub(super) fence: Option<Fence>,
}

impl Engine {
    /// Says something else in the place of a message, in one step; no model is called.
    pub async fn edit(
        self: &Arc<Self>,
        conversation: ConversationId,
        entry: EntryId,
        parts: Vec<Part>,
        files: FilesWish,
        seen: Seen,
        by: By,
    ) -> Result<Receipt> {
        let claim = self.claim(conversation)?;
        let reworded = self.reword(&claim, entry, parts, files, seen, by).await?;
        if let Some(fence) = reworded.fence {
            let end = RunInput::End(fence, RunEnding::Succeeded, self.now());
            self.store().step_runs(conversation, vec![end]).await?;
        }
        Ok(reworded.said)
    }

    /// The step back, and what is said there. The request is that of the words.
    pub(super) async fn reword(
        self: &Arc<Self>,
        claim: &Claim,
        entry: EntryId,
        parts: Vec<Part>,
        files: FilesWish,
        seen: Seen,
        by: By,
    ) -> Result<Reworded> {
        not_blank(&parts)?;
        let conversation = claim.conversation();
        let back = Apply { action: Action::Edit(entry), seen, by: By { request: None, ..by.clone() } };
        let takes_files = files.scope != Scope::Conversation
            && self.takes_files(conversation, &back.action, &files).await?;
        if !takes_files {
            let (moved, said) = self.store().say_at(conversation, back, self.prompt(parts, by)).await?;
            return Ok(Reworded { moved, said, fence: None });
        }
        if self.queued(conversation).await?.is_some() {
            // What waits here answers what goes; these words must not go along with it.
            self.unqueue(conversation).await?;
        }
        // Files take more than one transaction: the words wait in the store meanwhile, and are said when the step is done.
        let name = by.request.unwrap_or_else(|| self.new_request_id());
        let words = Words {
            parts,
            author: by.author,
            request: Some(name.clone()),
            wording: by.wording,
            time: self.now(),
        };
        let new = NewRun { words: Some(words), steer: Steer::Queue, seen: None, model: None };
        let runs = |input| self.store().step_runs(conversation, vec![input]);
        runs(RunInput::Enqueue(new, self.now())).await?;
        let moved = match self.apply_claimed(claim, back, files).await {
            Ok(moved) => moved,
            Err(error) => {
                // Whoever wanted them said has them still.
                runs(RunInput::Unqueue(self.now())).await?;
                self.tell_gone(conversation).await;
                return Err(error);
            }
        };
        let stepped = runs(RunInput::Claim(self.now())).await?;
        let fence = started(&stepped);
        let said = said_of(&stepped, &name);
        self.tell_joined(conversation, &stepped).await;
        match (said, fence) {
            (Some(said), Some(fence)) => Ok(Reworded { moved, said, fence: Some(fence) }),
            _ => Err(skipped(&stepped.over)),
        }
    }
}
