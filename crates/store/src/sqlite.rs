//! The embedded backend: one file, one writer, concurrent readers, all in its data directory.
//!
//! `record` defines the formats of rows, `schema` the tables. Must know no rule of the conversation.

mod access;
mod backup;
mod cells;
mod chat;
mod check;
mod conversation;
mod draft;
mod entry;
mod erase;
mod files;
mod open;
mod operation;
mod outbox;
mod rows;
mod schema;
mod search;
#[cfg(test)]
mod tests;
mod tool_turns;
mod transaction;
#[cfg(feature = "conformance")]
mod watch;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use retake_core::{SearchRequest, Time};

use crate::error::Result;
use crate::lock::OwnerLock;
use crate::query::Query;
use crate::rows::{Backend, Erasure, Key, LogNo, Rows};

pub use rows::SqliteRows;
#[cfg(feature = "conformance")]
pub use watch::Work;

/// The readers of a store. Like the writer, they hold the data directory.
#[derive(Debug)]
pub struct Sqlite {
    file: PathBuf,
    /// Idle connections: opening one costs more than most readings. There are at most as many as readers ever ran at
    /// once, and the store limits those.
    idle: Mutex<Vec<SqliteRows>>,
    lock: Arc<OwnerLock>,
}

/// An opened store.
#[derive(Debug)]
pub struct Opened {
    /// The writer.
    pub writer: SqliteRows,
    /// The readers.
    pub readers: Sqlite,
    /// Notices for the owner, a sentence each: a migration, a rebuilt index.
    pub notices: Vec<String>,
}

impl Sqlite {
    /// Opens the store in `dir`, which is created if it is missing. Takes the directory, waiting up to `wait` for
    /// another owner to end. Migrates the file after a backup, and starts a new epoch.
    pub fn open(dir: &Path, now: Time, wait: Duration) -> Result<Opened> {
        open::open(dir, now, wait)
    }

    /// Runs a reader on one state of the store.
    fn within_snapshot<T>(&self, reader: impl FnOnce(&SqliteRows) -> T) -> Result<T> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = idle().pop();
        let rows = match kept {
            Some(rows) => rows,
            None => open::reader(&self.file, Arc::clone(&self.lock))?,
        };
        cells::run(&rows.db, ("read", "BEGIN"), [])?;
        let found = reader(&rows);
        let ended = cells::run(&rows.db, ("read", "ROLLBACK"), []);
        idle().push(rows);
        ended.map(|_| found)
    }
}

impl Backend for Sqlite {
    fn read(&self, reader: &mut dyn FnMut(&dyn Rows)) -> Result<()> {
        self.within_snapshot(|rows| reader(rows))
    }

    fn check_place(&self) -> Result<()> {
        self.lock.check_place()
    }
}

/// The first and the last id with these hexadecimal digits as prefix; `None` if no id can have it.
fn ids_like(prefix: &str) -> Option<([u8; 16], [u8; 16])> {
    const DIGITS: usize = 32;
    let fits = prefix.len() <= DIGITS && prefix.bytes().all(|byte| byte.is_ascii_hexdigit());
    let end = |filler: &str| {
        let text = format!("{prefix}{}", filler.repeat(DIGITS - prefix.len()));
        uuid::Uuid::try_parse(&text).ok().map(uuid::Uuid::into_bytes)
    };
    if fits { Some((end("0")?, end("f")?)) } else { None }
}

impl Rows for SqliteRows {
    fn search(
        &self,
        query: &Query,
        request: &SearchRequest,
        within: Option<&[(LogNo, u64, u64)]>,
        visit: &mut dyn FnMut(Key) -> Result<bool>,
    ) -> Result<()> {
        search::search(&self.db, query, request, within, visit)
    }

    fn erase(&mut self, root: LogNo, what: &Erasure) -> Result<()> {
        // Texts must be in the index before they can be removed from it.
        self.index_texts()?;
        erase::erase(&self.db, root, what)
    }
}
