//! Ends a run at work, if requested, before a step reverts its turn. Waiting messages of clients return to the author of the step; those
//! of chats are answered after it. Must never end a run if the step would be refused anyway, nor lose a message.

use std::sync::Arc;
use std::time::Duration;

use retake_core::{
    Action, Apply, ConversationId, Head, OpNo, OpRange, Planned, Principal, Reason, Receipt, Refusal, Run,
    RunNo, RunState, Scope, SeenState, Unanswered, Words,
};
use retake_store::{ActionContext, ActionContextRequest, StoreError};

use super::apply::AppliedFiles;
use super::effects::Effects;
use super::note::Note;
use super::options::FileOptions;
use super::uncaptured::{UNSEEN, Uncaptured};
use crate::Engine;
use crate::agent::JOBS;
use crate::error::{EngineError, Kind, Result};
use crate::notice::Notice;
use crate::session::Claim;

/// How long a run has to end after it was stopped.
const TO_END: Duration = Duration::from_secs(10);

impl Engine {
    /// An action that is not a repeated request: the run at work is ended first, if requested.
    pub(super) async fn apply_first(
        self: &Arc<Self>,
        conversation: ConversationId,
        apply: Apply,
        options: FileOptions,
    ) -> Result<AppliedFiles> {
        let traits = apply.action.traits();
        if traits.needs_exact_head {
            // Checked first: a stale request is refused with the current head.
            let now = self.head(conversation).await?;
            match options.stop && self.is_running(conversation) {
                true => fits(apply.seen, now)?,
                false => apply.seen.fits(now).map_err(StoreError::from)?,
            }
        }
        // A step on files alone reverts no call.
        let calls_go = options.scope != Scope::Files && !matches!(apply.action, Action::Files(_));
        let outlook = self.ahead(conversation, &apply.action, options.scope).await?;
        let effects = if calls_go { outlook.effects.clone() } else { Vec::new() };
        let effects = self.left_behind(conversation, effects).await;
        let unanswered = if calls_go { outlook.unanswered.clone() } else { Vec::new() };
        // A running call has its result when the run is ended.
        let cut_off = effects.cut_off(unanswered, self.is_running(conversation));
        let of_ancestors = self.of_ancestors(conversation, &apply.action, &options).await?;
        let may = StoppableRuns::of(&outlook.runs);
        let keeps_all = matches!(apply.by.principal, Principal::Member { .. });
        let halting = (options.stop && self.is_running(conversation)).then(|| self.halting(conversation));
        let halted = halting.is_some();
        let done = match halted {
            true => self.halt_and_apply(conversation, apply, options).await,
            false => self.apply_idle(conversation, apply, options, &outlook).await,
        };
        drop(halting);
        let mut waited = Vec::new();
        if done.is_ok() && traits.moves_tip {
            // A chat has no composer: what waits there, is answered after the step.
            waited = self.returned_messages(conversation, may, halted && !keeps_all).await?;
        }
        if halted {
            self.next_run(conversation).await;
        }
        let done = done?;
        let ended = match outlook.facts.filter(|_| traits.moves_tip) {
            Some(jobs) => {
                let ended = self.ended_since(conversation, &jobs).await;
                ended.map_err(|error| error.also(Notice::of_unsent(&waited)))?
            }
            None => Vec::new(),
        };
        let notes = [done.notes, of_ancestors].concat();
        Ok(AppliedFiles { notes, effects, cut_off, waited, ended, ..done })
    }

    /// The effects that stay after an action that reverts calls, reported with its result.
    pub(crate) async fn leaves(
        &self,
        of: ConversationId,
        action: &Action,
        options: &FileOptions,
    ) -> Result<RemainingEffects> {
        let ActionContext { effects, said, unanswered, .. } = self.ahead(of, action, options.scope).await?;
        let unseen = self.unseen(of, &said, options).await?;
        let of_ancestors = self.of_ancestors(of, action, options).await?;
        let effects = self.left_behind(of, effects).await;
        let cut_off = effects.cut_off(unanswered, false);
        Ok(RemainingEffects { effects, unseen, cut_off, of_ancestors })
    }

