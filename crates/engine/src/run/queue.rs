//! One run behind another: words that are said while a model is at work wait, join it or stop it. Must never lose them: they
//! are in the store before anybody is told that they wait.

use std::sync::Arc;

use futures::stream::BoxStream;
use retake_core::{ConversationId, Fence, NewRun, Part, Run, RunEffect, RunInput, RunState, Steer, Words};
use retake_store::{Receipt, RunsStepped};
use tokio::sync::mpsc;

use super::{Ended, Events, Ground, Outcome, RunEvent, RunRequest, streamed};
use crate::engine::{Claim, Engine};
use crate::error::{EngineError, Kind, Result};

impl Engine {
    /// Words wait behind what runs. Their stream goes on with the run that takes them up.
    pub(super) async fn wait_behind(
        self: &Arc<Self>,
        conversation: ConversationId,
        parts: Vec<Part>,
        seen: Option<retake_core::EntryId>,
        steer: Steer,
        request: RunRequest,
    ) -> Result<BoxStream<'static, RunEvent>> {
        let (events, receiver) = mpsc::channel(64);
        let already = self.waits_already(conversation, &request).await?;
        let seen = match seen {
            Some(seen) => Some(self.store().meta(conversation, seen).await?.pos),
            None => None,
        };
        // Known before the words are: what runs may end at any moment, and whoever takes them up tells their listener.
        Events::new(events.clone()).send(RunEvent::Queued).await;
        self.listeners().entry(conversation).or_default().push(events.clone());
        if !already {
            let by = request.by;
            let words = Words {
                parts,
                author: by.author,
                request: by.request,
                wording: by.wording,
                time: self.now(),
            };
            let new = NewRun { words: Some(words), steer, seen, model: request.model };
            let enqueue = RunInput::Enqueue(new, self.now());
            if let Err(error) = self.store().step_runs(conversation, vec![enqueue]).await {
                self.listeners()
                    .entry(conversation)
                    .or_default()
                    .retain(|other| !other.same_channel(&events));
                return Err(error.into());
            }
        }
        drop(events);
        if steer == Steer::Interrupt {
            self.cancel(conversation);
        }
        // What ran may be over by now: then nobody else takes them up.
        self.next_run(conversation).await;
        Ok(streamed(receiver))
    }

    /// Whether the same request's words wait already.
    async fn waits_already(&self, conversation: ConversationId, request: &RunRequest) -> Result<bool> {
        let Some(id) = &request.by.request else { return Ok(false) };
        let runs = self.store().runs(conversation, 2).await?;
        let queued = runs.iter().filter(|run| run.state == RunState::Queued);
        Ok(queued.flat_map(|run| &run.words).any(|words| words.request.as_ref() == Some(id)))
    }

    /// Takes a step by which words that wait may be said. Their turn is opened before, as any other is; what to tell their
    /// author comes back.
    pub(super) async fn take_words(
        &self,
        conversation: ConversationId,
        step: RunInput,
    ) -> Result<(RunsStepped, Vec<String>)> {
        loop {
            let runs = self.store().runs(conversation, 2).await?;
            let joins = matches!(step, RunInput::Join(..));
            let taken = |run: &&Run| run.state == RunState::Queued && (!joins || run.steer == Steer::Join);
            let waiting = runs.iter().find(taken).map(|run| run.words.clone()).unwrap_or_default();
            let (mut steps, mut notices) = (vec![step.clone()], Vec::new());
            if !waiting.is_empty() {
                // A folder that can't be looked at keeps nobody from being heard.
                notices = self.open_turn(conversation).await.unwrap_or_else(|error| vec![error.to_string()]);
                let mut ready = waiting.clone();
                for words in &mut ready {
                    match self.with_mentions(conversation, words.parts.clone()).await {
                        Ok((parts, found)) => {
                            words.parts = parts;
                            notices.extend(found);
                        }
                        Err(error) => notices.push(error.to_string()),
                    }
                }
                steps.insert(0, RunInput::Ready(waiting, ready, self.now()));
            }
            match self.store().step_runs(conversation, steps).await.map_err(EngineError::from) {
                // More was said meanwhile, or some of it was taken back.
                Err(error) if error.code == "other_words" => {}
                stepped => return Ok((stepped?, notices)),
            }
        }
    }

    /// Asks for a run on what is there, and claims it. What to tell of words that it says comes along.
    pub(super) async fn begin_run(
        &self,
        conversation: ConversationId,
        model: Option<String>,
    ) -> Result<(Fence, Vec<String>)> {
        let new = NewRun { words: None, steer: Steer::Queue, seen: None, model };
        let (ask, claim) = (RunInput::Enqueue(new, self.now()), RunInput::Claim(self.now()));
        let stepped = self.store().step_runs(conversation, vec![ask, claim.clone()]).await;
        let (stepped, notices) = match stepped.map_err(EngineError::from) {
            // Words that an earlier owner has left waiting: they are said, and answered with the rest.
            Err(error) if error.code == "run_waiting" => self.take_words(conversation, claim).await?,
            stepped => (stepped?, Vec::new()),
        };
        let fence = started(&stepped).ok_or_else(|| skipped(&stepped.over))?;
        Ok((fence, notices))
    }

    /// The next run, where one waits and none runs.
    pub(crate) async fn next_run(self: &Arc<Self>, conversation: ConversationId) {
        if let Ok(claim) = self.claim(conversation) {
            self.next_claimed(claim).await;
        }
    }

    /// The same, of who has claimed the conversation.
    pub(super) async fn next_claimed(self: &Arc<Self>, claim: Claim) {
        let conversation = claim.conversation();
        if self.is_halted(conversation) {
            return;
        }
        let Ok((stepped, notices)) = self.take_words(conversation, RunInput::Claim(self.now())).await else {
            return;
        };
        let mut listeners = self.listeners().remove(&conversation).unwrap_or_default();
        let events = match listeners.pop() {
            Some(last) => Events::new(last),
            None => Events::none(),
        };
        let Some(fence) = started(&stepped) else {
            drop(claim);
            let error = Some(skipped(&stepped.over));
            let ended = Ended { outcome: Outcome::Failed, receipt: None, entry: None, error };
            return events.send(RunEvent::Ended(ended)).await;
        };
        for (earlier, receipt) in listeners.into_iter().zip(&stepped.said) {
            Events::new(earlier).send(RunEvent::Ended(joined(receipt))).await;
        }
        if let Err((error, claim)) = self.take_up(claim, stepped, fence, notices, events.clone()).await {
            let failed = retake_core::RunEnding::Failed(error.code.to_owned());
            let end = RunInput::End(fence, failed, self.now());
            // Its words are said: what is left is that nobody answers them.
            drop(self.store().step_runs(conversation, vec![end]).await);
            drop(claim);
            let ended = Ended { outcome: Outcome::Failed, receipt: None, entry: None, error: Some(error) };
            events.send(RunEvent::Ended(ended)).await;
        }
    }

    /// Begins a run that has waited.
    async fn take_up(
        self: &Arc<Self>,
        claim: Claim,
        stepped: RunsStepped,
        fence: Fence,
        notices: Vec<String>,
        events: Events,
    ) -> std::result::Result<(), (EngineError, Claim)> {
        let conversation = claim.conversation();
        let model = stepped.runs.running.and_then(|run| run.model);
        let ground = match stepped.said.into_iter().last() {
            Some(receipt) => self.on_prompt(conversation, receipt, None).await,
            None => self.on_answer(conversation, None).await,
        };
        let begun: Result<_> = async { Ok((ground?, self.choice(model.as_deref()).await?)) }.await;
        match begun {
            Ok((ground, choice)) => {
                self.drive(claim, choice, Ground { stopped: Vec::new(), notices, ..ground }, fence, events);
                Ok(())
            }
            Err(error) => Err((error, claim)),
        }
    }

    /// Who waited with words that are part of what runs now is told so.
    pub(super) async fn joined(&self, conversation: ConversationId, receipt: &Receipt) {
        let first = self.listeners().get_mut(&conversation).and_then(|all| {
            let any = !all.is_empty();
            any.then(|| all.remove(0))
        });
        if let Some(first) = first {
            Events::new(first).send(RunEvent::Ended(joined(receipt))).await;
        }
    }

    /// The words that wait in a conversation, oldest first.
    pub async fn waiting(&self, conversation: ConversationId) -> Result<Vec<Words>> {
        let runs = self.store().runs(conversation, 2).await?;
        let queued = runs.into_iter().find(|run| run.state == RunState::Queued);
        Ok(queued.map(|run| run.words).unwrap_or_default())
    }

    /// Takes back the words that wait: they come back, to be edited.
    pub async fn unqueue(&self, conversation: ConversationId) -> Result<Vec<Words>> {
        let stepped = self.store().step_runs(conversation, vec![RunInput::Unqueue(self.now())]).await?;
        self.tell_unqueued(conversation).await;
        Ok(stepped.over.into_iter().flat_map(|run| run.words).collect())
    }

    /// Who waited with words hears that they will not be said.
    pub(crate) async fn tell_unqueued(&self, conversation: ConversationId) {
        let listeners = self.listeners().remove(&conversation).unwrap_or_default();
        for listener in listeners {
            let error = EngineError::new(
                Kind::Refused,
                "unqueued",
                "the words were taken back before their turn came",
            );
            let ended =
                Ended { outcome: Outcome::RolledBack, receipt: None, entry: None, error: Some(error) };
            Events::new(listener).send(RunEvent::Ended(ended)).await;
        }
    }
}

fn joined(receipt: &Receipt) -> Ended {
    let entry = receipt.entries.first().copied();
    Ended { outcome: Outcome::Joined, receipt: Some(receipt.clone()), entry, error: None }
}

pub(super) fn started(stepped: &RunsStepped) -> Option<Fence> {
    stepped.effects.iter().find_map(|effect| match effect {
        RunEffect::Start(_, fence) => Some(*fence),
        RunEffect::Say(_) | RunEffect::Stop(_) => None,
    })
}

/// Why a run that waited never ran.
pub(super) fn skipped(over: &[Run]) -> EngineError {
    let why = over.iter().find(|run| run.state == RunState::Skipped).and_then(|run| run.error.as_deref());
    match why {
        Some("seen_message_taken_back") => EngineError::new(
            Kind::Stale,
            "skipped",
            "what these words answer was taken back before their turn came",
        )
        .hint("say them again"),
        _ => EngineError::new(Kind::Stale, "skipped", "the conversation has changed before the answer began")
            .hint("ask again"),
    }
}
