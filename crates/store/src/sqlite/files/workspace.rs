//! The numbers in a workspace's row, and the removal of its rows.

use retake_core::WorkspaceNo;
use rusqlite::Connection;

use super::super::cells::{Sql, int, run};
use crate::error::Result;

/// Device and inode numbers use all 64 bits: a cell contains the same bits.
pub(super) fn bits(number: u64) -> i64 {
    i64::from_ne_bytes(number.to_ne_bytes())
}

pub(super) fn unbits(cell: i64) -> u64 {
    u64::from_ne_bytes(cell.to_ne_bytes())
}

const FORGET: [Sql; 9] = [
    ("forget captures", "DELETE FROM capture WHERE workspace = ?"),
    ("forget layers", "DELETE FROM layer WHERE workspace = ?"),
    (
        "forget counts of deltas",
        "DELETE FROM delta_count WHERE (root, log, no) IN
         (SELECT root, log, no FROM delta WHERE workspace = ?)",
    ),
    ("forget deltas", "UPDATE delta SET paths = 0, applied = 0, layers = '[]' WHERE workspace = ?"),
    (
        "forget what large operations did",
        "DELETE FROM moved_path WHERE (root, log, list) IN
         (SELECT root, log, list FROM moved WHERE workspace = ?)",
    ),
    (
        "forget what operations did",
        "UPDATE moved SET moves = '[]', list = NULL, open = 0 WHERE workspace = ?",
    ),
    ("forget open calls", "DELETE FROM open_call WHERE workspace = ?"),
    ("forget an intent", "DELETE FROM intent WHERE workspace = ?"),
    ("forget a workspace", "DELETE FROM workspace WHERE no = ?"),
];

/// Removes a workspace, its captures and its intent; deltas and operations lose their changes there.
pub(super) fn remove(db: &Connection, workspace: WorkspaceNo) -> Result<()> {
    FORGET.into_iter().try_for_each(|sql| run(db, sql, [int(workspace.0)]).map(drop))
}
