//! Rows about files.

mod candidates;
mod claims;
pub(super) mod forget;
mod move_lists;
mod workspace;

use rusqlite::{Connection, params};

use retake_core::{
    Capture, ContentHash, ConversationId, DeltaId, DeltaLine, EntryId, FilePath, GitMove, Moved, OpNo, Stack,
    Time, WorkspaceInfo, WorkspaceNo,
};
use uuid::Uuid;

use super::cells::{Cells, Sql, all, at_most, first, int, of, one, run};
use super::rows::SqliteRows;
use crate::error::Result;
use crate::files::{Claim, DeltaLayers, IntentRow, OpenCall};
use crate::record::{
    Decoded, decode_changes, decode_delta, decode_git_move, decode_paths, decode_stack, encode_changes,
    encode_delta, encode_git_move, encode_moves, encode_stack,
};
use crate::rows::{ConversationRow, FileRows, LogNo};
use workspace::{bits, unbits};

const WORKSPACES: Sql =
    ("read the workspaces", "SELECT no, root, device, inode, created, mark FROM workspace ORDER BY no");
const CAPTURES: Sql = (
    "read captures",
    "SELECT no, time, name, changes, manifest FROM capture WHERE workspace = ?1 AND no < ?2
     ORDER BY no DESC LIMIT ?3",
);
const LAST_CAPTURE: Sql =
    ("read the last capture", "SELECT no FROM capture WHERE workspace = ?1 ORDER BY no DESC LIMIT 1");
const CHECKPOINT: Sql = (
    "find a checkpoint",
    "SELECT no, time, name, changes, manifest FROM capture WHERE workspace = ?1 AND name = ?2
     ORDER BY no DESC LIMIT 1",
);
const CALLS: Sql = (
    "read the open calls",
    "SELECT id, workspace, conversation, entry FROM open_call ORDER BY entry, id, workspace",
);
const GIT_MOVES: Sql = (
    "read what calls moved in git",
    "SELECT seq, workspace, moved FROM git_move
     WHERE root = (SELECT root FROM conversation WHERE log = ?1) AND log = ?1 ORDER BY seq, workspace",
);
const DELTAS: Sql = (
    "read the deltas",
    "SELECT no, seq, workspace, paths, coalesce((SELECT now.applied FROM delta_count AS now
     WHERE now.root = delta.root AND now.log = delta.log AND now.no = delta.no), applied)
     FROM delta INDEXED BY delta_line
     WHERE root = (SELECT root FROM conversation WHERE log = ?1) AND log = ?1 ORDER BY no",
);
const DELTAS_IN: Sql = (
    "read the deltas of some entries",
    "SELECT seq, paths FROM delta INDEXED BY delta_entry
     WHERE root = (SELECT root FROM conversation WHERE log = ?1) AND log = ?1 AND seq BETWEEN ?2 AND ?3
     ORDER BY seq, paths",
);
const PATHS_IN: Sql = (
    "read the paths of some deltas",
    "SELECT seq, workspace, layers FROM delta INDEXED BY delta_entry
     WHERE root = (SELECT root FROM conversation WHERE log = ?1) AND log = ?1 AND seq BETWEEN ?2 AND ?3",
);
const LAST_DELTA: Sql = (
    "read the last delta",
    "SELECT no FROM delta
     WHERE root = (SELECT root FROM conversation WHERE log = ?1) AND log = ?1 ORDER BY no DESC LIMIT 1",
);
const DELTA: Sql = (
    "read a delta",
    "SELECT layers FROM delta
     WHERE root = (SELECT root FROM conversation WHERE log = ?1) AND log = ?1 AND no = ?2",
);
const LAYERS: Sql = (
    "read the layers of a path",
    "SELECT stack FROM layer
     WHERE root = (SELECT root FROM conversation WHERE log = ?1) AND log = ?1 AND workspace = ?2 AND path = ?3",
);
const MOVED: Sql = (
    "read what an operation did to files",
    "SELECT workspace, list, moves FROM moved
     WHERE root = (SELECT root FROM conversation WHERE log = ?1) AND log = ?1 AND op = ?2 ORDER BY workspace",
);
const LAST_MOVED: Sql = (
    "look for operations on files",
    "SELECT op FROM moved WHERE root = (SELECT root FROM conversation WHERE log = ?1) AND log = ?1 AND op < ?2
     ORDER BY op DESC LIMIT 1",
);
const MANIFESTS: Sql = ("read all manifests", "SELECT manifest FROM capture WHERE manifest IS NOT NULL");
const ALL_MOVED: Sql = (
    "read what operations did to files",
    "SELECT op, workspace, list, moves FROM moved
     WHERE root = (SELECT root FROM conversation WHERE log = ?1) AND log = ?1 ORDER BY op, workspace",
);
const INTENTS: Sql = (
    "read the intents",
    "SELECT intent.workspace, conversation.id, intent.op, intent.staging, intent.back
     FROM intent LEFT JOIN conversation ON conversation.log = intent.log ORDER BY intent.workspace",
);

