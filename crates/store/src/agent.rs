//! What a store keeps for turns with tools: what entries make known to later ones, the ledger of what calls did to the world,
//! runs, and what is settled of permissions. What is not on the path now is never given as if it were.

use async_trait::async_trait;
use retake_core::{
    ConversationId, Digest, Effect, EffectState, Fact, Fence, Permission, Receipt, Run, RunEffect, RunInput,
    Runs, Time,
};

use crate::error::Result;
use crate::reading::{ActionContext, ActionContextRequest};

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

/// What a store keeps for turns with tools. Every backend runs the same conformance suite.
#[async_trait]
pub trait AgentStore: Send + Sync {
    /// The last fact of a key on the path, hidden and dropped entries left out; nothing, where it was taken away.
    async fn fact(&self, conversation: ConversationId, key: String) -> Result<Option<String>>;
    /// The same for each key that begins with `prefix`, in the order of keys.
    async fn facts(&self, conversation: ConversationId, prefix: String) -> Result<Vec<Fact>>;

    /// Writes a call down, before it runs: it is durable when this returns. A second one of the same name is refused.
    /// With a fence, only the run that has it may.
    async fn begin_effect(&self, effect: Effect, fence: Option<Fence>) -> Result<()>;
    /// Says what came of a call, where that is not stored with its result ([`retake_core::SayRequest::ends`]).
    async fn end_effect(&self, call: String, state: EffectState) -> Result<()>;
    /// When each of these calls was written down, from where on it may have changed something, and what is known of its end; nothing
    /// for one that was not.
    async fn began(&self, calls: Vec<String>) -> Result<Vec<Option<(Time, EffectState)>>>;
    /// The effects that outlive a rewind, of calls on the visible path, newest first.
    async fn effects(&self, conversation: ConversationId, limit: usize) -> Result<Vec<Effect>>;
    /// What is to be known before an action is done, at once.
    async fn action_context(
        &self,
        conversation: ConversationId,
        of: ActionContextRequest,
    ) -> Result<ActionContext>;
    /// The last effect that outlives a rewind, of an equal call in the tree of forks, that is not on the visible path now:
    /// it identifies a call that is requested again after a rewind.
    async fn effect_again(&self, conversation: ConversationId, digest: Digest) -> Result<Option<Effect>>;

    /// Takes steps of the runs of a conversation, all or none. Words that are said by them are said in the same transaction;
    /// words that wait or were said already, by their request, are not taken twice.
    async fn step_runs(&self, conversation: ConversationId, inputs: Vec<RunInput>) -> Result<RunsStepped>;
    /// The runs of a conversation, newest first.
    async fn runs(&self, conversation: ConversationId, limit: usize) -> Result<Vec<Run>>;
    /// The runs of all conversations that run or wait.
    async fn live_runs(&self) -> Result<Vec<(ConversationId, Run)>>;

    /// What is settled of a conversation's permissions; a fork begins with nothing.
    async fn permission(&self, conversation: ConversationId) -> Result<Option<Permission>>;
    /// Settles them.
    async fn set_permission(&self, conversation: ConversationId, permission: Permission) -> Result<()>;
}
