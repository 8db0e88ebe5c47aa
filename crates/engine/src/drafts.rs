//! Drafts of authors. A draft must never change between its reading and its writing in one request.

use retake_core::{ConversationId, Draft, DraftPiece, DraftPlace, Part};

use crate::Engine;
use crate::error::Result;

/// Where a draft belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DraftHome {
    /// In a conversation.
    Conversation(ConversationId),
    /// In a folder where a new conversation is about to begin.
    Folder(String),
}

impl Engine {
    /// The drafts of a conversation with their authors, sorted by name.
    pub async fn drafts(&self, of: ConversationId) -> Result<Vec<(String, Draft)>> {
        let drafts = self.store().drafts(of).await?.into_iter();
        // The new wording of a message of a chat is no draft of a person at a terminal.
        let drafts = drafts.filter(|(author, _)| !author.starts_with(crate::chat::OF_CHATS));
        Ok(drafts.map(|(author, parts)| (author, Draft::read(parts))).collect())
    }

    /// The draft of an author; empty if there is none.
    pub async fn draft(&self, at: &DraftHome, author: &str) -> Result<Draft> {
        let parts = match at {
            DraftHome::Conversation(of) => {
                let drafts = self.store().drafts(*of).await?.into_iter();
                drafts.into_iter().find(|(of, _)| of == author).map(|(_, parts)| parts).unwrap_or_default()
            }
            DraftHome::Folder(folder) => self.store().draft_in(folder.clone(), author.to_owned()).await?,
        };
        Ok(Draft::read(parts))
    }

    /// Stores a new piece of an author's draft.
    pub async fn put_in_draft(
        &self,
        at: DraftHome,
        author: String,
        new: DraftPiece,
        place: DraftPlace,
    ) -> Result<()> {
        let _alone = self.drafting.lock().await;
        let mut draft = self.draft(&at, &author).await?;
        draft.put(new, place);
        self.keep_draft(at, author, draft).await
    }

    /// Gives a holder its own pieces of an author's draft, and pieces whose holders are gone.
    pub async fn claim_draft(
        &self,
        at: DraftHome,
        author: String,
        holder: Option<&str>,
        lives: impl Fn(&str) -> bool,
    ) -> Result<Draft> {
        let _alone = self.drafting.lock().await;
        let mut draft = self.draft(&at, &author).await?;
        let claimed = draft.claim(holder, lives);
        self.keep_draft(at, author, draft).await?;
        Ok(claimed)
    }

    async fn keep_draft(&self, at: DraftHome, author: String, draft: Draft) -> Result<()> {
        let parts: Vec<Part> = draft.stored();
        match at {
            DraftHome::Conversation(of) => self.store().set_draft(of, author, parts).await?,
            DraftHome::Folder(folder) => self.store().set_draft_in(folder, author, parts).await?,
        }
        Ok(())
    }
}
