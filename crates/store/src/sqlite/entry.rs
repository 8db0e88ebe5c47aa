//! Rows of entries. Inserted and read, never changed: `erase` is in a file of its own.

use rusqlite::types::Value;
use rusqlite::{Connection, params};
use uuid::Uuid;

use retake_core::{Entry, EntryId, LogSegment, Meta, Pos, RequestId, Revision, Role, Time, Totals};

use super::cells::{Cells, Sql, all, at_most, first, int, of, one, run};
use super::rows::SqliteRows;
use crate::error::Result;
use crate::record::{
    Decoded, decode_flags, decode_origin, decode_parts, decode_pos, decode_request, decode_usage,
    encode_flags, encode_origin, encode_parts, encode_pos, encode_request, encode_usage,
};
use crate::rows::{ConversationRow, ConversationRows as _, EntryRows, Fingerprint, Key, LogNo, MadeBy};

/// The bits of a key for the `seq`.
const SEQ_BITS: u32 = 32;

/// The key in the form of the schema.
pub(super) fn pack(key: Key) -> i64 {
    assert!(
        key.seq < 1 << SEQ_BITS && (0..1 << 31).contains(&key.log.0),
        "BUG: a log is shorter than 2^32 entries, and there are fewer than 2^31 logs"
    );
    key.log.0 << SEQ_BITS | i64::try_from(key.seq).expect("BUG: 32 bits fit")
}

/// The key in this number.
pub(super) fn unpack(packed: i64) -> Key {
    Key {
        log: LogNo(packed >> SEQ_BITS),
        seq: u64::try_from(packed & ((1 << SEQ_BITS) - 1)).expect("BUG: masked"),
    }
}

/// The first and last key of a range of a log. A `seq` beyond the limit of a log becomes the limit.
pub(super) fn range(log: LogNo, from: u64, to: u64) -> (i64, i64) {
    let last = (1 << SEQ_BITS) - 1;
    let at = |seq: u64| pack(Key { log, seq: seq.min(last) });
    (at(from), at(to))
}

/// The root of a log, for conditions on indexes.
macro_rules! root {
    () => {
        "root = (SELECT root FROM conversation WHERE log = ?1)"
    };
}

macro_rules! meta {
    () => {
        "key, depth, id, after, turn, role, flags, time, messages, calls_total, turns_total, revision, calls, answers"
    };
}

macro_rules! full {
    () => {
        concat!("SELECT ", meta!(), ", author, platform_id, usage, content, origin FROM entry ")
    };
}

fn read_meta(cells: &mut Cells<'_>) -> Decoded<Meta> {
    let key = unpack(cells.next()?);
    Ok(Meta {
        pos: Pos::new(cells.next()?, key.seq),
        id: EntryId::new(Uuid::from_bytes(cells.next()?)),
        after: cells.decoded(decode_pos)?,
        turn: cells.decoded(decode_pos)?,
        role: role(&cells.next::<String>()?)?,
        flags: decode_flags(cells.next()?)?,
        time: Time(cells.next()?),
        totals: Totals { messages: cells.count()?, calls: cells.count()?, turns: cells.count()? },
        revision: Revision(cells.count()?),
        calls: cells.next()?,
        answers: cells.decoded(decode_pos)?,
    })
}

fn read(cells: &mut Cells<'_>) -> Decoded<Entry> {
    Ok(Entry {
        meta: read_meta(cells)?,
        author: cells.next()?,
        platform_id: cells.next()?,
        usage: cells.decoded(|json: String| decode_usage(&json))?,
        parts: decode_parts(&cells.next::<String>()?)?,
        origin: cells.decoded(|json: String| decode_origin(&json))?,
    })
}

fn role(name: &str) -> Decoded<Role> {
    Role::from_name(name).ok_or_else(|| format!("its role “{name}” is not known"))
}

const META: Sql = ("read an entry", concat!("SELECT ", meta!(), " FROM entry WHERE key = ?"));

const METAS: Sql =
    ("read entries", concat!("SELECT ", meta!(), " FROM entry WHERE key BETWEEN ? AND ? ORDER BY key"));

const ONE: Sql = ("read an entry", concat!(full!(), "WHERE key = ?"));

const MANY: Sql = ("read entries", concat!(full!(), "WHERE key BETWEEN ? AND ? ORDER BY key"));

const LAST_OPENER: Sql = (
    "look a turn up",
    concat!(
        "SELECT key FROM entry INDEXED BY entry_opener WHERE ",
        root!(),
        " AND flags & 32 AND key BETWEEN ?2 AND ?3 ORDER BY key DESC LIMIT 1"
    ),
);

