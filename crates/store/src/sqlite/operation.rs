//! Rows of operations and full states.

use rusqlite::params;
use rusqlite::types::Value;

use retake_core::{OpNo, Operation, RequestId, State};

use super::cells::{Cells, Sql, all, at_most, first, int, run};
use super::rows::SqliteRows;
use crate::error::{Result, StoreError};
use crate::record::{
    Decoded, OpRecord, decode_op, decode_request, decode_state, encode_op, encode_request, encode_state,
};
use crate::rows::{ConversationRow, Fingerprint, LogNo, MadeBy, OperationRows};

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT no, kind, reason, delta, at, tip, revision, before, after, author, time, request, summary, kept, principal ",
            "FROM operation WHERE root = (SELECT root FROM conversation WHERE log = ?1) AND log = ?1 AND ",
            $rest
        )
    };
}

/// The name by which a person can find the operation.
pub(super) fn name(log: LogNo, no: OpNo) -> String {
    format!("operation {no} of conversation number {}", log.0)
}

fn read(cells: &mut Cells<'_>) -> Decoded<Operation> {
    let no = cells.count()?;
    let (kind, reason, delta) = (cells.next()?, cells.next()?, cells.next()?);
    let (at, tip, revision) = (cells.count()?, cells.next()?, cells.count()?);
    let (before, after) = (cells.next()?, cells.next()?);
    let (author, time) = (cells.next()?, cells.next()?);
    let request = decode_request(cells.next()?)?;
    let record = OpRecord {
        no,
        at,
        revision,
        kind,
        reason,
        delta,
        tip,
        summary: cells.next()?,
        kept: cells.next()?,
        before,
        after,
        author,
        principal: cells.next()?,
        time,
    };
    decode_op(record, request)
}

const ONE: Sql = ("read an operation", select!("no = ?2"));

/// Operations in a range. A gap is an error: later operations would be applied to a wrong state.
const MANY: Sql = ("read operations", select!("no BETWEEN ?2 AND ?3 ORDER BY no"));

const BY_REQUEST: Sql = (
    "look a request up",
    "SELECT no, fingerprint FROM operation INDEXED BY operation_request
         WHERE root = (SELECT root FROM conversation WHERE log = ?1) AND log = ?1 AND request = ?2
         AND fingerprint IS NOT NULL",
);

const STATE: Sql = (
    "read a state",
    "SELECT op, state FROM state
         WHERE root = (SELECT root FROM conversation WHERE log = ?1) AND log = ?1 AND op <= ?2
         ORDER BY op DESC LIMIT 1",
);

/// The statements that read operations and states, for the test that none of them scans a table.
#[cfg(test)]
pub(super) const READS: &[Sql] = &[ONE, MANY, BY_REQUEST, STATE];

impl OperationRows for SqliteRows {
    fn insert_op(&mut self, home: &ConversationRow, op: &Operation, made_by: &MadeBy) -> Result<u64> {
        let record = encode_op(op);
        let made = made_by.as_ref();
        let request = made.map(|made| &made.0).or(op.request.as_ref());
        let request = request.map_or(Value::Null, encode_request);
        let texts = [&record.summary, &record.kept].into_iter().flatten().map(String::len);
        let bytes = record.delta.len() + texts.sum::<usize>();
        let sql = (
            "append an operation",
            "INSERT INTO operation VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        );
        let values = params![
            home.root.0,
            home.log.0,
            int(record.no),
            record.kind,
            record.reason,
            record.delta,
            int(record.at),
            record.tip,
            int(record.revision),
            record.before,
            record.after,
            record.author,
            record.time,
            request,
            made.map(|made| made.1),
            record.summary,
            record.kept,
            record.principal,
        ];
        run(&self.db, sql, values)?;
        Ok(bytes as u64)
    }

    fn op(&self, log: LogNo, no: OpNo) -> Result<Operation> {
        let values = [log.0, int(no.0)];
        first(&self.db, ONE, values, || name(log, no), read)?.ok_or(StoreError::MissingOperation(no))
    }

    fn ops(&self, log: LogNo, from: OpNo, to: OpNo) -> Result<Vec<Operation>> {
        let values = [log.0, at_most(from.0), at_most(to.0)];
        let mut next = from;
        let ops = all(
            &self.db,
            MANY,
            values,
            || name(log, from),
            |cells| read(cells).map_err(|why| format!("one of those up to {to}: {why}")),
        )?;
        for op in &ops {
            if op.no != next {
                return Err(StoreError::MissingOperation(next));
            }
            next = next.next();
        }
        Ok(ops)
    }

    fn op_by_request(&self, log: LogNo, request: &RequestId) -> Result<Option<(OpNo, Fingerprint)>> {
        let name = || format!("the operation made by request {request}");
        first(&self.db, BY_REQUEST, params![log.0, encode_request(request)], name, |cells| {
            Ok((OpNo(cells.count()?), cells.next()?))
        })
    }

    fn insert_state(&mut self, home: &ConversationRow, op: OpNo, state: &State) -> Result<u64> {
        let state = encode_state(state);
        let bytes = state.len() as u64;
        let sql = ("keep a state", "REPLACE INTO state VALUES (?, ?, ?, ?)");
        run(&self.db, sql, params![home.root.0, home.log.0, int(op.0), state])?;
        Ok(bytes)
    }

    fn state(&self, log: LogNo, op: OpNo) -> Result<Option<(OpNo, State)>> {
        let name = || format!("the state at operation {op} of conversation number {}", log.0);
        first(&self.db, STATE, [log.0, at_most(op.0)], name, |cells| {
            let op = OpNo(cells.count()?);
            Ok((op, decode_state(&cells.next::<String>()?)?))
        })
    }
}
