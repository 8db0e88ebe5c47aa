//! The file half of a plan for people: each path with its diff, its calls, and changes by others. Must never carry it out.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use retake_core::{
    ConversationId, DeltaId, DiffHunks, EntryId, FileChange, FilePath, PathPlan, Record, Time, Verdict,
};
use retake_engine::{FolderPlan, PlannedDeltas, headed_in, shown_in};
use retake_wire::{CallLine, Others, Problem};

use super::words::{count, hex, is_folder, mark_full_folders, path_plan, tally};
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
        let mut told = HashSet::new();
        for (_, entry) in deltas.iter().filter(|(_, entry)| told.insert(*entry)) {
            let call = self.engine.called(of, *entry).await.map_err(problem)?;
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
        let whose = self.whose(of, folders.iter().map(|folder| &folder.plan)).await?;
        for FolderPlan { folder, plan, .. } in folders {
            let folder = folder.as_deref();
            count(&mut shown.counts, plan.paths.iter().map(|path| &path.step));
            let mut paths = Vec::with_capacity(plan.paths.len());
            for path in plan.paths {
                let (text, hunks) = self.path_diff(folder, &path, diff).await?;
                let kept = path.out.iter().any(|no| left_behind.contains(no));
                let (name, is_folder) = (path.path.clone(), is_folder(&path));
                let mut told = path_plan(folder, path, &calls, &whose);
                told.hunks.count = hunks;
                paths.push((name, is_folder, retake_wire::PathPlan { diff: text, kept, ..told }));
            }
            mark_full_folders(&mut paths);
            for (.., path) in paths {
                tally(&mut shown, &path);
                shown.paths.push(path);
            }
        }
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
        let waits = matches!(path.verdict, Verdict::Conflict(_));
        let (after, what) = match &path.verdict {
            Verdict::Part => {
                (&path.whole, DiffHunks::Only(path.hunks.iter().map(|hunk| *hunk as usize).collect()))
            }
            Verdict::Conflict(_) | Verdict::Kept => (&path.whole, DiffHunks::Numbered),
            _ => (&path.step.change.after, DiffHunks::Numbered),
        };
        let change = FileChange {
            path: headed_in(folder, &path.path),
            before: path.step.change.before.clone(),
            after: after.clone(),
        };
        if change.before == change.after || !(diff || waits) {
            return Ok((None, None));
        }
        let made = self.engine.diff(change, None, what).await.map_err(problem)?;
        // A created or removed file has hunks in its diff, but none of them can be chosen.
        let stays = matches!(
            (&path.step.change.before, after),
            (Some(Record::File { .. }), Some(Record::File { .. }))
        );
        let hunks = u32::try_from(made.hunks).ok().filter(|hunks| stays && *hunks > 0);
        Ok((diff.then(|| String::from_utf8_lossy(&made.text).into_owned()), hunks))
    }

    /// Changes in a folder since a point in time that belong to no call and that the plan leaves as they are.
    async fn others(
        &self,
        of: ConversationId,
        since_ms: i64,
        planned: &FolderPlan,
    ) -> Result<Others, Problem> {
        let FolderPlan { folder, plan, .. } = planned;
        let theirs = self.engine.others_since(of, folder.clone(), Time(since_ms)).await.map_err(problem)?;
        let planned: HashSet<&FilePath> = plan.paths.iter().map(|path| &path.path).collect();
        let theirs: Vec<FilePath> = theirs.into_iter().filter(|path| !planned.contains(path)).collect();
        let paths = theirs.iter().take(LISTED).map(|path| shown_in(folder.as_deref(), path)).collect();
        Ok(Others { changed: theirs.len() as u64, paths })
    }
}
