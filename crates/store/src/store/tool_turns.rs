//! Turns with tools: facts and effects along the path, runs and permissions.

mod effects;
mod runs;

use retake_core::{
    ChangeKind, ConversationId, Digest, Effect, EffectState, Fact, Fence, Permission, Receipt, Run,
    RunEffect, RunInput, Runs, Time, Unanswered,
};

use super::Store;
use super::facts::{self, unfolded_facts};
use super::load::load;
use crate::error::Result;
use crate::reading::{ActionContext, ActionContextRequest};
pub(super) use effects::along;

/// At most one runs and one waits, and both are newer than the ended ones.
const LIVE_RUNS: usize = 2;

/// The result of steps of a conversation's runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunsStepped {
    /// The live runs after them.
    pub runs: Runs,
    /// Runs that these steps ended.
    pub over: Vec<Run>,
    /// The effects to carry out, in this order. Their messages are stored already.
    pub effects: Vec<RunEffect>,
    /// The receipts of their messages.
    pub said: Vec<Receipt>,
}

impl Store {
    /// The last fact of a key on the path, except in hidden and dropped entries; `None` if it was removed.
    pub async fn fact(&self, conversation: ConversationId, key: String) -> Result<Option<String>> {
        self.with(conversation, move |rows, loaded| facts::fact(rows, loaded, &key)).await
    }

    /// The same for each key with the prefix `prefix`, sorted by key.
    pub async fn facts(&self, conversation: ConversationId, prefix: String) -> Result<Vec<Fact>> {
        self.with(conversation, move |rows, loaded| facts::facts(rows, loaded, &prefix)).await
    }

    /// The same without entries that a summary covers: the model does not have these any more.
    pub async fn unfolded_facts(&self, conversation: ConversationId, prefix: String) -> Result<Vec<Fact>> {
        self.with(conversation, move |rows, loaded| unfolded_facts(rows, loaded, &prefix)).await
    }

    /// Records a call before it runs: it is durable when this returns. A second one with the same name is refused. Only
    /// runs that hold these fences in their conversations may.
    pub async fn begin_effect(&self, effect: Effect, of: Vec<(ConversationId, Fence)>) -> Result<()> {
        self.write(move |context| context.begin_effect(&effect, of)).await
    }

    /// Sets the outcome of a call, if it is not stored with its result ([`retake_core::SayRequest::ends`]).
    pub async fn end_effect(&self, call: String, state: EffectState) -> Result<()> {
        self.write(move |context| context.end_effect(&call, state)).await
    }

    /// When each of these calls was recorded (it may change something from then on), and its state; `None` for one that was not.
    pub async fn began(&self, calls: Vec<String>) -> Result<Vec<Option<(Time, EffectState)>>> {
        self.read(move |rows| calls.iter().map(|call| rows.effect_began(call)).collect()).await
    }

    /// The effects that outlive a rewind, of calls on the visible path, newest first.
    pub async fn effects(&self, conversation: ConversationId, limit: usize) -> Result<Vec<Effect>> {
        self.with(conversation, move |rows, loaded| effects::effects(rows, loaded, limit)).await
    }

    /// The information that is needed before an action, from one state.
    pub async fn action_context(
        &self,
        conversation: ConversationId,
        asked: ActionContextRequest,
    ) -> Result<ActionContext> {
        self.with(conversation, move |rows, loaded| {
            let gone = asked.action.map(|action| effects::taken_back(rows, loaded, action)).transpose()?;
            let gone = gone.unwrap_or_default();
            let mut said = facts::along(rows, loaded, &gone, &asked.said)?;
            let mut unanswered = super::calls_without_result::along(rows, loaded, &gone)?;
            for span in gone.spans() {
                for row in rows.subagents(loaded.key(span.first())?.log, span.from, span.to)? {
                    let subagent = load(rows, row)?;
                    let all = subagent.conversation.scheduling();
                    said.extend(facts::along(rows, &subagent, &all, &asked.said)?);
                    let open = super::calls_without_result::along(rows, &subagent, &all)?.into_iter();
                    unanswered.extend(open.map(|call| Unanswered { newest: false, ..call }));
                }
            }
            Ok(ActionContext {
                effects: along(rows, loaded, &gone, usize::MAX)?,
                changes: super::files::has_changes(rows, loaded)?,
                runs: rows.runs_of(loaded.row.log, LIVE_RUNS)?,
                facts: facts::facts_if_any(rows, loaded, &asked.facts)?,
                said,
                unanswered,
            })
        })
        .await
    }

    /// The last effect that outlives a rewind, for an equal call in the tree of forks that is not on the visible path now. It
    /// identifies a call that is requested again after a rewind.
    pub async fn effect_again(&self, conversation: ConversationId, digest: Digest) -> Result<Option<Effect>> {
        self.with(conversation, move |rows, loaded| effects::again(rows, loaded, digest)).await
    }

    /// Makes steps of a conversation's runs, all or none. Their messages are appended in the same transaction; messages whose
    /// request was already appended or is waiting are not added twice.
    pub async fn step_runs(
        &self,
        conversation: ConversationId,
        inputs: Vec<RunInput>,
    ) -> Result<RunsStepped> {
        self.write(move |context| context.step_runs(conversation, inputs)).await
    }

    /// The runs of a conversation, newest first.
    pub async fn runs(&self, conversation: ConversationId, limit: usize) -> Result<Vec<Run>> {
        self.with(conversation, move |rows, loaded| rows.runs_of(loaded.row.log, limit)).await
    }

    /// The runs of all conversations that run or wait.
    pub async fn live_runs(&self) -> Result<Vec<(ConversationId, Run)>> {
        self.read(|rows| rows.live_runs()).await
    }

    /// A conversation's own permissions; a fork begins without any.
    pub async fn permission(&self, conversation: ConversationId) -> Result<Option<Permission>> {
        self.with(conversation, |rows, loaded| rows.permission(loaded.row.log)).await
    }

    /// Sets them.
    pub async fn set_permission(&self, conversation: ConversationId, permission: Permission) -> Result<()> {
        self.write(move |context| {
            let loaded = context.load(conversation)?;
            if context.rows.permission(loaded.row.log)?.as_ref() != Some(&permission) {
                context.rows.set_permission(&loaded.row, &permission)?;
                context.touched(conversation, ChangeKind::Permission);
            }
            Ok(())
        })
        .await
    }
}
