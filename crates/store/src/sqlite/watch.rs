//! Counts what the writer does to the file, for the tests of scale and the benchmark. Changes nothing of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::SqliteRows;
use crate::error::{Result, StoreError};

impl SqliteRows {
    /// Counts the transactions that are made durable from now on: each takes one sync of the write-ahead log.
    pub fn count_commits(&mut self, commits: &Arc<AtomicU64>) -> Result<()> {
        let commits = Arc::clone(commits);
        let count = move || {
            commits.fetch_add(1, Ordering::Relaxed);
            // `true` would turn the commit into a rollback.
            false
        };
        self.db.commit_hook(Some(count)).map_err(StoreError::database("watch the store"))
    }
}
