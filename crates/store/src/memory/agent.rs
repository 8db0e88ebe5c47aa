//! Rows for turns with tools, in memory.

use retake_core::{Entry, Fact};
use rpds::RedBlackTreeMapSync;

use super::MemoryRows;
use crate::error::Result;
use crate::rows::{AgentRows, Key, LogNo, facts_of};

/// Everything for turns with tools.
#[derive(Clone, Debug, Default)]
pub(super) struct Agent {
    facts: RedBlackTreeMapSync<(LogNo, String, u64), String>,
}

impl Agent {
    /// An entry makes its facts known.
    pub(super) fn said(&mut self, key: Key, entry: &Entry) {
        for fact in facts_of(&entry.parts) {
            self.facts.insert_mut((key.log, fact.key.clone(), key.seq), fact.value.clone());
        }
    }

    /// An entry is erased.
    pub(super) fn erased(&mut self, key: Key, entry: &Entry) {
        for fact in facts_of(&entry.parts) {
            self.facts.remove_mut(&(key.log, fact.key.clone(), key.seq));
        }
    }
}

impl AgentRows for MemoryRows {
    fn fact_before(&self, log: LogNo, key: &str, seq: u64) -> Result<Option<(u64, String)>> {
        let of = |seq| (log, key.to_owned(), seq);
        let last = self.data.agent.facts.range(of(0)..=of(seq)).next_back();
        Ok(last.map(|((.., seq), value)| (*seq, value.clone())))
    }

    fn facts_like(&self, log: LogNo, prefix: &str) -> Result<Vec<(u64, Fact)>> {
        let facts = self.data.agent.facts.range((log, prefix.to_owned(), 0)..);
        let like = facts.take_while(|((of, key, _), _)| *of == log && key.starts_with(prefix));
        Ok(like.map(|((_, key, seq), value)| (*seq, Fact::new(key, value))).collect())
    }
}
