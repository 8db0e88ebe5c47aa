//! Rows for turns with tools.

pub(super) mod effects;
pub(super) mod facts;
mod runs;

/// The statements that read rows of one conversation, for the test that none of them scans a table.
#[cfg(test)]
pub(super) const READS: &[&[super::cells::Sql]] = &[facts::READS, effects::READS, runs::READS];
