//! Requests about memory. It must only translate.

use retake_core::{ChangeOrigin, ConversationId, MemoryFact, MemoryRequest, MemoryScope, Receipt};
use retake_engine::MemoryChange;
use retake_wire::request::{self, USUAL_PAGE};
use retake_wire::{Problem, Reply, reply};

use super::{limit, page, works_in};
use crate::InProcess;
use crate::convert::problem;

impl InProcess {
    pub(super) async fn list_memory(&self, of: request::ListMemory) -> Result<Reply, Problem> {
        let limit = limit(of.limit, USUAL_PAGE)?;
        let request = MemoryRequest {
            folder: works_in(of.folder)?.map(Some),
            words: of.query,
            limit: limit + 1,
            ..MemoryRequest::default()
        };
        let facts = match of.conversation {
            Some(name) => self.engine.memory_in(self.conversation(&name).await?, request).await,
            None => self.engine.memory(request).await,
        };
        let facts = facts.map_err(problem)?;
        let (facts, more) = page(facts.into_iter().map(fact), limit);
        Ok(Reply::Memory(reply::Memory { facts, more }))
    }

    pub(super) async fn memory_home(&self, of: request::MemoryHome) -> Result<Reply, Problem> {
        let home = self.engine.memory_home(works_in(of.folder)?).await.map_err(problem)?;
        self.receipt(home).await
    }

    pub(super) async fn remember(&self, it: request::Remember) -> Result<Reply, Problem> {
        let scope = if it.everywhere { MemoryScope::Everywhere } else { MemoryScope::Folder };
        let worded = request::Remember { request_id: None, conversation: String::new(), ..it.clone() };
        let by = self.by(it.request_id.as_deref(), "remember", &worded)?;
        let change = async |_| Ok(MemoryChange::Remember(it.text.clone(), scope, None));
        self.change_memory(&it.conversation, by, change).await
    }

    pub(super) async fn edit_memory(&self, it: request::EditMemory) -> Result<Reply, Problem> {
        let worded = request::EditMemory { request_id: None, conversation: String::new(), ..it.clone() };
        let by = self.by(it.request_id.as_deref(), "edit_memory", &worded)?;
        let change = async |conversation| {
            let old = self.engine.memory_named(conversation, &it.fact).await.map_err(problem)?;
            Ok(MemoryChange::Remember(it.text.clone(), old.scope, Some(old.id)))
        };
        self.change_memory(&it.conversation, by, change).await
    }

    pub(super) async fn forget(&self, it: request::Forget) -> Result<Reply, Problem> {
        let worded = request::Forget { request_id: None, conversation: String::new(), ..it.clone() };
        let by = self.by(it.request_id.as_deref(), "forget", &worded)?;
        let change = async |conversation| {
            let old = self.engine.memory_named(conversation, &it.fact).await.map_err(problem)?;
            Ok(MemoryChange::Forget(old.id))
        };
        self.change_memory(&it.conversation, by, change).await
    }

    /// Changes memory. A repeated request gets its receipt before its fact is looked up.
    async fn change_memory(
        &self,
        conversation: &str,
        by: ChangeOrigin,
        change: impl AsyncFnOnce(ConversationId) -> Result<MemoryChange, Problem>,
    ) -> Result<Reply, Problem> {
        let id = self.conversation(conversation).await?;
        let receipt: Receipt = match self.recorded(id, &by).await? {
            Some(receipt) => receipt,
            None => self.engine.change_memory(id, change(id).await?, by).await.map_err(problem)?,
        };
        self.receipt(receipt).await
    }
}

fn fact(fact: MemoryFact) -> reply::MemoryFact {
    reply::MemoryFact {
        id: fact.id.to_string(),
        text: fact.text,
        everywhere: fact.scope == MemoryScope::Everywhere,
        folder: fact.folder,
        conversation: fact.conversation.to_string(),
        entry: fact.entry.to_string(),
        author: fact.author,
        time_ms: fact.time.0,
    }
}
