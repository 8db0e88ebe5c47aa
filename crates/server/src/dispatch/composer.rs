//! Requests of composers: drafts, and earlier prompts. Must never change a draft without a request for it: only the client that
//! rewound knows what to do with the content that comes back.

use retake_core::{ConversationId, Part};
use retake_engine::prompt::{Like, PathLike};
use retake_wire::request::USUAL_PAGE;
use retake_wire::{Problem, Reply, reply, request};

use super::{from_root, limit};
use crate::convert::{self, problem, usage};
use crate::{InProcess, draft_locks};

mod pieces;

use pieces::{Piece, Place, put};

impl InProcess {
    pub(super) async fn draft(&self, of: request::DraftOf) -> Result<Reply, Problem> {
        let id = self.conversation(&of.conversation).await?;
        let author = self.author(of.author);
        let kept = self.kept(id, &author).await?;
        Ok(Reply::Draft(told(author, pieces::read(kept))))
    }

    pub(super) async fn set_draft(&self, set: request::SetDraft) -> Result<Reply, Problem> {
        let id = self.conversation(&set.conversation).await?;
        let (author, holder) = (self.author(set.author), named_holder(set.holder)?);
        let new = Piece { parts: drafted(set.parts)?, edits: set.edits, holder, is_aside: false };
        let place = Place {
            instead_of: set.instead_of.map(drafted).transpose()?,
            released: set.released,
            aside: drafted_aside(set.aside)?,
        };
        let _alone = self.drafting.lock().await;
        let pieces = put(pieces::read(self.kept(id, &author).await?), new, place);
        let parts = pieces::written(pieces);
        let kept = self.engine.set_draft(id, author, parts).await;
        kept.map(|()| Reply::Done).map_err(problem)
    }

    pub(super) async fn claim_draft(&self, claim: request::ClaimDraft) -> Result<Reply, Problem> {
        let id = self.conversation(&claim.conversation).await?;
        let (author, holder) = (self.author(claim.author), named_holder(claim.holder)?);
        let _alone = self.drafting.lock().await;
        let (claimed, pieces) = self.claimed(self.kept(id, &author).await?, holder);
        let kept = self.engine.set_draft(id, author.clone(), pieces::written(pieces)).await;
        kept.map_err(problem)?;
        Ok(Reply::Draft(told(author, claimed)))
    }

    pub(super) async fn draft_in(&self, of: request::DraftIn) -> Result<Reply, Problem> {
        let (folder, author) = (from_root(of.folder)?, self.author(of.author));
        let parts = self.engine.draft_in(folder, author.clone()).await.map_err(problem)?;
        Ok(Reply::Draft(told(author, pieces::read(parts))))
    }

    pub(super) async fn set_draft_in(&self, set: request::SetDraftIn) -> Result<Reply, Problem> {
        let (folder, author) = (from_root(set.folder)?, self.author(set.author));
        let holder = named_holder(set.holder)?;
        let new = Piece { parts: drafted(set.parts)?, holder, ..Piece::default() };
        let place = Place {
            instead_of: set.instead_of.map(drafted).transpose()?,
            released: set.released,
            aside: drafted_aside(set.aside)?,
        };
        let _alone = self.drafting.lock().await;
        let kept = self.engine.draft_in(folder.clone(), author.clone()).await.map_err(problem)?;
        let parts = pieces::written(put(pieces::read(kept), new, place));
        self.engine.set_draft_in(folder, author, parts).await.map(|()| Reply::Done).map_err(problem)
    }

    pub(super) async fn claim_draft_in(&self, claim: request::ClaimDraftIn) -> Result<Reply, Problem> {
        let (folder, author) = (from_root(claim.folder)?, self.author(claim.author));
        let holder = named_holder(claim.holder)?;
        let _alone = self.drafting.lock().await;
        let kept = self.engine.draft_in(folder.clone(), author.clone()).await.map_err(problem)?;
        let (claimed, pieces) = self.claimed(kept, holder);
        let kept = self.engine.set_draft_in(folder, author.clone(), pieces::written(pieces)).await;
        kept.map_err(problem)?;
        Ok(Reply::Draft(told(author, claimed)))
    }

