//! Rows for turns with tools.

pub(super) mod effects;
pub(super) mod facts;
mod runs;

/// Every statement that reads rows of one conversation, for the test that none of them scans.
#[cfg(test)]
pub(super) const READS: &[&[super::cells::Sql]] = &[facts::READS, effects::READS, runs::READS];
