//! A run that is at work is ended, where that is wanted, before its ground is taken away; words that wait come back to the one
//! who takes it away. Must never end one where the step would be refused anyway, nor lose a word.

use std::sync::Arc;
use std::time::Duration;

use retake_core::{
    Action, Apply, ConversationId, Head, OpNo, OpRange, Planned, Reason, Receipt, Refusal, Run, RunNo,
    RunState, Scope, Seen, Unanswered, Words,
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

/// How long a run has to end after it was asked to.
const TO_END: Duration = Duration::from_secs(10);

impl Engine {
    /// An action that comes for the first time: what is at work is ended first, where that is wanted.
    pub(super) async fn apply_first(
        self: &Arc<Self>,
        conversation: ConversationId,
        apply: Apply,
        options: FileOptions,
    ) -> Result<AppliedFiles> {
        let traits = apply.action.traits();
        if traits.needs_exact_head {
            // Before anything is looked for: who saw another state is told so, and gets the head of now.
            let now = self.head(conversation).await?;
            match options.stop && self.is_running(conversation) {
                true => fits(apply.seen, now)?,
                false => apply.seen.fits(now).map_err(StoreError::from)?,
            }
        }
        // Where only files are meant, all calls stay where they are.
        let calls_go = options.scope != Scope::Files && !matches!(apply.action, Action::Files(_));
        let outlook = self.ahead(conversation, &apply.action, options.scope).await?;
        let effects = if calls_go { outlook.effects.clone() } else { Vec::new() };
        let effects = self.left_behind(conversation, effects).await;
        let unanswered = if calls_go { outlook.unanswered.clone() } else { Vec::new() };
        // What runs has its results when it is ended.
        let at_work = self.is_running(conversation);
        let unanswered = unanswered.into_iter().filter(|call| !(call.newest && at_work)).collect();
        let of_ancestors = self.of_ancestors(conversation, &apply.action, &options).await?;
        let may = MayWait::of(&outlook.runs);
        let halting = (options.stop && self.is_running(conversation)).then(|| self.halting(conversation));
        let halted = halting.is_some();
        let done = match halted {
            true => self.halt_and_apply(conversation, apply, options).await,
            false => self.apply_idle(conversation, apply, options, &outlook).await,
        };
        drop(halting);
        let mut waited = Vec::new();
        if done.is_ok() && traits.moves_tip {
            waited = self.returned_messages(conversation, may, halted).await?;
        } else if halted {
            // What they answer is still there.
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
        Ok(AppliedFiles { notes, effects, unanswered, waited, ended, ..done })
    }

    /// What an action leaves that takes calls back, to be told with what it did.
    pub(crate) async fn leaves(
        &self,
        of: ConversationId,
        action: &Action,
        options: &FileOptions,
    ) -> Result<Remaining> {
        let ActionContext { effects, said, unanswered, .. } = self.ahead(of, action, options.scope).await?;
        let unseen = self.unseen(of, &said, options).await?;
        let of_ancestors = self.of_ancestors(of, action, options).await?;
        Ok(Remaining { effects: self.left_behind(of, effects).await, unseen, unanswered, of_ancestors })
    }

    /// Ends the run that is at work, and then does what was asked: what the run has stored until its end goes along.
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
            // Nothing has been said since: the run has begun with it, if it is what it goes back to.
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
        // A run that had said nothing takes its own turn back when it is stopped: that much is done already.
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
        let apply = Apply { action, seen: Seen::Exactly(head), ..apply };
        self.apply_ended(conversation, apply, options).await
    }

    /// Does what was asked, after what the run has done until its end.
    async fn apply_ended(
        self: &Arc<Self>,
        conversation: ConversationId,
        apply: Apply,
        options: FileOptions,
    ) -> Result<AppliedFiles> {
        let outlook = self.ahead(conversation, &apply.action, options.scope).await?;
        self.apply_idle(conversation, apply, options, &outlook).await
    }

    /// What is to be known before an action is done.
    pub(super) async fn ahead(
        &self,
        of: ConversationId,
        action: &Action,
        scope: Scope,
    ) -> Result<ActionContext> {
        let action = (!matches!(action, Action::Files(_))).then(|| action.clone());
        let asked = ActionContextRequest { action, facts: JOBS.to_owned(), said: UNSEEN.to_owned() };
        match self.store().action_context(of, asked.clone()).await {
            // The conversation has nothing to take back, but it stays as it is; files may have.
            Err(StoreError::Refused(_)) if scope == Scope::Files => {
                Ok(self.store().action_context(of, ActionContextRequest { action: None, ..asked }).await?)
            }
            outlook => Ok(outlook?),
        }
    }

    /// Asks the run of a conversation to stop, and waits until it is over.
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
                Err(EngineError::new(Kind::Refused, "run_active", what).hint("try again when it is over"))
            }
        }
    }

    /// Ends the run that is at work, and claims the conversation for another one, before what waits is taken up; with what that one has
    /// to have seen.
    pub(crate) async fn claim_halting(
        self: &Arc<Self>,
        conversation: ConversationId,
        seen: Seen,
    ) -> Result<(Claim, Seen)> {
        let halting = self.halting(conversation);
        fits(seen, self.head(conversation).await?)?;
        self.end_run(conversation).await?;
        let claim = self.claim(conversation)?;
        drop(halting);
        let now = self.head(conversation).await?;
        Ok((claim, if seen == Seen::Anything { seen } else { Seen::Exactly(now) }))
    }

    /// The operations since a head by which a stopped run has taken its own turn back.
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

    /// What was asked for was done by the end of the run.
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

    /// What a step may take words of that is taken from here on.
    pub(crate) async fn may_wait(&self, conversation: ConversationId) -> Result<MayWait> {
        Ok(MayWait::of(&self.store().runs(conversation, 2).await?))
    }

    /// The words whose ground a step has taken away, or that waited for the run that it has ended. Said to who waits with them, too.
    pub(crate) async fn returned_messages(
        &self,
        conversation: ConversationId,
        may: MayWait,
        halted: bool,
    ) -> Result<Vec<Words>> {
        // Who says something is listening before it waits: where nobody is, nothing has come since.
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
            words.extend(
                self.unqueue(conversation).await.map_err(|error| error.also(Notice::of_unsent(&words)))?,
            );
        }
        self.notify_unsent(conversation).await;
        Ok(words)
    }
}

