//! Requests about the folders that conversations work in, and what was seen of them.

use retake_engine::store::{CaptureRow, WorkspaceRow};
use retake_engine::{FolderShown, Prune};
use retake_wire::{Problem, Reply, reply, request};

use super::{PAGE, store_problem};
use crate::InProcess;
use crate::convert::{problem, usage};

/// So many paths of a capture are listed.
const LISTED: usize = 20;
/// So many paths that are not covered are listed.
const EXAMPLES: usize = 100;

impl InProcess {
    pub(super) async fn checkpoint(&self, checkpoint: request::Checkpoint) -> Result<Reply, Problem> {
        if checkpoint.name.trim().is_empty() {
            return Err(usage("a checkpoint needs a name"));
        }
        let id = self.conversation(&checkpoint.conversation).await?;
        let made = self.engine.checkpoint(id, checkpoint.name).await.map_err(problem)?;
        let captures = made.into_iter().map(capture).collect();
        Ok(Reply::Captures(reply::Captures { captures, more: false }))
    }

    pub(super) async fn files_log(&self, page: request::Page) -> Result<Reply, Problem> {
        let id = self.conversation(&page.conversation).await?;
        let limit = page.limit.unwrap_or(PAGE);
        let found = self.engine.captures(id, page.before, limit.saturating_add(1)).await.map_err(problem)?;
        let more = found.len() > limit;
        let captures = found.into_iter().take(limit).map(capture).collect();
        Ok(Reply::Captures(reply::Captures { captures, more }))
    }

    pub(super) async fn workspaces(&self) -> Result<Reply, Problem> {
        let rows = self.engine.store().workspaces().await.map_err(store_problem)?;
        let workspaces = rows.into_iter().map(workspace).collect();
        Ok(Reply::Workspaces(reply::Workspaces { workspaces }))
    }

    pub(super) async fn workspace_show(&self, name: &str) -> Result<Reply, Problem> {
        let no = self.engine.folder(name).await.map_err(problem)?;
        Ok(Reply::Workspace(shown(self.engine.show_folder(no).await.map_err(problem)?)))
    }

    pub(super) async fn workspace_forget(&self, name: &str) -> Result<Reply, Problem> {
        let no = self.engine.folder(name).await.map_err(problem)?;
        Ok(Reply::Workspace(shown(self.engine.forget_folder(no).await.map_err(problem)?)))
    }

    pub(super) async fn workspace_prune(&self, how: request::PruneHow) -> Result<Reply, Problem> {
        let prune = match how {
            request::PruneHow::Look => Prune::Look,
            request::PruneHow::Unneeded => Prune::Unneeded,
            request::PruneHow::ToQuota => Prune::ToQuota,
        };
        let pruned = self.engine.prune(prune).await.map_err(problem)?;
        let let_go = pruned.let_go.into_iter().map(|going| reply::LetGo {
            conversation: going.conversation.to_string(),
            calls: going.calls.iter().map(ToString::to_string).collect(),
        });
        Ok(Reply::Pruned(reply::Pruned {
            how,
            captures: pruned.captures,
            versions: pruned.objects,
            freed: pruned.freed,
            size: pruned.size,
            quota: pruned.quota,
            let_go: let_go.collect(),
            damaged: pruned.damaged,
        }))
    }
}

fn workspace(row: WorkspaceRow) -> reply::Workspace {
    reply::Workspace {
        number: row.no.0,
        folder: String::from_utf8_lossy(&row.root).into_owned(),
        created_ms: row.created.0,
    }
}

fn shown(folder: FolderShown) -> reply::WorkspaceShown {
    let examples = folder.uncovered.iter().take(EXAMPLES);
    let examples = examples.map(|one| reply::NotCovered { path: one.path.clone(), why: one.why.clone() });
    reply::WorkspaceShown {
        not_covered: folder.uncovered.len() as u64,
        examples: examples.collect(),
        workspace: workspace(folder.row),
        away: folder.away,
        conversations: folder.conversations.iter().map(ToString::to_string).collect(),
        captures: folder.captures,
        checkpoints: folder.checkpoints.into_iter().filter_map(|row| row.name).collect(),
        calls: folder.calls,
        versions: folder.versions,
        bytes: folder.bytes,
        unsettled: folder.unsettled,
        max_file: folder.rules.max_file,
        max_ignored: folder.rules.max_ignored,
    }
}

fn capture(row: CaptureRow) -> reply::Capture {
    reply::Capture {
        number: row.no,
        time_ms: row.time.0,
        name: row.name,
        changed: row.changes.len() as u64,
        paths: row.changes.iter().take(LISTED).map(|change| change.path.to_string()).collect(),
    }
}
