//! Small helpers over rusqlite: run a statement, read its cells strictly. Must know no table.

use rusqlite::types::{FromSql, Type};
use rusqlite::{Connection, ErrorCode, Params, Row};

use crate::error::{Result, StoreError};
use crate::record::Decoded;
use crate::rows::LogNo;

/// The attempted action, and its statement.
pub(super) type Sql = (&'static str, &'static str);

/// The cells of a row, from left to right.
pub(super) struct Cells<'a> {
    row: &'a Row<'a>,
    at: usize,
}

impl<'a> Cells<'a> {
    pub(super) fn new(row: &'a Row<'a>) -> Self {
        Self { row, at: 0 }
    }

    /// The next cell.
    pub(super) fn next<T: FromSql>(&mut self) -> Decoded<T> {
        let at = self.at;
        self.at += 1;
        self.row.get(at).map_err(|error| match self.row.as_ref().column_name(at) {
            Ok(name) => format!("its {name} {}", unfit(&error)),
            Err(_) => unfit(&error).to_owned(),
        })
    }

    /// The next cell, a number that is not negative.
    pub(super) fn count(&mut self) -> Decoded<u64> {
        let number: i64 = self.next()?;
        u64::try_from(number).map_err(|_| format!("{number} is not a count"))
    }

    /// The next cell, decoded, unless it is empty.
    pub(super) fn decoded<T: FromSql, U>(
        &mut self,
        decode: impl FnOnce(T) -> Decoded<U>,
    ) -> Decoded<Option<U>> {
        self.next::<Option<T>>()?.map(decode).transpose()
    }
}

/// The error of a cell, for people.
fn unfit(error: &rusqlite::Error) -> &'static str {
    match error {
        rusqlite::Error::InvalidColumnType(_, _, Type::Null) => "is missing",
        rusqlite::Error::InvalidColumnType(..) => "is of another kind",
        rusqlite::Error::IntegralValueOutOfRange(..) => "is out of range",
        _ => "can't be read",
    }
}

/// A number in the form of a cell.
pub(super) fn int(number: u64) -> i64 {
    i64::try_from(number).expect("BUG: no counter reaches 2^63")
}

/// A limit in the form of a cell.
pub(super) fn at_most(limit: impl TryInto<i64>) -> i64 {
    limit.try_into().unwrap_or(i64::MAX)
}

/// The name by which a person can find rows of a conversation.
pub(super) fn of(what: &'static str, log: LogNo) -> impl Fn() -> String {
    move || format!("{what} of conversation number {}", log.0)
}

/// The rows of a statement, each read by `read`; an unreadable row is an error with its `name`.
pub(super) fn all<T>(
    db: &Connection,
    sql: Sql,
    params: impl Params,
    name: impl Fn() -> String,
    mut read: impl FnMut(&mut Cells<'_>) -> Decoded<T>,
) -> Result<Vec<T>> {
    let mut found = Vec::new();
    each(db, sql, params, &name, &mut |cells| {
        found.push(read(cells)?);
        Ok(true)
    })?;
    Ok(found)
}

/// The first row of a statement.
pub(super) fn first<T>(
    db: &Connection,
    sql: Sql,
    params: impl Params,
    name: impl Fn() -> String,
    mut read: impl FnMut(&mut Cells<'_>) -> Decoded<T>,
) -> Result<Option<T>> {
    let mut found = None;
    each(db, sql, params, &name, &mut |cells| {
        found = Some(read(cells)?);
        Ok(false)
    })?;
    Ok(found)
}

/// Reads the rows of a statement while `read` returns true. It knows no type of rows, so that it is compiled a few times only.
fn each(
    db: &Connection,
    (attempt, sql): Sql,
    params: impl Params,
    name: &dyn Fn() -> String,
    read: &mut dyn FnMut(&mut Cells<'_>) -> Decoded<bool>,
) -> Result<()> {
    let failed = |error| failed(attempt, name, error);
    let mut statement = db.prepare_cached(sql).map_err(failed)?;
    let mut rows = statement.query(params).map_err(failed)?;
    while let Some(row) = rows.next().map_err(failed)? {
        if !read(&mut Cells::new(row)).map_err(|why| damaged(name, why))? {
            break;
        }
    }
    Ok(())
}

/// The row of a statement; a missing row is an error.
pub(super) fn one<T>(
    db: &Connection,
    sql: Sql,
    params: impl Params,
    name: impl Fn() -> String,
    read: impl FnMut(&mut Cells<'_>) -> Decoded<T>,
) -> Result<T> {
    first(db, sql, params, &name, read)?.ok_or_else(|| StoreError::missing(name()))
}

/// Runs a statement without rows; returns the number of changed rows.
pub(super) fn run(db: &Connection, (attempt, sql): Sql, params: impl Params) -> Result<usize> {
    let mut statement = db.prepare_cached(sql).map_err(StoreError::database(attempt))?;
    statement.execute(params).map_err(StoreError::database(attempt))
}

/// The error of a failed statement: if the file is damaged there, the row is damaged.
fn failed(attempt: &'static str, name: &dyn Fn() -> String, error: rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            damaged(name, "its place in the file can't be read".to_owned())
        }
        _ => StoreError::database(attempt)(error),
    }
}

fn damaged(name: &dyn Fn() -> String, why: String) -> StoreError {
    StoreError::Damaged { row: name(), why }
}