    /// What somebody is given who shows it from here on, and all that is kept then.
    fn claimed(&self, kept: Vec<Part>, holder: Option<String>) -> (Vec<Piece>, Vec<Piece>) {
        let lives = |name: &str| draft_locks::lives(&self.owner_info.data_dir, name);
        pieces::claimed(pieces::read(kept), holder, lives)
    }

    async fn kept(&self, of: ConversationId, author: &str) -> Result<Vec<Part>, Problem> {
        let drafts = self.engine.drafts(of).await.map_err(problem)?;
        Ok(drafts.into_iter().find(|(of, _)| of == author).map(|(_, parts)| parts).unwrap_or_default())
    }

    /// All drafts of a conversation.
    pub(crate) async fn drafts(&self, of: ConversationId) -> Result<Vec<reply::Draft>, Problem> {
        let drafts = self.engine.drafts(of).await.map_err(problem)?;
        Ok(drafts.into_iter().map(|(author, parts)| told(author, pieces::read(parts))).collect())
    }

    fn author(&self, name: String) -> String {
        if name.is_empty() { self.engine.by(None).author } else { name }
    }

    pub(super) async fn paths(&self, paths: request::Paths) -> Result<Reply, Problem> {
        let id = self.conversation(&paths.conversation).await?;
        let request::Typed { prefix, limit: most } = paths.typed;
        self.engine.paths_of(id, prefix, limit(most, USUAL_PAGE)?).await.map(named).map_err(problem)
    }

    pub(super) async fn folder_paths(&self, paths: request::FolderPaths) -> Result<Reply, Problem> {
        let folder = super::absolute(&paths.folder)?;
        let request::Typed { prefix, limit: most } = paths.typed;
        self.engine.paths_in(folder, prefix, limit(most, USUAL_PAGE)?).await.map(named).map_err(problem)
    }

    pub(super) async fn history(&self, history: request::History) -> Result<Reply, Problem> {
        let limit = limit(history.limit, USUAL_PAGE)?;
        let page = self.engine.history(history.folder, limit, history.before.as_deref()).await;
        let retake_engine::Prompts { prompts, earlier } = page.map_err(problem)?;
        Ok(Reply::History(reply::HistoryPage { prompts, earlier }))
    }
}

/// A draft as a reply.
fn told(author: String, pieces: Vec<Piece>) -> reply::Draft {
    let (aside, pieces): (Vec<_>, Vec<_>) = pieces.into_iter().partition(|piece| piece.is_aside);
    let Piece { parts, edits, .. } = pieces::joined(pieces);
    let aside = aside.into_iter().map(|piece| convert::parts(piece.parts)).collect();
    reply::Draft { author, edits, parts: convert::parts(parts), aside }
}

/// The name of a holder, where it is one.
fn named_holder(name: Option<String>) -> Result<Option<String>, Problem> {
    match name {
        Some(name) if !draft_locks::is_name(&name) => Err(usage(format!(
            "{name:?} names no holder: that is digits, the letters a to f and “-”, 64 at most"
        ))),
        name => Ok(name),
    }
}

/// Drafts that moved aside.
fn drafted_aside(aside: Option<Vec<Vec<retake_wire::Part>>>) -> Result<Option<Vec<Vec<Part>>>, Problem> {
    aside.map(|aside| aside.into_iter().map(drafted).collect()).transpose()
}

/// What somebody may be about to say.
fn drafted(parts: Vec<retake_wire::Part>) -> Result<Vec<Part>, Problem> {
    let parts = convert::parts_in(parts)?;
    let attached = |part: &Part| matches!(part, Part::Image { .. } | Part::File { .. });
    if let Some(other) = parts.iter().find(|part| !attached(part) && !matches!(part, Part::Text(_))) {
        let what = if matches!(other, Part::ToolCall { .. }) { "a call" } else { "what a model says" };
        return Err(usage(format!("{what} is nothing that a person is about to say")));
    }
    let is_empty = |part: &Part| matches!(part, Part::Text(text) if text.is_empty());
    Ok(parts.into_iter().filter(|part| !is_empty(part)).collect())
}

fn named(like: Like) -> Reply {
    let paths = like.paths.into_iter().map(|PathLike { path, is_dir }| reply::PathLine { path, is_dir });
    Reply::Paths(reply::Paths { paths: paths.collect(), more: like.more })
}
