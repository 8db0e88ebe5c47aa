//! The interface for rows of tokens. They are global: a token belongs to no conversation.

use retake_core::{AccessToken, Time};

use crate::error::Result;

/// The digest of a token's secret.
pub type TokenDigest = [u8; 32];

/// Rows of tokens, within one transaction.
pub trait AccessRows {
    /// Adds a token, unless one has or had this name. Returns whether it was added.
    fn insert_token(&mut self, token: &AccessToken, digest: &TokenDigest) -> Result<bool>;
    /// The token with this digest.
    fn token_by_digest(&self, digest: &TokenDigest) -> Result<Option<AccessToken>>;
    /// All tokens, by name.
    fn tokens(&self) -> Result<Vec<AccessToken>>;
    /// Revokes a token. Returns whether one with this name was valid until now.
    fn revoke_token(&mut self, name: &str, now: Time) -> Result<bool>;
}
