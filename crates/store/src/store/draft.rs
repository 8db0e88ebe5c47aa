//! Drafts. Must never change the log: a draft is no change of its conversation.

use retake_core::{ConversationId, Part};

use super::erase::{holds, part_holds};
use super::load::Loaded;
use super::{Context, Store};
use crate::error::Result;

impl Store {
    /// Stores an author's only draft in a conversation; without parts, removes it. It is no change of the conversation: it has
    /// no revision and is in no projection and no export. Subscribers get an event, and `Erase` removes it.
    pub async fn set_draft(
        &self,
        conversation: ConversationId,
        author: String,
        parts: Vec<Part>,
    ) -> Result<()> {
        self.write(move |context| context.set_draft(conversation, &author, &parts)).await
    }

    /// The drafts of a conversation with their authors, sorted by name; a fork begins without any.
    pub async fn drafts(&self, conversation: ConversationId) -> Result<Vec<(String, Vec<Part>)>> {
        self.with(conversation, |rows, loaded| rows.drafts(loaded.row.log)).await
    }

    /// Stores an author's draft of a new conversation in a folder; without parts, removes it. It belongs to no conversation and
    /// causes no event; `Erase` removes it.
    pub async fn set_draft_in(&self, folder: String, author: String, parts: Vec<Part>) -> Result<()> {
        self.write(move |context| context.set_draft_in(&folder, &author, &parts)).await
    }

    /// That draft; empty if there is none.
    pub async fn draft_in(&self, folder: String, author: String) -> Result<Vec<Part>> {
        self.read(move |rows| Ok(rows.draft_in(&folder, &author)?.unwrap_or_default())).await
    }
}

impl Context {
    /// Stores an author's draft; without parts, removes it.
    pub(super) fn set_draft(&mut self, id: ConversationId, author: &str, parts: &[Part]) -> Result<()> {
        let loaded = self.load(id)?;
        let kept = self.rows.drafts(loaded.row.log)?.into_iter().find(|(of, _)| of == author);
        if kept.map(|(_, parts)| parts).unwrap_or_default() == parts {
            return Ok(());
        }
        self.rows.set_draft(&loaded.row, author, Some(parts).filter(|parts| !parts.is_empty()))?;
        self.drafted(id);
        Ok(())
    }

    /// Stores an author's draft of a new conversation; without parts, removes it.
    pub(super) fn set_draft_in(&mut self, folder: &str, author: &str, parts: &[Part]) -> Result<()> {
        let kept = self.rows.draft_in(folder, author)?.unwrap_or_default();
        if kept == parts {
            return Ok(());
        }
        self.rows.set_draft_in(folder, author, Some(parts).filter(|parts| !parts.is_empty()))
    }

    /// Removes drafts of new conversations that contain a text; returns their number.
    pub(super) fn erase_drafts_in(&mut self, text: &str) -> Result<usize> {
        let mut all = self.rows.drafts_in()?;
        all.retain(|(_, author, parts)| {
            holds(author, text) || parts.iter().any(|part| part_holds(part, text))
        });
        for (folder, author, _) in &all {
            self.rows.set_draft_in(folder, author, None)?;
        }
        Ok(all.len())
    }

    /// Removes drafts that contain a text; returns their number.
    pub(super) fn erase_drafts(&mut self, member: &Loaded, text: &str) -> Result<usize> {
        let mut dropped = 0;
        for (author, parts) in self.rows.drafts(member.row.log)? {
            if holds(&author, text) || parts.iter().any(|part| part_holds(part, text)) {
                self.rows.set_draft(&member.row, &author, None)?;
                self.drafted(member.row.id);
                dropped += 1;
            }
        }
        Ok(dropped)
    }
}
