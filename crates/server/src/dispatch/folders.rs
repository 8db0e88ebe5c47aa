//! Requests about the folders that conversations work in, and what was seen of them.

use retake_engine::store::CaptureRow;
use retake_wire::{Problem, Reply, reply, request};

use super::{PAGE, store_problem};
use crate::InProcess;
use crate::convert::{problem, usage};

/// So many paths of a capture are listed.
const LISTED: usize = 20;

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
        let workspaces = rows.into_iter().map(|row| reply::Workspace {
            number: row.no.0,
            folder: String::from_utf8_lossy(&row.root).into_owned(),
            created_ms: row.created.0,
        });
        Ok(Reply::Workspaces(reply::Workspaces { workspaces: workspaces.collect() }))
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
