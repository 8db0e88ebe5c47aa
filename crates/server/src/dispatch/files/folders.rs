//! The file half of a plan as a reply: each path with its diff, the calls that changed it, and changes by other authors. Changes
//! nothing.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use retake_core::{
    ConversationId, DeltaId, EntryId, FileChange, FilePath, FileTotals, PathList, PathPlan, Time,
};
use retake_engine::{FolderPlan, PlannedDeltas, headed_in, shown_in};
use retake_wire::{CallLine, FilesOfOthers, Problem};

use super::translate::{counts, hex, path_plan};
use crate::InProcess;
use crate::convert::problem;

/// How many paths changed by other authors are listed.
const LISTED: usize = 20;

impl InProcess {
    pub(super) async fn files_plan(
        &self,
        of: ConversationId,
        folders: Vec<FolderPlan>,
        digest: [u8; 16],
        diff: bool,
    ) -> Result<retake_wire::FilesPlan, Problem> {
        let paths = folders.iter().flat_map(|folder| &folder.plan.paths);
        let named = paths.flat_map(|path| path.out.iter().chain(&path.into)).copied().collect();
        let PlannedDeltas { deltas, left_behind } =
            self.engine.planned_deltas(of, &named).await.map_err(problem)?;
        let mut shown = retake_wire::FilesPlan { digest: hex(&digest), ..Default::default() };
        // A call has a delta in each folder that it changed.
        let mut listed = HashSet::new();
        let entries = deltas.iter().map(|(_, entry)| *entry).filter(|entry| listed.insert(*entry));
        let entries: Vec<EntryId> = entries.collect();
        let calls = self.engine.called_each(of, entries.clone()).await.map_err(problem)?;
        for (entry, call) in entries.into_iter().zip(calls) {
            shown.calls.push(CallLine {
                entry: entry.to_string(),
                line: crate::agent::called(&call.asked),
                began_ms: call.began.map(|time| time.0),
                ended_ms: call.ended.map(|time| time.0),
                turn: call.turn.filter(|_| call.asked.is_empty()),
            });
        }
        let since = shown.calls.iter().filter_map(|call| call.began_ms.or(call.ended_ms)).min();
        if let Some(since) = since {
            for folder in &folders {
                let others = self.others(of, since, folder).await?;
                shown.others.changed += others.changed;
                shown.others.paths.extend(others.paths);
            }
            shown.others.paths.truncate(LISTED);
        }
        let calls: HashMap<DeltaId, EntryId> =
            deltas.into_iter().map(|(line, entry)| (line.id, entry)).collect();
        let origins = self.origins(of, folders.iter().map(|folder| &folder.plan)).await?;
        let mut totals = FileTotals::default();
        for FolderPlan { folder, plan, .. } in folders {
            let folder = folder.as_deref();
            totals.add(plan.paths.iter().map(|path| &path.step));
            let PathList { full_folders, conflicts, left } = plan.list();
            shown.conflicts += conflicts;
            shown.left += left;
            for (path, full_folder) in plan.paths.into_iter().zip(full_folders) {
                let (diff, hunks) = self.path_diff(folder, &path, diff).await?;
                let kept = path.out.iter().any(|no| left_behind.contains(no));
                let mut line = path_plan(folder, path, &calls, &origins);
                line.hunks.count = hunks;
                shown.paths.push(retake_wire::PathPlan { diff, kept, full_folder, ..line });
            }
        }
        shown.counts = counts(totals);
        Ok(shown)
    }

    /// The diff of a path, and the number of hunks to choose from. For a conflict hunks are always counted, because it waits for
    /// a choice.
    async fn path_diff(
        &self,
        folder: Option<&Path>,
        path: &PathPlan,
        diff: bool,
    ) -> Result<(Option<String>, Option<u32>), Problem> {
        let (change, what) = path.shown_change();
        if change.before == change.after || !(diff || path.waits()) {
            return Ok((None, None));
        }
        let can_choose = change.has_hunks_to_choose();
        let headed = FileChange { path: headed_in(folder, &path.path), ..change };
        let made = self.engine.diff(headed, None, what).await.map_err(problem)?;
        let hunks = u32::try_from(made.hunks).ok().filter(|hunks| can_choose && *hunks > 0);
        Ok((diff.then(|| String::from_utf8_lossy(&made.text).into_owned()), hunks))
    }

    /// Changes in a folder since a point in time that belong to no call and that the plan leaves as they are.
    async fn others(
        &self,
        of: ConversationId,
        since_ms: i64,
        planned: &FolderPlan,
    ) -> Result<FilesOfOthers, Problem> {
        let FolderPlan { folder, plan, .. } = planned;
        let theirs = self.engine.others_since(of, folder.clone(), Time(since_ms)).await.map_err(problem)?;
        let planned: HashSet<&FilePath> = plan.paths.iter().map(|path| &path.path).collect();
        let theirs: Vec<FilePath> = theirs.into_iter().filter(|path| !planned.contains(path)).collect();
        let paths = theirs.iter().take(LISTED).map(|path| shown_in(folder.as_deref(), path)).collect();
        Ok(FilesOfOthers { changed: theirs.len() as u64, paths })
    }
}