/// What an action leaves behind.
pub(crate) struct Remaining {
    effects: Effects,
    unseen: Uncaptured,
    unanswered: Vec<Unanswered>,
    of_ancestors: Vec<Note>,
}

impl AppliedFiles {
    /// The same, with what it leaves behind.
    pub(crate) fn leaving(self, leaves: Remaining) -> Self {
        let Remaining { effects, unseen, unanswered, of_ancestors } = leaves;
        let notes = [self.notes, of_ancestors].concat();
        Self { notes, effects, unseen, unanswered, ..self }
    }
}

/// Runs whose words a step may take away.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MayWait {
    /// The one that waits, or the next there will be.
    from: RunNo,
    /// One waits.
    waits: bool,
}

impl MayWait {
    /// By the newest runs.
    fn of(runs: &[Run]) -> Self {
        let waiting = runs.iter().find(|run| run.state == RunState::Queued).map(|run| run.no);
        let newest = runs.iter().map(|run| run.no.0).max().unwrap_or(0);
        Self { from: waiting.unwrap_or(RunNo(newest + 1)), waits: waiting.is_some() }
    }
}

/// Refuses who has not seen what was done; what the run has said since goes along.
fn fits(seen: Seen, now: Head) -> Result<()> {
    match seen {
        Seen::Exactly(seen) | Seen::Since(seen) if seen.op != now.op || seen.seq > now.seq => {
            Err(StoreError::from(Refusal::Stale { seen, now }).into())
        }
        _ => Ok(()),
    }
}
