//! The writer's transactions: many requests, one commit, a savepoint for each.

use super::cells::first;
use super::{erase, rows::SqliteRows, search};
use crate::error::{Result, StoreError, database_error};
use crate::rows::Transactions;

impl SqliteRows {
    /// Adds the waiting texts to the full-text index.
    pub(super) fn index_texts(&mut self) -> Result<()> {
        for (key, text) in &self.texts[self.indexed..] {
            search::insert(&self.db, *key, text)?;
        }
        self.indexed = self.texts.len();
        Ok(())
    }

    fn forget_texts(&mut self) {
        self.texts.clear();
        self.indexed = 0;
        self.saved = (0, 0);
    }

    fn command(&self, attempt: &'static str, sql: &'static str) -> Result<()> {
        super::cells::run(&self.db, (attempt, sql), []).map(drop)
    }

    /// Refuses after another process has opened the store: this process was paused, and its lock is lost.
    fn check_epoch(&self) -> Result<()> {
        let sql = ("read the epoch", "SELECT value FROM meta WHERE name = 'epoch'");
        let name = || "the epoch".to_owned();
        let epoch: Option<i64> = first(&self.db, sql, [], name, |cells| cells.next())?;
        if epoch == Some(self.epoch) { Ok(()) } else { Err(StoreError::TakenOver) }
    }
}

impl Transactions for SqliteRows {
    fn owner(&self) -> u64 {
        self.epoch.unsigned_abs()
    }

    fn begin(&mut self) -> Result<()> {
        self.fresh = true;
        self.command("begin a change", "BEGIN IMMEDIATE")?;
        self.check_epoch().and_then(|()| self.lock.check_place()).inspect_err(|_| self.abandon())
    }

    fn save(&mut self) -> Result<()> {
        self.saved = (self.texts.len(), self.indexed);
        match (self.fresh, self.db.is_autocommit()) {
            (true, false) => Ok(()),
            // The failed request was alone in the transaction, which ended with it.
            (true, true) => self.begin(),
            (false, false) => self.command("begin a request", "SAVEPOINT request"),
            // After some failures, such as a full disk, SQLite rolls back by itself, and earlier requests are
            // lost.
            (false, true) => Err(StoreError::NotDurable {
                why: "an earlier request broke it off".to_owned(),
                is_full: false,
            }),
        }
    }

    fn back(&mut self) -> Result<()> {
        self.texts.truncate(self.saved.0);
        self.indexed = self.saved.1;
        if self.fresh {
            return self.command("take a request back", "ROLLBACK");
        }
        self.command("take a request back", "ROLLBACK TO request")?;
        self.command("take a request back", "RELEASE request")
    }

    fn keep(&mut self) -> Result<()> {
        if std::mem::take(&mut self.fresh) {
            return Ok(());
        }
        self.command("finish a request", "RELEASE request")
    }

    fn commit(&mut self) -> Result<()> {
        if self.fresh && self.db.is_autocommit() {
            // Every request was rolled back, the last one with the transaction.
            return Ok(());
        }
        let done = self.index_texts().and_then(|()| self.command("make a change durable", "COMMIT"));
        match done {
            Ok(()) => self.forget_texts(),
            Err(_) => self.abandon(),
        }
        done
    }

    fn abandon(&mut self) {
        self.forget_texts();
        // After a failure SQLite may have rolled back by itself; then nothing is left to do.
        if let Err(error) = self.db.execute_batch("ROLLBACK") {
            tracing::debug!(cause = database_error(&error), "there was nothing to roll back");
        }
    }

    fn scrub(&mut self) -> Result<()> {
        let notices = erase::scrub(&self.db, &self.file)?;
        self.notices.extend(notices);
        Ok(())
    }
}
