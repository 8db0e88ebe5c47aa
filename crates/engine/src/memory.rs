//! Memory: facts for later conversations. The built-in provider reads them from the log, so that they follow every rewind by
//! themselves. Others get deliveries of what comes and goes. Must never store the words of a fact of the log a second time.

mod service;

use std::sync::Arc;

use std::time::Duration;

use async_trait::async_trait;
use retake_core::{
    ArchiveState, Attempt, ChangeOrigin, ConversationId, Delivery, DeliveryEvent, Fact, MEMORY_WORDS_MAX,
    MemoryFact, MemoryId, MemoryRequest, MemoryScope, Part, ProvidedFact, RECALLED, Receipt, RequestId, Role,
    provided_text, recalled_parts,
};
use retake_store::Store;
use retake_store::digest;
use retake_store::digest::of_text;

use crate::Engine;
use crate::error::{EngineError, Kind, Result};
use crate::outbox::Destination;
use crate::settings::MEMORY;

pub(crate) use service::MemoryService;

/// How long a delivery is tried again: a week. What a provider misses is still not recalled.
const KEEP_TRYING: Duration = Duration::from_secs(7 * 24 * 3600);

/// The most facts in one reading.
pub const MEMORY_MOST: usize = 1000;

/// The most facts that the tool recalls at once.
const MOST_RECALLED: usize = 20;

/// The fewest characters of an id that name a fact.
const FEWEST: usize = 4;

/// A memory: it recalls facts, and can get what comes and goes in conversations.
#[async_trait]
pub trait MemoryProvider: Send + Sync {
    /// The facts for a question, the best ones first.
    async fn recall(&self, question: &MemoryQuestion) -> Result<Vec<ProvidedFact>>;

    /// The time limit of a delivery. Without one, the provider gets none.
    fn delivery_limit(&self) -> Option<Duration> {
        None
    }

    /// Takes what was said, rewound, restored, switched, marked or erased, with ids, counts and visible texts. Deliveries of a
    /// conversation come in their order. One can come twice, with the same id.
    async fn deliver(&self, _delivery: &Delivery) -> Attempt {
        Attempt::Done
    }
}

/// A question to a memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryQuestion {
    /// The conversation that asks.
    pub conversation: ConversationId,
    /// Its folder.
    pub folder: Option<String>,
    /// What the facts are for.
    pub about: RecallFor,
    /// At most so many.
    pub limit: usize,
}

/// What facts are recalled for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecallFor {
    /// Somebody looks for these words; without words, for the newest facts.
    Words(Option<String>),
    /// A turn begins with this message. Facts that the conversation knows are not given again.
    Turn(String),
}

/// The provider that is built in. It needs no notice: whether a fact counts is decided when it is read.
pub(crate) struct BuiltIn(pub(crate) Arc<Store>);

#[async_trait]
impl MemoryProvider for BuiltIn {
    async fn recall(&self, question: &MemoryQuestion) -> Result<Vec<ProvidedFact>> {
        let (words, unknown_to) = match &question.about {
            RecallFor::Words(words) => (words.clone(), None),
            RecallFor::Turn(_) => (None, Some(question.conversation)),
        };
        let (folder, limit) = (Some(question.folder.clone()), question.limit);
        let facts = self.0.memory(MemoryRequest { folder, words, limit, unknown_to }).await?;
        let provided = |fact: MemoryFact| ProvidedFact { id: Some(fact.id), text: fact.text, from: None };
        Ok(facts.into_iter().map(provided).collect())
    }
}

/// Gives a provider its deliveries.
struct Deliveries(Arc<dyn MemoryProvider>, Duration);

#[async_trait]
impl Destination for Deliveries {
    fn name(&self) -> &str {
        MEMORY
    }

    fn folder(&self) -> Option<&str> {
        None
    }

    fn events(&self) -> &[DeliveryEvent] {
        use DeliveryEvent::{Erased, Marked, Restored, Rewound, Said, Switched};
        &[Said, Rewound, Restored, Switched, Marked, Erased]
    }

    fn texts(&self) -> bool {
        true
    }

    fn limit(&self) -> Duration {
        self.1
    }

