//! Carries a run through: chunks to events, the answer to the store.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::BoxStream;
use retake_core::{ConversationId, EntryId, Flags, Part, Role};
use retake_store::{Action, Apply, By, Receipt, SayRequest, StreamRow};
use tokio::sync::mpsc;

use super::{Ended, Events, Ground, Outcome, RunEvent, name_of};
use crate::engine::{Claim, Engine};
use crate::error::{EngineError, Kind, Result};
use crate::model::{Answer, Choice, Chunk, EndReason, ModelError, Prompt};

/// A stream in progress is saved this often: a crash loses no more.
const SAVE_EVERY: Duration = Duration::from_secs(1);

/// Why the chunks ended.
enum Close {
    /// The model was done.
    Done,
    /// Somebody stopped it.
    Stopped,
    /// The model failed.
    Failed(EngineError),
}

impl Engine {
    /// Runs to the end. Every way out is an `Ended`.
    pub(super) async fn drive(
        self: Arc<Self>,
        claim: Claim,
        choice: Choice,
        ground: Ground,
        events: mpsc::Sender<RunEvent>,
    ) {
        let events = Events(events);
        let model = name_of(&choice);
        events.send(RunEvent::Started(ground.receipt.clone(), model.clone())).await;
        let mut answer = Answer::default();
        let close = match self.prompt_of(claim.conversation(), &ground).await {
            Ok(prompt) => {
                let mut run = Run {
                    engine: &self,
                    claim: &claim,
                    ground: &ground,
                    model: &model,
                    id: self.new_entry_id(),
                };
                run.begin().await;
                run.listen(choice.model.stream(prompt), &mut answer, &events).await
            }
            Err(error) => Close::Failed(error),
        };
        let ended = self.end(claim.conversation(), &ground, model, &answer, close).await;
        // Freed before the last event, so that whoever waits for it can go on at once.
        drop(claim);
        events.send(RunEvent::Ended(ended)).await;
    }

    /// What the model is asked.
    async fn prompt_of(&self, conversation: ConversationId, ground: &Ground) -> Result<Prompt> {
        let messages = self.store().prompt(conversation, None).await?;
        let snapshot = self.store().snapshot(conversation).await?;
        let siblings = snapshot.conversation().tree.children(ground.answering.tip).len();
        Ok(Prompt {
            system: self.parts().system_prompt.clone(),
            messages,
            tools: Vec::new(),
            variant: u32::try_from(siblings).unwrap_or(u32::MAX),
        })
    }

    /// Stores what came, or takes back what came to nothing.
    async fn end(
        &self,
        conversation: ConversationId,
        ground: &Ground,
        model: String,
        answer: &Answer,
        close: Close,
    ) -> Ended {
        let parts = answer.parts();
        let empty = parts.iter().all(|part| matches!(part, Part::Text(text) if text.trim().is_empty()));
        let (outcome, error) = match close {
            Close::Stopped if empty => return self.roll_back(conversation, ground).await,
            Close::Failed(error) if empty => return self.fail(conversation, ground, error).await,
            Close::Done if empty => {
                let error =
                    EngineError::new(Kind::Model, "empty_answer", format!("{model} gave an empty answer"));
                return self
                    .fail(conversation, ground, error.hint("ask again, or choose another model"))
                    .await;
            }
            Close::Done => (Outcome::Succeeded, None),
            Close::Stopped => (Outcome::Interrupted, None),
            Close::Failed(error) => (Outcome::Interrupted, Some(error)),
        };
        let by = ground.by.clone().unwrap_or_else(|| self.by(None));
        let flags = Flags { interrupted: outcome == Outcome::Interrupted, ..Flags::default() };
        let say = SayRequest {
            id: self.new_entry_id(),
            role: Role::Assistant,
            parts,
            flags,
            time: None,
            usage: answer.usage(),
            platform_id: None,
            seen: None,
            answering: Some(ground.answering),
            by: By { author: model, time: self.now(), ..by },
        };
        match self.store().say(conversation, say).await {
            Ok(receipt) => {
                Ended { outcome, entry: receipt.entries.first().copied(), receipt: Some(receipt), error }
            }
            Err(error) => {
                Ended { outcome: Outcome::Failed, receipt: None, entry: None, error: Some(error.into()) }
            }
        }
    }

