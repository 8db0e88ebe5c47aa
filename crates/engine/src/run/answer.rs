//! Calls the model and stores its answer: chunks become events, the whole answer is stored. The output before a stop or a cut
//! is kept, marked interrupted.

use std::time::Duration;

use futures::StreamExt;
use futures::stream::BoxStream;
use retake_core::{ChangeOrigin, EntryId, Flags, Part, Pos, Role, RunInput, SayRequest, TurnInput};
use retake_store::StreamRow;

use super::RunEvent;
use super::compact::{bytes_of, fixed_bytes};
use super::drive::{BEAT, Driver};
use super::repaired::repaired;
use crate::error::{EngineError, Result};
use crate::log::{self, LogFailure as _};
use crate::model::{Answer, Chunk, EndReason, ModelError, Prompt, ToolSpec};
use crate::notice::Notice;

/// How often a stream in progress is saved: a crash loses no more than this.
const SAVE_EVERY: Duration = Duration::from_secs(1);

/// Why the stream of chunks ended.
pub(super) enum Close {
    /// The model finished.
    Done,
    /// The run was stopped.
    Stopped,
    /// The model failed.
    Failed(EngineError),
    /// The fence is no longer valid: nothing may be stored.
    Fenced,
}

impl Driver {
    /// Calls the model with the current prompt, joined messages included.
    pub(super) async fn ask_model(&mut self) -> TurnInput {
        let prompt = match self.prepared_prompt().await {
            Ok(prompt) => prompt,
            Err(error) if error.code == "fenced" => return self.not_stored(error),
            Err(error) => {
                self.so_far.error = Some(error);
                return TurnInput::Broken;
            }
        };
        let mut answer = Answer::default();
        let id = self.engine.new_entry_id();
        if self.so_far.stored.is_none() && self.ground.failed.is_some() {
            // Persisted first, so that crash recovery reverts the step. Without the row the step stays, and undo reverts it.
            self.save(id, Vec::new()).await.or_log("after a crash this step would stay");
        }
        let (mut bytes, fixed) = (bytes_of(&prompt), fixed_bytes(&prompt));
        let chunks = self.choice.model.stream(prompt);
        let mut close = self.listen(Some(id), chunks, &mut answer).await;
        if answer.is_empty()
            && matches!(&close, Close::Failed(error) if error.is_too_long())
            && let Some(prompt) = self.after_too_long(bytes - fixed).await
        {
            bytes = bytes_of(&prompt);
            let chunks = self.choice.model.stream(prompt);
            close = self.listen(Some(id), chunks, &mut answer).await;
        }
        self.measure(bytes, &answer);
        match self.keep(id, &answer, close).await {
            Ok(input) => input,
            Err(error) => self.not_stored(error),
        }
    }

    /// The prompt, after what has become known since the last answer.
    async fn prepared_prompt(&mut self) -> Result<Prompt> {
        self.note_touched().await?;
        self.join().await?;
        self.folds_again().await?;
        let prompt = self.prompt().await?;
        self.fitting(prompt).await
    }

    /// Waiting messages that may join become part of the run.
    async fn join(&mut self) -> Result<()> {
        let conversation = self.claim.conversation();
        let join = RunInput::Join(self.fence, self.engine.now());
        let (stepped, notices) = self.engine.take_words(conversation, join).await?;
        for notice in notices {
            self.events.send(RunEvent::Notice(notice));
        }
        self.engine.notify_joined(conversation, &stepped).await;
        if !stepped.said.is_empty() {
            drop(self.turn.step(TurnInput::Joined));
        }
        for receipt in stepped.said {
            let depth = self.engine.store().snapshot(conversation).await?.conversation().tree.depth();
            let prompt = Pos::new(depth, receipt.head.seq.0);
            self.ground.answering = retake_core::AnswerPlace { turn: Some(prompt), tip: Some(prompt) };
            self.so_far.stored = Some(receipt.clone());
            self.events.send(RunEvent::Joined(receipt));
        }
        Ok(())
    }

    /// The prompt for the model.
    pub(super) async fn prompt(&self) -> Result<Prompt> {
        let conversation = self.claim.conversation();
        let messages = self.messages().await?;
        let snapshot = self.engine.store().snapshot(conversation).await?;
        let now = snapshot.conversation();
        let siblings = now.tree.children(now.state.tip).len();
        Ok(Prompt {
            system: self.scene.system.clone(),
            messages,
            tools: self.tool_specs(),
            variant: u32::try_from(siblings).unwrap_or(u32::MAX),
        })
    }

    /// The tools for the model.
    pub(super) fn tool_specs(&self) -> Vec<ToolSpec> {
        self.scene.tools.all().map(|tool| ToolSpec::of(&**tool)).collect()
    }

