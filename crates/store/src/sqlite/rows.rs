//! The rows of an SQLite file: each table's are read and written in a file of its own.

use std::path::PathBuf;
use std::sync::Arc;

use rusqlite::Connection;

use crate::lock::OwnerLock;

/// Rows of an SQLite file: the writer's, or a reader's that can't write.
#[derive(Debug)]
pub struct SqliteRows {
    pub(super) db: Connection,
    pub(super) file: PathBuf,
    /// The epoch that this owner wrote when it opened the store.
    pub(super) epoch: i64,
    /// Texts for the full-text index. They are added at the end of the transaction: the index writes what it has
    /// at every savepoint, and one for each request would make a segment of each entry.
    pub(super) texts: Vec<(i64, String)>,
    /// How many of them are in the index already.
    pub(super) indexed: usize,
    /// How many texts there were at the savepoint, and how many of them in the index.
    pub(super) saved: (usize, usize),
    /// Whether the transaction holds nothing yet. Then its beginning is the point to return to, and a request on its
    /// own needs no savepoint, for which SQLite copies every page that it touches.
    pub(super) fresh: bool,
    pub(super) notices: Vec<String>,
    /// Held until the file is closed: fields are dropped in order.
    pub(super) lock: Arc<OwnerLock>,
}
