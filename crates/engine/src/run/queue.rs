//! The queue of runs: messages that arrive during a run wait, join it or stop it. Must never lose them: they are in the store before
//! they are acknowledged.

use std::sync::Arc;

use futures::stream::BoxStream;
use retake_core::{
    ChangeOrigin, ConversationId, Fence, NewRun, Part, Receipt, RequestId, Run, RunEffect, RunInput, RunNo,
    RunState, Steer, Words, joined_text,
};
use retake_store::RunsStepped;

use super::{Ended, Events, Outcome, PreparedRun, RunEvent, RunRequest};
use crate::Engine;
use crate::error::{EngineError, Kind, Result};
use crate::log::LogFailure as _;
use crate::notice::Notice;
use crate::session::Claim;

/// The newest runs, which include those that have just ended.
const RECENT: usize = 8;

impl Engine {
    /// A message waits behind the run at work. Its stream continues with the run that takes the message.
    pub(super) async fn wait_behind(
        self: &Arc<Self>,
        conversation: ConversationId,
        parts: Vec<Part>,
        seen: Option<retake_core::EntryId>,
        steer: Steer,
        request: RunRequest,
    ) -> Result<BoxStream<'static, RunEvent>> {
        let (events, stream) = Events::stream();
        let seen = match seen {
            Some(seen) => Some(self.store().meta(conversation, seen).await?.pos),
            None => None,
        };
        let by = request.by;
        let name = by.request.clone().unwrap_or_else(|| self.new_request_id());
        let words = Words {
            parts,
            author: by.author.clone(),
            request: Some(name.clone()),
            wording: by.wording,
            time: self.now(),
            chat: by.chat.clone(),
        };
        // Registered before the message is stored: the run may end at any moment, and the next one must find this listener.
        events.clone().send(RunEvent::Queued);
        let session = self.session(conversation);
        session.listeners(|all| all.push((name.clone(), events.clone())));
        let new = NewRun { words: Some(words), steer, seen, model: request.model.clone() };
        let enqueue = RunInput::Enqueue(new, self.now());
        let stepped = self.store().step_runs(conversation, vec![enqueue]).await;
        let waits = |stepped: &RunsStepped| {
            let mut words = stepped.runs.queued.iter().flat_map(|run| &run.words);
            words.any(|words| words.request.as_ref() == Some(&name))
        };
        if !stepped.as_ref().is_ok_and(waits) {
            session.listeners(|all| all.retain(|(_, other)| !other.is_of(&events)));
            stepped?;
            // The same request has stored the message meanwhile.
            let receipt = self.store().receipt(conversation, by.clone()).await?;
            let receipt = receipt.ok_or_else(EngineError::running)?;
            return self.run_again(conversation, &by, receipt, request.model.as_deref()).await;
        }
        drop(events);
        if steer == Steer::Interrupt && self.is_behind(conversation, &name).await {
            self.cancel(conversation);
        }
        // The run may be over by now: then nothing else takes the message.
        self.next_run(conversation).await;
        Ok(stream)
    }

    /// Whether the message of a request still waits behind another request's run: a repetition of the request may have stopped
    /// the run, and be answered by now.
    async fn is_behind(&self, conversation: ConversationId, name: &RequestId) -> bool {
        let runs = self.store().runs(conversation, 2).await;
        let Some(runs) = runs.or_log("the run at work is not interrupted") else { return false };
        let mut waiting = runs.iter().filter(|run| run.state == RunState::Queued).flat_map(|run| &run.words);
        waiting.any(|words| words.request.as_ref() == Some(name))
            && self.serving(conversation, name).is_none()
    }

    /// Makes a step by which waiting messages may be sent. Their turn is opened first, like any other; returns the notices for
    /// their author.
    pub(super) async fn take_words(
        &self,
        conversation: ConversationId,
        step: RunInput,
    ) -> Result<(RunsStepped, Vec<Notice>)> {
        loop {
            let runs = self.store().runs(conversation, 2).await?;
            let joins = matches!(step, RunInput::Join(..));
            let taken = |run: &&Run| run.state == RunState::Queued && (!joins || run.steer == Steer::Join);
            let waiting = runs.iter().find(taken).map(|run| run.words.clone()).unwrap_or_default();
            let (mut steps, mut notices) = (vec![step.clone()], Vec::new());
            if !waiting.is_empty() {
                // A folder that cannot be captured does not prevent the message.
                let texts: Vec<String> = waiting.iter().map(|words| joined_text(&words.parts)).collect();
                let opened = self.open_turn(conversation, texts.join("\n")).await;
                notices = opened.unwrap_or_else(|error| vec![Notice::Failed(error)]);
                // A message that joins a run has the mode of the run.
                if !joins {
                    notices.extend(self.note_mode(conversation, None).await.err().map(Notice::Failed));
                }
                let mut ready = waiting.clone();
                for words in &mut ready {
                    match self.with_mentions(conversation, words.parts.clone()).await {
                        Ok((parts, found)) => {
                            words.parts = parts;
                            notices.extend(found);
                        }
                        Err(error) => notices.push(Notice::Failed(error)),
                    }
                }
                steps.insert(0, RunInput::Ready(waiting, ready, self.now()));
            }
            match self.store().step_runs(conversation, steps).await.map_err(EngineError::from) {
                // More messages arrived meanwhile, or some were withdrawn.
                Err(error) if error.code == "other_words" => {}
                stepped => return Ok((stepped?, notices)),
            }
        }
    }

    /// Requests a run on the current path, and claims it. Messages that an earlier owner left waiting are sent and answered with
    /// it; those whose prompt is gone return. Also returns the notices for both.
    pub(super) async fn begin_run(
        &self,
        conversation: ConversationId,
        model: Option<String>,
    ) -> Result<(Fence, Vec<Notice>)> {
        let new = NewRun { words: None, steer: Steer::Queue, seen: None, model };
        let asks = [RunInput::Enqueue(new, self.now()), RunInput::Claim(self.now())];
        let mut notices = Vec::new();
        // More messages may begin to wait while others return.
        loop {
            let stepped =
                self.store().step_runs(conversation, asks.to_vec()).await.map_err(EngineError::from);
            match stepped {
                Err(error) if error.code == "run_waiting" => {}
                Err(error) => return Err(error.also(notices.clone())),
                Ok(stepped) => {
                    let fence =
                        started(&stepped).ok_or_else(|| skipped(&stepped.over).also(notices.clone()))?;
                    return Ok((fence, notices));
                }
            }
            let taken = self.take_words(conversation, RunInput::Claim(self.now())).await;
            let (left, told) = match taken {
                // Somebody has withdrawn them.
                Err(error) if error.code == "nothing_waits" => continue,
                taken => taken.map_err(|error| error.also(notices.clone()))?,
            };
            notices.extend(told);
            if let Some(fence) = started(&left) {
                self.notify_joined(conversation, &left).await;
                return Ok((fence, notices));
            }
            notices.extend(Notice::of_unsent(&self.left_alone(conversation, &left.over)));
            self.notify_unsent(conversation).await;
        }
    }

    /// The messages of ended runs without a waiting client here: an earlier owner left them.
    fn left_alone(&self, conversation: ConversationId, over: &[Run]) -> Vec<Words> {
        self.session(conversation).listeners(|all| {
            let waits = |words: &&Words| all.iter().any(|(name, _)| Some(name) == words.request.as_ref());
            let words = over.iter().flat_map(|run| &run.words);
            words.filter(|words| !waits(words)).cloned().collect()
        })
    }

    /// Returns waiting messages that will not be sent to their authors. Those of an earlier owner go to all of these, and to the
    /// subscribers.
    async fn return_messages(&self, conversation: ConversationId, over: &[Run]) {
        if let Some(told) = Notice::of_unsent(&self.left_alone(conversation, over)) {
            let notice = RunEvent::Notice(told);
            let session = self.session(conversation);
            session.feed.tell(&notice);
            let gone = |name: &RequestId| {
                over.iter().flat_map(|run| &run.words).any(|words| words.request.as_ref() == Some(name))
            };
            session.listeners(|all| {
                for (_, listener) in all.iter().filter(|(name, _)| gone(name)) {
                    listener.answer(notice.clone());
                }
            });
        }
        self.notify_unsent(conversation).await;
    }

    /// The runs from a number on.
    pub(crate) async fn runs_from(&self, conversation: ConversationId, from: RunNo) -> Result<Vec<Run>> {
        let mut runs = self.store().runs(conversation, RECENT).await?;
        // Their numbers have no gap.
        let newest = runs.iter().map(|run| run.no.0).max().unwrap_or(0);
        let since = usize::try_from(newest.saturating_sub(from.0)).unwrap_or(usize::MAX);
        if since >= RECENT {
            runs = self.store().runs(conversation, since.saturating_add(1)).await?;
        }
        runs.retain(|run| run.no >= from);
        Ok(runs)
    }

    /// Begins the next run, if one waits and none is at work.
    pub(crate) async fn next_run(self: &Arc<Self>, conversation: ConversationId) {
        let runs = self.store().runs(conversation, 2).await;
        if runs.is_ok_and(|runs| runs.iter().all(|run| run.state != RunState::Queued)) {
            // The check would keep others out for a moment. A message that begins to wait now checks for itself.
            return;
        }
        // Set before the claim: the holder of the claim checks again at its end.
        if let Some(claim) = self.claim_to_look(conversation) {
            self.next_claimed(claim).await;
        }
    }

    /// The same, for a caller that has claimed the conversation.
    pub(super) async fn next_claimed(self: &Arc<Self>, claim: Claim) {
        let conversation = claim.conversation();
        if !claim.begin_look() {
            return;
        }
        let taken = self.take_words(conversation, RunInput::Claim(self.now())).await;
        // Runs that cannot be stepped now keep waiting.
        let (stepped, notices) = match taken {
            Err(error) if error.code == "nothing_waits" => Default::default(),
            taken => taken.or_log("words wait on").unwrap_or_default(),
        };
        let Some(fence) = started(&stepped) else {
            drop(claim);
            return self.return_messages(conversation, &stepped.over).await;
        };
        claim.hand_on();
        let events = match self.notify_sent(conversation, &stepped).await {
            Some(last) => last,
            None => Events::none(),
        };
        if let Err((error, claim)) = self.take_up(claim, stepped, fence, notices, events.clone()).await {
            let failed = retake_core::RunEnding::Failed(error.code.to_owned());
            let end = RunInput::End(fence, failed, self.now());
            // Its messages are stored; it only remains that nothing answers them.
            let stored = self.store().step_runs(conversation, vec![end]).await;
            stored.or_log("the end of a run is not stored");
            drop(claim);
            let ended = Ended { outcome: Outcome::Failed, receipt: None, entry: None, error: Some(error) };
            ended.log();
            events.send(RunEvent::Ended(ended));
        }
    }

    /// Begins a run that has waited.
    async fn take_up(
        self: &Arc<Self>,
        claim: Claim,
        stepped: RunsStepped,
        fence: Fence,
        notices: Vec<Notice>,
        events: Events,
    ) -> std::result::Result<(), (EngineError, Claim)> {
        let conversation = claim.conversation();
        let model = stepped.runs.running.and_then(|run| run.model);
        let last = stepped.effects.into_iter().rev().find_map(|effect| match effect {
            RunEffect::Say(words) => Some(words),
            _ => None,
        });
        let asked = last.map(|Words { author, request, wording, time, .. }| ChangeOrigin {
            author,
            time,
            request,
            wording,
            ..ChangeOrigin::default()
        });
        let ground = match stepped.said.into_iter().last() {
            Some(receipt) => self.on_prompt(conversation, receipt, None).await,
            None => self.on_answer(conversation, None).await,
        };
        let begun: Result<_> = async { Ok((ground?, self.choice(model.as_deref()).await?)) }.await;
        match begun {
            Ok((ground, choice)) => {
                self.drive(
                    claim,
                    choice,
                    PreparedRun { stopped: Vec::new(), notices, asked, ..ground },
                    fence,
                    events,
                );
                Ok(())
            }
            Err(error) => Err((error, claim)),
        }
    }

    /// Notifies the authors of waiting messages that these are sent now. The last author is returned instead.
    async fn notify_sent(&self, conversation: ConversationId, stepped: &RunsStepped) -> Option<Events> {
        let said = stepped.effects.iter().filter_map(|effect| match effect {
            RunEffect::Say(words) => Some(words.request.as_ref()),
            _ => None,
        });
        let mut last: Option<(Events, &Receipt)> = None;
        for (request, receipt) in said.zip(&stepped.said) {
            let listeners = Events::together(self.waiting_with(conversation, request));
            if let Some(listener) = listeners
                && let Some((earlier, receipt)) = last.replace((listener, receipt))
            {
                earlier.send(RunEvent::Ended(joined(receipt)));
            }
        }
        last.map(|(last, _)| last)
    }

    /// Notifies the authors of waiting messages that these are part of the run at work now.
    pub(super) async fn notify_joined(&self, conversation: ConversationId, stepped: &RunsStepped) {
        if let (Some(last), Some(receipt)) =
            (self.notify_sent(conversation, stepped).await, stepped.said.last())
        {
            last.send(RunEvent::Ended(joined(receipt)));
        }
        self.notify_unsent(conversation).await;
    }

    /// Removes the client that waits with a request's message from the list, and returns it.
    fn waiting_with(&self, conversation: ConversationId, request: Option<&RequestId>) -> Vec<Events> {
        self.session(conversation).listeners(|all| {
            let found = all.extract_if(.., |(name, _)| Some(&*name) == request);
            found.map(|(_, listener)| listener).collect()
        })
    }

    /// The waiting messages of a conversation, oldest first.
    pub async fn waiting(&self, conversation: ConversationId) -> Result<Vec<Words>> {
        let runs = self.store().runs(conversation, 2).await?;
        let queued = runs.into_iter().find(|run| run.state == RunState::Queued);
        Ok(queued.map(|run| run.words).unwrap_or_default())
    }

    /// Withdraws the waiting messages and returns them for editing.
    pub async fn unqueue(&self, conversation: ConversationId) -> Result<Vec<Words>> {
        let stepped = self.store().step_runs(conversation, vec![RunInput::Unqueue(self.now())]).await?;
        self.notify_unsent(conversation).await;
        Ok(stepped.over.into_iter().flat_map(|run| run.words).collect())
    }

    /// Withdraws some of the waiting messages; the others wait on.
    pub(crate) async fn withdraw(&self, conversation: ConversationId, words: Vec<Words>) -> Result<()> {
        self.store().step_runs(conversation, vec![RunInput::Withdraw(words, self.now())]).await?;
        Ok(())
    }

    /// Removes the clients that wait with a message: its author has withdrawn it, and need not be told.
    pub(crate) fn forget_waiting_clients(&self, conversation: ConversationId, words: &Words) {
        drop(self.waiting_with(conversation, words.request.as_ref()));
    }

    /// What becomes of a waiting message that nobody listens for: an earlier owner left it.
    pub(crate) fn listen(
        &self,
        conversation: ConversationId,
        words: &Words,
    ) -> Option<BoxStream<'static, RunEvent>> {
        let name = words.request.clone()?;
        self.session(conversation).listeners(|all| {
            if all.iter().any(|(other, _)| *other == name) {
                return None;
            }
            let (events, stream) = Events::stream();
            all.push((name, events));
            Some(stream)
        })
    }

    /// Notifies clients whose waiting messages will not be sent.
    pub(crate) async fn notify_unsent(&self, conversation: ConversationId) {
        if self.session(conversation).listeners(|all| all.is_empty()) {
            return;
        }
        // If this cannot be read, the next run checks again.
        let runs = self.store().runs(conversation, RECENT).await;
        let runs = runs.or_log("lost messages are reported later").unwrap_or_default();
        let waits = |words: &Words| {
            let live = runs.iter().filter(|run| !run.state.is_over()).flat_map(|run| &run.words);
            live.into_iter().any(|other| other.request == words.request)
        };
        for run in runs.iter().filter(|run| run.state.is_over()) {
            for words in run.words.iter().filter(|words| !waits(words)) {
                for listener in self.waiting_with(conversation, words.request.as_ref()) {
                    listener.send(RunEvent::Ended(ended_unsent(run)));
                }
            }
        }
    }
}