fn read_result(cells: &mut Cells<'_>) -> Decoded<(u64, Pos)> {
    Ok((unpack(cells.next()?).seq, decode_pos(cells.next()?)?))
}

const RESULTS_IN: Sql = (
    "look tool results up",
    concat!(
        "SELECT key, answers FROM entry INDEXED BY entry_result WHERE ",
        root!(),
        " AND answers IS NOT NULL AND key BETWEEN ?2 AND ?3 ORDER BY key"
    ),
);

const RESULTS_FOR: Sql = (
    "look tool results up",
    concat!(
        "SELECT key, answers FROM entry INDEXED BY entry_answers WHERE ",
        root!(),
        " AND key >> 32 = ?1 AND answers IS NOT NULL AND answers BETWEEN ?2 AND ?3 ORDER BY key"
    ),
);

const BY_ID: Sql = ("look an entry up", "SELECT key FROM entry WHERE root = ? AND id = ?");

const LIKE: Sql =
    ("look an id up", "SELECT id, key FROM entry WHERE root = ? AND id BETWEEN ? AND ? ORDER BY id LIMIT ?");

const REQUESTS_IN: Sql = (
    "read requests",
    "SELECT key, request, fingerprint FROM entry WHERE key BETWEEN ?1 AND ?2 AND request IS NOT NULL",
);

const BY_REQUEST: Sql = (
    "look a request up",
    concat!(
        "SELECT key, fingerprint FROM entry INDEXED BY entry_request WHERE ",
        root!(),
        " AND key >> 32 = ?1 AND request = ?2"
    ),
);

const BY_PLATFORM: Sql =
    ("look a platform's id up", "SELECT key FROM entry WHERE root = ? AND platform_id = ? ORDER BY key");

const RUNS: Sql = (
    "read the runs",
    concat!(
        "SELECT key, after, flags FROM entry INDEXED BY entry_run WHERE ",
        root!(),
        " AND flags & 64 AND key BETWEEN ?2 AND ?3 ORDER BY key"
    ),
);

/// The filters of a search for an entry.
pub(super) struct FilterFields {
    pub(super) role: Role,
    pub(super) author: String,
    pub(super) time: Time,
}

const ASKED: Sql = ("read an entry", "SELECT role, author, time FROM entry WHERE key = ?");

pub(super) fn asked(db: &Connection, key: Key) -> Result<FilterFields> {
    one(
        db,
        ASKED,
        [pack(key)],
        || key.name(),
        |cells| {
            Ok(FilterFields {
                role: role(&cells.next::<String>()?)?,
                author: cells.next()?,
                time: Time(cells.next()?),
            })
        },
    )
}

/// The statements that read entries, for the test that none of them scans a table.
#[cfg(test)]
pub(super) const READS: &[Sql] = &[
    META,
    METAS,
    ONE,
    LAST_OPENER,
    RESULTS_IN,
    RESULTS_FOR,
    BY_ID,
    LIKE,
    BY_REQUEST,
    REQUESTS_IN,
    BY_PLATFORM,
    RUNS,
    ASKED,
    MANY,
];

