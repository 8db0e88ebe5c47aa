//! Which rows name which objects, for the whole store: the only reading that scans all rows about files.

use retake_core::{Capture, ConversationId, DeltaId, LogNo, Moved, OpNo, Time, WorkspaceNo};
use rusqlite::Connection;
use uuid::Uuid;

use super::super::cells::{Cells, Sql, all as rows};
use crate::error::Result;
use crate::files::Claim;
use crate::record::{Decoded, decode_changes, decode_delta, decode_moves, decode_stack};
use crate::rows::Claims;

const CAPTURES: Sql = ("read all captures", "SELECT workspace, no, time, name, changes FROM capture");
const DELTAS: Sql = (
    "read all deltas",
    "SELECT delta.workspace, conversation.id, delta.log, delta.no, entry.time, delta.layers
     FROM delta LEFT JOIN conversation ON conversation.log = delta.log
     LEFT JOIN entry ON entry.key = delta.log << 32 | delta.seq",
);
const STACKS: Sql = (
    "read all layers",
    "SELECT layer.workspace, conversation.id, layer.log, layer.stack
     FROM layer LEFT JOIN conversation ON conversation.log = layer.log",
);
const MOVED: Sql = (
    "read what all operations did to files",
    "SELECT moved.workspace, conversation.id, moved.log, moved.op, operation.time, moved.moves
     FROM moved LEFT JOIN conversation ON conversation.log = moved.log
     LEFT JOIN operation ON operation.root = moved.root AND operation.log = moved.log
     AND operation.no = moved.op",
);

const LISTED: Sql = (
    "read what all large operations did to files",
    "SELECT moved.workspace, conversation.id, moved.log, moved.op, operation.time, moved_path.moves
     FROM moved JOIN moved_path USING (root, log, list)
     LEFT JOIN conversation ON conversation.log = moved.log
     LEFT JOIN operation ON operation.root = moved.root AND operation.log = moved.log
     AND operation.no = moved.op",
);

fn workspace(cells: &mut Cells<'_>) -> Decoded<WorkspaceNo> {
    cells.count().map(WorkspaceNo)
}

fn log(cells: &mut Cells<'_>) -> Decoded<LogNo> {
    cells.next().map(LogNo)
}

fn conversation(cells: &mut Cells<'_>) -> Decoded<ConversationId> {
    Ok(ConversationId::new(Uuid::from_bytes(cells.next::<[u8; 16]>()?)))
}

pub(super) fn all(db: &Connection) -> Result<Vec<Claim>> {
    let name = || "a row about files".to_owned();
    let mut claims = Claims::default();
    rows(db, CAPTURES, [], name, |cells| {
        let workspace = workspace(cells)?;
        let (no, time, name) = (cells.count()?, Time(cells.next()?), cells.next()?);
        let changes = decode_changes(&cells.next::<String>()?)?;
        claims.capture(workspace, &Capture { no, time, name, changes, manifest: None });
        Ok(())
    })?;
    rows(db, DELTAS, [], name, |cells| {
        let workspace = workspace(cells)?;
        let of = conversation(cells)?;
        let id = DeltaId { log: log(cells)?, no: cells.count()? };
        let time = Time(cells.next()?);
        claims.delta(workspace, (of, id), time, &decode_delta(&cells.next::<String>()?, id.log)?);
        Ok(())
    })?;
    rows(db, STACKS, [], name, |cells| {
        let (workspace, of, log) = (workspace(cells)?, conversation(cells)?, log(cells)?);
        claims.stack(workspace, of, &decode_stack(&cells.next::<String>()?, log)?);
        Ok(())
    })?;
    let mut moved = |cells: &mut Cells<'_>| {
        let workspace = workspace(cells)?;
        let (of, log) = (conversation(cells)?, log(cells)?);
        let by = (of, OpNo(cells.count()?));
        let time = Time(cells.next()?);
        let moved = Moved { workspace, moves: decode_moves(&cells.next::<String>()?, log)? };
        claims.moved(by, time, &moved);
        Ok(())
    };
    rows(db, MOVED, [], name, &mut moved)?;
    rows(db, LISTED, [], name, &mut moved)?;
    Ok(claims.found)
}
