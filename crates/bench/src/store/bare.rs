//! The baseline: a plain loop over rusqlite that inserts the same rows as the store, one commit each. Pragmas,
//! tables, indexes and full-text index are the same. Knows nothing of the store's logic.

use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection, params, params_from_iter};

/// The store's file in its data directory.
pub(super) const FILE: &str = "retake.db";

/// A row of the table of entries, and its text for the full-text index.
pub(super) struct Row {
    cells: Vec<Value>,
    text: String,
}

/// The rows after a key.
pub(super) fn rows(from: &Connection, behind: i64) -> anyhow::Result<Vec<Row>> {
    let mut statement = from.prepare("SELECT * FROM entry WHERE key > ? ORDER BY key")?;
    let (columns, content) = (statement.column_count(), statement.column_index("content")?);
    let mut found = statement.query([behind])?;
    let mut rows = Vec::new();
    while let Some(row) = found.next()? {
        let cells = (0..columns).map(|at| row.get(at)).collect::<rusqlite::Result<Vec<Value>>>()?;
        let said: String = serde_json::from_str(&row.get::<_, String>(content)?)?;
        let words = said.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        rows.push(Row { cells, text: words.collect::<Vec<_>>().join(" ") });
    }
    Ok(rows)
}

/// The largest key.
pub(super) fn last_key(db: &Connection) -> rusqlite::Result<i64> {
    db.query_row("SELECT max(key) FROM entry", [], |row| row.get(0))
}

/// The number of entries with a word, from the full-text index.
pub(super) fn found(db: &Connection, word: &str) -> rusqlite::Result<i64> {
    db.query_row("SELECT count(*) FROM search WHERE search MATCH ?", [word], |row| row.get(0))
}

/// Opens a copy of the store's file as the store does.
pub(super) fn open(folder: &Path) -> rusqlite::Result<Connection> {
    let db = Connection::open(folder.join(FILE))?;
    db.pragma_update(None, "journal_mode", "WAL")?;
    db.pragma_update(None, "synchronous", "FULL")?;
    Ok(db)
}

/// Inserts each row, and updates the conversation's row: a commit each.
pub(super) fn append(db: &Connection, rows: &[Row]) -> rusqlite::Result<()> {
    let Some(first) = rows.first() else { return Ok(()) };
    let marks = vec!["?"; first.cells.len()].join(", ");
    let mut begin = db.prepare_cached("BEGIN IMMEDIATE")?;
    let mut entry = db.prepare_cached(&format!("INSERT INTO entry VALUES ({marks})"))?;
    let mut text = db.prepare_cached("INSERT INTO search (rowid, text) VALUES (?, ?)")?;
    let mut now = db.prepare_cached(
        "UPDATE conversation SET head_seq = head_seq + 1, revision = revision + 1 WHERE log = ?1 >> 32",
    )?;
    let mut commit = db.prepare_cached("COMMIT")?;
    for row in rows {
        begin.execute([])?;
        entry.execute(params_from_iter(&row.cells))?;
        text.execute(params![row.cells[0], row.text])?;
        now.execute([&row.cells[0]])?;
        commit.execute([])?;
    }
    Ok(())
}