/// The statements that read rows of one conversation, for the test that none of them scans a table.
#[cfg(test)]
pub(super) const READS: &[Sql] = &[
    LAST_CAPTURE,
    CAPTURES,
    CHECKPOINT,
    GIT_MOVES,
    DELTAS,
    DELTAS_IN,
    PATHS_IN,
    LAST_DELTA,
    DELTA,
    LAYERS,
    MOVED,
    ALL_MOVED,
    LAST_MOVED,
    move_lists::OPEN_LAYERS,
    move_lists::LIST,
    move_lists::LAST,
    candidates::OF_LOG,
];

impl FileRows for SqliteRows {
    fn insert_workspace(&mut self, row: &WorkspaceInfo) -> Result<WorkspaceNo> {
        let sql = ("add a workspace", "INSERT INTO workspace VALUES (NULL, ?, ?, ?, ?, NULL)");
        let (device, inode) = row.identity;
        run(&self.db, sql, params![row.root, bits(device), bits(inode), row.created.0])?;
        Ok(WorkspaceNo(unbits(self.db.last_insert_rowid())))
    }

    fn workspaces(&self) -> Result<Vec<WorkspaceInfo>> {
        let name = || "the workspaces".to_owned();
        all(&self.db, WORKSPACES, [], name, |cells| {
            Ok(WorkspaceInfo {
                no: WorkspaceNo(cells.count()?),
                root: cells.next()?,
                identity: (unbits(cells.next()?), unbits(cells.next()?)),
                created: Time(cells.next()?),
                mark: cells.decoded(|hash: [u8; 32]| Ok(ContentHash(hash)))?,
            })
        })
    }

    fn set_mark(&mut self, workspace: WorkspaceNo, mark: ContentHash) -> Result<()> {
        let sql = ("keep what a capture saw", "UPDATE workspace SET mark = ? WHERE no = ?");
        run(&self.db, sql, params![mark.0, int(workspace.0)]).map(drop)
    }

    fn insert_capture(&mut self, workspace: WorkspaceNo, row: &Capture) -> Result<()> {
        let sql = ("keep a capture", "INSERT INTO capture VALUES (?, ?, ?, ?, ?, ?)");
        let changes = encode_changes(&row.changes);
        let manifest = row.manifest.map(|name| name.0);
        let values = params![int(workspace.0), int(row.no), row.time.0, row.name, changes, manifest];
        run(&self.db, sql, values).map(drop)
    }

    fn last_capture(&self, workspace: WorkspaceNo) -> Result<u64> {
        let name = || format!("a capture of workspace {}", workspace.0);
        let last = first(&self.db, LAST_CAPTURE, [int(workspace.0)], name, |cells| cells.count())?;
        Ok(last.unwrap_or(0))
    }

