//! Memory: facts for later conversations. The built-in provider reads them from the log, so that they follow every rewind by
//! themselves. Must never store the words of a fact a second time.

use std::sync::Arc;

use async_trait::async_trait;
use retake_core::{
    ArchiveState, ChangeOrigin, ConversationId, Fact, MEMORY_WORDS_MAX, MemoryFact, MemoryId, MemoryRequest,
    MemoryScope, Part, Receipt, RequestId, Role,
};
use retake_store::Store;
use retake_store::digest::of_text;

use crate::Engine;
use crate::error::{EngineError, Kind, Result};

/// The most facts in one reading.
pub const MEMORY_MOST: usize = 1000;

/// The most facts that the tool recalls at once.
const MOST_RECALLED: usize = 20;

/// The fewest characters of an id that name a fact.
const FEWEST: usize = 4;

/// Where facts are remembered. Notices of changes (said, rewound, restored, switched, erased) can be added to it: they name
/// entries by their ids, and hold no words.
#[async_trait]
pub trait MemoryProvider: Send + Sync {
    /// The facts that count now.
    async fn recall(&self, request: MemoryRequest) -> Result<Vec<MemoryFact>>;
}

/// The provider that is built in. It needs no notice: whether a fact counts is decided when it is read.
struct BuiltIn(Arc<Store>);

#[async_trait]
impl MemoryProvider for BuiltIn {
    async fn recall(&self, request: MemoryRequest) -> Result<Vec<MemoryFact>> {
        Ok(self.0.memory(request).await?)
    }
}

/// The provider over this store.
pub(crate) fn built_in(store: &Arc<Store>) -> Arc<dyn MemoryProvider> {
    Arc::new(BuiltIn(Arc::clone(store)))
}

/// What a person does to memory, in a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryChange {
    /// Remembers these words, in place of another fact if one is named.
    Remember(String, MemoryScope, Option<MemoryId>),
    /// Forgets a fact.
    Forget(MemoryId),
}

impl Engine {
    /// The facts that count now.
    pub async fn memory(&self, request: MemoryRequest) -> Result<Vec<MemoryFact>> {
        self.memory.recall(request).await
    }

    /// The facts that count in a conversation: those of its folder, and those for all folders.
    pub async fn memory_in(
        &self,
        conversation: ConversationId,
        request: MemoryRequest,
    ) -> Result<Vec<MemoryFact>> {
        let folder = self.store().snapshot(conversation).await?.folder().map(str::to_owned);
        self.memory(MemoryRequest { folder: Some(folder), ..request }).await
    }

    /// The facts for the tool that recalls.
    pub(crate) async fn recalled_in(
        &self,
        conversation: ConversationId,
        words: &str,
    ) -> Result<Vec<MemoryFact>> {
        let words = Some(words.to_owned()).filter(|words| !words.trim().is_empty());
        let request = MemoryRequest { words, limit: MOST_RECALLED, ..MemoryRequest::default() };
        self.memory_in(conversation, request).await
    }

    /// The remembered fact that counts in a conversation, with this id, or with the only id that begins like this.
    pub async fn memory_named(&self, conversation: ConversationId, name: &str) -> Result<MemoryFact> {
        let unknown = || {
            let what = format!("no fact {} is remembered here", name.escape_debug());
            EngineError::new(Kind::NotFound, "no_fact", what).with("fact", name)
        };
        if name.len() < FEWEST {
            return Err(unknown());
        }
        let all = MemoryRequest { limit: usize::MAX, ..MemoryRequest::default() };
        let facts = self.memory_in(conversation, all).await?;
        let mut found = facts.into_iter().filter(|fact| fact.id.as_str().starts_with(name));
        match (found.next(), found.next()) {
            (Some(fact), None) => Ok(fact),
            _ => Err(unknown()),
        }
    }

    /// The conversation for facts that belong to no other one: of this folder, or of all folders. It is made on first use, and
    /// archived, so that it is never the last conversation of its folder.
    pub async fn memory_home(&self, folder: Option<String>) -> Result<Receipt> {
        let name = format!("memory {}", folder.as_deref().unwrap_or_default());
        let digest = of_text("memory", &name);
        let request = format!("memory-{:032x}", u128::from_be_bytes(digest.current));
        let request: RequestId = request.parse().expect("BUG: a digest is printable and short");
        let by = ChangeOrigin { wording: Some(digest), ..self.by(Some(request)) };
        if let Some(made) = self.store().created(by.clone()).await? {
            return Ok(made);
        }
        let title = match &folder {
            Some(folder) => format!("Memory of {folder}"),
            None => "Memory".to_owned(),
        };
        let made = self.create(Some(title), folder, by).await?;
        self.archive(made.conversation, ArchiveState::Archived).await?;
        Ok(made)
    }

    /// Changes memory by an entry of a conversation: a rewind of the entry takes the change back.
    pub async fn change_memory(
        &self,
        conversation: ConversationId,
        change: MemoryChange,
        by: ChangeOrigin,
    ) -> Result<Receipt> {
        let mut say = self.saying(Role::User, Vec::new(), by);
        let (note, words, facts) = match change {
            MemoryChange::Forget(id) => (format!("Forget the fact {id}."), None, vec![Fact::forgetting(&id)]),
            MemoryChange::Remember(words, scope, replaced) => {
                let words = checked(words)?;
                let remembering = Fact::remembering(&MemoryId::of(say.id), scope);
                match replaced {
                    None => ("Remember this:".to_owned(), Some(words), vec![remembering]),
                    Some(old) => {
                        let facts = vec![Fact::forgetting(&old), remembering];
                        (format!("Remember this in place of the fact {old}:"), Some(words), facts)
                    }
                }
            }
        };
        say.parts = std::iter::once(note).chain(words).map(Part::Text).collect();
        say.parts.push(Part::Facts(facts));
        self.say(conversation, say).await
    }
}

/// Words that can be remembered.
fn checked(words: String) -> Result<String> {
    let length = words.chars().count();
    if length > MEMORY_WORDS_MAX {
        let what = format!("a fact has at most {MEMORY_WORDS_MAX} characters, not {length}");
        let error = EngineError::usage(what).with("what", "long_fact");
        return Err(error.with("count", length).with("most", MEMORY_WORDS_MAX));
    }
    match words.trim() {
        "" => Err(EngineError::usage("can't remember a fact without words").with("what", "empty_fact")),
        words => Ok(words.to_owned()),
    }
}
