//! Rows of entries. Inserted and read, never changed: erasing has a file of its own.

use rusqlite::types::Value;
use rusqlite::{Connection, params};
use uuid::Uuid;

use retake_core::{Entry, EntryId, Meta, Pos, RequestId, Revision, Role, Stretch, Time, Totals};

use super::cells::{Cells, Sql, all, first, int, missing, run};
use crate::error::Result;
use crate::record::{
    Decoded, decode_flags, decode_parts, decode_pos, decode_request, decode_usage, encode_flags,
    encode_parts, encode_pos, encode_request, encode_usage,
};
use crate::rows::{ConversationRow, Fingerprint, Key, LogNo, MadeBy};

/// Bits of a key that hold the `seq`.
const SEQ_BITS: u32 = 32;

/// The key as the schema has it.
pub(super) fn pack(key: Key) -> i64 {
    assert!(
        key.seq < 1 << SEQ_BITS && (0..1 << 31).contains(&key.log.0),
        "BUG: a log is shorter than 2^32 entries, and there are fewer than 2^31 logs"
    );
    key.log.0 << SEQ_BITS | i64::try_from(key.seq).expect("BUG: 32 bits fit")
}

/// The key of that number.
pub(super) fn unpack(packed: i64) -> Key {
    Key {
        log: LogNo(packed >> SEQ_BITS),
        seq: u64::try_from(packed & ((1 << SEQ_BITS) - 1)).expect("BUG: masked"),
    }
}

/// First and last key of a range of a log. `seq`s beyond what a log can have are those of its end.
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
        concat!("SELECT ", meta!(), ", author, platform_id, usage, content FROM entry ")
    };
}

pub(super) fn insert(
    db: &Connection,
    home: &ConversationRow,
    entry: &Entry,
    starts_stretch: bool,
    made_by: &MadeBy,
) -> Result<i64> {
    let meta = &entry.meta;
    let key = pack(Key { log: home.log, seq: meta.pos.seq });
    let (request, fingerprint) =
        made_by.as_ref().map_or((Value::Null, None), |made| (encode_request(&made.0), Some(made.1)));
    let sql = (
        "append an entry",
        "INSERT INTO entry VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
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
    ];
    run(db, sql, values)?;
    Ok(key)
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
    })
}

fn role(name: &str) -> Decoded<Role> {
    Role::from_name(name).ok_or_else(|| format!("its role “{name}” is not known"))
}

/// What a person can find the entry by.
pub(super) fn name(key: Key) -> String {
    format!("entry {} of conversation number {}", key.seq, key.log.0)
}

const META: Sql = ("read an entry", concat!("SELECT ", meta!(), " FROM entry WHERE key = ?"));

pub(super) fn meta(db: &Connection, key: Key) -> Result<Meta> {
    let name = || name(key);
    first(db, META, [pack(key)], name, read_meta)?.ok_or_else(|| missing(name))
}

const METAS: Sql =
    ("read entries", concat!("SELECT ", meta!(), " FROM entry WHERE key BETWEEN ? AND ? ORDER BY key"));

pub(super) fn metas(db: &Connection, log: LogNo, from: u64, to: u64) -> Result<Vec<Meta>> {
    let name = || format!("entries {from} to {to} of conversation number {}", log.0);
    all(db, METAS, range(log, from, to), name, read_meta)
}

const ONE: Sql = ("read an entry", concat!(full!(), "WHERE key = ?"));

pub(super) fn one(db: &Connection, key: Key) -> Result<Entry> {
    let name = || name(key);
    first(db, ONE, [pack(key)], name, read)?.ok_or_else(|| missing(name))
}

const MANY: Sql = ("read entries", concat!(full!(), "WHERE key BETWEEN ? AND ? ORDER BY key"));

/// A range in one go; where that breaks off, one by one, so that what can be read is.
pub(super) fn many(db: &Connection, log: LogNo, from: u64, to: u64) -> Result<Vec<Result<Entry>>> {
    let mut found = Vec::new();
    let mut next = from;
    let scan = all(db, MANY, range(log, from, to), String::new, |cells| {
        // What can't be read leaves a gap, and the next row, or the rest, fills it with an error that names it.
        if let Ok(entry) = read(cells) {
            while next < entry.meta.pos.seq {
                found.push(one(db, Key { log, seq: next }));
                next += 1;
            }
            found.push(Ok(entry));
            next += 1;
        }
        Ok(())
    });
    // An error of the scan is one of a row: reading that row again tells which.
    drop(scan);
    let last = super::conversation::by_log(db, log)?.now.head.seq.0;
    found.extend((next..=to.min(last)).map(|seq| one(db, Key { log, seq })));
    Ok(found)
}

const LAST_OPENER: Sql = (
    "look a turn up",
    concat!(
        "SELECT key FROM entry INDEXED BY entry_opener WHERE ",
        root!(),
        " AND flags & 32 AND key BETWEEN ?2 AND ?3 ORDER BY key DESC LIMIT 1"
    ),
);

pub(super) fn last_opener(db: &Connection, log: LogNo, from: u64, to: u64) -> Result<Option<u64>> {
    let (first_key, last_key) = range(log, from, to);
    let name = || format!("the turns of conversation number {}", log.0);
    first(db, LAST_OPENER, [log.0, first_key, last_key], name, |cells| Ok(unpack(cells.next()?).seq))
}

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

