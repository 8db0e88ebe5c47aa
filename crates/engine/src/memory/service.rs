//! A memory service behind an address. It gets deliveries like a hook, and a request to `recall` below its address asks it for facts.
//! What it answers is untrusted: bounded, and checked against the log.

use std::time::Duration;

use async_trait::async_trait;
use retake_core::{Attempt, ConversationId, Delivery, EntryId, MEMORY_WORDS_MAX, ProvidedFact};
use serde_json::{Value, json};

use super::{MemoryProvider, MemoryQuestion, RecallFor};
use crate::error::{EngineError, Kind, Result};
use crate::outbox::{Endpoint, EndpointGround};
use crate::settings::MemoryServiceSettings;

/// The most characters of a question.
const QUESTION_MAX: usize = 4000;

/// The most bytes of an answer.
const ANSWER_MAX: usize = 256 << 10;

/// How much longer than its time limit a delivery may take until it is dropped.
const GRACE: Duration = Duration::from_secs(15);

/// A memory service.
pub(crate) struct MemoryService(Endpoint);

impl MemoryService {
    pub(crate) fn new(settings: MemoryServiceSettings, ground: EndpointGround) -> Self {
        let MemoryServiceSettings { url, secret, limit } = settings;
        Self(Endpoint { url, secret, limit, ground })
    }

    async fn ask(&self, question: &MemoryQuestion) -> Result<Vec<ProvidedFact>, String> {
        let query = match &question.about {
            RecallFor::Words(words) => words.as_deref().unwrap_or_default(),
            RecallFor::Turn(message) => message,
        };
        let body = json!({
            "conversation": question.conversation.to_string(),
            "folder": question.folder,
            "query": query.chars().take(QUESTION_MAX).collect::<String>(),
            "limit": question.limit,
        });
        let id = retake_store::digest(&format!("{}/{body}", self.0.ground.clock.now_ms()));
        let id = format!("recall-{:032x}", u128::from_be_bytes(id));
        let url = below(&self.0.url, "recall").ok_or("no request can be made")?;
        let answer = self.0.post(&url, &id, ("application/json", body.to_string().into_bytes())).await?;
        if !answer.status().is_success() {
            return Err(format!("HTTP {}", answer.status().as_u16()));
        }
        let answer = self.whole(answer).await?;
        let answer = serde_json::from_slice::<Value>(&answer).ok();
        let facts = answer.as_ref().and_then(|answer| answer["facts"].as_array());
        let facts = facts.ok_or("its answer has another form")?;
        Ok(facts.iter().filter_map(fact).take(question.limit).collect())
    }

    async fn whole(&self, mut answer: reqwest::Response) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::new();
        while let Some(piece) = answer.chunk().await.map_err(|error| self.0.failure(&error))? {
            bytes.extend_from_slice(&piece);
            if bytes.len() > ANSWER_MAX {
                return Err(format!("its answer has more than {} kB", ANSWER_MAX >> 10));
            }
        }
        Ok(bytes)
    }
}

/// An address below another one.
fn below(url: &str, name: &str) -> Option<String> {
    let mut url = reqwest::Url::parse(url).ok()?;
    url.path_segments_mut().ok()?.pop_if_empty().push(name);
    Some(url.into())
}

/// A fact of an answer, if it has words; cut if they are too long. Ids that cannot be read name nothing that is visible.
fn fact(given: &Value) -> Option<ProvidedFact> {
    let words = given["text"].as_str()?.split_whitespace().collect::<Vec<_>>().join(" ");
    let text: String = words.chars().take(MEMORY_WORDS_MAX).collect();
    let from = match &given["conversation"] {
        Value::Null => None,
        conversation => {
            let conversation: ConversationId = conversation.as_str()?.parse().ok()?;
            let entries = given["entries"].as_array().into_iter().flatten();
            let entries = entries.map(|entry| entry.as_str()?.parse::<EntryId>().ok());
            Some((conversation, entries.collect::<Option<Vec<_>>>()?))
        }
    };
    (!text.is_empty()).then_some(ProvidedFact { id: None, text, from })
}

#[async_trait]
impl MemoryProvider for MemoryService {
    async fn recall(&self, question: &MemoryQuestion) -> Result<Vec<ProvidedFact>> {
        self.ask(question).await.map_err(|why| {
            let what = format!("the memory service recalls nothing: {why}");
            EngineError::new(Kind::Model, "memory_service", what).with("detail", why)
        })
    }

    fn delivery_limit(&self) -> Option<Duration> {
        Some(self.0.limit + GRACE)
    }

    async fn deliver(&self, delivery: &Delivery) -> Attempt {
        self.0.deliver(delivery).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_of_a_question_is_below_that_of_the_service() {
        let rows = [
            ("https://m.example", "https://m.example/recall"),
            ("https://m.example/a/", "https://m.example/a/recall"),
            ("https://m.example/a?key=1", "https://m.example/a/recall?key=1"),
        ];
        for (url, expected) in rows {
            assert_eq!(below(url, "recall").as_deref(), Some(expected));
        }
    }

    #[test]
    fn fact_of_a_service_is_one_line_with_readable_ids() {
        let checked = |text: &str, conversation: Value| {
            let entries = ["0198c2b1-1111-7222-8333-0123456789ab"];
            fact(&json!({ "text": text, "conversation": conversation, "entries": entries }))
        };
        let found = checked(" one\n two ", Value::Null).expect("a fact");
        assert_eq!((found.text.as_str(), found.from), ("one two", None));
        assert_eq!(checked("  ", Value::Null), None);
        assert_eq!(checked("one", "no id".into()), None);
        assert_eq!(checked("one", 7.into()), None);
        let from = checked("one", "0198c2b1-1111-7222-8333-0123456789ac".into()).and_then(|it| it.from);
        assert_eq!(from.map(|(_, entries)| entries.len()), Some(1));
        let long = checked(&"x".repeat(2 * MEMORY_WORDS_MAX), Value::Null).expect("a fact");
        assert_eq!(long.text.len(), MEMORY_WORDS_MAX);
    }
}