    /// Stores the answer so far, and returns the calls that it requests.
    async fn keep(&mut self, id: EntryId, answer: &Answer, close: Close) -> Result<TurnInput> {
        let mut parts = answer.parts();
        let empty = parts.iter().all(|part| matches!(part, Part::Text(text) if text.trim().is_empty()));
        let interrupted = match close {
            Close::Fenced => return Ok(TurnInput::Fenced),
            Close::Done if empty && self.so_far.stored.is_none() => {
                self.so_far.error = Some(EngineError::empty_answer(&self.model));
                return Ok(TurnInput::Broken);
            }
            // After its calls, a model may have nothing more to say.
            Close::Done if empty => return Ok(TurnInput::Answered(Vec::new())),
            Close::Done => false,
            Close::Stopped => {
                // No call runs while the model answers: the stop only needs to be recorded.
                drop(self.turn.step(TurnInput::Stop));
                true
            }
            Close::Failed(error) => {
                self.so_far.error = Some(error);
                true
            }
        };
        if empty {
            return Ok(TurnInput::Broken);
        }
        let repairs = if interrupted { Vec::new() } else { repaired(&self.scene.tools, &mut parts) };
        let by = match self.so_far.stored {
            None => self.ground.by.clone(),
            Some(_) => None,
        };
        let by = by.unwrap_or_else(|| self.engine.by(None));
        let say = SayRequest {
            flags: Flags { interrupted, ..Flags::default() },
            usage: answer.usage(),
            answering: Some(self.answering()),
            fence: Some(self.fence),
            ..SayRequest::new(
                id,
                Role::Assistant,
                parts.clone(),
                ChangeOrigin { author: self.model.clone(), time: self.engine.now(), ..by },
            )
        };
        let receipt = self.engine.store().say(self.claim.conversation(), say).await?;
        let entry = receipt.entries.first().copied().unwrap_or(id);
        self.so_far.stored = Some(receipt);
        self.so_far.answer = Some(entry);
        if interrupted {
            return Ok(TurnInput::Broken);
        }
        let asked = self.prepare(entry, &parts, repairs);
        if !asked.is_empty() {
            self.events.send(RunEvent::Answered(entry));
        }
        Ok(TurnInput::Answered(asked))
    }

    /// Collects the answer until it ends, is stopped or fails. Without an id, it is neither saved nor shown.
    pub(super) async fn listen(
        &mut self,
        id: Option<EntryId>,
        mut chunks: BoxStream<'static, Result<Chunk, ModelError>>,
        answer: &mut Answer,
    ) -> Close {
        let clock = std::sync::Arc::clone(&self.engine.parts().clock);
        let (mut save, mut beat) = (clock.sleep(SAVE_EVERY), clock.sleep(BEAT));
        loop {
            tokio::select! {
                biased;
                () = self.claim.stopped() => return Close::Stopped,
                () = &mut beat => {
                    beat = clock.sleep(BEAT);
                    if self.beat().await.is_some() {
                        return Close::Fenced;
                    }
                }
                () = &mut save => {
                    save = clock.sleep(SAVE_EVERY);
                    if let Some(id) = id
                        && !answer.is_empty()
                        && let Err(error) = self.save(id, answer.parts()).await
                    {
                        if !std::mem::replace(&mut self.so_far.is_logged, true) {
                            log::failed(&error, "the answer so far is not saved");
                        }
                        self.events.send(RunEvent::Notice(Notice::AnswerNotSaved(error)));
                    }
                }
                chunk = chunks.next() => match chunk {
                    None => return Close::Done,
                    Some(Err(error)) => return Close::Failed(EngineError::model(&error)),
                    Some(Ok(chunk)) => {
                        answer.push(chunk.clone());
                        let end = matches!(chunk, Chunk::End(_));
                        let is_shown = id.is_some() || matches!(chunk, Chunk::Retry { .. });
                        if let Some(event) = event(chunk).filter(|_| is_shown) {
                            self.events.send(event);
                        }
                        if end {
                            return Close::Done;
                        }
                    }
                }
            }
        }
    }

    /// Saves the answer so far, outside the log.
    async fn save(&self, id: EntryId, parts: Vec<Part>) -> Result<()> {
        let row = StreamRow {
            conversation: self.claim.conversation(),
            entry: id,
            answering: self.answering(),
            step: self.ground.failed.filter(|_| self.so_far.stored.is_none()),
            author: self.model.clone(),
            parts,
        };
        Ok(self.engine.store().save_stream(self.claim.conversation(), Some(row)).await?)
    }
}

/// The event for a chunk.
fn event(chunk: Chunk) -> Option<RunEvent> {
    match chunk {
        Chunk::Text(text) => Some(RunEvent::Text(text)),
        Chunk::Reasoning(text) => Some(RunEvent::Reasoning(text)),
        Chunk::Retry { wait, kind, detail } => Some(RunEvent::Notice(Notice::Retry { wait, kind, detail })),
        Chunk::End(reason) => remark(&reason).map(RunEvent::Notice),
        Chunk::Part(_) | Chunk::Usage(_) => None,
    }
}

/// The notice about an answer that did not end by itself.
fn remark(reason: &EndReason) -> Option<Notice> {
    match reason {
        EndReason::Length => Some(Notice::AnswerCut),
        EndReason::Refusal => Some(Notice::ModelRefused),
        EndReason::Stop | EndReason::ToolUse | EndReason::Other(_) => None,
    }
}