/// The end for a client whose message was never sent.
fn ended_unsent(run: &Run) -> Ended {
    let (outcome, error) = match run.state {
        RunState::Skipped => (Outcome::Failed, skipped(std::slice::from_ref(run))),
        _ => {
            let what = "the message was taken back before its turn came";
            (Outcome::RolledBack, EngineError::new(Kind::Refused, "unqueued", what))
        }
    };
    Ended { outcome, receipt: None, entry: None, error: Some(error) }
}

/// The receipt of this request's message.
pub(super) fn said_of(stepped: &RunsStepped, request: &RequestId) -> Option<Receipt> {
    let said = stepped.effects.iter().filter_map(|effect| match effect {
        RunEffect::Say(words) => Some(words.request.as_ref()),
        _ => None,
    });
    let mut said = said.zip(&stepped.said);
    said.find(|(of, _)| *of == Some(request)).map(|(_, receipt)| receipt.clone())
}

/// The end for a message that has become part of another run.
pub(super) fn joined(receipt: &Receipt) -> Ended {
    let entry = receipt.entries.first().copied();
    Ended { outcome: Outcome::Joined, receipt: Some(receipt.clone()), entry, error: None }
}

pub(super) fn started(stepped: &RunsStepped) -> Option<Fence> {
    stepped.effects.iter().find_map(|effect| match effect {
        RunEffect::Start(_, fence) => Some(*fence),
        RunEffect::Say(_) | RunEffect::Stop(_) => None,
    })
}

/// Why a waiting run never ran.
pub(super) fn skipped(over: &[Run]) -> EngineError {
    let why = over.iter().find(|run| run.state == RunState::Skipped).and_then(|run| run.error.as_deref());
    match why {
        Some("seen_message_taken_back") => EngineError::new(
            Kind::Stale,
            "skipped",
            "the message that this one answers was taken back before its turn came",
        )
        .with("what", "seen_message_taken_back"),
        _ => EngineError::new(Kind::Stale, "skipped", "the conversation has changed before the answer began"),
    }
}
