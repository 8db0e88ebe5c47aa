//! Carries out a run: it performs the effects that core's machines decide, and gives them the results. It must
//! decide nothing itself.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use retake_core::{
    AnswerPlace, CallPrint, EntryId, Fence, Receipt, Run, RunEnding, RunInput, Turn, TurnEffect, TurnEnd,
    TurnInput,
};
use tokio::sync::{mpsc, watch};

use super::call::Ready;
use super::compact::TOKENS_PER_BYTE;
use super::event::Decision;
use super::setup::RunSetup;
use super::{Ended, Events, Outcome, PreparedRun, RunEvent, name_of};
use crate::Engine;
use crate::error::{EngineError, Result};
use crate::log::{self, LogFailure as _};
use crate::model::Choice;
use crate::session::Claim;

/// How often a run renews its claim.
pub(super) const BEAT: Duration = Duration::from_secs(5);

/// The events that wake a run.
#[derive(Debug)]
pub(crate) enum Inbox {
    /// A person has decided on the call with this key.
    Decided(String, Decision),
    /// The call with this key has ended, and its result is stored, with this digest, or could not be stored.
    Ended(String, Result<Option<CallPrint>>),
}

/// A run at work.
pub(super) struct Driver {
    pub(super) engine: Arc<Engine>,
    pub(super) claim: Claim,
    pub(super) choice: Choice,
    pub(super) ground: PreparedRun,
    pub(super) events: Events,
    pub(super) scene: RunSetup,
    pub(super) fence: Fence,
    /// The model's name.
    pub(super) model: String,
    pub(super) turn: Turn,
    /// The calls of the last answer, by key.
    pub(super) calls: HashMap<String, Ready>,
    pub(super) inbox: mpsc::UnboundedSender<Inbox>,
    pub(super) woken: mpsc::UnboundedReceiver<Inbox>,
    /// Tells the running calls to stop.
    pub(super) halt: watch::Sender<bool>,
    pub(super) so_far: RunProgress,
}

/// The results of a run so far.
pub(super) struct RunProgress {
    /// The receipt of the last entry that the run stored.
    pub(super) stored: Option<Receipt>,
    /// The last answer.
    pub(super) answer: Option<EntryId>,
    /// The error, if it failed.
    pub(super) error: Option<EngineError>,
    /// Folders that calls have touched since the model was last asked.
    pub(super) touched: BTreeSet<PathBuf>,
    /// Whether another run waits.
    waits_behind: bool,
    /// How many tokens the model counts for a byte of a prompt.
    pub(super) tokens_per_byte: f64,
    /// Whether a summary has failed: it is not tried before each call again.
    pub(super) no_summary: bool,
    /// Whether summaries were made again that hidden messages had put out of force.
    pub(super) has_folded_again: bool,
    /// Whether the person was told that a prompt is too long.
    pub(super) is_warned: bool,
    /// Whether the model has refused a prompt as too long.
    pub(super) was_too_long: bool,
    /// Whether a failure to store was logged already.
    pub(super) is_logged: bool,
}

impl Default for RunProgress {
    fn default() -> Self {
        Self {
            stored: None,
            answer: None,
            error: None,
            touched: BTreeSet::new(),
            waits_behind: false,
            tokens_per_byte: TOKENS_PER_BYTE,
            no_summary: false,
            has_folded_again: false,
            is_warned: false,
            was_too_long: false,
            is_logged: false,
        }
    }
}

impl Driver {
    pub(super) fn new(
        engine: Arc<Engine>,
        claim: Claim,
        choice: Choice,
        ground: PreparedRun,
        fence: Fence,
        scene: RunSetup,
        events: Events,
    ) -> Self {
        let (inbox, woken) = mpsc::unbounded_channel();
        let (model, turn) = (name_of(&choice), Turn::new(scene.limit));
        let (halt, _) = watch::channel(false);
        Self {
            engine,
            claim,
            choice,
            ground,
            events,
            scene,
            fence,
            model,
            turn,
            calls: HashMap::new(),
            inbox,
            woken,
            halt,
            so_far: RunProgress::default(),
        }
    }

    /// Runs to the end, which is always an `Ended`.
    pub(super) async fn run(mut self) {
        let ended = match self.ground.compaction.take() {
            Some(compaction) => self.only_compacts(&compaction).await,
            None => {
                let end = self.work().await;
                self.close(end).await
            }
        };
        ended.log();
        let Self { engine, claim, events, so_far: RunProgress { waits_behind, .. }, .. } = self;
        // The claim is handed on or released before the last event, so that its receiver can continue at once.
        let ended = RunEvent::Ended(ended);
        // From here on, a repeated request gets the stored result.
        claim.serves(None);
        if waits_behind {
            // Subscribers get the end of this run before the beginning of the next one.
            events.tell(&ended);
            engine.next_claimed(claim).await;
        } else {
            drop(claim);
            events.tell(&ended);
        }
        events.answer(ended);
    }

