//! The check of the whole store: missing and unreadable rows. It reports and never repairs.
//!
//! Only derived data is rebuilt: the full-text index and the index of facts.

use std::collections::BTreeSet;
use std::error::Error as _;
use std::path::{Path, PathBuf};

use retake_core::{Finding, OpNo, Pos, Time};
use rusqlite::Connection;

use super::cells::all;
use super::rows::SqliteRows;
use super::tool_turns::facts;
use super::{backup, schema, search};
use crate::error::{Result, StoreError, database_error};
use crate::lock::{io, utc};
use crate::rows::{
    ConversationRow, ConversationRows as _, DraftRows as _, EffectRows as _, EntryRows as _, LogNo,
    OperationRows as _, OutboxRows as _, RunRows as _, facts_of,
};
use crate::transfer::{Findings, Upkeep};

/// How many entries and operations are read at a time.
const CHUNK: u64 = 1000;

impl SqliteRows {
    /// All problems: pages, the full-text index, unreadable rows, gaps. Reads the whole file.
    pub fn check(&self) -> Result<Findings> {
        // Even if the pages cannot be checked, the rows can.
        let (mut problems, details) = match pages(&self.db) {
            Ok(found) => (kinds(&found), found),
            Err(error) => (
                vec![Finding::unreadable(&error)],
                error.source().map(ToString::to_string).into_iter().collect(),
            ),
        };
        for log in logs(&self.db)? {
            match self.log(log) {
                Ok(home) => self.check_log(&home, &mut problems)?,
                Err(error) => problems.push(Finding::unreadable(error)),
            }
        }
        problems.extend(self.drafts_in().err().map(Finding::unreadable));
        match self.outbox_open(usize::MAX) {
            Ok(rows) => problems.extend(rows.into_iter().filter_map(Result::err).map(Finding::unreadable)),
            Err(error) => problems.push(Finding::unreadable(error)),
        }
        Ok(Findings { problems, details })
    }

    fn check_log(&self, home: &ConversationRow, wrong: &mut Vec<Finding>) -> Result<()> {
        let last = home.now.head.seq.0;
        let (mut told, mut damaged) = (facts::FactTable::new(), BTreeSet::new());
        for from in (1..=last).step_by(CHUNK as usize) {
            let to = last.min(from + CHUNK - 1);
            for (seq, entry) in (from..).zip(self.entries(home.log, from, to)?) {
                match entry {
                    Ok(entry) if !follows(entry.meta.after, entry.meta.pos) => {
                        wrong.push(Finding::Order(home.id, seq));
                    }
                    Ok(entry) => told.extend(
                        facts_of(&entry.parts).map(|fact| ((seq, fact.key.clone()), fact.value.clone())),
                    ),
                    Err(error) => {
                        damaged.insert(seq);
                        wrong.push(Finding::unreadable(error));
                    }
                }
            }
        }
        match facts::known(&self.db, home.log) {
            Ok(mut known) => {
                known.retain(|(seq, _), _| !damaged.contains(seq));
                if known != told {
                    wrong.push(Finding::Facts(home.id));
                }
            }
            Err(error) => wrong.push(Finding::unreadable(error)),
        }
        let rest = [
            self.effects_in(home.log, 1, last, usize::MAX).map(drop),
            self.runs_of(home.log, usize::MAX).map(drop),
            self.permission(home.log).map(drop),
            self.drafts(home.log).map(drop),
        ];
        wrong.extend(rest.into_iter().filter_map(Result::err).map(Finding::unreadable));
        let unreadable = |detail| Finding::Unreadable { conversation: Some(home.id), detail };
        for no in 1..=home.now.head.op.0 {
            if let Err(error) = self.op(home.log, OpNo(no)) {
                wrong.push(unreadable(error.to_string()));
            }
        }
        if let Err(error) = self.state(home.log, home.now.head.op) {
            wrong.push(Finding::unreadable(error));
        }
        if let Some(parent) = home.parent
            && let Err(error) = self.log(parent.log)
        {
            wrong.push(unreadable(format!("its parent: {error}")));
        }
        Ok(())
    }

