//! Rows for turns with tools. Part of the seam between the store's logic and its backends.

use retake_core::{Fact, Part};

use super::LogNo;
use crate::error::Result;

/// Rows for turns with tools, within one transaction.
pub trait AgentRows {
    /// The last fact of a key in a log, up to this entry: which entry makes it known, and what it says.
    fn fact_before(&self, log: LogNo, key: &str, seq: u64) -> Result<Option<(u64, String)>>;
    /// The facts of a log whose key begins with `prefix`, by key and then by entry.
    fn facts_like(&self, log: LogNo, prefix: &str) -> Result<Vec<(u64, Fact)>>;
}

/// The facts that an entry makes known. Of two with one key the later one counts.
pub(crate) fn facts_of(parts: &[Part]) -> impl Iterator<Item = &Fact> {
    let facts = parts.iter().filter_map(|part| match part {
        Part::Facts(facts) => Some(facts),
        _ => None,
    });
    facts.flatten()
}