    async fn work(&mut self) -> TurnEnd {
        let mut todo: VecDeque<TurnEffect> = self.turn.step(TurnInput::Begin).into();
        loop {
            while let Some(effect) = todo.pop_front() {
                let input = match effect {
                    TurnEffect::Over(end) => return end,
                    TurnEffect::AskModel => Some(self.ask_model().await),
                    TurnEffect::Look(key) => Some(self.look(key).await),
                    TurnEffect::RequestApproval(key) => self.request_approval(key).await,
                    TurnEffect::DropApproval(key) => {
                        self.withdraw(key);
                        None
                    }
                    TurnEffect::Run(key) => {
                        self.start(&key).await;
                        None
                    }
                    TurnEffect::Refuse(key) => Some(self.refuse(key).await),
                    TurnEffect::RefuseRepeat(key) => Some(self.refuse_repeat(key).await),
                    TurnEffect::StopCalls => {
                        self.halt.send_replace(true);
                        None
                    }
                };
                todo.extend(input.into_iter().flat_map(|input| self.turn.step(input)));
            }
            let input = self.wake().await;
            todo.extend(input.into_iter().flat_map(|input| self.turn.step(input)));
        }
    }

    /// Waits for the next event.
    async fn wake(&mut self) -> Option<TurnInput> {
        let beat = self.engine.parts().clock.sleep(BEAT);
        tokio::select! {
            biased;
            () = self.claim.stopped() => Some(TurnInput::Stop),
            Some(word) = self.woken.recv() => match word {
                Inbox::Decided(key, decision) => Some(self.decided(key, decision).await),
                Inbox::Ended(key, Ok(result)) => Some(TurnInput::Ended(key, result)),
                Inbox::Ended(_, Err(error)) => Some(self.not_stored(error)),
            },
            () = beat => self.beat().await,
        }
    }

    /// Renews the claim, and finds out whether the run's fence is no longer valid.
    pub(super) async fn beat(&mut self) -> Option<TurnInput> {
        let input = RunInput::Beat(self.fence, self.engine.now());
        match self.engine.store().step_runs(self.claim.conversation(), vec![input]).await {
            Ok(_) => None,
            Err(error) => {
                let error = EngineError::from(error);
                if !std::mem::replace(&mut self.so_far.is_logged, true) {
                    log::failed(&error, "a sign of life of the run is not stored");
                }
                (error.code == "fenced").then(|| self.not_stored(error))
            }
        }
    }

    /// Ends the run because its output cannot be stored.
    pub(super) fn not_stored(&mut self, error: EngineError) -> TurnInput {
        self.so_far.error = Some(error);
        TurnInput::Fenced
    }

    /// The entry that the run's next entry answers.
    pub(super) fn answering(&self) -> AnswerPlace {
        self.ground.answering
    }

    /// Reports the end of the run to the scheduler; returns the run that waits.
    pub(super) async fn over(&mut self, ending: RunEnding) -> Option<Run> {
        let over = RunInput::End(self.fence, ending, self.engine.now());
        // Refused if the run was already ended; then the next waiting run is looked up.
        let stepped = self.engine.store().step_runs(self.claim.conversation(), vec![over]).await;
        let queued = stepped.or_log("the end of a run is not stored").and_then(|stepped| stepped.runs.queued);
        self.so_far.waits_behind = queued.is_some();
        queued
    }

    /// Reports the end of the run to the scheduler, then to the listeners.
    async fn close(&mut self, end: TurnEnd) -> Ended {
        let ending = match (end, &self.so_far.error) {
            (TurnEnd::Done | TurnEnd::Limit | TurnEnd::Repeats, _) => RunEnding::Succeeded,
            (TurnEnd::Stopped, _) => RunEnding::Canceled,
            (TurnEnd::Broken | TurnEnd::Fenced, Some(error)) => RunEnding::Failed(error.code.to_owned()),
            (TurnEnd::Broken | TurnEnd::Fenced, None) => RunEnding::Failed("unknown_error".to_owned()),
        };
        let queued = self.over(ending).await;
        self.so_far.waits_behind |= end == TurnEnd::Fenced;
        // Messages after the prompt keep it from being reverted: they would go with it.
        let answered =
            queued.and_then(|run| run.tail.entry).is_some_and(|seen| Some(seen) == self.answering().tip);
        let nothing = self.so_far.stored.is_none();
        let error = self.so_far.error.take();
        match end {
            TurnEnd::Stopped if nothing && !answered => {
                return self.engine.roll_back(&self.claim, &self.ground).await;
            }
            TurnEnd::Broken if nothing => {
                let error = error.unwrap_or_else(|| EngineError::empty_answer(&self.model));
                return self.engine.fail(&self.claim, &self.ground, error).await;
            }
            _ => {}
        }
        let (outcome, error) = match end {
            TurnEnd::Done => (Outcome::Succeeded, error),
            TurnEnd::Limit => (Outcome::Interrupted, Some(EngineError::too_many_steps(self.scene.limit))),
            TurnEnd::Repeats => (Outcome::Interrupted, Some(EngineError::repeated_calls(self.repeated()))),
            TurnEnd::Stopped | TurnEnd::Broken | TurnEnd::Fenced => (Outcome::Interrupted, error),
        };
        Ended { outcome, receipt: self.so_far.stored.take(), entry: self.so_far.answer, error }
    }
}
