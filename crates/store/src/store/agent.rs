//! Turns with tools: what entries make known and what calls did to the world, looked up along the path; runs and permissions.

mod effects;
mod facts;
mod runs;

use retake_core::{
    ChangeKind, ConversationId, Digest, Effect, EffectState, Fact, Fence, Permission, Receipt, Run,
    RunEffect, RunInput, Runs, Time,
};

use super::Store;
use crate::error::Result;
use crate::reading::{ActionContext, ActionContextRequest};
pub(super) use effects::along;

/// One runs and one waits, at most, and both are newer than those that are over.
const LIVE_RUNS: usize = 2;

/// What steps of the runs of a conversation came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunsStepped {
    /// What is live then.
    pub runs: Runs,
    /// Runs that are over by them.
    pub over: Vec<Run>,
    /// The effects to carry out, in this order. Messages among them are stored already.
    pub effects: Vec<RunEffect>,
    /// The receipts of what was said.
    pub said: Vec<Receipt>,
}

impl Store {
    /// The last fact of a key on the path, hidden and dropped entries left out; nothing, where it was taken away.
    pub async fn fact(&self, conversation: ConversationId, key: String) -> Result<Option<String>> {
        self.with(conversation, move |rows, loaded| facts::fact(rows, loaded, &key)).await
    }

    /// The same for each key that begins with `prefix`, in the order of keys.
    pub async fn facts(&self, conversation: ConversationId, prefix: String) -> Result<Vec<Fact>> {
        self.with(conversation, move |rows, loaded| facts::facts(rows, loaded, &prefix)).await
    }

    /// Writes a call down, before it runs: it is durable when this returns. A second one of the same name is refused.
    /// With a fence, only the run that has it may.
    pub async fn begin_effect(&self, effect: Effect, fence: Option<Fence>) -> Result<()> {
        self.write(move |context| context.begin_effect(&effect, fence)).await
    }

    /// Says what came of a call, where that is not stored with its result ([`retake_core::SayRequest::ends`]).
    pub async fn end_effect(&self, call: String, state: EffectState) -> Result<()> {
        self.write(move |context| context.end_effect(&call, state)).await
    }

    /// When each of these calls was written down, from where on it may have changed something, and what is known of its end; nothing
    /// for one that was not.
    pub async fn began(&self, calls: Vec<String>) -> Result<Vec<Option<(Time, EffectState)>>> {
        self.read(move |rows| calls.iter().map(|call| rows.effect_began(call)).collect()).await
    }

    /// The effects that outlive a rewind, of calls on the visible path, newest first.
    pub async fn effects(&self, conversation: ConversationId, limit: usize) -> Result<Vec<Effect>> {
        self.with(conversation, move |rows, loaded| effects::effects(rows, loaded, limit)).await
    }

    /// What is to be known before an action is done, at once.
    pub async fn action_context(
        &self,
        conversation: ConversationId,
        asked: ActionContextRequest,
    ) -> Result<ActionContext> {
        self.with(conversation, move |rows, loaded| {
            let gone = asked.action.map(|action| effects::taken_back(rows, loaded, action)).transpose()?;
            let gone = gone.unwrap_or_default();
            Ok(ActionContext {
                effects: along(rows, loaded, &gone, usize::MAX)?,
                changes: super::files::has_changes(rows, loaded)?,
                runs: rows.runs_of(loaded.row.log, LIVE_RUNS)?,
                facts: facts::facts_if_any(rows, loaded, &asked.facts)?,
                said: facts::along(rows, loaded, &gone, &asked.said)?,
                unanswered: super::calls_without_result::along(rows, loaded, &gone)?,
            })
        })
        .await
    }

    /// The last effect that outlives a rewind, of an equal call in the tree of forks, that is not on the visible path now.
    /// It identifies a call that is requested again after a rewind.
    pub async fn effect_again(&self, conversation: ConversationId, digest: Digest) -> Result<Option<Effect>> {
        self.with(conversation, move |rows, loaded| effects::again(rows, loaded, digest)).await
    }

    /// Takes steps of the runs of a conversation, all or none. Words that are said by them are said in the same transaction;
    /// words that wait or were said already, by their request, are not taken twice.
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

    /// What is settled of a conversation's permissions; a fork begins with nothing.
    pub async fn permission(&self, conversation: ConversationId) -> Result<Option<Permission>> {
        self.with(conversation, |rows, loaded| rows.permission(loaded.row.log)).await
    }

    /// Settles them.
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