    fn keep_trying(&self) -> Duration {
        KEEP_TRYING
    }

    async fn deliver(&self, delivery: &Delivery) -> Attempt {
        self.0.deliver(delivery).await
    }
}

/// The destination for a provider's deliveries, if it wants some.
pub(crate) fn destination(provider: &Arc<dyn MemoryProvider>) -> Option<Arc<dyn Destination>> {
    Some(Arc::new(Deliveries(Arc::clone(provider), provider.delivery_limit()?)))
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
    /// The facts of the built-in memory that count now.
    pub async fn memory(&self, request: MemoryRequest) -> Result<Vec<MemoryFact>> {
        Ok(self.store().memory(request).await?)
    }

    /// The same for a conversation: those of its folder, and those for all folders.
    pub async fn memory_in(
        &self,
        conversation: ConversationId,
        request: MemoryRequest,
    ) -> Result<Vec<MemoryFact>> {
        let folder = self.store().snapshot(conversation).await?.folder().map(str::to_owned);
        self.memory(MemoryRequest { folder: Some(folder), ..request }).await
    }

    /// What all providers recall for a conversation, and the failures of those that do not answer.
    async fn recalled(
        &self,
        conversation: ConversationId,
        about: RecallFor,
        limit: usize,
    ) -> Result<(Vec<ProvidedFact>, Vec<EngineError>)> {
        let folder = self.store().snapshot(conversation).await?.folder().map(str::to_owned);
        let question = MemoryQuestion { conversation, folder, about, limit };
        let answers = futures::future::join_all(self.memory.iter().map(|it| it.recall(&question))).await;
        let (mut facts, mut failures) = (Vec::new(), Vec::new());
        for answer in answers {
            match answer {
                Ok(answer) => facts.extend(self.that_hold(answer, limit).await?),
                Err(error) => failures.push(error),
            }
        }
        Ok((facts, failures))
    }

    /// Leaves out the facts whose entries are no longer visible: a provider may not know it yet.
    async fn that_hold(&self, answer: Vec<ProvidedFact>, limit: usize) -> Result<Vec<ProvidedFact>> {
        let mut facts = Vec::new();
        for fact in answer.into_iter().take(limit) {
            let holds = match fact.from.clone() {
                None => true,
                Some((conversation, entries)) => self.store().holds(conversation, entries).await?,
            };
            facts.extend(holds.then_some(fact));
        }
        Ok(facts)
    }

    /// The facts for the tool that recalls.
    pub(crate) async fn recalled_in(
        &self,
        conversation: ConversationId,
        words: &str,
    ) -> Result<(Vec<ProvidedFact>, Vec<EngineError>)> {
        let words = Some(words.to_owned()).filter(|words| !words.trim().is_empty());
        self.recalled(conversation, RecallFor::Words(words), MOST_RECALLED).await
    }

    /// The parts of entries that tell the model at the beginning of a turn what it does not know yet.
    pub(crate) async fn recalled_for(
        &self,
        conversation: ConversationId,
        message: String,
        limit: usize,
    ) -> Result<(Vec<Vec<Part>>, Vec<EngineError>)> {
        let (facts, failures) = self.recalled(conversation, RecallFor::Turn(message), limit).await?;
        let own: Vec<MemoryId> = facts.iter().filter_map(|fact| fact.id.clone()).collect();
        let mut provided: Vec<_> = facts.into_iter().filter(|fact| fact.id.is_none()).collect();
        if !provided.is_empty() {
            let known = self.store().unfolded_facts(conversation, RECALLED.to_owned()).await?;
            provided.retain(|fact| !known.contains(&recalling(fact)));
        }
        let mut notes = vec![recalled_parts(&own)];
        if !provided.is_empty() {
            let facts = provided.iter().map(recalling).collect();
            notes.push(vec![Part::text(provided_text(&provided)), Part::Facts(facts)]);
        }
        notes.retain(|parts| !parts.is_empty());
        Ok((notes, failures))
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

/// Names the words of another provider on the path, so that they are given once.
fn recalling(fact: &ProvidedFact) -> Fact {
    Fact::recalling(&MemoryId::of_words(u128::from_be_bytes(digest(&fact.text))))
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