    /// Ends the run at work, then applies the action: what the run stores until its end is reverted too.
    async fn halt_and_apply(
        self: &Arc<Self>,
        conversation: ConversationId,
        apply: Apply,
        options: FileOptions,
    ) -> Result<AppliedFiles> {
        let before = self.head(conversation).await?;
        fits(apply.seen, before)?;
        if !apply.action.traits().moves_tip {
            self.end_run(conversation).await?;
            return self.apply_ended(conversation, apply, options).await;
        }
        let planned = self.plan(conversation, apply.action.clone()).await?;
        let all = match apply.action {
            Action::Undo(count) => count == 1,
            // No message came since: the run began with this prompt, if the action goes back to it.
            Action::Rewind(entry) | Action::Edit(entry) => {
                let last = self.store().answering(conversation).await?.tip;
                Some(self.store().meta(conversation, entry).await?.pos) == last
            }
            _ => false,
        };
        if all {
            self.halted_for(conversation, apply.by.clone());
        }
        self.end_run(conversation).await?;
        let head = self.head(conversation).await?;
        let back = self.taken_back_since(conversation, before, head).await?;
        // A run without output reverts its own turn when it is stopped: that part is done already.
        let action = match apply.action {
            Action::Undo(count) if !back.is_empty() => match count - 1 {
                0 => return self.done_already(conversation, back, planned).await,
                rest => Action::Undo(rest),
            },
            Action::Rewind(entry) | Action::Edit(entry) if !back.is_empty() => {
                let at = self.store().meta(conversation, entry).await?.pos;
                let snapshot = self.store().snapshot(conversation).await?;
                if !snapshot.conversation().is_on_path(at) {
                    return self.done_already(conversation, back, planned).await;
                }
                apply.action
            }
            action => action,
        };
        let apply = Apply { action, seen: SeenState::Exactly(head), ..apply };
        self.apply_ended(conversation, apply, options).await
    }

    /// Applies the action after the run has ended.
    async fn apply_ended(
        self: &Arc<Self>,
        conversation: ConversationId,
        apply: Apply,
        options: FileOptions,
    ) -> Result<AppliedFiles> {
        let outlook = self.ahead(conversation, &apply.action, options.scope).await?;
        self.apply_idle(conversation, apply, options, &outlook).await
    }

    /// The information that is needed before an action.
    pub(super) async fn ahead(
        &self,
        of: ConversationId,
        action: &Action,
        scope: Scope,
    ) -> Result<ActionContext> {
        let action = (!matches!(action, Action::Files(_))).then(|| action.clone());
        let asked = ActionContextRequest { action, facts: JOBS.to_owned(), said: UNSEEN.to_owned() };
        match self.store().action_context(of, asked.clone()).await {
            // The conversation has nothing to revert and stays as it is; files may change.
            Err(StoreError::Refused(_)) if scope == Scope::Files => {
                Ok(self.store().action_context(of, ActionContextRequest { action: None, ..asked }).await?)
            }
            outlook => Ok(outlook?),
        }
    }

    /// Stops the run of a conversation, and waits until it is over.
    async fn end_run(&self, conversation: ConversationId) -> Result<()> {
        if !self.cancel(conversation) {
            return Ok(());
        }
        let patience = self.parts().clock.sleep(TO_END);
        tokio::select! {
            biased;
            () = self.until_idle(conversation) => Ok(()),
            () = patience => {
                let what = format!("what runs here was stopped, and is not over after {} seconds", TO_END.as_secs());
                Err(EngineError::new(Kind::Refused, "run_active", what)
                    .with("waited_s", TO_END.as_secs()))
            }
        }
    }

    /// Ends the run at work, and claims the conversation for another one before the waiting run begins. Also returns the head
    /// that the new run must have seen.
    pub(crate) async fn claim_halting(
        self: &Arc<Self>,
        conversation: ConversationId,
        seen: SeenState,
    ) -> Result<(Claim, SeenState)> {
        let halting = self.halting(conversation);
        fits(seen, self.head(conversation).await?)?;
        self.end_run(conversation).await?;
        let claim = self.claim(conversation)?;
        drop(halting);
        let now = self.head(conversation).await?;
        Ok((claim, if seen == SeenState::Anything { seen } else { SeenState::Exactly(now) }))
    }

