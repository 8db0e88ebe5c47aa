//! Requests about the folders that conversations work in, and their captures.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use retake_core::{Capture, DiffHunks, FileChange, UncoveredReason, WorkspaceInfo};
use retake_engine::{EngineError, FilesStatus, FolderShown, FolderStatus, Prune, headed_in, shown_in};
use retake_wire::request::USUAL_PAGE;
use retake_wire::{Problem, Reply, english, reply, request};

use super::files::translate::{bytes_in, grade, name};
use super::{limit, page};
use crate::InProcess;
use crate::convert::{misused, problem, uncovered_cause};

/// The most bytes of diffs in a reply; other files are only named.
const MAX_DIFFS: usize = 8 << 20;

/// The most paths that are listed for each reason of not being covered.
const UNCOVERED: usize = 5;

/// The most paths of a capture that are listed.
const LISTED: usize = 20;
/// The most uncovered paths that are listed.
const EXAMPLES: usize = 100;

impl InProcess {
    pub(super) async fn checkpoint(&self, checkpoint: request::Checkpoint) -> Result<Reply, Problem> {
        if checkpoint.name.trim().is_empty() {
            return Err(misused("unnamed_checkpoint", &[]));
        }
        let name =
            retake_core::name::title(&checkpoint.name).map_err(|no| problem(EngineError::refused(&no)))?;
        let id = self.conversation(&checkpoint.conversation).await?;
        let made = self.engine.checkpoint(id, name).await.map_err(problem)?;
        let captures = made.into_iter().map(capture).collect();
        Ok(Reply::Captures(reply::Captures { captures, more: false }))
    }

    pub(super) async fn files_log(&self, page: request::Page) -> Result<Reply, Problem> {
        let id = self.conversation(&page.conversation).await?;
        let limit = limit(page.limit, USUAL_PAGE)?;
        let found = self.engine.captures(id, page.before, limit.saturating_add(1)).await.map_err(problem)?;
        let more = found.len() > limit;
        let captures = found.into_iter().take(limit).map(capture).collect();
        Ok(Reply::Captures(reply::Captures { captures, more }))
    }

    pub(super) async fn files_status(&self, of: request::ConversationTarget) -> Result<Reply, Problem> {
        let id = self.conversation(&of.conversation).await?;
        let status = self.engine.files_status(id).await.map_err(problem)?;
        Ok(Reply::FilesStatus(status_out(status)))
    }

    pub(super) async fn files_diff(&self, diff: request::FilesDiff) -> Result<Reply, Problem> {
        let id = self.conversation(&diff.conversation).await?;
        let names = diff.paths.iter().map(bytes_in).collect::<Result<Vec<_>, _>>()?;
        let paths = self.engine.paths(id, names).await.map_err(problem)?;
        let from = self.engine.as_of(id, diff.from.as_deref()).await.map_err(problem)?;
        let to = match diff.to {
            Some(to) => Some(self.engine.as_of(id, Some(&to)).await.map_err(problem)?),
            None => None,
        };
        let folders = self.engine.differences(id, paths, from, to).await.map_err(problem)?;
        let (mut files, mut room) = (Vec::new(), MAX_DIFFS);
        let changes = folders.into_iter().flat_map(|(folder, changes)| {
            changes.into_iter().map(move |change| {
                let path = headed_in(folder.as_deref(), &change.path);
                (name(folder.as_deref(), &change.path), FileChange { path, ..change })
            })
        });
        for (name, change) in changes {
            let mut shown = reply::Difference { name, state: state(&change), diff: None };
            if room > 0 {
                let made = self.engine.diff(change, None, DiffHunks::All).await.map_err(problem)?;
                room = room.saturating_sub(made.text.len());
                shown.diff = Some(String::from_utf8_lossy(&made.text).into_owned());
            }
            files.push(shown);
        }
        Ok(Reply::Differences(reply::Differences { files }))
    }

    pub(super) async fn workspaces(&self, of: request::Workspaces) -> Result<Reply, Problem> {
        let limit = limit(of.limit, USUAL_PAGE)?;
        let rows = self.engine.known_folders().await.map_err(problem)?;
        let behind = rows.into_iter().map(workspace).filter(|it| of.after.is_none_or(|no| it.number > no));
        let (workspaces, more) = page(behind, limit);
        Ok(Reply::Workspaces(reply::Workspaces { workspaces, more }))
    }

    pub(super) async fn workspace_show(&self, of: request::WorkspaceTarget) -> Result<Reply, Problem> {
        let no = self.engine.folder(&of.workspace).await.map_err(problem)?;
        Ok(Reply::Workspace(shown(self.engine.show_folder(no).await.map_err(problem)?)))
    }

    pub(super) async fn workspace_forget(&self, of: request::WorkspaceTarget) -> Result<Reply, Problem> {
        let no = self.engine.folder(&of.workspace).await.map_err(problem)?;
        Ok(Reply::Workspace(shown(self.engine.forget_folder(no).await.map_err(problem)?)))
    }

