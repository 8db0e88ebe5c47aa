//! Turns with tools: what entries make known, looked up along the path.

mod facts;

use async_trait::async_trait;
use retake_core::{ConversationId, Fact};

use super::Keeper;
use crate::agent::AgentStore;
use crate::error::Result;
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
}
