//! Erases in a backup the file changes that are erased in the store: deltas that differ, their layers, moves of
//! operations, captures. These rows only change by erasing.

use std::collections::{BTreeMap, BTreeSet};

use retake_core::{DeltaId, FilePath, LogNo, Stack};
use rusqlite::{Connection, params};

use super::super::cells::{Sql, all, first, int, run};
use crate::error::Result;
use crate::record::{decode_delta, decode_stack, encode_stack};

const CHANGED: Sql = (
    "compare deltas",
    "SELECT old.root, old.log, old.no, old.workspace, coalesce((SELECT count.applied FROM main.delta_count AS count
     WHERE count.root = old.root AND count.log = old.log AND count.no = old.no), old.applied), old.layers, now.layers
     FROM main.delta AS old JOIN store.delta AS now USING (root, log, no) WHERE old.layers <> now.layers",
);

/// The key of a delta, and what it lost.
struct ErasedDelta {
    root: i64,
    id: DeltaId,
    workspace: i64,
    applied: i64,
    paths: Vec<FilePath>,
    stay: i64,
    layers: String,
}

/// Runs in a transaction on the backup, with the store attached as `store`.
pub(in crate::sqlite) fn forget(backup: &Connection) -> Result<()> {
    let name = || "a delta of a backup".to_owned();
    let lost = all(backup, CHANGED, [], name, |cells| {
        let (root, log) = (cells.next()?, LogNo(cells.next()?));
        let id = DeltaId { log, no: cells.count()? };
        let (workspace, applied) = (cells.next()?, cells.next()?);
        let (old, layers): (String, String) = (cells.next()?, cells.next()?);
        let stay: BTreeSet<FilePath> =
            decode_delta(&layers, log)?.into_iter().map(|(path, _)| path).collect();
        let paths =
            decode_delta(&old, log)?.into_iter().map(|(path, _)| path).filter(|path| !stay.contains(path));
        Ok(ErasedDelta {
            root,
            id,
            workspace,
            applied,
            paths: paths.collect(),
            stay: stay.len() as i64,
            layers,
        })
    })?;
    for lost in lost {
        lose(backup, lost)?;
    }
    const REST: [Sql; 5] = [
        (
            "erase what operations did",
            "UPDATE main.moved SET moves = now.moves, list = now.list, open = iif(now.list IS NULL, 0, moved.open)
             FROM store.moved AS now
             WHERE now.root = moved.root AND now.log = moved.log AND now.op = moved.op
             AND now.workspace = moved.workspace AND (now.moves, now.list) IS NOT (moved.moves, moved.list)",
        ),
        // Moves that an erasure rewrote are in the operation's row since.
        (
            "erase lists of moves",
            "DELETE FROM main.moved_path WHERE NOT EXISTS (SELECT 1 FROM main.moved WHERE moved.root = moved_path.root
             AND moved.log = moved_path.log AND moved.list = moved_path.list)",
        ),
        (
            "erase what calls moved in git",
            "UPDATE main.git_move SET moved = now.moved FROM store.git_move AS now
             WHERE now.root = git_move.root AND now.log = git_move.log AND now.seq = git_move.seq
             AND now.workspace = git_move.workspace AND now.moved <> git_move.moved",
        ),
        (
            "erase captures",
            "UPDATE main.capture SET name = now.name, changes = now.changes FROM store.capture AS now
             WHERE now.workspace = capture.workspace AND now.no = capture.no
             AND (now.name, now.changes) IS NOT (capture.name, capture.changes)",
        ),
        // Rows that the store has forgotten cannot be compared with what is erased.
        (
            "forget captures",
            "DELETE FROM main.capture WHERE NOT EXISTS (SELECT 1 FROM store.capture AS now
             WHERE now.workspace = capture.workspace AND now.no = capture.no)",
        ),
    ];
    REST.into_iter().try_for_each(|sql| run(backup, sql, []).map(drop))
}

fn lose(backup: &Connection, lost: ErasedDelta) -> Result<()> {
    let (root, id) = (lost.root, lost.id);
    let (log, no) = (id.log.0, int(id.no));
    let mut applied = lost.applied;
    let stacks: BTreeMap<FilePath, Stack> = lost
        .paths
        .iter()
        .map(|path| Ok((path.clone(), stack(backup, &lost, path)?)))
        .collect::<Result<_>>()?;
    for (path, stack) in stacks {
        let (own, others): (Vec<_>, Vec<_>) =
            stack.layers().iter().cloned().partition(|layer| layer.delta == id);
        applied -= i64::from(!own.is_empty());
        let key =
            params![root, log, lost.workspace, path.as_bytes(), encode_stack(&Stack::new(others), id.log)];
        let sql = (
            "erase layers",
            "UPDATE main.layer SET stack = ?5 WHERE root = ?1 AND log = ?2 AND workspace = ?3 AND path = ?4",
        );
        run(backup, sql, key)?;
    }
    let empty = ("erase layers", "DELETE FROM main.layer WHERE stack = '[]'");
    run(backup, empty, [])?;
    let sql = (
        "erase a delta",
        "UPDATE main.delta SET layers = ?4, paths = ?5, applied = ?6 WHERE root = ?1 AND log = ?2 AND no = ?3",
    );
    run(backup, sql, params![root, log, no, lost.layers, lost.stay, applied.max(0)])?;
    let sql =
        ("erase a delta's count", "DELETE FROM main.delta_count WHERE root = ?1 AND log = ?2 AND no = ?3");
    run(backup, sql, params![root, log, no]).map(drop)
}

fn stack(backup: &Connection, lost: &ErasedDelta, path: &FilePath) -> Result<Stack> {
    let log = lost.id.log;
    let sql = (
        "read the layers of a path",
        "SELECT stack FROM main.layer WHERE root = ? AND log = ? AND workspace = ? AND path = ?",
    );
    let name = || "the layers of a path in a backup".to_owned();
    let found =
        first(backup, sql, params![lost.root, log.0, lost.workspace, path.as_bytes()], name, |cells| {
            decode_stack(&cells.next::<String>()?, log)
        })?;
    Ok(found.unwrap_or_default())
}