    fn captures(&self, workspace: WorkspaceNo, before: Option<u64>, limit: usize) -> Result<Vec<Capture>> {
        let name = || format!("a capture of workspace {}", workspace.0);
        let before = before.map_or(i64::MAX, int);
        all(&self.db, CAPTURES, [int(workspace.0), before, at_most(limit)], name, capture)
    }

    fn manifests(&self) -> Result<Vec<ContentHash>> {
        let name = || "the manifests".to_owned();
        all(&self.db, MANIFESTS, [], name, |cells| Ok(ContentHash(cells.next::<[u8; 32]>()?)))
    }

    fn checkpoint(&self, workspace: WorkspaceNo, name: &str) -> Result<Option<Capture>> {
        let of = || format!("a capture of workspace {}", workspace.0);
        first(&self.db, CHECKPOINT, params![int(workspace.0), name], of, capture)
    }

    fn insert_call(&mut self, call: &OpenCall) -> Result<()> {
        let sql = ("keep an open call", "REPLACE INTO open_call VALUES (?, ?, ?, ?)");
        let (conversation, entry) = (call.conversation.uuid().into_bytes(), call.entry.uuid().into_bytes());
        run(&self.db, sql, params![call.id, int(call.workspace.0), conversation, entry]).map(drop)
    }

    fn remove_call(&mut self, workspace: WorkspaceNo, id: &str) -> Result<()> {
        let sql = ("close a call", "DELETE FROM open_call WHERE id = ? AND workspace = ?");
        run(&self.db, sql, params![id, int(workspace.0)]).map(drop)
    }

    fn calls(&self) -> Result<Vec<OpenCall>> {
        let name = || "the open calls".to_owned();
        all(&self.db, CALLS, [], name, |cells| {
            Ok(OpenCall {
                id: cells.next()?,
                workspace: WorkspaceNo(cells.count()?),
                conversation: ConversationId::new(Uuid::from_bytes(cells.next()?)),
                entry: EntryId::new(Uuid::from_bytes(cells.next()?)),
            })
        })
    }

    fn insert_git_move(
        &mut self,
        home: &ConversationRow,
        seq: u64,
        workspace: WorkspaceNo,
        moved: &GitMove,
    ) -> Result<()> {
        let sql = ("keep what a call moved in git", "REPLACE INTO git_move VALUES (?, ?, ?, ?, ?)");
        let moved = encode_git_move(moved);
        run(&self.db, sql, params![home.root.0, home.log.0, int(seq), int(workspace.0), moved]).map(drop)
    }

    fn git_moves(&self, log: LogNo) -> Result<Vec<(u64, WorkspaceNo, GitMove)>> {
        all(&self.db, GIT_MOVES, [log.0], of("what calls moved in git", log), |cells| {
            let (seq, workspace) = (cells.count()?, WorkspaceNo(cells.count()?));
            Ok((seq, workspace, decode_git_move(&cells.next::<String>()?)?))
        })
    }

