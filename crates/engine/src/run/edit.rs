//! An edit: the move with its file changes, and the new message. The message is stored before anything is reverted, so it
//! cannot be lost.

use std::sync::Arc;

use futures::future::BoxFuture;

use retake_core::{
    Action, Apply, ChangeOrigin, ConversationId, EntryId, Fence, NewRun, Part, Receipt, Run, RunEnding,
    RunInput, RunState, SeenState, Steer, Words,
};

use super::queue::{said_of, skipped, started};
use crate::error::{EngineError, Result};
use crate::files::{AppliedFiles, FileOptions, Scope};
use crate::notice::Notice;
use crate::session::Claim;
use crate::{Engine, not_blank};

/// The result of an edit.
pub(super) struct EditResult {
    /// The move.
    pub(super) moved: AppliedFiles,
    /// The receipt of the new message.
    pub(super) said: Receipt,
    /// Messages that waited here and will not be sent: they return to their author.
    pub(super) waited: Vec<Words>,
    /// The fence of the run that they began, if any.
    pub(super) fence: Option<Fence>,
}

impl Engine {
    /// Replaces a message in one step, without a call of the model. Messages that waited for a run and whose prompt is gone
    /// return with the result.
    pub fn edit(
        self: &Arc<Self>,
        conversation: ConversationId,
        entry: EntryId,
        parts: Vec<Part>,
        files: FileOptions,
        seen: SeenState,
        by: ChangeOrigin,
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

    /// Moves back and stores the new message. The request id belongs to the message.
    pub(super) async fn reword(
        self: &Arc<Self>,
        claim: &Claim,
        entry: EntryId,
        parts: Vec<Part>,
        files: FileOptions,
        seen: SeenState,
        by: ChangeOrigin,
    ) -> Result<EditResult> {
        not_blank(&parts)?;
        let conversation = claim.conversation();
        let back =
            Apply { action: Action::Edit(entry), seen, by: ChangeOrigin { request: None, ..by.clone() } };
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
            return Ok(EditResult { moved, said, waited, fence: None });
        }
        // Files need more than one transaction: the message waits in the store meanwhile, and is appended when the step is
        // done.
        let name = by.request.unwrap_or_else(|| self.new_request_id());
        let words = Words {
            parts,
            author: by.author,
            request: Some(name.clone()),
            wording: by.wording,
            time: self.now(),
            chat: by.chat,
        };
        let new = NewRun { words: Some(words), steer: Steer::Queue, seen: None, model: None };
        let runs = |inputs| self.store().step_runs(conversation, inputs);
        // Messages that wait here lose their prompt; the new message must not be returned with them.
        let waiting = self.store().runs(conversation, 2).await?;
        let waiting = waiting.into_iter().find(|run| run.state == RunState::Queued);
        let room = waiting.as_ref().map(|_| RunInput::Unqueue(self.now()));
        // Messages of chats are answered after the new one.
        let of_chats = waiting.clone().into_iter().flat_map(waits_again);
        let of_chats = of_chats.filter(|new| new.words.as_ref().is_some_and(|words| words.chat.is_some()));
        let of_chats = of_chats.map(|new| RunInput::Enqueue(NewRun { seen: None, ..new }, self.now()));
        let enqueue = [RunInput::Enqueue(new, self.now())];
        runs(room.into_iter().chain(enqueue).chain(of_chats).collect()).await?;
        let moved = match self.apply_claimed(claim, back, files).await {
            Ok(moved) => moved.leaving(leaves),
            Err(error) => {
                // The client still has the message. Earlier waiting messages wait again without a notice.
                let again =
                    waiting.into_iter().flat_map(waits_again).map(|new| RunInput::Enqueue(new, self.now()));
                runs([RunInput::Unqueue(self.now())].into_iter().chain(again).collect()).await?;
                self.notify_unsent(conversation).await;
                return Err(error);
            }
        };
        let mut waited = waiting.map(|run| run.words).unwrap_or_default();
        waited.retain(|words| words.chat.is_none());
        let stepped = runs(vec![RunInput::Claim(self.now())]).await.map_err(EngineError::from);
        let stepped = stepped.map_err(|error| error.also(Notice::of_unsent(&waited)))?;
        let fence = started(&stepped);
        let said = said_of(&stepped, &name);
        self.notify_joined(conversation, &stepped).await;
        match (said, fence) {
            (Some(said), Some(fence)) => Ok(EditResult { moved, said, waited, fence: Some(fence) }),
            _ => Err(skipped(&stepped.over).also(Notice::of_unsent(&waited))),
        }
    }
}

/// Queues the messages of a waiting run again.
fn waits_again(run: Run) -> Vec<NewRun> {
    let Run { words, steer, tail, model, .. } = run;
    let again = |words| NewRun { words, steer, seen: tail.entry, model: model.clone() };
    if words.is_empty() {
        vec![again(None)]
    } else {
        words.into_iter().map(|words| again(Some(words))).collect()
    }
}
