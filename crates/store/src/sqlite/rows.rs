//! The rows of an SQLite file: each table has a module of its own.

use std::path::PathBuf;
use std::sync::Arc;

use rusqlite::Connection;

use crate::lock::OwnerLock;

/// Rows of an SQLite file: the writer's, or a read-only reader's.
#[derive(Debug)]
pub struct SqliteRows {
    pub(super) db: Connection,
    pub(super) file: PathBuf,
    /// The epoch that this owner wrote when it opened the store.
    pub(super) epoch: i64,
    /// Texts for the full-text index. They are added at the end of the transaction: the index writes a segment at
    /// every savepoint, so one for each request would make a segment for each entry.
    pub(super) texts: Vec<(i64, String)>,
    /// The number of them that are in the index already.
    pub(super) indexed: usize,
    /// The number of texts at the savepoint, and the number of them in the index.
    pub(super) saved: (usize, usize),
    /// Whether the transaction is still empty. Then its beginning serves as the savepoint: for a savepoint SQLite
    /// copies every page that it touches.
    pub(super) fresh: bool,
    pub(super) notices: Vec<String>,
    /// Held until the file is closed: fields are dropped in order.
    pub(super) lock: Arc<OwnerLock>,
}
