//! Counts what a store does to its file, for the tests of scale and the benchmark. Changes nothing of it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::StatementStatus;
use rusqlite::hooks::{AuthContext, Authorization};
use rusqlite::trace::{TraceEvent, TraceEventCodes};

use super::{Sqlite, SqliteRows, open};
use crate::error::{Result, StoreError};

/// What SQLite did, the statements of the full-text index included.
#[derive(Debug, Default)]
pub struct Work {
    statements: AtomicU64,
    rows: AtomicU64,
    steps: AtomicU64,
    prepared: AtomicU64,
    /// Statements since the last commit, and of each transaction before.
    transactions: Mutex<(u64, Vec<u64>)>,
}

impl Work {
    /// Statements carried out, rows they gave, and steps of SQLite's virtual machine: one or a few for each row that
    /// is looked at, also where it is not given.
    pub fn counts(&self) -> [u64; 3] {
        [&self.statements, &self.rows, &self.steps].map(|count| count.load(Ordering::Relaxed))
    }

    /// The statements of each transaction that was made durable since the last call, in their order.
    pub fn take_transactions(&self) -> Vec<u64> {
        std::mem::take(&mut self.transactions().1)
    }

    fn transactions(&self) -> MutexGuard<'_, (u64, Vec<u64>)> {
        self.transactions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn commit(&self) {
        let (statements, all) = &mut *self.transactions();
        all.push(std::mem::take(statements));
    }

    /// What SQLite has read of the texts of statements, to prepare them: nothing, where all were kept.
    pub fn prepared(&self) -> u64 {
        self.prepared.load(Ordering::Relaxed)
    }
}

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

    /// Counts the statements of each transaction that is made durable from now on, where all work is counted.
    pub fn count_transactions(&mut self, work: &Arc<Work>) -> Result<()> {
        let work = Arc::clone(work);
        let count = move || {
            work.commit();
            // `true` would turn the commit into a rollback.
            false
        };
        self.db.commit_hook(Some(count)).map_err(StoreError::database("watch the store"))
    }

    /// Counts all that is done from now on.
    pub fn count_work(&mut self, work: &Arc<Work>) -> Result<()> {
        let prepared = Arc::clone(work);
        let prepare = move |_: AuthContext<'_>| {
            prepared.prepared.fetch_add(1, Ordering::Relaxed);
            Authorization::Allow
        };
        self.db.authorizer(Some(prepare)).map_err(StoreError::database("watch the store"))?;
        let work = Arc::clone(work);
        // SQLite sums a statement's steps up over its runs.
        let mut before: HashMap<String, u64> = HashMap::new();
        let count = move |event: TraceEvent<'_>| match event {
            TraceEvent::Row(_) => {
                work.rows.fetch_add(1, Ordering::Relaxed);
            }
            TraceEvent::Profile(statement, _) => {
                let steps = u64::try_from(statement.get_status(StatementStatus::VmStep)).unwrap_or(0);
                let before = before.insert(statement.sql().into_owned(), steps).unwrap_or(0);
                work.statements.fetch_add(1, Ordering::Relaxed);
                work.transactions().0 += 1;
                // A statement that was prepared anew begins at nothing.
                let more = steps.checked_sub(before).unwrap_or(steps);
                work.steps.fetch_add(more, Ordering::Relaxed);
            }
            _ => {}
        };
        let events = TraceEventCodes::SQLITE_TRACE_PROFILE | TraceEventCodes::SQLITE_TRACE_ROW;
        self.db.trace_v2(events, Some(count)).map_err(StoreError::database("watch the store"))
    }
}

impl Sqlite {
    /// Counts all that the readers do from now on, as long as no two read at once.
    pub fn count_work(&self, work: &Arc<Work>) -> Result<()> {
        let mut rows = open::reader(&self.file, Arc::clone(&self.lock))?;
        rows.count_work(work)?;
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(rows);
        Ok(())
    }
}
