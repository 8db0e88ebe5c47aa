//! Runs. That one runs and one waits at most is the schema's to hold, whatever the code above does.

use retake_core::{ConversationId, Fence, Run, RunNo, Runs};
use rusqlite::{Connection, params};
use uuid::Uuid;

use super::super::cells::{Cells, Sql, all, first, int, run as execute};
use crate::error::Result;
use crate::record::{Decoded, decode_run, encode_run};
use crate::rows::{ConversationRow, LogNo};

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

/// Every statement that reads runs of a conversation, for the test that none of them scans.
#[cfg(test)]
pub(super) const READS: &[Sql] = &[RUNNING, QUEUED, LAST, FENCE, NEWEST, BETWEEN];

fn read(cells: &mut Cells<'_>) -> Decoded<Run> {
    let (no, state) = (RunNo(cells.count()?), cells.next::<String>()?);
    let fence = Fence(cells.count()?);
    decode_run(no, &state, fence, &cells.next::<String>()?)
}

fn name(log: LogNo) -> impl Fn() -> String {
    move || format!("a run of conversation number {}", log.0)
}

pub(super) fn live(db: &Connection, log: LogNo) -> Result<Runs> {
    let one = |sql| first(db, sql, [log.0], name(log), read);
    let number = |sql| first(db, sql, [log.0], name(log), |cells| cells.count());
    Ok(Runs {
        running: one(RUNNING)?,
        queued: one(QUEUED)?,
        last: RunNo(number(LAST)?.unwrap_or(0)),
        fence: Fence(number(FENCE)?.unwrap_or(0)),
    })
}

pub(super) fn set(db: &Connection, home: &ConversationRow, run: &Run) -> Result<()> {
    // Not `REPLACE`: it would silently take the place of another one that runs.
    let sql = (
        "keep a run",
        "INSERT INTO run VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (root, log, no)
         DO UPDATE SET state = excluded.state, fence = excluded.fence, run = excluded.run",
    );
    let (no, state, fence) = (int(run.no.0), run.state.name(), int(run.fence.0));
    execute(db, sql, params![home.root.0, home.log.0, no, state, fence, encode_run(run)]).map(drop)
}

pub(super) fn newest(db: &Connection, log: LogNo, limit: usize) -> Result<Vec<Run>> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    all(db, NEWEST, [log.0, limit], name(log), read)
}

pub(super) fn between(db: &Connection, log: LogNo, from: RunNo, to: RunNo) -> Result<Vec<Run>> {
    all(db, BETWEEN, [log.0, int(from.0), int(to.0)], name(log), read)
}

pub(super) fn all_live(db: &Connection) -> Result<Vec<(ConversationId, Run)>> {
    all(
        db,
        LIVE,
        [],
        || "a live run".to_owned(),
        |cells| Ok((ConversationId::new(Uuid::from_bytes(cells.next()?)), read(cells)?)),
    )
}
