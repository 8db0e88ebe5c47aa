//! What a store keeps for turns with tools: what entries make known to later ones. All of it follows the path; what is not
//! on it now is never given as if it were.

use async_trait::async_trait;
use retake_core::{ConversationId, Fact};

use crate::error::Result;

/// What a store keeps for turns with tools. Every backend runs the same conformance suite.
#[async_trait]
pub trait AgentStore: Send + Sync {
    /// The last fact of a key on the path, hidden and dropped entries left out; nothing, where it was taken away.
    async fn fact(&self, conversation: ConversationId, key: String) -> Result<Option<String>>;
    /// The same for each key that begins with `prefix`, in the order of keys.
    async fn facts(&self, conversation: ConversationId, prefix: String) -> Result<Vec<Fact>>;
}
