//! Rows of the answers whose calls may have made an ambiguous change.

use retake_core::{DeltaId, LogNo};
use rusqlite::{Connection, params};

use super::super::cells::{Sql, all, int, of, run};
use crate::error::Result;
use crate::rows::ConversationRow;

pub(super) const OF_LOG: Sql = (
    "read who may have made the deltas",
    "SELECT no, seq FROM candidate
     WHERE root = (SELECT root FROM conversation WHERE log = ?1) AND log = ?1 ORDER BY no, seq",
);

/// Adds a row, unless it exists.
pub(super) fn insert(db: &Connection, home: &ConversationRow, delta: DeltaId, seq: u64) -> Result<()> {
    let sql = ("keep who may have made a delta", "INSERT OR IGNORE INTO candidate VALUES (?, ?, ?, ?)");
    run(db, sql, params![home.root.0, delta.log.0, int(delta.no), int(seq)]).map(drop)
}

/// The rows of a log, in order of the deltas.
pub(super) fn of_log(db: &Connection, log: LogNo) -> Result<Vec<(DeltaId, u64)>> {
    all(db, OF_LOG, [log.0], of("who may have made the deltas", log), |cells| {
        Ok((DeltaId { log, no: cells.count()? }, cells.count()?))
    })
}