    /// Stopped before any output: the turn is taken back, and what it went back for.
    async fn roll_back(&self, conversation: ConversationId, ground: &Ground) -> Ended {
        let mut receipt: Option<Receipt> = None;
        for step in &ground.stopped {
            let compensate = Apply {
                action: Action::Compensate(*step),
                seen: retake_core::Seen::Anything,
                by: self.by(None),
            };
            match self.store().apply(conversation, compensate).await {
                Ok(next) => {
                    let composer = receipt.and_then(|first| first.composer).or(next.composer);
                    receipt = Some(Receipt { composer, ..next });
                }
                // Somebody has said something since: the prompt stays.
                Err(error) => {
                    let error = Some(error.into());
                    return Ended { outcome: Outcome::Interrupted, receipt, entry: None, error };
                }
            }
        }
        self.forget_stream(conversation).await;
        Ended { outcome: Outcome::RolledBack, receipt, entry: None, error: None }
    }

    /// The model failed before any output: the prompt stays, a step back for another answer is taken back.
    async fn fail(&self, conversation: ConversationId, ground: &Ground, error: EngineError) -> Ended {
        let mut receipt = None;
        if let Some(step) = ground.failed {
            let compensate = Apply {
                action: Action::Compensate(step),
                seen: retake_core::Seen::Anything,
                by: self.by(None),
            };
            receipt = self.store().apply(conversation, compensate).await.ok();
        }
        self.forget_stream(conversation).await;
        Ended { outcome: Outcome::Failed, receipt, entry: None, error: Some(error) }
    }

    async fn forget_stream(&self, conversation: ConversationId) {
        // A row that stays is dealt with at the next start.
        drop(self.store().save_stream(conversation, None).await);
    }
}

/// A run whose chunks are coming in.
struct Run<'a> {
    engine: &'a Engine,
    claim: &'a Claim,
    ground: &'a Ground,
    model: &'a str,
    id: EntryId,
}

impl Run<'_> {
    /// Writes down that another answer is asked for, so that a crash before any of it takes the step back back.
    async fn begin(&mut self) {
        if self.ground.failed.is_some() {
            // Without the row a crash leaves the step back in place, where undo takes it back.
            drop(self.save(Vec::new()).await);
        }
    }

    /// Gathers the answer until it ends, is stopped or fails.
    async fn listen(
        &mut self,
        mut chunks: BoxStream<'static, Result<Chunk, ModelError>>,
        answer: &mut Answer,
        events: &Events,
    ) -> Close {
        let clock = &self.engine.parts().clock;
        let mut save = clock.sleep(SAVE_EVERY);
        loop {
            tokio::select! {
                biased;
                () = self.claim.stopped() => return Close::Stopped,
                () = &mut save => {
                    save = clock.sleep(SAVE_EVERY);
                    if !answer.is_empty()
                        && let Err(error) = self.save(answer.parts()).await
                    {
                        let text = format!("{error}; the answer so far is not saved");
                        events.send(RunEvent::Notice(text)).await;
                    }
                }
                chunk = chunks.next() => match chunk {
                    None => return Close::Done,
                    Some(Err(error)) => return Close::Failed(EngineError::model(&error)),
                    Some(Ok(chunk)) => {
                        answer.push(chunk.clone());
                        let end = matches!(chunk, Chunk::End(_));
                        if let Some(event) = event(chunk) {
                            events.send(event).await;
                        }
                        if end {
                            return Close::Done;
                        }
                    }
                }
            }
        }
    }

    /// Saves what has come so far, outside the log.
    async fn save(&self, parts: Vec<Part>) -> Result<()> {
        let row = StreamRow {
            conversation: self.claim.conversation(),
            entry: self.id,
            answering: self.ground.answering,
            step: self.ground.failed,
            author: self.model.to_owned(),
            parts,
        };
        Ok(self.engine.store().save_stream(self.claim.conversation(), Some(row)).await?)
    }
}

/// What listeners are told of a chunk.
fn event(chunk: Chunk) -> Option<RunEvent> {
    match chunk {
        Chunk::Text(text) => Some(RunEvent::Text(text)),
        Chunk::Reasoning(text) => Some(RunEvent::Reasoning(text)),
        Chunk::Notice(text) => Some(RunEvent::Notice(text)),
        Chunk::End(reason) => remark(&reason).map(RunEvent::Notice),
        Chunk::Part(_) | Chunk::Usage(_) => None,
    }
}

/// What to say of an answer that did not end by itself.
fn remark(reason: &EndReason) -> Option<String> {
    match reason {
        EndReason::Length => Some("the answer was cut at the model's limit".into()),
        EndReason::Refusal => Some("the model refused to go on".into()),
        EndReason::Stop | EndReason::ToolUse | EndReason::Other(_) => None,
    }
}
