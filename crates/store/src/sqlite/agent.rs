//! Rows for turns with tools.

pub(super) mod effects;
pub(super) mod facts;

use retake_core::{Effect, EffectState, Fact};

#[cfg(test)]
use super::cells::Sql;
use super::rows::SqliteRows;
use crate::error::Result;
use crate::rows::{AgentRows, Key, LogNo};

/// Every statement that reads rows of one conversation, for the test that none of them scans.
#[cfg(test)]
pub(super) const READS: &[&[Sql]] = &[facts::READS, effects::READS];

impl AgentRows for SqliteRows {
    fn fact_before(&self, log: LogNo, key: &str, seq: u64) -> Result<Option<(u64, String)>> {
        facts::before(&self.db, log, key, seq)
    }

    fn facts_like(&self, log: LogNo, prefix: &str) -> Result<Vec<(u64, Fact)>> {
        facts::like(&self.db, log, prefix)
    }

    fn insert_effect(&mut self, root: LogNo, key: Key, effect: &Effect) -> Result<()> {
        effects::insert(&self.db, root, key, effect)
    }

    fn set_effect(&mut self, call: &str, state: EffectState) -> Result<bool> {
        effects::set(&self.db, call, state)
    }

    fn has_effect(&self, call: &str) -> Result<bool> {
        effects::is_there(&self.db, call)
    }

    fn effects_in(&self, log: LogNo, from: u64, to: u64, limit: usize) -> Result<Vec<Effect>> {
        effects::within(&self.db, log, from, to, limit)
    }

    fn effects_like(&self, root: LogNo, print: [u8; 16]) -> Result<Vec<(Key, Effect)>> {
        effects::like(&self.db, root, print)
    }
}
