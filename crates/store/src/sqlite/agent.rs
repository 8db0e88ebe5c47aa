//! Rows for turns with tools.

pub(super) mod facts;

use retake_core::Fact;

#[cfg(test)]
use super::cells::Sql;
use super::rows::SqliteRows;
use crate::error::Result;
use crate::rows::{AgentRows, LogNo};

/// Every statement that reads rows of one conversation, for the test that none of them scans.
#[cfg(test)]
pub(super) const READS: &[&[Sql]] = &[facts::READS];

impl AgentRows for SqliteRows {
    fn fact_before(&self, log: LogNo, key: &str, seq: u64) -> Result<Option<(u64, String)>> {
        facts::before(&self.db, log, key, seq)
    }

    fn facts_like(&self, log: LogNo, prefix: &str) -> Result<Vec<(u64, Fact)>> {
        facts::like(&self.db, log, prefix)
    }
}
