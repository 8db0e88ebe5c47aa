//! Requests of composers: drafts, and prompts said earlier. Must never touch a draft but where it is told to: what a rewind gives
//! back is for the one who asked, whose face knows what to do with it.

use retake_core::{ConversationId, Fact, Part};
use retake_engine::prompt::{Like, PathLike};
use retake_wire::{Problem, Reply, reply, request};

use super::{PAGE, from_root, store_problem};
use crate::InProcess;
use crate::convert::{self, problem, usage};

impl InProcess {
    pub(super) async fn draft(&self, of: request::DraftOf) -> Result<Reply, Problem> {
        let id = self.conversation(&of.conversation).await?;
        let author = self.author(of.author);
        let kept = self.drafts(id).await?.into_iter().find(|draft| draft.author == author);
        Ok(Reply::Draft(kept.unwrap_or(reply::Draft { author, ..reply::Draft::default() })))
    }

    pub(super) async fn set_draft(&self, set: request::SetDraft) -> Result<Reply, Problem> {
        let id = self.conversation(&set.conversation).await?;
        let (author, parts) = (self.author(set.author), drafted(set.parts)?);
        let store = self.engine.store();
        let _alone = self.drafting.lock().await;
        let mut parts = match set.instead_of {
            None => parts,
            Some(old) => {
                let kept = store.drafts(id).await.map_err(store_problem)?;
                let kept = kept.into_iter().find(|(of, _)| *of == author).map(|(_, parts)| parts);
                beside(kept.unwrap_or_default(), drafted(old)?, parts)
            }
        };
        if let (Some(entry), false) = (set.edits, parts.is_empty()) {
            parts.push(Part::Facts(vec![Fact::new(EDITS, entry)]));
        }
        store.set_draft(id, author, parts).await.map(|()| Reply::Done).map_err(store_problem)
    }

    pub(super) async fn draft_in(&self, of: request::DraftIn) -> Result<Reply, Problem> {
        let (folder, author) = (from_root(of.folder)?, self.author(of.author));
        let parts = self.engine.store().draft_in(folder, author.clone()).await.map_err(store_problem)?;
        Ok(Reply::Draft(draft((author, parts))))
    }

    pub(super) async fn set_draft_in(&self, set: request::SetDraftIn) -> Result<Reply, Problem> {
        let (folder, author, parts) = (from_root(set.folder)?, self.author(set.author), drafted(set.parts)?);
        let store = self.engine.store();
        let _alone = self.drafting.lock().await;
        let parts = match set.instead_of {
            None => parts,
            Some(old) => {
                let kept = store.draft_in(folder.clone(), author.clone()).await.map_err(store_problem)?;
                beside(kept, drafted(old)?, parts)
            }
        };
        store.set_draft_in(folder, author, parts).await.map(|()| Reply::Done).map_err(store_problem)
    }

    /// All drafts of a conversation.
    pub(crate) async fn drafts(&self, of: ConversationId) -> Result<Vec<reply::Draft>, Problem> {
        let drafts = self.engine.store().drafts(of).await.map_err(store_problem)?;
        Ok(drafts.into_iter().map(draft).collect())
    }

    fn author(&self, name: String) -> String {
        if name.is_empty() { self.engine.by(None).author } else { name }
    }

    pub(super) async fn paths(&self, paths: request::Paths) -> Result<Reply, Problem> {
        let id = self.conversation(&paths.conversation).await?;
        let request::Typed { prefix, limit } = paths.typed;
        self.engine.paths_of(id, prefix, limit.unwrap_or(PAGE)).await.map(named).map_err(problem)
    }

    pub(super) async fn folder_paths(&self, paths: request::FolderPaths) -> Result<Reply, Problem> {
        let folder = super::absolute(&paths.folder)?;
        let request::Typed { prefix, limit } = paths.typed;
        self.engine.paths_in(folder, prefix, limit.unwrap_or(PAGE)).await.map(named).map_err(problem)
    }

    pub(super) async fn history(&self, history: request::History) -> Result<Reply, Problem> {
        let limit = history.limit.unwrap_or(PAGE);
        let page = self.engine.history(history.folder, limit, history.before.as_deref()).await;
        let retake_engine::Prompts { prompts, earlier } = page.map_err(problem)?;
        Ok(Reply::History(reply::HistoryPage { prompts, earlier }))
    }
}

/// By this name it is kept what a draft is to be said in the place of.
const EDITS: &str = "edits";

/// A draft as it is told.
fn draft((author, parts): (String, Vec<Part>)) -> reply::Draft {
    let facts =
        parts.iter().filter_map(|part| if let Part::Facts(facts) = part { Some(facts) } else { None });
    let edits = facts.flatten().find(|fact| fact.key == EDITS).map(|fact| fact.value.clone());
    reply::Draft { author, edits, parts: convert::parts(parts) }
}

/// What somebody else has kept meanwhile, and behind it the new parts in the place of the old ones.
fn beside(mut kept: Vec<Part>, old: Vec<Part>, new: Vec<Part>) -> Vec<Part> {
    kept.retain(|part| !matches!(part, Part::Facts(_)));
    for part in old {
        if let Some(at) = kept.iter().position(|kept| *kept == part) {
            kept.remove(at);
        }
    }
    kept.extend(new);
    kept
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