    fn insert_delta(&mut self, home: &ConversationRow, line: &DeltaLine, layers: &DeltaLayers) -> Result<()> {
        let sql = ("keep a delta", "INSERT INTO delta VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
        let values = params![
            home.root.0,
            home.log.0,
            int(line.id.no),
            int(line.seq),
            int(line.workspace.0),
            int(line.paths),
            int(line.applied),
            encode_delta(layers, home.log),
        ];
        run(&self.db, sql, values).map(drop)
    }

    fn insert_candidate(&mut self, home: &ConversationRow, delta: DeltaId, seq: u64) -> Result<()> {
        candidates::insert(&self.db, home, delta, seq)
    }

    fn candidates(&self, log: LogNo) -> Result<Vec<(DeltaId, u64)>> {
        candidates::of_log(&self.db, log)
    }

    fn deltas(&self, log: LogNo) -> Result<Vec<DeltaLine>> {
        all(&self.db, DELTAS, [log.0], of("the deltas", log), |cells| {
            Ok(DeltaLine {
                id: DeltaId { log, no: cells.count()? },
                seq: cells.count()?,
                workspace: WorkspaceNo(cells.count()?),
                paths: cells.count()?,
                applied: cells.count()?,
            })
        })
    }

    fn deltas_in(&self, log: LogNo, from: u64, to: u64) -> Result<Vec<(u64, u64)>> {
        let values = [log.0, int(from), int(to)];
        all(&self.db, DELTAS_IN, values, of("the deltas", log), |cells| Ok((cells.count()?, cells.count()?)))
    }

    fn paths_in(&self, log: LogNo, from: u64, to: u64) -> Result<Vec<(u64, WorkspaceNo, FilePath)>> {
        let values = [log.0, int(from), int(to)];
        let paths = all(&self.db, PATHS_IN, values, of("a delta", log), |cells| {
            let (seq, workspace) = (cells.count()?, WorkspaceNo(cells.count()?));
            let paths = decode_paths(&cells.next::<String>()?)?.into_iter();
            Ok(paths.map(|path| (seq, workspace, path)).collect::<Vec<_>>())
        })?;
        Ok(paths.into_iter().flatten().collect())
    }

    fn last_delta(&self, log: LogNo) -> Result<u64> {
        let last = first(&self.db, LAST_DELTA, [log.0], of("the last delta", log), |cells| cells.count())?;
        Ok(last.unwrap_or(0))
    }

    fn count_applied(&mut self, home: &ConversationRow, delta: DeltaId, by: i64) -> Result<()> {
        let sql = (
            "count a delta's paths",
            "INSERT INTO delta_count SELECT root, log, no, applied + ?4 FROM delta INDEXED BY delta_line
             WHERE root = ?1 AND log = ?2 AND no = ?3
             ON CONFLICT DO UPDATE SET applied = delta_count.applied + ?4",
        );
        run(&self.db, sql, params![home.root.0, delta.log.0, int(delta.no), by]).map(drop)
    }

    fn delta(&self, DeltaId { log, no }: DeltaId) -> Result<DeltaLayers> {
        one(&self.db, DELTA, [log.0, int(no)], of("a delta", log), |cells| {
            decode_delta(&cells.next::<String>()?, log)
        })
    }

    fn set_layers(
        &mut self,
        home: &ConversationRow,
        workspace: WorkspaceNo,
        path: &FilePath,
        stack: &Stack,
    ) -> Result<()> {
        if stack.layers().is_empty() {
            let sql = (
                "forget a path without layers",
                "DELETE FROM layer WHERE root = ? AND log = ? AND workspace = ? AND path = ?",
            );
            let path = params![home.root.0, home.log.0, int(workspace.0), path.as_bytes()];
            return run(&self.db, sql, path).map(drop);
        }
        let sql = ("set the layers of a path", "REPLACE INTO layer VALUES (?, ?, ?, ?, ?)");
        let values = params![
            home.root.0,
            home.log.0,
            int(workspace.0),
            path.as_bytes(),
            encode_stack(stack, home.log)
        ];
        run(&self.db, sql, values).map(drop)
    }

    fn layers(&self, log: LogNo, workspace: WorkspaceNo, path: &FilePath) -> Result<Stack> {
        if let Some(stack) = move_lists::open_layers(&self.db, log, workspace, path)? {
            return Ok(stack);
        }
        let values = params![log.0, int(workspace.0), path.as_bytes()];
        let found = first(&self.db, LAYERS, values, of("the layers of a path", log), |cells| {
            decode_stack(&cells.next::<String>()?, log)
        })?;
        Ok(found.unwrap_or_default())
    }

    fn insert_moved(&mut self, home: &ConversationRow, op: OpNo, moved: &Moved) -> Result<()> {
        let sql =
            ("keep what an operation does to files", "INSERT INTO moved VALUES (?, ?, ?, ?, ?, NULL, 0)");
        let moves = encode_moves(&moved.moves, home.log);
        let values = params![home.root.0, home.log.0, int(op.0), int(moved.workspace.0), moves];
        run(&self.db, sql, values).map(drop)
    }

    fn moved(&self, log: LogNo, op: OpNo) -> Result<Vec<Moved>> {
        let name = of("what an operation did to files", log);
        let found = all(&self.db, MOVED, [log.0, int(op.0)], name, |cells| move_lists::moved(cells, log))?;
        found.into_iter().map(|row| move_lists::read(&self.db, log, row)).collect()
    }

    fn last_moved(&self, log: LogNo, before: Option<OpNo>) -> Result<Option<OpNo>> {
        let name = of("what operations did to files", log);
        let before = before.map_or(i64::MAX, |op| int(op.0));
        first(&self.db, LAST_MOVED, [log.0, before], name, |cells| Ok(OpNo(cells.count()?)))
    }

    fn set_intent(&mut self, workspace: WorkspaceNo, intent: Option<&IntentRow>) -> Result<()> {
        let Some(intent) = intent else {
            let sql = ("settle an intent", "DELETE FROM intent WHERE workspace = ?");
            return run(&self.db, sql, [int(workspace.0)]).map(drop);
        };
        let sql = (
            "write an intent down",
            "REPLACE INTO intent VALUES (?1, (SELECT root FROM conversation WHERE id = ?2),
             (SELECT log FROM conversation WHERE id = ?2), ?3, ?4, ?5)",
        );
        let id = intent.op.map(|(conversation, _)| conversation.uuid().into_bytes());
        let op = intent.op.map(|(_, op)| int(op.0));
        let values = params![int(workspace.0), id, op, intent.staging, intent.back];
        run(&self.db, sql, values).map(drop)
    }

