//! Rows of runs. The schema ensures that at most one runs and one waits, whatever the code above
//! does.

use retake_core::{ConversationId, Fence, Permission, Run, RunNo, Runs};
use rusqlite::params;
use uuid::Uuid;

use super::super::cells::{Cells, Sql, all, at_most, first, int, of, run as execute};
use super::super::rows::SqliteRows;
use crate::error::Result;
use crate::record::{Decoded, decode_permission, decode_run, encode_permission, encode_run};
use crate::rows::{ConversationRow, LogNo, RunRows};

macro_rules! of_log {
    ($columns:literal, $index:literal, $rest:literal) => {
        concat!(
            "SELECT ",
            $columns,
            " FROM run ",
            $index,
            " WHERE root = (SELECT root FROM conversation WHERE log = ?1) AND log = ?1 ",
            $rest
        )
    };
}

const RUNNING: Sql = (
    "read the running run",
    of_log!("no, state, fence, run", "INDEXED BY run_running", "AND state = 'running'"),
);
const QUEUED: Sql = (
    "read the run that waits",
    of_log!("no, state, fence, run", "INDEXED BY run_queued", "AND state = 'queued'"),
);
const LAST: Sql = ("number a run", of_log!("no", "", "ORDER BY no DESC LIMIT 1"));
const FENCE: Sql = (
    "read the last fence",
    of_log!("fence", "INDEXED BY run_fence", "AND fence > 0 ORDER BY fence DESC LIMIT 1"),
);
const NEWEST: Sql = ("read runs", of_log!("no, state, fence, run", "", "ORDER BY no DESC LIMIT ?2"));
const BETWEEN: Sql =
    ("read runs", of_log!("no, state, fence, run", "", "AND no BETWEEN ?2 AND ?3 ORDER BY no"));
const LIVE: Sql = (
    "read the live runs",
    "SELECT id, no, state, fence, run FROM run INDEXED BY run_running JOIN conversation USING (log)
     WHERE state = 'running'
     UNION ALL
     SELECT id, no, state, fence, run FROM run INDEXED BY run_queued JOIN conversation USING (log)
     WHERE state = 'queued'",
);

const PERMISSION: Sql = (
    "read what is permitted",
    "SELECT permission FROM permission
     WHERE root = (SELECT root FROM conversation WHERE log = ?1) AND log = ?1",
);

/// The statements that read runs of a conversation, for the test that none of them scans a table.
#[cfg(test)]
pub(super) const READS: &[Sql] = &[RUNNING, QUEUED, LAST, FENCE, NEWEST, BETWEEN, PERMISSION];

fn read(cells: &mut Cells<'_>) -> Decoded<Run> {
    let (no, state) = (RunNo(cells.count()?), cells.next::<String>()?);
    let fence = Fence(cells.count()?);
    decode_run(no, &state, fence, &cells.next::<String>()?)
}

impl RunRows for SqliteRows {
    fn live_runs_of(&self, log: LogNo) -> Result<Runs> {
        let one = |sql| first(&self.db, sql, [log.0], of("a run", log), read);
        let number = |sql| first(&self.db, sql, [log.0], of("a run", log), |cells| cells.count());
        Ok(Runs {
            running: one(RUNNING)?,
            queued: one(QUEUED)?,
            last: RunNo(number(LAST)?.unwrap_or(0)),
            fence: Fence(number(FENCE)?.unwrap_or(0)),
        })
    }

    fn set_run(&mut self, home: &ConversationRow, run: &Run) -> Result<()> {
        // Not `REPLACE`: it would silently replace another running one.
        let sql = (
            "keep a run",
            "INSERT INTO run (root, log, no, state, fence, run)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (root, log, no)
             DO UPDATE SET state = excluded.state, fence = excluded.fence, run = excluded.run",
        );
        let (no, state, fence) = (int(run.no.0), run.state.name(), int(run.fence.0));
        execute(&self.db, sql, params![home.root.0, home.log.0, no, state, fence, encode_run(run)]).map(drop)
    }

    fn runs_of(&self, log: LogNo, limit: usize) -> Result<Vec<Run>> {
        all(&self.db, NEWEST, [log.0, at_most(limit)], of("a run", log), read)
    }

    fn runs_in(&self, log: LogNo, from: RunNo, to: RunNo) -> Result<Vec<Run>> {
        all(&self.db, BETWEEN, [log.0, int(from.0), int(to.0)], of("a run", log), read)
    }

    fn live_runs(&self) -> Result<Vec<(ConversationId, Run)>> {
        all(
            &self.db,
            LIVE,
            [],
            || "a live run".to_owned(),
            |cells| Ok((ConversationId::new(Uuid::from_bytes(cells.next()?)), read(cells)?)),
        )
    }

    fn permission(&self, log: LogNo) -> Result<Option<Permission>> {
        first(&self.db, PERMISSION, [log.0], of("what is permitted", log), |cells| {
            decode_permission(&cells.next::<String>()?)
        })
    }

    fn set_permission(&mut self, home: &ConversationRow, permission: &Permission) -> Result<()> {
        let sql = ("settle what is permitted", "REPLACE INTO permission VALUES (?, ?, ?)");
        execute(&self.db, sql, params![home.root.0, home.log.0, encode_permission(permission)]).map(drop)
    }
}