    /// The operations since a head with which a stopped run has reverted its own turn.
    async fn taken_back_since(&self, of: ConversationId, before: Head, now: Head) -> Result<Vec<OpNo>> {
        let limit = usize::try_from(now.op.0 - before.op.0).unwrap_or(usize::MAX);
        if limit == 0 {
            return Ok(Vec::new());
        }
        let page = self.store().ops(of, OpRange { before: None, limit }).await?;
        let back = page.ops.into_iter().filter(|line| matches!(line.op.reason, Reason::Compensate(_)));
        let mut back: Vec<OpNo> = back.map(|line| line.op.no).collect();
        back.sort_unstable();
        Ok(back)
    }

    /// The receipt of an action that the end of the run has already done.
    async fn done_already(
        &self,
        conversation: ConversationId,
        ops: Vec<OpNo>,
        planned: Planned,
    ) -> Result<AppliedFiles> {
        let now = self.store().snapshot(conversation).await?;
        let receipt = Receipt {
            conversation,
            head: now.conversation().head,
            revision: now.conversation().revision,
            ops,
            entries: Vec::new(),
            unchanged: false,
            taken_back: planned.plan.taken_back,
            brought_back: planned.plan.brought_back,
            lifted: planned.plan.lifted,
            composer: planned.composer.map(|(entry, _)| entry),
        };
        Ok(AppliedFiles::without_files(receipt))
    }

    /// The runs whose messages a step may return from here on.
    pub(crate) async fn may_wait(&self, conversation: ConversationId) -> Result<StoppableRuns> {
        Ok(StoppableRuns::of(&self.store().runs(conversation, 2).await?))
    }

    /// The messages whose prompt a step has reverted, or that waited for the run that it ended. Their waiting clients are
    /// informed, too.
    pub(crate) async fn returned_messages(
        &self,
        conversation: ConversationId,
        may: StoppableRuns,
        halted: bool,
    ) -> Result<Vec<Words>> {
        // A sender listens before it waits: without a listener no message has come since.
        if !may.waits && !halted && self.session(conversation).listeners(|all| all.is_empty()) {
            return Ok(Vec::new());
        }
        let runs = self.runs_from(conversation, may.from).await?;
        let waits = runs.iter().any(|run| run.state == RunState::Queued);
        let gone = runs
            .into_iter()
            .filter(|run| run.state == RunState::Canceled && run.error.as_deref() == Some("rewound"));
        let mut words: Vec<Words> = gone.flat_map(|run| run.words).collect();
        if halted && waits {
            // Messages of chats are not those of the author of the step.
            let mut own = self.waiting(conversation).await?;
            own.retain(|words| words.chat.is_none());
            if !own.is_empty() {
                let withdrawn = self.withdraw(conversation, own.clone()).await;
                withdrawn.map_err(|error| error.also(Notice::of_unsent(&words)))?;
                words.extend(own);
            }
        }
        self.notify_unsent(conversation).await;
        Ok(words)
    }
}

/// The effects of an action that stay.
pub(crate) struct RemainingEffects {
    effects: Effects,
    unseen: Uncaptured,
    cut_off: Vec<Unanswered>,
    of_ancestors: Vec<Note>,
}

impl AppliedFiles {
    /// Adds the effects that stay.
    pub(crate) fn leaving(self, leaves: RemainingEffects) -> Self {
        let RemainingEffects { effects, unseen, cut_off, of_ancestors } = leaves;
        let notes = [self.notes, of_ancestors].concat();
        Self { notes, effects, unseen, cut_off, ..self }
    }
}

/// Runs whose messages a step may return.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoppableRuns {
    /// The waiting run, or the next one.
    from: RunNo,
    /// Whether one waits.
    waits: bool,
}

impl StoppableRuns {
    /// Computed from the newest runs.
    fn of(runs: &[Run]) -> Self {
        let waiting = runs.iter().find(|run| run.state == RunState::Queued).map(|run| run.no);
        let newest = runs.iter().map(|run| run.no.0).max().unwrap_or(0);
        Self { from: waiting.unwrap_or(RunNo(newest + 1)), waits: waiting.is_some() }
    }
}

/// Refuses a stale request. Entries that the run has appended since do not make it stale.
fn fits(seen: SeenState, now: Head) -> Result<()> {
    match seen {
        SeenState::Exactly(seen) | SeenState::Since(seen) if seen.op != now.op || seen.seq > now.seq => {
            Err(StoreError::from(Refusal::Stale { seen, now }).into())
        }
        _ => Ok(()),
    }
}