    fn intents(&self) -> Result<Vec<IntentRow>> {
        intents(&self.db)
    }

    fn rewrite_delta(
        &mut self,
        home: &ConversationRow,
        line: &DeltaLine,
        layers: &DeltaLayers,
    ) -> Result<()> {
        let sql = (
            "overwrite a delta",
            "UPDATE delta SET paths = ?4, applied = ?5, layers = ?6 WHERE root = ?1 AND log = ?2 AND no = ?3",
        );
        let (paths, applied) = (int(line.paths), int(line.applied));
        let values =
            params![home.root.0, home.log.0, int(line.id.no), paths, applied, encode_delta(layers, home.log)];
        run(&self.db, sql, values)?;
        let sql =
            ("overwrite a delta's count", "DELETE FROM delta_count WHERE root = ?1 AND log = ?2 AND no = ?3");
        run(&self.db, sql, params![home.root.0, home.log.0, int(line.id.no)]).map(drop)
    }

    fn all_moved(&self, log: LogNo) -> Result<Vec<(OpNo, Moved)>> {
        let found = all(&self.db, ALL_MOVED, [log.0], of("what operations did to files", log), |cells| {
            Ok((OpNo(cells.count()?), move_lists::moved(cells, log)?))
        })?;
        found.into_iter().map(|(op, row)| Ok((op, move_lists::read(&self.db, log, row)?))).collect()
    }

    fn rewrite_moved(&mut self, home: &ConversationRow, op: OpNo, moved: &Moved) -> Result<()> {
        move_lists::remove(&self.db, home, op, moved.workspace)?;
        let sql = (
            "overwrite what an operation did to files",
            "UPDATE moved SET moves = ?5, list = NULL, open = 0
             WHERE root = ?1 AND log = ?2 AND op = ?3 AND workspace = ?4",
        );
        let moves = encode_moves(&moved.moves, home.log);
        let values = params![home.root.0, home.log.0, int(op.0), int(moved.workspace.0), moves];
        run(&self.db, sql, values).map(drop)
    }

