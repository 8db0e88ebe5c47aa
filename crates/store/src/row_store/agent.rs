//! Turns with tools: what entries make known and what calls did to the world, looked up along the path; runs and permissions.

mod effects;
mod facts;
mod runs;

use async_trait::async_trait;
use retake_core::{
    ChangeKind, ConversationId, Digest, Effect, EffectState, Fact, Fence, Permission, Run, RunInput, Time,
};

use super::RowStore;
use crate::agent::{AgentStore, RunsStepped};
use crate::error::Result;
use crate::reading::{ActionContext, ActionContextRequest};
use crate::rows::{AgentRows as _, Backend, Transactions};
pub(super) use effects::along;

/// One runs and one waits, at most, and both are newer than those that are over.
const LIVE_RUNS: usize = 2;

#[async_trait]
impl<B: Backend> AgentStore for RowStore<B>
where
    B::Rows: Transactions + 'static,
{
    async fn fact(&self, conversation: ConversationId, key: String) -> Result<Option<String>> {
        self.with(conversation, move |rows, loaded| facts::fact(rows, loaded, &key)).await
    }

    async fn facts(&self, conversation: ConversationId, prefix: String) -> Result<Vec<Fact>> {
        self.with(conversation, move |rows, loaded| facts::facts(rows, loaded, &prefix)).await
    }

    async fn begin_effect(&self, effect: Effect, fence: Option<Fence>) -> Result<()> {
        self.write(move |context| context.begin_effect(&effect, fence)).await
    }

    async fn end_effect(&self, call: String, state: EffectState) -> Result<()> {
        self.write(move |context| context.end_effect(&call, state)).await
    }

    async fn began(&self, calls: Vec<String>) -> Result<Vec<Option<(Time, EffectState)>>> {
        self.read(move |rows| calls.iter().map(|call| rows.effect_began(call)).collect()).await
    }

    async fn effects(&self, conversation: ConversationId, limit: usize) -> Result<Vec<Effect>> {
        self.with(conversation, move |rows, loaded| effects::effects(rows, loaded, limit)).await
    }

    async fn action_context(
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

    async fn effect_again(&self, conversation: ConversationId, digest: Digest) -> Result<Option<Effect>> {
        self.with(conversation, move |rows, loaded| effects::again(rows, loaded, digest)).await
    }

    async fn step_runs(&self, conversation: ConversationId, inputs: Vec<RunInput>) -> Result<RunsStepped> {
        self.write(move |context| context.step_runs(conversation, inputs)).await
    }

    async fn runs(&self, conversation: ConversationId, limit: usize) -> Result<Vec<Run>> {
        self.with(conversation, move |rows, loaded| rows.runs_of(loaded.row.log, limit)).await
    }

    async fn live_runs(&self) -> Result<Vec<(ConversationId, Run)>> {
        self.read(|rows| rows.live_runs()).await
    }

    async fn permission(&self, conversation: ConversationId) -> Result<Option<Permission>> {
        self.with(conversation, |rows, loaded| rows.permission(loaded.row.log)).await
    }

    async fn set_permission(&self, conversation: ConversationId, permission: Permission) -> Result<()> {
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
