//! The full-text index: its content, and how a query reads it. A change of the state must never touch it.
//!
//! A hit is a number and a score until it is shown, so only shown entries are read. Within one log the newest hits
//! come directly from the index; other orders are sorted here, numbers only.

use std::collections::BTreeMap;

use retake_core::{Part, SearchRequest, Sort};
use rusqlite::types::FromSql;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::cells::{Cells, Sql, all, run};
use super::entry::{asked, range, unpack};
use super::schema::SEARCH;
use crate::error::{Result, StoreError};
use crate::query::{Clause, Item, Query, Term, index_text, looks_through};
use crate::record::decode_parts;
use crate::rows::{Key, LogNo};

/// The searched text of an entry; `None` if it has no word.
pub(super) fn text_of(parts: &[Part]) -> Option<String> {
    Some(index_text(parts)).filter(|text| !text.is_empty())
}

pub(super) fn insert(db: &Connection, key: i64, text: &str) -> Result<()> {
    let sql = ("add to the full-text index", "INSERT INTO search (rowid, text) VALUES (?, ?)");
    run(db, sql, params![key, text]).map(drop)
}

/// Removes an entry. The index stores no text, so it needs the old one.
pub(super) fn remove(db: &Connection, key: i64, text: &str) -> Result<()> {
    let sql =
        ("take from the full-text index", "INSERT INTO search (search, rowid, text) VALUES ('delete', ?, ?)");
    run(db, sql, params![key, text]).map(drop)
}

/// Rebuilds the index from the entries, within the caller's transaction. An entry that cannot be read is left out;
/// `check` reports it.
pub(super) fn rebuild(db: &Connection) -> Result<()> {
    let attempt = || StoreError::database("rebuild the full-text index");
    db.execute_batch("DROP TABLE IF EXISTS search")
        .and_then(|()| db.execute_batch(SEARCH))
        .map_err(attempt())?;
    let mut statement = db.prepare("SELECT key, content FROM entry ORDER BY key").map_err(attempt())?;
    let mut rows = statement.query([]).map_err(attempt())?;
    while let Some(row) = rows.next().map_err(attempt())? {
        let content = row.get::<_, String>(1).ok();
        let parts = content.and_then(|content| decode_parts(&content).ok());
        if let Some(text) = parts.as_deref().and_then(text_of) {
            insert(db, row.get(0).map_err(attempt())?, &text)?;
        }
    }
    Ok(())
}

/// Removes an index that is too damaged to be dropped. Its pages stay unused until a `VACUUM`.
pub(super) fn forget(db: &Connection) -> Result<()> {
    db.execute_batch(
        "PRAGMA writable_schema = ON;
         DELETE FROM sqlite_schema WHERE name = 'search' OR name GLOB 'search_*';
         PRAGMA writable_schema = RESET;",
    )
    .map_err(StoreError::database("take the broken full-text index out"))
}

/// Whether the index can be opened: reads a page or two, not the index.
pub(super) fn opens(db: &Connection) -> bool {
    let probe = "SELECT rowid FROM search WHERE search MATCH '\"a\"' LIMIT 1";
    let found: rusqlite::Result<Option<i64>> = db.query_row(probe, [], |row| row.get(0)).optional();
    found.is_ok()
}

/// The requested ranges of logs: sorted, so that one seek finds the range of a hit.
struct LogRanges(Option<BTreeMap<LogNo, Vec<(u64, u64)>>>);

impl LogRanges {
    fn new(ranges: Option<&[(LogNo, u64, u64)]>) -> Self {
        Self(ranges.map(|ranges| {
            let mut logs: BTreeMap<LogNo, Vec<(u64, u64)>> = BTreeMap::new();
            for (log, from, to) in ranges {
                logs.entry(*log).or_default().push((*from, *to));
            }
            logs.values_mut().for_each(|spans| spans.sort_unstable());
            logs
        }))
    }

    /// For each log, the first and last key of possible hits.
    fn key_ranges(&self) -> Vec<(i64, i64)> {
        let Some(logs) = &self.0 else {
            return vec![(i64::MIN, i64::MAX)];
        };
        let ends = |(log, spans): (&LogNo, &Vec<(u64, u64)>)| {
            let to = spans.iter().map(|(_, to)| *to).max()?;
            Some(range(*log, spans.first()?.0, to))
        };
        logs.iter().filter_map(ends).collect()
    }

    fn holds(&self, key: Key) -> bool {
        let Some(logs) = &self.0 else { return true };
        logs.get(&key.log).is_some_and(|spans| {
            let behind = spans.partition_point(|(from, _)| *from <= key.seq);
            behind > 0 && key.seq <= spans[behind - 1].1
        })
    }
}

pub(super) fn search(
    db: &Connection,
    query: &Query,
    request: &SearchRequest,
    within: Option<&[(LogNo, u64, u64)]>,
    visit: &mut dyn FnMut(Key) -> Result<bool>,
) -> Result<()> {
    let text = match_text(query);
    if text.is_empty() {
        return Ok(());
    }
    let within = LogRanges::new(within);
    let ranges = within.key_ranges();
    let keys = match (request.sort, ranges.as_slice()) {
        (Sort::Newest, [range]) if within.0.is_some() => {
            return stream(db, NEWEST, &text, *range, &mut |key| hit(db, request, &within, key, visit));
        }
        (Sort::Oldest, [range]) if within.0.is_some() => {
            return stream(db, OLDEST, &text, *range, &mut |key| hit(db, request, &within, key, visit));
        }
        (Sort::Rank, _) => by_rank(db, &text, &ranges, &within)?,
        (Sort::Oldest, _) => by_time(db, &text, &ranges, &within)?,
        (Sort::Newest, _) => {
            let mut keys = by_time(db, &text, &ranges, &within)?;
            keys.reverse();
            keys
        }
    };
    for key in keys {
        if !hit(db, request, &within, key, visit)? {
            break;
        }
    }
    Ok(())
}