    fn rewrite_capture(&mut self, workspace: WorkspaceNo, row: &Capture) -> Result<()> {
        let sql = (
            "overwrite a capture",
            "UPDATE capture SET name = ?3, changes = ?4 WHERE workspace = ?1 AND no = ?2",
        );
        let changes = encode_changes(&row.changes);
        run(&self.db, sql, params![int(workspace.0), int(row.no), row.name, changes]).map(drop)
    }

    fn remove_captures(&mut self, before: Time) -> Result<u64> {
        let sql = (
            "forget old captures",
            "DELETE FROM capture WHERE name IS NULL AND time < ?1
             AND no < (SELECT max(no) FROM capture AS last WHERE last.workspace = capture.workspace)",
        );
        let removed = run(&self.db, sql, [before.0])?;
        let sql = (
            "forget what old captures saw",
            "UPDATE capture SET changes = '[]' WHERE name IS NULL AND time < ?1 AND changes <> '[]'",
        );
        Ok((removed + run(&self.db, sql, [before.0])?) as u64)
    }

    fn old_captures(&self, before: Time) -> Result<u64> {
        let sql = (
            "count old captures",
            "SELECT count(*) FROM capture WHERE name IS NULL AND time < ?1 AND (changes <> '[]'
             OR no < (SELECT max(no) FROM capture AS last WHERE last.workspace = capture.workspace))",
        );
        let counted = first(&self.db, sql, [before.0], || "the captures".into(), |cells| cells.count())?;
        Ok(counted.unwrap_or_default())
    }

    fn remove_workspace(&mut self, workspace: WorkspaceNo) -> Result<()> {
        workspace::remove(&self.db, workspace)
    }

    fn claims(&self) -> Result<Vec<Claim>> {
        claims::all(&self.db)
    }

    fn note(&self, name: &str) -> Result<Option<Vec<u8>>> {
        let sql = ("read a note", "SELECT value FROM meta WHERE name = ?");
        first(&self.db, sql, [name], || format!("the note {name}"), |cells| cells.next())
    }

    fn notes(&self, beginning: &str) -> Result<Vec<(String, Vec<u8>)>> {
        // Names are plain words: no name with this prefix sorts after its last possible letter.
        let sql =
            ("read notes", "SELECT name, value FROM meta WHERE name >= ?1 AND name < ?1 || char(1114111)");
        let name = || format!("the notes “{beginning}…”");
        all(&self.db, sql, [beginning], name, |cells| Ok((cells.next()?, cells.next()?)))
    }

    fn set_note(&mut self, name: &str, note: Option<&[u8]>) -> Result<()> {
        match note {
            Some(note) => run(&self.db, ("note", "REPLACE INTO meta VALUES (?, ?)"), params![name, note]),
            None => run(&self.db, ("drop a note", "DELETE FROM meta WHERE name = ?"), [name]),
        }
        .map(drop)
    }
}

fn capture(cells: &mut Cells<'_>) -> Decoded<Capture> {
    Ok(Capture {
        no: cells.count()?,
        time: Time(cells.next()?),
        name: cells.next()?,
        changes: decode_changes(&cells.next::<String>()?)?,
        manifest: cells.decoded(|hash: [u8; 32]| Ok(ContentHash(hash)))?,
    })
}

fn intents(db: &Connection) -> Result<Vec<IntentRow>> {
    let name = || "the intents".to_owned();
    all(db, INTENTS, [], name, |cells| {
        let workspace = WorkspaceNo(cells.count()?);
        let id = cells.decoded(|id: [u8; 16]| Ok(ConversationId::new(Uuid::from_bytes(id))))?;
        let op = cells.decoded(|no: i64| u64::try_from(no).map(OpNo).map_err(|error| error.to_string()))?;
        Ok(IntentRow { workspace, op: id.zip(op), staging: cells.next()?, back: cells.next()? })
    })
}
