//! Tokens, and the conversations that a grant for one covers. Must never see the secret of a token.

use std::cmp::Reverse;

use retake_core::{AccessToken, ArchiveState, ConversationId, ListRequest, Summary};

use crate::Engine;
use crate::error::Result;

/// The most levels of subagents that are followed: more than there can be.
const DEEPEST: usize = 64;

impl Engine {
    /// Stores a token, unless one has or had its name. Returns whether it was stored.
    pub async fn add_token(&self, token: AccessToken, digest: [u8; 32]) -> Result<bool> {
        Ok(self.store().add_token(token, digest).await?)
    }

    /// The token with this digest, valid or not.
    pub async fn token(&self, digest: [u8; 32]) -> Result<Option<AccessToken>> {
        Ok(self.store().token(digest).await?)
    }

    /// All tokens, by name.
    pub async fn tokens(&self) -> Result<Vec<AccessToken>> {
        Ok(self.store().tokens().await?)
    }

    /// Revokes a token. Returns whether one with this name was valid until now.
    pub async fn revoke_token(&self, name: String) -> Result<bool> {
        Ok(self.store().revoke_token(name, self.now()).await?)
    }

    /// Those of a few conversations that a list would have, in its order.
    pub async fn list_among(&self, request: ListRequest, among: Vec<ConversationId>) -> Result<Vec<Summary>> {
        let ListRequest { folder, before, limit, shelf } = request;
        let mut found = Vec::new();
        for id in among {
            let summary = self.store().summary(id).await?;
            let fits = shelf.is_none_or(|shelf| summary.archived == (shelf == ArchiveState::Archived));
            if fits && (folder.is_none() || summary.folder == folder) {
                found.push(summary);
            }
        }
        found.sort_by_key(|summary| Reverse((summary.changed, summary.id)));
        let behind = before.and_then(|id| found.iter().position(|summary| summary.id == id));
        Ok(found.into_iter().skip(behind.map_or(0, |at| at + 1)).take(limit).collect())
    }

    /// A conversation, and for one of a subagent those of the calls that started it, from the inside out.
    pub async fn line_of(&self, conversation: ConversationId) -> Result<Vec<ConversationId>> {
        let mut line = vec![conversation];
        while let Some(last) = line.last().copied()
            && line.len() < DEEPEST
        {
            match self.store().caller(last).await? {
                Some(caller) => line.push(caller.conversation),
                None => break,
            }
        }
        Ok(line)
    }
}
