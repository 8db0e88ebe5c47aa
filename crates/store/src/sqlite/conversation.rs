//! Rows of conversations, and the streams in progress.

use rusqlite::params;
use rusqlite::types::Value;
use uuid::Uuid;

use retake_core::{ArchiveState, ConversationId, Head, ListRequest, OpNo, RequestId, Revision, Seq, Time};

use super::cells::{Cells, Sql, all, at_most, first, int, one, run};
use super::rows::SqliteRows;
use crate::error::Result;
use crate::record::{
    Decoded, decode_pos, decode_request, decode_stream, encode_pos, encode_request, encode_stream,
};
use crate::rows::{CallerRow, ConversationRow, ConversationRows, Fingerprint, Key, LogNo, NowRow, ParentRow};
use crate::stream::StreamRow;

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT log, root, id, parent, parent_op, parent_seq, parent_tip, folder, created, request, ",
            "fingerprint, changed, revision, head_op, head_seq, rewinds, delta_bytes, archived, caller, caller_seq, ",
            "call FROM conversation ",
            $rest
        )
    };
}

fn read(cells: &mut Cells<'_>) -> Decoded<ConversationRow> {
    let (log, root) = (LogNo(cells.next()?), LogNo(cells.next()?));
    let id = ConversationId::new(Uuid::from_bytes(cells.next()?));
    let parent_log: Option<i64> = cells.next()?;
    let (op, seq): (Option<i64>, Option<i64>) = (cells.next()?, cells.next()?);
    let tip = cells.decoded(decode_pos)?;
    let parent = match (parent_log, op.map(u64::try_from), seq.map(u64::try_from)) {
        (None, None, None) => None,
        (Some(log), Some(Ok(op)), Some(Ok(seq))) => {
            Some(ParentRow { log: LogNo(log), head: Head::new(op, seq), tip })
        }
        _ => return Err("its parent can't be read".to_owned()),
    };
    let (folder, created, request) = (cells.next()?, Time(cells.next()?), made_by(cells)?);
    let now = NowRow {
        changed: Time(cells.next()?),
        revision: Revision(cells.count()?),
        head: Head { op: OpNo(cells.count()?), seq: Seq(cells.count()?) },
        rewinds: cells.count()?,
        delta_bytes: cells.count()?,
        archived: cells.next()?,
    };
    Ok(ConversationRow { log, root, id, parent, caller: caller(cells)?, folder, created, request, now })
}

/// The call that started a subagent.
fn caller(cells: &mut Cells<'_>) -> Decoded<Option<CallerRow>> {
    let (log, seq, call): (Option<i64>, Option<i64>, Option<String>) =
        (cells.next()?, cells.next()?, cells.next()?);
    match (log, seq.map(u64::try_from), call) {
        (None, None, None) => Ok(None),
        (Some(log), Some(Ok(seq)), Some(call)) => {
            Ok(Some(CallerRow { answer: Key { log: LogNo(log), seq }, call }))
        }
        _ => Err("the call that started it can't be read".to_owned()),
    }
}

/// A request with its digest.
fn made_by(cells: &mut Cells<'_>) -> Decoded<Option<(RequestId, Fingerprint)>> {
    let request = decode_request(cells.next()?)?;
    let fingerprint: Option<Fingerprint> = cells.next()?;
    match (request, fingerprint) {
        (Some(request), Some(fingerprint)) => Ok(Some((request, fingerprint))),
        (None, None) => Ok(None),
        _ => Err("its request and fingerprint do not belong together".to_owned()),
    }
}

/// The subagents of a range of entries.
pub(super) const SUBAGENTS: Sql = (
    "list subagents",
    select!(
        "WHERE root = (SELECT root FROM conversation WHERE log = ?1) AND caller = ?1 AND caller_seq BETWEEN ?2 AND ?3 \
         ORDER BY log"
    ),
);

const LIST: fn() -> String = || "a conversation in the list".to_owned();

