//! Rows of the outbox. The index of due rows is global: one worker serves the conversations of all roots.

use retake_core::{Head, LogNo, OutboxItem, RunNo, Time, Told};
use rusqlite::params;

use super::cells::{Cells, Sql, all, at_most, first, int, of, run};
use super::rows::SqliteRows;
use crate::error::{Result, StoreError};
use crate::record::{Decoded, decode_claim, decode_failure, decode_told, encode_claim, encode_told};
use crate::rows::{ConversationRow, OutboxKey, OutboxRows};

macro_rules! of_log {
    ($columns:literal, $table:literal, $rest:literal) => {
        concat!(
            "SELECT ",
            $columns,
            " FROM ",
            $table,
            " WHERE root = (SELECT root FROM conversation WHERE log = ?1) AND log = ?1 ",
            $rest
        )
    };
}

const ITEM: Sql = (
    "read the outbox",
    of_log!(
        "no, told, claim, due, attempts, since, failure, why",
        "outbox",
        "AND destination = ?2 AND no = ?3"
    ),
);
const LAST: Sql =
    ("number a delivery", of_log!("no", "outbox", "AND destination = ?2 ORDER BY no DESC LIMIT 1"));
const ASIDE: Sql = (
    "count deliveries that are set aside",
    of_log!("COUNT(*)", "outbox", "AND destination = ?2 AND no > 0 AND due IS NOT NULL"),
);
const ENDS: Sql = (
    "read the ends of runs",
    of_log!("no, ended_op, ended_seq", "run", "AND no > ?2 AND ended_op IS NOT NULL ORDER BY no LIMIT ?3"),
);
const LAST_END: Sql =
    ("read the last end of a run", of_log!("no", "run", "AND ended_op IS NOT NULL ORDER BY no DESC LIMIT 1"));
const DUE: Sql = (
    "read what is due",
    "SELECT log, destination, no FROM outbox INDEXED BY outbox_due
     WHERE due <= ?1 AND due IS NOT NULL AND destination = ?2 ORDER BY due LIMIT ?3",
);
const NEXT: Sql = (
    "read when something is due",
    "SELECT due FROM outbox INDEXED BY outbox_due WHERE due > ?1 AND due IS NOT NULL ORDER BY due LIMIT 1",
);

/// The statements that read rows, for the test that none of them scans a table.
#[cfg(test)]
pub(super) const READS: &[Sql] = &[ITEM, LAST, ASIDE, ENDS, LAST_END, DUE, NEXT];

fn item(cells: &mut Cells<'_>) -> Decoded<OutboxItem> {
    Ok(OutboxItem {
        no: cells.count()?,
        told: decode_told(&cells.next::<String>()?)?,
        claim: cells.decoded(|claim: String| decode_claim(&claim))?,
        due: cells.next::<Option<i64>>()?.map(Time),
        attempts: u32::try_from(cells.count()?).map_err(|_| "its attempts are too many".to_owned())?,
        since: cells.next::<Option<i64>>()?.map(Time),
        failure: cells.decoded(|name: String| decode_failure(&name))?,
        why: cells.next()?,
    })
}

fn row(cells: &mut Cells<'_>) -> Decoded<(OutboxKey, OutboxItem)> {
    let (log, destination) = (LogNo(cells.next()?), cells.next()?);
    let item = item(cells)?;
    Ok((OutboxKey { log, destination, no: item.no }, item))
}

fn name() -> String {
    "the outbox".to_owned()
}

impl OutboxRows for SqliteRows {
    fn outbox_item(&self, key: &OutboxKey) -> Result<Option<OutboxItem>> {
        let values = params![key.log.0, key.destination, int(key.no)];
        first(&self.db, ITEM, values, of("the outbox", key.log), item)
    }