impl EntryRows for SqliteRows {
    fn insert_entry(
        &mut self,
        home: &ConversationRow,
        entry: &Entry,
        starts_stretch: bool,
        made_by: &MadeBy,
    ) -> Result<()> {
        let meta = &entry.meta;
        let key = pack(Key { log: home.log, seq: meta.pos.seq });
        let (request, fingerprint) =
            made_by.as_ref().map_or((Value::Null, None), |made| (encode_request(&made.0), Some(made.1)));
        let sql = (
            "append an entry",
            "INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        );
        let values = params![
            key,
            home.root.0,
            meta.pos.depth,
            meta.id.uuid().into_bytes(),
            meta.after.map(encode_pos),
            meta.turn.map(encode_pos),
            meta.role.name(),
            encode_flags(meta.flags, meta.opens_turn(), starts_stretch),
            meta.time.0,
            int(meta.totals.messages),
            int(meta.totals.calls),
            int(meta.totals.turns),
            int(meta.revision.0),
            meta.calls,
            meta.answers.map(encode_pos),
            entry.author,
            entry.platform_id,
            request,
            fingerprint,
            entry.usage.map(encode_usage),
            encode_parts(&entry.parts),
            entry.origin.as_ref().map(encode_origin),
        ];
        run(&self.db, sql, values)?;
        super::tool_turns::facts::insert(&self.db, home, entry)?;
        self.texts.extend(super::search::text_of(&entry.parts).map(|text| (key, text)));
        Ok(())
    }

    fn meta(&self, key: Key) -> Result<Meta> {
        one(&self.db, META, [pack(key)], || key.name(), read_meta)
    }

    fn metas(&self, log: LogNo, from: u64, to: u64) -> Result<Vec<Meta>> {
        let name = || format!("entries {from} to {to} of conversation number {}", log.0);
        all(&self.db, METAS, range(log, from, to), name, read_meta)
    }

    fn entry(&self, key: Key) -> Result<Entry> {
        one(&self.db, ONE, [pack(key)], || key.name(), read)
    }

    /// Reads a range at once; after an error, one by one, so that readable entries are returned.
    fn entries(&self, log: LogNo, from: u64, to: u64) -> Result<Vec<Result<Entry>>> {
        let mut found = Vec::new();
        let mut next = from;
        let scan = all(&self.db, MANY, range(log, from, to), String::new, |cells| {
            // An unreadable entry leaves a gap, which is filled later with an error that names it.
            if let Ok(entry) = read(cells) {
                while next < entry.meta.pos.seq {
                    found.push(self.entry(Key { log, seq: next }));
                    next += 1;
                }
                found.push(Ok(entry));
                next += 1;
            }
            Ok(())
        });
        // An error of the scan belongs to one row: reading the rows one by one finds it.
        drop(scan);
        let last = self.log(log)?.now.head.seq.0;
        found.extend((next..=to.min(last)).map(|seq| self.entry(Key { log, seq })));
        Ok(found)
    }

    fn last_opener(&self, log: LogNo, from: u64, to: u64) -> Result<Option<u64>> {
        let (first_key, last_key) = range(log, from, to);
        first(&self.db, LAST_OPENER, [log.0, first_key, last_key], of("the turns", log), |cells| {
            Ok(unpack(cells.next()?).seq)
        })
    }

    fn results_in(&self, log: LogNo, from: u64, to: u64) -> Result<Vec<(u64, Pos)>> {
        let (first, last) = range(log, from, to);
        all(&self.db, RESULTS_IN, [log.0, first, last], of("the tool results", log), read_result)
    }

    fn results_for(&self, log: LogNo, from: Pos, to: Pos) -> Result<Vec<(u64, Pos)>> {
        let values = [log.0, encode_pos(from), encode_pos(to)];
        all(&self.db, RESULTS_FOR, values, of("the tool results", log), read_result)
    }

    fn entry_by_id(&self, root: LogNo, id: EntryId) -> Result<Option<Key>> {
        let values = params![root.0, id.uuid().into_bytes()];
        first(&self.db, BY_ID, values, || format!("entry {id}"), |cells| Ok(unpack(cells.next()?)))
    }

    fn entries_like(&self, root: LogNo, prefix: &str, limit: usize) -> Result<Vec<(EntryId, Key)>> {
        let Some((from, to)) = super::ids_like(prefix) else {
            return Ok(Vec::new());
        };
        let values = params![root.0, from, to, at_most(limit)];
        all(
            &self.db,
            LIKE,
            values,
            || format!("an entry that begins with {prefix}"),
            |cells| {
                let id = EntryId::new(Uuid::from_bytes(cells.next()?));
                Ok((id, unpack(cells.next()?)))
            },
        )
    }

    fn entry_by_request(&self, log: LogNo, request: &RequestId) -> Result<Option<(Key, Fingerprint)>> {
        let name = || format!("the entry made by request {request}");
        first(&self.db, BY_REQUEST, params![log.0, encode_request(request)], name, |cells| {
            Ok((unpack(cells.next()?), cells.next()?))
        })
    }

    /// The requests that created entries of a range.
    fn requests_in(&self, log: LogNo, from: u64, to: u64) -> Result<Vec<(u64, RequestId, Fingerprint)>> {
        let (from, to) = range(log, from, to);
        let name = || format!("a request of conversation {}", log.0);
        all(&self.db, REQUESTS_IN, params![from, to], name, |cells| {
            let seq = unpack(cells.next()?).seq;
            let request = decode_request(cells.next()?)?.ok_or("its request is missing")?;
            Ok((seq, request, cells.next()?))
        })
    }

    fn entries_by_platform(&self, root: LogNo, platform_id: &str) -> Result<Vec<Key>> {
        let name = || format!("an entry with platform id {platform_id}");
        all(&self.db, BY_PLATFORM, params![root.0, platform_id], name, |cells| Ok(unpack(cells.next()?)))
    }

    fn stretches(&self, log: LogNo) -> Result<Vec<LogSegment>> {
        let (first, last) = range(log, 0, u64::MAX);
        all(&self.db, RUNS, [log.0, first, last], of("the runs", log), |cells| {
            Ok(LogSegment {
                start: unpack(cells.next()?).seq,
                after: cells.decoded(decode_pos)?,
                detached: decode_flags(cells.next()?)?.detached,
            })
        })
    }
}
