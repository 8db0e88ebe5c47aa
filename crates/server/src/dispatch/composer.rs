//! Requests of composers: drafts, and earlier prompts. Must never change a draft without a request for it: only the client that
//! rewound decides about returned content.

use retake_core::{ConversationId, Draft, DraftPiece, DraftPlace, Part, ShownDraft};
use retake_engine::DraftHome;
use retake_engine::prompt::{PathMatch, PathMatches};
use retake_wire::request::USUAL_PAGE;
use retake_wire::{Problem, Reply, reply, request};

use super::{from_root, limit};
use crate::convert::{self, misused, problem};
use crate::{InProcess, draft_locks};

impl InProcess {
    pub(super) async fn draft(&self, of: request::DraftOf) -> Result<Reply, Problem> {
        let at = DraftHome::Conversation(self.conversation(&of.conversation).await?);
        self.draft_at(at, of.author).await
    }

    pub(super) async fn draft_in(&self, of: request::DraftIn) -> Result<Reply, Problem> {
        self.draft_at(DraftHome::Folder(from_root(of.folder)?), of.author).await
    }

    async fn draft_at(&self, at: DraftHome, author: String) -> Result<Reply, Problem> {
        let author = self.author(author);
        let draft = self.engine.draft(&at, &author).await.map_err(problem)?;
        Ok(Reply::Draft(told(author, draft)))
    }

    pub(super) async fn set_draft(&self, set: request::SetDraft) -> Result<Reply, Problem> {
        let at = DraftHome::Conversation(self.conversation(&set.conversation).await?);
        let holder = named_holder(set.holder)?;
        let new = DraftPiece { parts: drafted(set.parts)?, edits: set.edits, holder, is_aside: false };
        let place = place(set.instead_of, set.released, set.aside)?;
        let kept = self.engine.put_in_draft(at, self.author(set.author), new, place).await;
        kept.map(|()| Reply::Done).map_err(problem)
    }

    pub(super) async fn set_draft_in(&self, set: request::SetDraftIn) -> Result<Reply, Problem> {
        let at = DraftHome::Folder(from_root(set.folder)?);
        let holder = named_holder(set.holder)?;
        let new = DraftPiece { parts: drafted(set.parts)?, holder, ..DraftPiece::default() };
        let place = place(set.instead_of, set.released, set.aside)?;
        let kept = self.engine.put_in_draft(at, self.author(set.author), new, place).await;
        kept.map(|()| Reply::Done).map_err(problem)
    }

    pub(super) async fn claim_draft(&self, claim: request::ClaimDraft) -> Result<Reply, Problem> {
        let at = DraftHome::Conversation(self.conversation(&claim.conversation).await?);
        self.claim_draft_at(at, claim.author, claim.holder).await
    }

    pub(super) async fn claim_draft_in(&self, claim: request::ClaimDraftIn) -> Result<Reply, Problem> {
        self.claim_draft_at(DraftHome::Folder(from_root(claim.folder)?), claim.author, claim.holder).await
    }

    async fn claim_draft_at(
        &self,
        at: DraftHome,
        author: String,
        holder: Option<String>,
    ) -> Result<Reply, Problem> {
        let (author, holder) = (self.author(author), named_holder(holder)?);
        let lives = |name: &str| draft_locks::lives(&self.owner_info.data_dir, name);
        let claimed = self.engine.claim_draft(at, author.clone(), holder.as_deref(), lives).await;
        Ok(Reply::Draft(told(author, claimed.map_err(problem)?)))
    }

    /// All drafts of a conversation.
    pub(crate) async fn drafts(&self, of: ConversationId) -> Result<Vec<reply::Draft>, Problem> {
        let drafts = self.engine.drafts(of).await.map_err(problem)?;
        Ok(drafts.into_iter().map(|(author, draft)| told(author, draft)).collect())
    }

    fn author(&self, name: String) -> String {
        // A token has drafts of its own only.
        if name.is_empty() || !self.is_local() { self.origin(None).author } else { name }
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
fn told(author: String, draft: Draft) -> reply::Draft {
    let ShownDraft { edits, parts, aside } = draft.shown();
    let aside = aside.into_iter().map(convert::parts).collect();
    reply::Draft { author, edits, parts: convert::parts(parts), aside }
}

/// The place of new text.
fn place(
    instead_of: Option<Vec<retake_wire::Part>>,
    released: bool,
    aside: Option<Vec<Vec<retake_wire::Part>>>,
) -> Result<DraftPlace, Problem> {
    Ok(DraftPlace {
        instead_of: instead_of.map(drafted).transpose()?,
        released,
        aside: drafted_aside(aside)?,
    })
}

/// The name of a holder, if it is valid.
fn named_holder(name: Option<String>) -> Result<Option<String>, Problem> {
    match name {
        Some(name) if !draft_locks::is_name(&name) => Err(misused("holder", &[("name", name.into())])),
        name => Ok(name),
    }
}

/// Drafts that were moved aside.
fn drafted_aside(aside: Option<Vec<Vec<retake_wire::Part>>>) -> Result<Option<Vec<Vec<Part>>>, Problem> {
    aside.map(|aside| aside.into_iter().map(drafted).collect()).transpose()
}

/// The parts of a draft.
fn drafted(parts: Vec<retake_wire::Part>) -> Result<Vec<Part>, Problem> {
    let parts = convert::parts_in(parts)?;
    let attached = |part: &Part| matches!(part, Part::Image { .. } | Part::File { .. });
    if let Some(other) = parts.iter().find(|part| !attached(part) && !matches!(part, Part::Text(_))) {
        let what = if matches!(other, Part::ToolCall { .. }) { "tool_call" } else { "model_output" };
        return Err(misused(what, &[]));
    }
    let is_empty = |part: &Part| matches!(part, Part::Text(text) if text.is_empty());
    Ok(parts.into_iter().filter(|part| !is_empty(part)).collect())
}

fn named(like: PathMatches) -> Reply {
    let paths = like.paths.into_iter().map(|PathMatch { path, is_dir }| reply::PathLine { path, is_dir });
    Reply::Paths(reply::Paths { paths: paths.collect(), more: like.more })
}