    /// Rebuilds the full-text index, however damaged the old one is.
    pub fn rebuild_search(&mut self) -> Result<()> {
        if self.whole(search::rebuild).is_ok() {
            return Ok(());
        }
        // A transaction that read a damaged page cannot be committed any more.
        self.whole(|db| search::forget(db).and_then(|()| search::rebuild(db)))?;
        // Only releases unused pages, which damage elsewhere may prevent.
        if let Err(error) = self.db.execute_batch("VACUUM") {
            tracing::info!(cause = database_error(&error), "unused pages stay in the file");
        }
        Ok(())
    }

    /// Runs work in one transaction.
    fn whole(&self, work: impl Fn(&Connection) -> Result<()>) -> Result<()> {
        let attempt = || StoreError::database("rebuild the full-text index");
        self.db.execute_batch("BEGIN IMMEDIATE").map_err(attempt())?;
        let done = work(&self.db).and_then(|()| self.db.execute_batch("COMMIT").map_err(attempt()));
        if done.is_err() {
            // The work's error is more important than a failed rollback.
            if let Err(error) = self.db.execute_batch("ROLLBACK") {
                tracing::debug!(cause = database_error(&error), "there was nothing to roll back");
            }
        }
        done
    }

    /// Writes a consistent copy of the store to `to`, while it is in use.
    pub fn backup(&self, to: &Path) -> Result<()> {
        backup::copy(&self.db, to)
    }

    /// The notices for the owner since the last call, a sentence each.
    pub fn take_notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notices)
    }
}

impl Upkeep for SqliteRows {
    fn problems(&self) -> Result<Findings> {
        self.check()
    }

    fn mend(&mut self) -> Result<()> {
        search::rebuild(&self.db)?;
        facts::rebuild(&self.db)
    }

    fn copy_to(&self, to: Option<&Path>, now: Time) -> Result<PathBuf> {
        let path = match (to, self.file.parent()) {
            (Some(path), _) => path.to_owned(),
            (None, Some(dir)) => backup::place(dir, schema::VERSION, &utc(now))?,
            (None, None) => return Err(StoreError::NotAStore { file: self.file.clone() }),
        };
        if std::fs::exists(&path).map_err(io("look for", &path))? {
            return Err(StoreError::FileExists { path });
        }
        backup::copy(&self.db, &path)?;
        Ok(path)
    }
}

/// SQLite's findings about pages and indexes, the full-text index included.
fn pages(db: &Connection) -> Result<Vec<String>> {
    // A reading renews FTS5's memory of its index, a check does not: if another connection has merged the index since, the check
    // would search for removed pages. The check reports it if the reading fails.
    let _ = db.query_row("SELECT count(*) FROM (SELECT 1 FROM search LIMIT 1)", [], |_| Ok(()));
    let sql = ("check the file", "PRAGMA integrity_check");
    let mut found: Vec<String> = all(db, sql, [], || "the file".into(), |cells| cells.next())?;
    found.retain(|line| line != "ok");
    Ok(found)
}

/// SQLite's findings, each kind of damage once.
fn kinds(details: &[String]) -> Vec<Finding> {
    let mut problems = Vec::new();
    for detail in details {
        let problem = if detail.contains("FTS5") {
            Finding::SearchIndex
        } else if detail.contains("index") {
            Finding::Index
        } else {
            Finding::Pages
        };
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    }
    problems
}

fn logs(db: &Connection) -> Result<Vec<LogNo>> {
    let sql = ("list conversations", "SELECT log FROM conversation ORDER BY log");
    all(db, sql, [], || "a conversation".into(), |cells| Ok(LogNo(cells.next()?)))
}

fn follows(after: Option<Pos>, pos: Pos) -> bool {
    after.is_none_or(|after| after < pos)
}
