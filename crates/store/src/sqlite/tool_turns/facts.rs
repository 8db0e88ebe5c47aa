//! The index of facts by key: one seek finds the last fact of a key. It can be rebuilt from the entries.

use std::collections::BTreeMap;

use retake_core::{Entry, Fact, MemoryId, REMEMBERED};
use rusqlite::{Connection, params};

use super::super::cells::{Cells, Sql, all, first, int, of, run};
use super::super::entry::unpack;
use super::super::rows::SqliteRows;
use crate::error::{Result, StoreError};
use crate::record::decode_parts;
use crate::rows::{ConversationRow, FactRows, Key, LogNo, facts_of};

/// The facts of a log, by entry and key.
pub(in crate::sqlite) type FactTable = BTreeMap<(u64, String), String>;

const BEFORE: Sql = (
    "look a fact up",
    "SELECT seq, value FROM fact
     WHERE root = (SELECT root FROM conversation WHERE log = ?1) AND log = ?1 AND key = ?2 AND seq <= ?3
     ORDER BY seq DESC LIMIT 1",
);
const KEY: Sql = (
    "look a fact's key up",
    "SELECT key FROM fact
     WHERE root = (SELECT root FROM conversation WHERE log = ?1) AND log = ?1 AND key >= ?2
     ORDER BY key LIMIT 1",
);
const ALL: Sql = (
    "read facts",
    "SELECT seq, key, value FROM fact
     WHERE root = (SELECT root FROM conversation WHERE log = ?1) AND log = ?1",
);

/// The first two conditions are those of the index.
const MEMORY: Sql = (
    "read memory",
    "SELECT log, seq, key, value FROM fact
     WHERE key >= 'memory/' AND key < 'memory0' ORDER BY key, log, seq",
);
const MEMORY_OF: Sql = (
    "look a remembered fact up",
    "SELECT log, seq, key, value FROM fact
     WHERE key >= 'memory/' AND key < 'memory0' AND key = ?1 ORDER BY log, seq",
);

/// The statements that read facts, for the test that none of them scans a table.
#[cfg(test)]
pub(super) const READS: &[Sql] = &[BEFORE, KEY, ALL, MEMORY, MEMORY_OF];

pub(in crate::sqlite) fn insert(db: &Connection, home: &ConversationRow, entry: &Entry) -> Result<()> {
    facts_of(&entry.parts).try_for_each(|fact| add(db, home.root, home.log, entry.meta.pos.seq, fact))
}

fn add(db: &Connection, root: LogNo, log: LogNo, seq: u64, fact: &Fact) -> Result<()> {
    let sql = ("keep a fact", "REPLACE INTO fact VALUES (?, ?, ?, ?, ?)");
    run(db, sql, params![root.0, log.0, fact.key, int(seq), fact.value]).map(drop)
}

/// Removes the facts of an entry.
pub(in crate::sqlite) fn remove(db: &Connection, key: Key) -> Result<()> {
    let sql = (
        "take facts away",
        "DELETE FROM fact
         WHERE root = (SELECT root FROM conversation WHERE log = ?1) AND log = ?1 AND seq = ?2",
    );
    run(db, sql, params![key.log.0, int(key.seq)]).map(drop)
}

/// All facts of a log in the index.
pub(in crate::sqlite) fn known(db: &Connection, log: LogNo) -> Result<FactTable> {
    let facts = all(db, ALL, [log.0], of("a fact", log), |cells| {
        Ok(((cells.count()?, cells.next()?), cells.next()?))
    });
    Ok(facts?.into_iter().collect())
}

/// Rebuilds the index from the entries, within the caller's transaction. An entry that cannot be read is left out; `check`
/// reports it.
pub(in crate::sqlite) fn rebuild(db: &Connection) -> Result<()> {
    let attempt = || StoreError::database("rebuild the index of facts");
    db.execute_batch("DELETE FROM fact").map_err(attempt())?;
    let sql = "SELECT root, key, content FROM entry WHERE content LIKE '%\"facts\":%' ORDER BY key";
    let mut statement = db.prepare(sql).map_err(attempt())?;
    let mut rows = statement.query([]).map_err(attempt())?;
    while let Some(row) = rows.next().map_err(attempt())? {
        let (root, key) = (row.get(0).map_err(attempt())?, unpack(row.get(1).map_err(attempt())?));
        let content = row.get::<_, String>(2).ok();
        let parts = content.and_then(|content| decode_parts(&content).ok()).unwrap_or_default();
        facts_of(&parts).try_for_each(|fact| add(db, LogNo(root), key.log, key.seq, fact))?;
    }
    Ok(())
}

impl FactRows for SqliteRows {
    fn fact_before(&self, log: LogNo, key: &str, seq: u64) -> Result<Option<(u64, String)>> {
        first(&self.db, BEFORE, params![log.0, key, int(seq)], of("a fact", log), |cells| {
            Ok((cells.count()?, cells.next()?))
        })
    }

    fn fact_key(&self, log: LogNo, from: &str) -> Result<Option<String>> {
        first(&self.db, KEY, params![log.0, from], of("a fact", log), |cells| cells.next())
    }

    fn memory(&self, id: Option<&MemoryId>) -> Result<Vec<(Key, String, String)>> {
        let read = |cells: &mut Cells<'_>| {
            let key = Key { log: LogNo(cells.next()?), seq: cells.count()? };
            Ok((key, cells.next()?, cells.next()?))
        };
        let name = || "a remembered fact".to_owned();
        match id {
            Some(id) => all(&self.db, MEMORY_OF, [format!("{REMEMBERED}{id}")], name, read),
            None => all(&self.db, MEMORY, [], name, read),
        }
    }
}