    pub(super) async fn workspace_prune(&self, prune: request::WorkspacePrune) -> Result<Reply, Problem> {
        let how = prune.how;
        let prune = match how {
            request::PruneHow::Look => Prune::Look,
            request::PruneHow::Unneeded => Prune::Unneeded,
            request::PruneHow::ToQuota => Prune::ToQuota,
        };
        let pruned = self.engine.prune(prune).await.map_err(problem)?;
        let let_go = pruned.let_go.into_iter().map(|going| reply::LostCalls {
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

fn workspace(row: WorkspaceInfo) -> reply::Workspace {
    reply::Workspace {
        number: row.no.0,
        folder: String::from_utf8_lossy(&row.root).into_owned(),
        created_ms: row.created.0,
    }
}

fn gone_folder((folder, error): (PathBuf, EngineError)) -> reply::GoneFolder {
    reply::GoneFolder { folder: folder.to_string_lossy().into_owned(), problem: problem(error) }
}

fn shown(folder: FolderShown) -> reply::WorkspaceShown {
    let examples = folder.uncovered.iter().take(EXAMPLES);
    let examples = examples.map(|one| {
        let cause = uncovered_cause(one.why);
        reply::NotCovered { path: one.path.clone(), why: english::uncovered_cause(&cause), cause }
    });
    let problem = folder.away.map(problem);
    reply::WorkspaceShown {
        not_covered: folder.uncovered.len() as u64,
        examples: examples.collect(),
        workspace: workspace(folder.row),
        away: problem.as_ref().map(|problem| problem.message.clone()),
        problem,
        conversations: folder.conversations.iter().map(ToString::to_string).collect(),
        captures: folder.captures,
        checkpoints: folder.checkpoints.into_iter().filter_map(|row| row.name).collect(),
        calls: folder.calls,
        versions: folder.versions,
        bytes: folder.bytes,
        unsettled: folder.unsettled,
        max_file: folder.max_file,
        max_ignored: folder.max_ignored,
    }
}

fn capture(row: Capture) -> reply::Capture {
    reply::Capture {
        number: row.no,
        time_ms: row.time.0,
        name: row.name,
        changed: row.changes.len() as u64,
        paths: row.changes.iter().take(LISTED).map(|change| change.path.to_string()).collect(),
    }
}

fn state(change: &FileChange) -> reply::State {
    match (&change.before, &change.after) {
        (None, _) => reply::State::Made,
        (_, None) => reply::State::Removed,
        _ => reply::State::Changed,
    }
}

fn status_out(status: FilesStatus) -> reply::FilesStatus {
    let running = |it: retake_engine::Job| reply::Job {
        call: it.call.to_string(),
        what: it.what,
        processes: it.processes as u64,
    };
    let mut shown = reply::FilesStatus {
        ahead: status.ahead as u64,
        behind: status.behind as u64,
        running: status.running.into_iter().map(running).collect(),
        ..reply::FilesStatus::default()
    };
    let mut reasons: BTreeMap<UncoveredReason, reply::Uncovered> = BTreeMap::new();
    for FolderStatus { root, folder, calls, others, uncovered } in status.folders {
        let folder = folder.as_deref();
        match folder {
            None => shown.folder = root.to_string_lossy().into_owned(),
            Some(further) => shown.further.push(further.to_string_lossy().into_owned()),
        }
        shown.calls.extend(calls.into_iter().map(|it| by_calls(folder, it)));
        shown.others.extend(others.iter().map(|change| by_others(folder, change)));
        for it in uncovered {
            let reason = reasons.entry(it.why).or_insert_with(|| {
                let cause = uncovered_cause(it.why);
                let why = english::uncovered_cause(&cause);
                reply::Uncovered { cause, why, count: 0, paths: Vec::new() }
            });
            reason.count += 1;
            if reason.paths.len() < UNCOVERED {
                reason.paths.push(shown_in(folder, &it.path));
            }
        }
    }
    let gone_folders: Vec<_> = status.gone.into_iter().map(gone_folder).collect();
    let gone = gone_folders.iter().map(|gone| gone.problem.message.clone()).collect();
    reply::FilesStatus { uncovered: reasons.into_values().collect(), gone_folders, gone, ..shown }
}

fn by_calls(folder: Option<&Path>, it: retake_engine::ByCalls) -> reply::Changed {
    reply::Changed {
        name: name(folder, &it.change.path),
        state: state(&it.change),
        grade: Some(grade(it.grade)),
        calls: it.calls.iter().map(ToString::to_string).collect(),
        touched: it.touched,
    }
}

fn by_others(folder: Option<&Path>, change: &FileChange) -> reply::Changed {
    let name = name(folder, &change.path);
    reply::Changed { name, state: state(change), grade: None, calls: Vec::new(), touched: false }
}
