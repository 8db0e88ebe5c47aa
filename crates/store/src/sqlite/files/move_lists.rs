//! Lists of moves: a row for each path. An operation's moves are in its own row, or in the list that the row names.

use rusqlite::{Connection, params};

use retake_core::{FilePath, LogNo, Moved, OpNo, PathMove, Stack, WorkspaceNo};

use super::super::cells::{Cells, Sql, all, at_most, first, int, of, run};
use super::super::rows::SqliteRows;
use crate::error::Result;
use crate::record::{Decoded, decode_moves, encode_moves};
use crate::rows::{ConversationRow, MoveListRows, OpenList};

pub(super) const OPEN_LAYERS: Sql = (
    "read the layers of a path in an open list",
    "SELECT moved_path.moves FROM moved JOIN moved_path USING (root, log, list)
     WHERE moved.root = (SELECT root FROM conversation WHERE log = ?1) AND moved.log = ?1
     AND moved.workspace = ?2 AND moved.open = 1 AND moved_path.path = ?3",
);
pub(super) const LIST: Sql = (
    "read a list of moves",
    "SELECT moves FROM moved_path
     WHERE root = (SELECT root FROM conversation WHERE log = ?1) AND log = ?1 AND list = ?2 AND path > ?3
     ORDER BY path LIMIT ?4",
);
pub(super) const LAST: Sql = (
    "read the last list of moves",
    "SELECT list FROM moved_path
     WHERE root = (SELECT root FROM conversation WHERE log = ?1) AND log = ?1 ORDER BY list DESC LIMIT 1",
);

/// The layers of a path in an open list.
pub(super) fn open_layers(
    db: &Connection,
    log: LogNo,
    workspace: WorkspaceNo,
    path: &FilePath,
) -> Result<Option<Stack>> {
    let values = params![log.0, int(workspace.0), path.as_bytes()];
    let moves = first(db, OPEN_LAYERS, values, of("the layers of a path", log), |cells| {
        decode_moves(&cells.next::<String>()?, log)
    })?;
    Ok(moves.unwrap_or_default().into_iter().next().map(|made| made.stack_after))
}

/// The moves in an operation's own row, and the list with the others.
pub(super) fn moved(cells: &mut Cells<'_>, log: LogNo) -> Decoded<(Moved, Option<i64>)> {
    let workspace = WorkspaceNo(cells.count()?);
    let list = cells.next()?;
    Ok((Moved { workspace, moves: decode_moves(&cells.next::<String>()?, log)? }, list))
}

/// All its moves, in the order of the paths.
pub(super) fn read(db: &Connection, log: LogNo, (mut moved, list): (Moved, Option<i64>)) -> Result<Moved> {
    if let Some(list) = list {
        moved.moves = listed(db, log, list, &[], -1)?;
        moved.moves.sort_by(|one, other| one.change.path.cmp(&other.change.path));
    }
    Ok(moved)
}

/// Moves of a list after a path; all of them for a negative limit.
fn listed(db: &Connection, log: LogNo, list: i64, after: &[u8], limit: i64) -> Result<Vec<PathMove>> {
    let name = of("what an operation did to files", log);
    let found = all(db, LIST, params![log.0, list, after, limit], name, |cells| {
        decode_moves(&cells.next::<String>()?, log)
    })?;
    Ok(found.into_iter().flatten().collect())
}

/// Removes the list that an operation's row names.
pub(super) fn remove(
    db: &Connection,
    home: &ConversationRow,
    op: OpNo,
    workspace: WorkspaceNo,
) -> Result<()> {
    let sql = (
        "overwrite a list of moves",
        "DELETE FROM moved_path WHERE (root, log, list) IN (SELECT root, log, list FROM moved
         WHERE root = ?1 AND log = ?2 AND op = ?3 AND workspace = ?4)",
    );
    run(db, sql, params![home.root.0, home.log.0, int(op.0), int(workspace.0)]).map(drop)
}

impl MoveListRows for SqliteRows {
    fn last_list(&self, log: LogNo) -> Result<u64> {
        let last = first(&self.db, LAST, [log.0], of("the lists of moves", log), |cells| cells.count())?;
        Ok(last.unwrap_or(0))
    }

    fn add_to_list(&mut self, home: &ConversationRow, list: u64, moves: &[PathMove]) -> Result<()> {
        let sql = ("keep a part of what an operation does", "INSERT INTO moved_path VALUES (?, ?, ?, ?, ?)");
        for made in moves {
            let row = encode_moves(std::slice::from_ref(made), home.log);
            let path = made.change.path.as_bytes();
            run(&self.db, sql, params![home.root.0, home.log.0, int(list), path, row])?;
        }
        Ok(())
    }

    fn insert_moved_list(
        &mut self,
        home: &ConversationRow,
        op: OpNo,
        workspace: WorkspaceNo,
        list: u64,
    ) -> Result<()> {
        let sql =
            ("keep what an operation does to files", "INSERT INTO moved VALUES (?, ?, ?, ?, '[]', ?, 1)");
        let values = params![home.root.0, home.log.0, int(op.0), int(workspace.0), int(list)];
        run(&self.db, sql, values).map(drop)
    }

    fn open_lists(&self) -> Result<Vec<OpenList>> {
        let sql = ("read the open lists", "SELECT log, op, workspace, list FROM moved WHERE open = 1");
        all(
            &self.db,
            sql,
            [],
            || "the open lists of moves".to_owned(),
            |cells| {
                Ok(OpenList {
                    log: LogNo(cells.next()?),
                    op: OpNo(cells.count()?),
                    workspace: WorkspaceNo(cells.count()?),
                    list: cells.count()?,
                })
            },
        )
    }

    fn listed(&self, log: LogNo, list: u64, after: Option<&FilePath>, limit: usize) -> Result<Vec<PathMove>> {
        listed(&self.db, log, int(list), after.map_or(&[], FilePath::as_bytes), at_most(limit))
    }

    fn close_list(&mut self, log: LogNo, list: u64) -> Result<()> {
        let sql = (
            "close a list of moves",
            "UPDATE moved SET open = 0 WHERE root = (SELECT root FROM conversation WHERE log = ?1)
             AND log = ?1 AND list = ?2 AND open = 1",
        );
        run(&self.db, sql, [log.0, int(list)]).map(drop)
    }

    fn remove_listed(&mut self, log: LogNo, list: u64, limit: usize) -> Result<usize> {
        let sql = (
            "remove a part of a list of moves",
            "DELETE FROM moved_path WHERE (root, log, list, path) IN (SELECT root, log, list, path
             FROM moved_path WHERE root = (SELECT root FROM conversation WHERE log = ?1) AND log = ?1
             AND list = ?2 LIMIT ?3)",
        );
        run(&self.db, sql, [log.0, int(list), at_most(limit)])
    }
}
