//! Rows of tokens.

use retake_core::{AccessToken, Time};
use rusqlite::params;

use super::cells::{Cells, Sql, all, first, run};
use super::rows::SqliteRows;
use crate::error::Result;
use crate::record::{Decoded, decode_token_use, encode_token_use};
use crate::rows::{AccessRows, TokenDigest};

const BY_DIGEST: Sql =
    ("look a token up", "SELECT name, grants, created, expires, revoked FROM token WHERE digest = ?");

/// The statements that read tokens, for the test that none of them scans a table.
#[cfg(test)]
pub(super) const READS: &[Sql] = &[BY_DIGEST];

fn token(cells: &mut Cells<'_>) -> Decoded<AccessToken> {
    Ok(AccessToken {
        name: cells.next()?,
        used_for: decode_token_use(&cells.next::<String>()?)?,
        created: Time(cells.next()?),
        expires: cells.next::<Option<i64>>()?.map(Time),
        revoked: cells.next::<Option<i64>>()?.map(Time),
    })
}

fn name() -> String {
    "a token".to_owned()
}

impl AccessRows for SqliteRows {
    fn insert_token(&mut self, token: &AccessToken, digest: &TokenDigest) -> Result<bool> {
        let sql =
            ("add a token", "INSERT INTO token VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (name) DO NOTHING");
        let (expires, revoked) = (token.expires.map(|time| time.0), token.revoked.map(|time| time.0));
        let used_for = encode_token_use(&token.used_for);
        let values = params![token.name, digest, used_for, token.created.0, expires, revoked];
        Ok(run(&self.db, sql, values)? > 0)
    }

    fn token_by_digest(&self, digest: &TokenDigest) -> Result<Option<AccessToken>> {
        first(&self.db, BY_DIGEST, [digest], name, token)
    }

    fn tokens(&self) -> Result<Vec<AccessToken>> {
        let sql = ("list tokens", "SELECT name, grants, created, expires, revoked FROM token ORDER BY name");
        all(&self.db, sql, [], name, token)
    }

    fn revoke_token(&mut self, name: &str, now: Time) -> Result<bool> {
        let was_valid = self.tokens()?.iter().any(|token| token.name == name && token.is_valid(now));
        let sql = ("revoke a token", "UPDATE token SET revoked = ? WHERE name = ? AND revoked IS NULL");
        run(&self.db, sql, params![now.0, name])?;
        Ok(was_valid)
    }
}
