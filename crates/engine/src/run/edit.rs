//! Another wording of a message: the step back, with what it does to files, and the words in its place. The words are in the
//! store before anything is taken back, so that none are lost.

use std::sync::Arc;

use futures::future::BoxFuture;

use retake_core::{
    Action, Apply, By, ConversationId, EntryId, Fence, NewRun, Part, Receipt, Run, RunEnding, RunInput,
    RunState, Seen, Steer, Words,
};

use super::queue::{said_of, skipped, started};
use crate::error::{EngineError, Result};
use crate::files::{AppliedFiles, FileOptions, Scope};
use crate::notice::Notice;
use crate::session::Claim;
use crate::{Engine, not_blank};

/// A message that replaces another one.
pub(super) struct Reworded {
    /// The step back.
    pub(super) moved: AppliedFiles,
    /// The new message.
    pub(super) said: Receipt,
    /// Words that waited here, and will not be said: they come back.
    pub(super) waited: Vec<Words>,
    /// The fence of the run that they began, where they began one.
    pub(super) fence: Option<Fence>,
}

impl Engine {
    /// Says something else instead of a message, in one step; no model is called. Words that waited for a run, and answer what
    /// is gone by it, come back with what became of the step back.
    pub fn edit(
        self: &Arc<Self>,
        conversation: ConversationId,
        entry: EntryId,
        parts: Vec<Part>,
        files: FileOptions,
        seen: Seen,
        by: By,
    ) -> BoxFuture<'_, Result<(Receipt, AppliedFiles)>> {
        Box::pin(async move {
            let claim = self.claim(conversation)?;
            let reworded = self.reword(&claim, entry, parts, files, seen, by).await?;
            if let Some(fence) = reworded.fence {
                let end = RunInput::End(fence, RunEnding::Succeeded, self.now());
                let ended = self.store().step_runs(conversation, vec![end]).await.map_err(EngineError::from);
                ended.map_err(|error| error.also(Notice::of_unsent(&reworded.waited)))?;
            }
            Ok((reworded.said, AppliedFiles { waited: reworded.waited, ..reworded.moved }))
        })
    }

    /// The step back, and the new message. The request is that of the message.
    pub(super) async fn reword(
        self: &Arc<Self>,
        claim: &Claim,
        entry: EntryId,
        parts: Vec<Part>,
        files: FileOptions,
        seen: Seen,
        by: By,
    ) -> Result<Reworded> {
        not_blank(&parts)?;
        let conversation = claim.conversation();
        let back = Apply { action: Action::Edit(entry), seen, by: By { request: None, ..by.clone() } };
        let leaves = self.leaves(conversation, &back.action, &files).await?;
        let takes_files = files.scope != Scope::Conversation
            && self.takes_files(conversation, &back.action, &files).await?;
        if !takes_files {
            let may = self.may_wait(conversation).await?;
            let kept = self.kept_by(conversation, &back.action, &files, &[]).await?;
            let back = files.half(back);
            let (moved, said) = self.store().say_at(conversation, back, self.prompt(parts, by)).await?;
            let moved = AppliedFiles::without_files(moved).leaving(leaves);
            let notes = [kept, moved.notes].concat();
            let moved = AppliedFiles { scope: files.scope, notes, ..moved };
            let waited = self.returned_messages(conversation, may, false).await?;
            return Ok(Reworded { moved, said, waited, fence: None });
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
        let runs = |inputs| self.store().step_runs(conversation, inputs);
        // What waits here answers what goes; these words must not go along with it.
        let waiting = self.store().runs(conversation, 2).await?;
        let waiting = waiting.into_iter().find(|run| run.state == RunState::Queued);
        let room = waiting.as_ref().map(|_| RunInput::Unqueue(self.now()));
        runs(room.into_iter().chain([RunInput::Enqueue(new, self.now())]).collect()).await?;
        let moved = match self.apply_claimed(claim, back, files).await {
            Ok(moved) => moved.leaving(leaves),
            Err(error) => {
                // Whoever wanted them said has them still. What waited before waits again, and nobody was told otherwise.
                let again =
                    waiting.into_iter().flat_map(waits_again).map(|new| RunInput::Enqueue(new, self.now()));
                runs([RunInput::Unqueue(self.now())].into_iter().chain(again).collect()).await?;
                self.notify_unsent(conversation).await;
                return Err(error);
            }
        };
        let waited = waiting.map(|run| run.words).unwrap_or_default();
        let stepped = runs(vec![RunInput::Claim(self.now())]).await.map_err(EngineError::from);
        let stepped = stepped.map_err(|error| error.also(Notice::of_unsent(&waited)))?;
        let fence = started(&stepped);
        let said = said_of(&stepped, &name);
        self.notify_joined(conversation, &stepped).await;
        match (said, fence) {
            (Some(said), Some(fence)) => Ok(Reworded { moved, said, waited, fence: Some(fence) }),
            _ => Err(skipped(&stepped.over).also(Notice::of_unsent(&waited))),
        }
    }
}

/// Asks once more for what a run has waited with.
fn waits_again(run: Run) -> Vec<NewRun> {
    let Run { words, steer, tail, model, .. } = run;
    let again = |words| NewRun { words, steer, seen: tail.entry, model: model.clone() };
    if words.is_empty() {
        vec![again(None)]
    } else {
        words.into_iter().map(|words| again(Some(words))).collect()
    }
}