pub(super) fn results_in(db: &Connection, log: LogNo, from: u64, to: u64) -> Result<Vec<(u64, Pos)>> {
    let (first, last) = range(log, from, to);
    let name = || format!("the tool results of conversation number {}", log.0);
    all(db, RESULTS_IN, [log.0, first, last], name, read_result)
}

const RESULTS_FOR: Sql = (
    "look tool results up",
    concat!(
        "SELECT key, answers FROM entry INDEXED BY entry_answers WHERE ",
        root!(),
        " AND key >> 32 = ?1 AND answers IS NOT NULL AND answers BETWEEN ?2 AND ?3 ORDER BY key"
    ),
);

pub(super) fn results_for(db: &Connection, log: LogNo, from: Pos, to: Pos) -> Result<Vec<(u64, Pos)>> {
    let name = || format!("the tool results of conversation number {}", log.0);
    let values = [log.0, encode_pos(from), encode_pos(to)];
    all(db, RESULTS_FOR, values, name, read_result)
}

const BY_ID: Sql = ("look an entry up", "SELECT key FROM entry WHERE root = ? AND id = ?");

pub(super) fn by_id(db: &Connection, root: LogNo, id: EntryId) -> Result<Option<Key>> {
    let values = params![root.0, id.uuid().into_bytes()];
    first(db, BY_ID, values, || format!("entry {id}"), |cells| Ok(unpack(cells.next()?)))
}

const LIKE: Sql =
    ("look an id up", "SELECT id, key FROM entry WHERE root = ? AND id BETWEEN ? AND ? ORDER BY id LIMIT ?");

pub(super) fn like(db: &Connection, root: LogNo, prefix: &str, limit: usize) -> Result<Vec<(EntryId, Key)>> {
    let Some((from, to)) = super::ids_like(prefix) else {
        return Ok(Vec::new());
    };
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let values = params![root.0, from, to, limit];
    all(
        db,
        LIKE,
        values,
        || format!("an entry that begins with {prefix}"),
        |cells| {
            let id = EntryId::new(Uuid::from_bytes(cells.next()?));
            Ok((id, unpack(cells.next()?)))
        },
    )
}

const REQUESTS_IN: Sql = (
    "read requests",
    "SELECT key, request, fingerprint FROM entry WHERE key BETWEEN ?1 AND ?2 AND request IS NOT NULL",
);

/// The requests that made entries of a range.
pub(super) fn requests_in(
    db: &Connection,
    log: LogNo,
    from: u64,
    to: u64,
) -> Result<Vec<(u64, RequestId, Fingerprint)>> {
    let (from, to) = range(log, from, to);
    let name = || format!("a request of conversation {}", log.0);
    all(db, REQUESTS_IN, params![from, to], name, |cells| {
        let seq = unpack(cells.next()?).seq;
        let request = decode_request(cells.next()?)?.ok_or("its request is missing")?;
        Ok((seq, request, cells.next()?))
    })
}

const BY_REQUEST: Sql = (
    "look a request up",
    concat!(
        "SELECT key, fingerprint FROM entry INDEXED BY entry_request WHERE ",
        root!(),
        " AND key >> 32 = ?1 AND request = ?2"
    ),
);

pub(super) fn by_request(
    db: &Connection,
    log: LogNo,
    request: &RequestId,
) -> Result<Option<(Key, Fingerprint)>> {
    let name = || format!("the entry made by request {request}");
    first(db, BY_REQUEST, params![log.0, encode_request(request)], name, |cells| {
        Ok((unpack(cells.next()?), cells.next()?))
    })
}

const BY_PLATFORM: Sql =
    ("look a platform's id up", "SELECT key FROM entry WHERE root = ? AND platform_id = ? ORDER BY key");

pub(super) fn by_platform(db: &Connection, root: LogNo, platform_id: &str) -> Result<Vec<Key>> {
    let name = || format!("an entry with platform id {platform_id}");
    all(db, BY_PLATFORM, params![root.0, platform_id], name, |cells| Ok(unpack(cells.next()?)))
}

const RUNS: Sql = (
    "read the runs",
    concat!(
        "SELECT key, after, flags FROM entry INDEXED BY entry_run WHERE ",
        root!(),
        " AND flags & 64 AND key BETWEEN ?2 AND ?3 ORDER BY key"
    ),
);

pub(super) fn runs(db: &Connection, log: LogNo) -> Result<Vec<Stretch>> {
    let (first, last) = range(log, 0, u64::MAX);
    let name = || format!("the runs of conversation number {}", log.0);
    all(db, RUNS, [log.0, first, last], name, |cells| {
        Ok(Stretch {
            start: unpack(cells.next()?).seq,
            after: cells.decoded(decode_pos)?,
            detached: decode_flags(cells.next()?)?.detached,
        })
    })
}

/// What a filter of a search asks of an entry.
pub(super) struct Asked {
    pub(super) role: Role,
    pub(super) author: String,
    pub(super) time: Time,
}

const ASKED: Sql = ("read an entry", "SELECT role, author, time FROM entry WHERE key = ?");

pub(super) fn asked(db: &Connection, key: Key) -> Result<Asked> {
    let name = || name(key);
    let found = first(db, ASKED, [pack(key)], name, |cells| {
        Ok(Asked { role: role(&cells.next::<String>()?)?, author: cells.next()?, time: Time(cells.next()?) })
    })?;
    found.ok_or_else(|| missing(name))
}

/// Every statement that reads entries, for the test that none of them scans.
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