    fn set_outbox_item(
        &mut self,
        home: &ConversationRow,
        destination: &str,
        item: &OutboxItem,
    ) -> Result<()> {
        let sql =
            ("keep what a destination knows", "REPLACE INTO outbox VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
        let values = params![
            home.root.0,
            home.log.0,
            destination,
            int(item.no),
            encode_told(item.told),
            item.claim.map(encode_claim),
            item.due.map(|time| time.0),
            item.attempts,
            item.since.map(|time| time.0),
            item.failure.map(retake_core::OutboxFailure::name),
            item.why,
        ];
        run(&self.db, sql, values).map(drop)
    }

    fn remove_outbox_item(&mut self, key: &OutboxKey) -> Result<()> {
        let sql = (
            "remove a row of the outbox",
            "DELETE FROM outbox WHERE root = (SELECT root FROM conversation WHERE log = ?1) AND log = ?1
             AND destination = ?2 AND no = ?3",
        );
        run(&self.db, sql, params![key.log.0, key.destination, int(key.no)]).map(drop)
    }

    fn owe(&mut self, home: &ConversationRow, destination: &str, told: Told, due: Time) -> Result<()> {
        let sql = (
            "note what is owed",
            "INSERT INTO outbox (root, log, destination, no, told, due, attempts)
             VALUES (?1, ?2, ?3, 0, ?4, ?5, 0) ON CONFLICT (root, log, destination, no)
             DO UPDATE SET due = excluded.due WHERE due IS NULL",
        );
        let values = params![home.root.0, home.log.0, destination, encode_told(told), due.0];
        run(&self.db, sql, values).map(drop)
    }

    fn outbox_due(&self, destination: &str, now: Time, limit: usize) -> Result<Vec<OutboxKey>> {
        all(&self.db, DUE, params![now.0, destination, at_most(limit)], name, |cells| {
            Ok(OutboxKey { log: LogNo(cells.next()?), destination: cells.next()?, no: cells.count()? })
        })
    }

    fn postpone(&mut self, key: &OutboxKey, due: Time, why: &str) -> Result<()> {
        let sql = (
            "postpone a row of the outbox",
            "UPDATE outbox SET due = ?4, why = ?5 WHERE root = (SELECT root FROM conversation WHERE log = ?1)
             AND log = ?1 AND destination = ?2 AND no = ?3",
        );
        run(&self.db, sql, params![key.log.0, key.destination, int(key.no), due.0, why]).map(drop)
    }

    fn outbox_next(&self, after: Time) -> Result<Option<Time>> {
        first(&self.db, NEXT, [after.0], name, |cells| Ok(Time(cells.next()?)))
    }

    fn outbox_open(&self, limit: usize) -> Result<Vec<Result<(OutboxKey, OutboxItem)>>> {
        let sql = (
            "list the outbox",
            "SELECT log, destination, no, told, claim, due, attempts, since, failure, why FROM outbox
             WHERE due IS NOT NULL OR no > 0 ORDER BY log, destination, no LIMIT ?1",
        );
        all(&self.db, sql, [at_most(limit)], name, |cells| {
            Ok(row(cells).map_err(|why| StoreError::Damaged { row: name(), why }))
        })
    }

    fn outbox_aside(&self, log: LogNo, destination: &str) -> Result<usize> {
        let count = first(&self.db, ASIDE, params![log.0, destination], of("the outbox", log), |cells| {
            usize::try_from(cells.count()?).map_err(|_| "a count is too large".to_owned())
        })?;
        Ok(count.unwrap_or(0))
    }

    fn outbox_last(&self, log: LogNo, destination: &str) -> Result<u64> {
        let last =
            first(&self.db, LAST, params![log.0, destination], of("the outbox", log), |cells| cells.count())?;
        Ok(last.unwrap_or(0))
    }

    fn set_run_end(&mut self, home: &ConversationRow, no: RunNo, head: Head) -> Result<()> {
        let sql = (
            "note the end of a run",
            "UPDATE run SET ended_op = ?4, ended_seq = ?5 WHERE root = ?1 AND log = ?2 AND no = ?3",
        );
        let values = [home.root.0, home.log.0, int(no.0), int(head.op.0), int(head.seq.0)];
        run(&self.db, sql, values).map(drop)
    }

    fn last_run_end(&self, log: LogNo) -> Result<Option<RunNo>> {
        first(&self.db, LAST_END, [log.0], of("the ends of runs", log), |cells| Ok(RunNo(cells.count()?)))
    }

    fn run_ends(&self, log: LogNo, after: RunNo, limit: usize) -> Result<Vec<(RunNo, Head)>> {
        let values = [log.0, int(after.0), at_most(limit)];
        all(&self.db, ENDS, values, of("the ends of runs", log), |cells| {
            Ok((RunNo(cells.count()?), Head::new(cells.count()?, cells.count()?)))
        })
    }
}
