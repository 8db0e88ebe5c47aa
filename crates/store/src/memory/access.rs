//! Rows of tokens, in memory.

use retake_core::{AccessToken, Time};
use rpds::RedBlackTreeMapSync;

use super::MemoryRows;
use crate::error::Result;
use crate::rows::{AccessRows, TokenDigest};

/// All tokens, by name.
pub(super) type Tokens = RedBlackTreeMapSync<String, (TokenDigest, AccessToken)>;

impl AccessRows for MemoryRows {
    fn insert_token(&mut self, token: &AccessToken, digest: &TokenDigest) -> Result<bool> {
        let is_new = !self.data.tokens.contains_key(&token.name);
        if is_new {
            self.data.tokens.insert_mut(token.name.clone(), (*digest, token.clone()));
        }
        Ok(is_new)
    }

    fn token_by_digest(&self, digest: &TokenDigest) -> Result<Option<AccessToken>> {
        let found = self.data.tokens.values().find(|(own, _)| own == digest);
        Ok(found.map(|(_, token)| token.clone()))
    }

    fn tokens(&self) -> Result<Vec<AccessToken>> {
        Ok(self.data.tokens.values().map(|(_, token)| token.clone()).collect())
    }

    fn revoke_token(&mut self, name: &str, now: Time) -> Result<bool> {
        let Some((digest, token)) = self.data.tokens.get(name).cloned() else { return Ok(false) };
        let is_valid = token.is_valid(now);
        if token.revoked.is_none() {
            let token = AccessToken { revoked: Some(now), ..token };
            self.data.tokens.insert_mut(name.to_owned(), (digest, token));
        }
        Ok(is_valid)
    }
}
