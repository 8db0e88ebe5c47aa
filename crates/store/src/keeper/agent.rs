//! Turns with tools: what entries make known and what calls did to the world, looked up along the path.

mod effects;
mod facts;

use async_trait::async_trait;
use retake_core::{ConversationId, Effect, EffectState, Fact};

use super::Keeper;
use crate::agent::AgentStore;
use crate::error::Result;
use crate::request::Action;
use crate::rows::{Backend, Transactions};

#[async_trait]
impl<B: Backend> AgentStore for Keeper<B>
where
    B::Rows: Transactions + 'static,
{
    async fn fact(&self, conversation: ConversationId, key: String) -> Result<Option<String>> {
        self.with(conversation, move |rows, loaded| facts::fact(rows, loaded, &key)).await
    }

    async fn facts(&self, conversation: ConversationId, prefix: String) -> Result<Vec<Fact>> {
        self.with(conversation, move |rows, loaded| facts::facts(rows, loaded, &prefix)).await
    }

    async fn begin_effect(&self, effect: Effect) -> Result<()> {
        self.write(move |context| context.begin_effect(&effect)).await
    }

    async fn end_effect(&self, call: String, state: EffectState) -> Result<()> {
        self.write(move |context| context.end_effect(&call, state)).await
    }

    async fn effects(&self, conversation: ConversationId, limit: usize) -> Result<Vec<Effect>> {
        self.with(conversation, move |rows, loaded| effects::effects(rows, loaded, limit)).await
    }

    async fn effects_taken_back(&self, conversation: ConversationId, action: Action) -> Result<Vec<Effect>> {
        self.with(conversation, |rows, loaded| effects::taken_back(rows, loaded, action)).await
    }

    async fn effect_again(&self, conversation: ConversationId, print: [u8; 16]) -> Result<Option<Effect>> {
        self.with(conversation, move |rows, loaded| effects::again(rows, loaded, print)).await
    }
}