impl ConversationRows for SqliteRows {
    fn insert_conversation(&mut self, row: &ConversationRow) -> Result<LogNo> {
        let next = ("number a conversation", "SELECT coalesce(max(log), 0) + 1 FROM conversation");
        let log: i64 =
            first(&self.db, next, [], || "the list of conversations".into(), |cells| cells.next())?
                .expect("BUG: an aggregate always has a row");
        let root = if row.has_root() { row.root.0 } else { log };
        let (request, fingerprint) =
            row.request.as_ref().map_or((Value::Null, None), |made| (encode_request(&made.0), Some(made.1)));
        let now = row.now;
        run(
            &self.db,
            (
                "add a conversation",
                "INSERT INTO conversation VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            ),
            params![
                log,
                root,
                row.id.uuid().into_bytes(),
                row.parent.map(|parent| parent.log.0),
                row.parent.map(|parent| int(parent.head.op.0)),
                row.parent.map(|parent| int(parent.head.seq.0)),
                row.parent.and_then(|parent| parent.tip).map(encode_pos),
                row.folder,
                row.created.0,
                request,
                fingerprint,
                now.changed.0,
                int(now.revision.0),
                int(now.head.op.0),
                int(now.head.seq.0),
                int(now.rewinds),
                int(now.delta_bytes),
                now.archived,
                row.caller.as_ref().map(|caller| caller.answer.log.0),
                row.caller.as_ref().map(|caller| int(caller.answer.seq)),
                row.caller.as_ref().map(|caller| &caller.call),
            ],
        )?;
        Ok(LogNo(log))
    }

    fn conversation(&self, id: ConversationId) -> Result<Option<ConversationRow>> {
        let sql = ("read a conversation", select!("WHERE id = ?"));
        first(&self.db, sql, [id.uuid().into_bytes()], || format!("conversation {id}"), read)
    }

    fn log(&self, log: LogNo) -> Result<ConversationRow> {
        let sql = ("read a conversation", select!("WHERE log = ?"));
        one(&self.db, sql, [log.0], || format!("conversation number {}", log.0), read)
    }

    fn conversation_by_request(&self, request: &RequestId) -> Result<Option<ConversationRow>> {
        let sql = ("look a request up", select!("WHERE request = ?"));
        let name = || format!("the conversation made by request {request}");
        first(&self.db, sql, [encode_request(request)], name, read)
    }

    fn set_now(&mut self, log: LogNo, now: NowRow) -> Result<()> {
        let sql = (
            "change a conversation's head",
            "UPDATE conversation SET changed = ?, revision = ?, head_op = ?, head_seq = ?, rewinds = ?,
             delta_bytes = ?, archived = ? WHERE log = ?",
        );
        let values = params![
            now.changed.0,
            int(now.revision.0),
            int(now.head.op.0),
            int(now.head.seq.0),
            int(now.rewinds),
            int(now.delta_bytes),
            now.archived,
            log.0,
        ];
        run(&self.db, sql, values).map(drop)
    }

    /// The table of conversations is small compared with their entries: each query sorts it, so that no
    /// commit has to update an index.
    fn conversations(&self, request: &ListRequest) -> Result<Vec<ConversationRow>> {
        let sql = (
            "list conversations",
            select!(
                "WHERE caller IS NULL AND (?1 IS NULL OR folder = ?1) AND (?2 IS NULL OR (changed, log) < \
                 (SELECT changed, log FROM conversation WHERE id = ?2)) AND (?4 IS NULL OR archived = ?4) \
                 ORDER BY changed DESC, log DESC LIMIT ?3"
            ),
        );
        let before = request.before.map(|id| id.uuid().into_bytes());
        let limit = i64::try_from(request.limit).unwrap_or(i64::MAX);
        let archived = request.shelf.map(|shelf| shelf == ArchiveState::Archived);
        all(&self.db, sql, params![request.folder, before, limit, archived], LIST, read)
    }

    fn conversations_like(&self, prefix: &str, limit: usize) -> Result<Vec<ConversationId>> {
        let Some((from, to)) = super::ids_like(prefix) else {
            return Ok(Vec::new());
        };
        let sql =
            ("look an id up", "SELECT id FROM conversation WHERE id BETWEEN ? AND ? ORDER BY id LIMIT ?");
        all(&self.db, sql, params![from, to, at_most(limit)], LIST, |cells| {
            Ok(ConversationId::new(Uuid::from_bytes(cells.next()?)))
        })
    }

    fn tree_of(&self, root: LogNo) -> Result<Vec<ConversationRow>> {
        let sql = ("list a tree of forks", select!("WHERE root = ? ORDER BY log"));
        all(&self.db, sql, [root.0], LIST, read)
    }

    fn subagents(&self, log: LogNo, from: u64, to: u64) -> Result<Vec<ConversationRow>> {
        all(&self.db, SUBAGENTS, params![log.0, int(from), int(to)], LIST, read)
    }

    fn set_stream(&mut self, log: LogNo, stream: Option<&StreamRow>) -> Result<()> {
        match stream {
            Some(stream) => {
                let sql = (
                    "save a stream",
                    "REPLACE INTO stream SELECT log, root, ?2 FROM conversation WHERE log = ?1",
                );
                run(&self.db, sql, params![log.0, encode_stream(stream)]).map(drop)
            }
            None => {
                let sql = ("remove a stream", "DELETE FROM stream WHERE log = ?");
                run(&self.db, sql, [log.0]).map(drop)
            }
        }
    }

    fn streams(&self) -> Result<Vec<StreamRow>> {
        let sql =
            ("read the streams", "SELECT id, stream FROM stream JOIN conversation USING (log) ORDER BY log");
        all(
            &self.db,
            sql,
            [],
            || "a stream in progress".into(),
            |cells| {
                let id = ConversationId::new(Uuid::from_bytes(cells.next()?));
                decode_stream(id, &cells.next::<String>()?)
            },
        )
    }
}