const NEWEST: &str =
    "SELECT rowid FROM search WHERE search MATCH ?1 AND rowid BETWEEN ?2 AND ?3 ORDER BY rowid DESC";
const OLDEST: &str =
    "SELECT rowid FROM search WHERE search MATCH ?1 AND rowid BETWEEN ?2 AND ?3 ORDER BY rowid";

/// Passes a matching hit on; returns whether to continue.
fn hit(
    db: &Connection,
    request: &SearchRequest,
    within: &LogRanges,
    key: Key,
    visit: &mut dyn FnMut(Key) -> Result<bool>,
) -> Result<bool> {
    if within.holds(key) && passes(db, request, key)? { visit(key) } else { Ok(true) }
}

/// Applies the filters of a request; an entry is read only if there is a filter.
fn passes(db: &Connection, request: &SearchRequest, key: Key) -> Result<bool> {
    let SearchRequest { role, source, not_source, from, to, .. } = request;
    if role.is_none() && source.is_none() && not_source.is_empty() && from.is_none() && to.is_none() {
        return Ok(true);
    }
    let asked = asked(db, key)?;
    Ok(looks_through(request, asked.role, &asked.author, asked.time))
}

/// Rows in the index's own order, without sorting.
fn stream(
    db: &Connection,
    sql: &str,
    text: &str,
    (from, to): (i64, i64),
    visit: &mut dyn FnMut(Key) -> Result<bool>,
) -> Result<()> {
    let attempt = || StoreError::database("search");
    let mut statement = db.prepare_cached(sql).map_err(attempt())?;
    let mut rows = statement.query(params![text, from, to]).map_err(attempt())?;
    while let Some(row) = rows.next().map_err(attempt())? {
        if !visit(unpack(row.get(0).map_err(attempt())?))? {
            break;
        }
    }
    Ok(())
}

/// The best first; of equal ones the newest.
fn by_rank(db: &Connection, text: &str, ranges: &[(i64, i64)], within: &LogRanges) -> Result<Vec<Key>> {
    let sql = ("search", "SELECT rank, rowid FROM search WHERE search MATCH ? AND rowid BETWEEN ? AND ?");
    let mut hits: Vec<(f64, Key)> = hits(db, sql, text, ranges, within)?;
    hits.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
    Ok(hits.into_iter().map(|(_, key)| key).collect())
}

/// Oldest first, across logs.
fn by_time(db: &Connection, text: &str, ranges: &[(i64, i64)], within: &LogRanges) -> Result<Vec<Key>> {
    let sql = (
        "search",
        "SELECT time, key FROM search CROSS JOIN entry ON key = search.rowid
         WHERE search MATCH ? AND search.rowid BETWEEN ? AND ?",
    );
    let mut hits: Vec<(i64, Key)> = hits(db, sql, text, ranges, within)?;
    hits.sort_unstable();
    Ok(hits.into_iter().map(|(_, key)| key).collect())
}

/// The hits that may be shown, each with its sort key.
fn hits<T: FromSql>(
    db: &Connection,
    sql: Sql,
    text: &str,
    ranges: &[(i64, i64)],
    within: &LogRanges,
) -> Result<Vec<(T, Key)>> {
    let mut hits = Vec::new();
    for (from, to) in ranges {
        let read = |cells: &mut Cells<'_>| Ok((cells.next()?, unpack(cells.next()?)));
        hits.extend(all(db, sql, params![text, from, to], index, read)?);
    }
    hits.retain(|(_, key)| within.holds(*key));
    Ok(hits)
}

fn index() -> String {
    "the full-text index".to_owned()
}

/// The query in the index's language. Every word is quoted, so typed text never contains an operator.
fn match_text(query: &Query) -> String {
    let verbatim = query.verbatim.iter().map(term);
    query.any.iter().filter_map(clause).chain(verbatim).collect::<Vec<_>>().join(" OR ")
}

fn clause(clause: &Clause) -> Option<String> {
    let items = |items: &[Item], operator: &str| items.iter().map(item).collect::<Vec<_>>().join(operator);
    if clause.must.is_empty() {
        return None;
    }
    let must = items(&clause.must, " AND ");
    Some(match clause.not.is_empty() {
        true => format!("({must})"),
        false => format!("(({must}) NOT ({}))", items(&clause.not, " OR ")),
    })
}

fn item(item: &Item) -> String {
    match item {
        Item::Term(own) => term(own),
        Item::Any(clauses) => {
            format!("({})", clauses.iter().filter_map(clause).collect::<Vec<_>>().join(" OR "))
        }
    }
}

fn term(term: &Term) -> String {
    let words = term.words.join(" ").replace('"', " ");
    let more = if term.prefix { " *" } else { "" };
    format!("\"{words}\"{more}")
}
