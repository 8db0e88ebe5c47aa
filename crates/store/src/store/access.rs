//! Tokens. They are no part of any conversation, and no event tells of them.

use retake_core::{AccessToken, Time};

use super::Store;
use crate::error::Result;
use crate::rows::TokenDigest;

impl Store {
    /// Stores a token, unless one has or had its name. Returns whether it was stored.
    pub async fn add_token(&self, token: AccessToken, digest: TokenDigest) -> Result<bool> {
        self.write(move |context| context.rows.insert_token(&token, &digest)).await
    }

    /// The token with this digest, valid or not.
    pub async fn token(&self, digest: TokenDigest) -> Result<Option<AccessToken>> {
        self.read(move |rows| rows.token_by_digest(&digest)).await
    }

    /// All tokens, by name.
    pub async fn tokens(&self) -> Result<Vec<AccessToken>> {
        self.read(|rows| rows.tokens()).await
    }

    /// Revokes a token. Returns whether one with this name was valid until now.
    pub async fn revoke_token(&self, name: String, now: Time) -> Result<bool> {
        self.write(move |context| context.rows.revoke_token(&name, now)).await
    }
}
