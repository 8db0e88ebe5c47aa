//! Counts a store's work on its file, for the tests of scale and the benchmark. Must never change it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::StatementStatus;
use rusqlite::hooks::{AuthContext, Authorization};
use rusqlite::trace::{TraceEvent, TraceEventCodes};

use super::{Sqlite, SqliteRows, open};
use crate::error::{Result, StoreError};

/// The work of SQLite, the statements of the full-text index included.
#[derive(Debug, Default)]
pub struct Work {
    statements: AtomicU64,
    rows: AtomicU64,
    steps: AtomicU64,
    prepared: AtomicU64,
    /// The number of statements since the last commit, and in each earlier transaction.
    transactions: Mutex<(u64, Vec<u64>)>,
}

impl Work {
    /// The numbers of executed statements, returned rows, and steps of SQLite's virtual machine: a few steps for
    /// each row that is read, even if it is not returned.
    pub fn counts(&self) -> [u64; 3] {
        [&self.statements, &self.rows, &self.steps].map(|count| count.load(Ordering::Relaxed))
    }

    /// The number of statements in each committed transaction since the last call, in order.
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

    /// The length of statement texts that SQLite has prepared: 0 if all were cached.
    pub fn prepared(&self) -> u64 {
        self.prepared.load(Ordering::Relaxed)
    }
}

impl SqliteRows {
    /// Counts transactions from now on: each one takes one sync of the write-ahead log.
    pub fn count_commits(&mut self, commits: &Arc<AtomicU64>) -> Result<()> {
        let commits = Arc::clone(commits);
        let count = move || {
            commits.fetch_add(1, Ordering::Relaxed);
            // `true` would turn the commit into a rollback.
            false
        };
        self.db.commit_hook(Some(count)).map_err(StoreError::database("watch the store"))
    }

    /// Counts the statements of each committed transaction from now on, if all work is counted.
    pub fn count_transactions(&mut self, work: &Arc<Work>) -> Result<()> {
        let work = Arc::clone(work);
        let count = move || {
            work.commit();
            // `true` would turn the commit into a rollback.
            false
        };
        self.db.commit_hook(Some(count)).map_err(StoreError::database("watch the store"))
    }

    /// Counts all work from now on.
    pub fn count_work(&mut self, work: &Arc<Work>) -> Result<()> {
        let prepared = Arc::clone(work);
        let prepare = move |_: AuthContext<'_>| {
            prepared.prepared.fetch_add(1, Ordering::Relaxed);
            Authorization::Allow
        };
        self.db.authorizer(Some(prepare)).map_err(StoreError::database("watch the store"))?;
        let work = Arc::clone(work);
        // SQLite adds up a statement's steps over its runs.
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
                // A statement that was prepared again starts from 0.
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
    /// Counts all work of the readers from now on, as long as no two read at once.
    pub fn count_work(&self, work: &Arc<Work>) -> Result<()> {
        let mut rows = open::reader(&self.file, Arc::clone(&self.lock))?;
        rows.count_work(work)?;
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(rows);
        Ok(())
    }
}
