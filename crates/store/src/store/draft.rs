//! Drafts: what people are about to say. Must never touch the log: a draft is no change of its conversation.

use retake_core::{ConversationId, Part};

use super::erase::{holds, part_holds};
use super::load::Loaded;
use super::{Context, Store};
use crate::error::Result;

impl Store {
    /// Keeps what somebody is about to say, as the one draft of this author here; nothing, of no parts. It is no change of
    /// the conversation: it has no revision and is in no reading and no export. Subscribers get an event, and `Erase` finds it.
    pub async fn set_draft(
        &self,
        conversation: ConversationId,
        author: String,
        parts: Vec<Part>,
    ) -> Result<()> {
        self.write(move |context| context.set_draft(conversation, &author, &parts)).await
    }

    /// The drafts of a conversation with their authors, in the order of names; a fork begins with none.
    pub async fn drafts(&self, conversation: ConversationId) -> Result<Vec<(String, Vec<Part>)>> {
        self.with(conversation, |rows, loaded| rows.drafts(loaded.row.log)).await
    }

    /// Keeps with what this author is about to begin a conversation in a folder; nothing, of no parts. It belongs to no
    /// conversation and causes no event; `Erase` finds it.
    pub async fn set_draft_in(&self, folder: String, author: String, parts: Vec<Part>) -> Result<()> {
        self.write(move |context| context.set_draft_in(&folder, &author, &parts)).await
    }

    /// What was kept so; nothing, where nothing was.
    pub async fn draft_in(&self, folder: String, author: String) -> Result<Vec<Part>> {
        self.read(move |rows| Ok(rows.draft_in(&folder, &author)?.unwrap_or_default())).await
    }
}

impl Context {
    /// Keeps somebody's draft, or removes it, of no parts.
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

    /// Keeps with what somebody is about to begin a conversation, or removes it, of no parts.
    pub(super) fn set_draft_in(&mut self, folder: &str, author: &str, parts: &[Part]) -> Result<()> {
        let kept = self.rows.draft_in(folder, author)?.unwrap_or_default();
        if kept == parts {
            return Ok(());
        }
        self.rows.set_draft_in(folder, author, Some(parts).filter(|parts| !parts.is_empty()))
    }

    /// Drops drafts of conversations that nobody has begun, where they contain a text; how many there were.
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

    /// Drops drafts that contain a text; how many there were.
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
