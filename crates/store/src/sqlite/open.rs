//! Opens a store: checks that it is ours, its format, and that it can be read. Reads no more than a few pages.
//!
//! A file that is not ours or from a newer version is not changed: its header is read before SQLite opens it.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use retake_core::Time;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::rows::SqliteRows;
use super::schema::{self, APPLICATION, VERSION};
use super::{Opened, Sqlite, backup, erase, search};
use crate::error::{Result, StoreError};
use crate::lock::{OwnerLock, io, utc};
use crate::private;

/// The store's file in its data directory.
const FILE: &str = "retake.db";
/// Its name while it is being created.
const NEW_FILE: &str = "retake.db.unfinished";

/// How long a connection waits for another one's lock on the file.
const BUSY: Duration = Duration::from_secs(5);
/// The number of prepared statements that a connection keeps: more than exist.
pub(super) const STATEMENTS: usize = 256;
/// The writer's page cache, in KiB: enough for the ends of some thousand conversations. Readers have the default size, because
/// each commit of the writer empties their cache.
const PAGES_KIB: i64 = 16 * 1024;

pub(super) fn open(dir: &Path, now: Time, wait: Duration) -> Result<Opened> {
    backup::private_folder(dir)?;
    let opened_to_others = private::close(dir);
    let lock = Arc::new(OwnerLock::take(dir, now, wait)?);
    backup::tidy(dir)?;
    let file = dir.join(FILE);
    if fs::exists(&file).map_err(io("look for", &file))? {
        check_header(&file)?;
    } else {
        create(dir, &file)?;
    }
    let db = connect(&file, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let mut notices = Vec::from_iter(opened_to_others);
    notices.extend(prepare(&db, dir, &file, now)?);
    let epoch = start_epoch(&db).map_err(damage(&file, "start an epoch"))?;
    let mut writer = SqliteRows {
        db,
        file: file.clone(),
        epoch,
        texts: Vec::new(),
        indexed: 0,
        saved: (0, 0),
        fresh: false,
        notices: Vec::new(),
        lock: Arc::clone(&lock),
    };
    if !search::opens(&writer.db) {
        writer.rebuild_search()?;
        tracing::warn!("the full-text index was damaged and has been rebuilt");
        notices.push("the full-text index was damaged and has been rebuilt".to_owned());
    }
    if erase::is_pending(&writer.db)? {
        notices.extend(scrub(&writer, &file));
    }
    let readers = Sqlite { file, idle: Mutex::default(), lock };
    Ok(Opened { writer, readers, notices })
}

/// Records the new owner. In two statements: one that returns rows would not report that it could not be committed.
fn start_epoch(db: &Connection) -> rusqlite::Result<i64> {
    db.execute("UPDATE meta SET value = value + 1 WHERE name = 'epoch'", [])?;
    db.query_row("SELECT value FROM meta WHERE name = 'epoch'", [], |row| row.get(0))
}

/// Finishes an erasure that a crash interrupted. A failure does not prevent other reads.
fn scrub(writer: &SqliteRows, file: &Path) -> Vec<String> {
    erase::scrub(&writer.db, file).unwrap_or_else(|error| {
        let text = "what was erased may still be in the store's files, the next start tries again";
        vec![format!("{text}: {error}")]
    })
}

/// A read-only connection.
pub(super) fn reader(file: &Path, lock: Arc<OwnerLock>) -> Result<SqliteRows> {
    let opened = connect(file, OpenFlags::SQLITE_OPEN_READ_ONLY);
    // The name may lead to another owner's file by now.
    lock.check_place()?;
    let db = opened?;
    db.pragma_update(None, "query_only", true).map_err(StoreError::database("open the store for reading"))?;
    Ok(SqliteRows {
        db,
        file: file.to_owned(),
        epoch: 0,
        texts: Vec::new(),
        indexed: 0,
        saved: (0, 0),
        fresh: false,
        notices: Vec::new(),
        lock,
    })
}

fn connect(file: &Path, access: OpenFlags) -> Result<Connection> {
    let attempt = || StoreError::database("open the store");
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(file, flags).map_err(attempt())?;
    db.busy_timeout(BUSY).map_err(attempt())?;
    db.set_prepared_statement_cache_capacity(STATEMENTS);
    // Otherwise a bound limit, or a value that a partial index needs, is part of the plan, and the statement is prepared again
    // for each other value.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(attempt())?;
    Ok(db)
}

/// Checks a file's header without SQLite, which might write to the file.
fn check_header(file: &Path) -> Result<()> {
    const MAGIC: &[u8] = b"SQLite format 3\0";
    let mut header = [0; 100];
    let number = |header: &[u8], at: usize| {
        let bytes = header[at..at + 4].try_into().expect("BUG: four bytes");
        i32::from_be_bytes(bytes)
    };
    let read = File::open(file).and_then(|mut file| file.read_exact(&mut header));
    match read {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => {}
        Err(error) => return Err(io("read", file)(error)),
    }
    let (application, format) = (number(&header, 68), i64::from(number(&header, 60)));
    if !header.starts_with(MAGIC) || application != APPLICATION {
        return Err(StoreError::NotAStore { file: file.to_owned() });
    }
    check_format(file, format)
}

fn check_format(file: &Path, found: i64) -> Result<()> {
    if found <= VERSION {
        return Ok(());
    }
    Err(StoreError::Newer { file: file.to_owned(), found, known: VERSION })
}

/// Creates an empty store. It gets its name only when it is complete, so that a crash leaves no incomplete store.
fn create(dir: &Path, file: &Path) -> Result<()> {
    let attempt = || StoreError::database("create the store");
    let new = dir.join(NEW_FILE);
    backup::create_private(&new)?;
    let db = Connection::open(&new).map_err(attempt())?;
    db.execute_batch("BEGIN IMMEDIATE")
        .and_then(|()| db.pragma_update(None, "application_id", APPLICATION))
        .and_then(|()| schema::migrate(&db, 0))
        .and_then(|()| db.execute_batch("COMMIT"))
        .map_err(attempt())?;
    drop(db);
    backup::publish(&new, file)
}

/// Migrates the file to the newest format, after a backup, and sets the mode of writing. Returns a notice.
fn prepare(db: &Connection, dir: &Path, file: &Path, now: Time) -> Result<Option<String>> {
    let attempt = || damage(file, "open the store");
    // The header may be older than the log beside it, so the format is only known now; until then, closing must not write.
    let no_write = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
    db.set_db_config(no_write, true).map_err(attempt())?;
    let format: i64 = db.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(attempt())?;
    check_format(file, format)?;
    db.set_db_config(no_write, false).map_err(attempt())?;
    db.pragma_update(None, "journal_mode", "WAL")
        .and_then(|()| db.pragma_update(None, "synchronous", "FULL"))
        .and_then(|()| db.pragma_update(None, "cache_size", -PAGES_KIB))
        .map_err(attempt())?;
    if format == VERSION {
        return Ok(None);
    }
    let copy = backup::place(dir, format, &utc(now))?;
    match backup::copy(db, &copy) {
        // An earlier start in the same second made this backup; only a complete copy has the name.
        Ok(()) | Err(StoreError::FileExists { .. }) => {}
        Err(error) => return Err(error),
    }
    let update = || StoreError::database("bring the store up to date");
    db.execute_batch("BEGIN IMMEDIATE").and_then(|()| schema::migrate(db, format)).map_err(update())?;
    if format < schema::CUT {
        search::rebuild(db)?;
    }
    db.execute_batch("COMMIT").map_err(update())?;
    Ok(Some(format!(
        "brought the store from format {format} to {VERSION}; the file before that is {}",
        copy.display()
    )))
}

/// Wraps a database error; an error about a damaged file names the file.
fn damage(file: &Path, attempt: &'static str) -> impl FnOnce(rusqlite::Error) -> StoreError {
    move |error| match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            StoreError::Broken { file: file.to_owned(), source: error }
        }
        _ => StoreError::database(attempt)(error),
    }
}
