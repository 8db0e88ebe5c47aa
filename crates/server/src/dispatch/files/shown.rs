//! The file half of a plan as people read it: each path with its diff, the calls that it is about, and what others have changed.
//! Must never do any of it.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use retake_core::{
    ConversationId, DeltaId, DeltaLine, EntryId, FileChange, FilePath, Mark, PathPlan, Pos, Record, Time,
    Verdict,
};
use retake_engine::worktree::Shown;
use retake_engine::{FolderPlan, headed_in, shown_in};
use retake_wire::{CallLine, Others, Problem};

use super::words::{count, hex, is_folder, mark_full_folders, path_plan, tally};
use crate::InProcess;
use crate::convert::problem;
use crate::dispatch::store_problem;

/// So many paths of others are listed.
const LISTED: usize = 20;

impl InProcess {
    pub(super) async fn files_plan(
        &self,
        of: ConversationId,
        folders: Vec<FolderPlan>,
        digest: [u8; 16],
        diff: bool,
    ) -> Result<retake_wire::FilesPlan, Problem> {
        let mut deltas = self.engine.store().deltas(of).await.map_err(store_problem)?;
        let named = |no: DeltaId| {
            let mut paths = folders.iter().flat_map(|folder| &folder.plan.paths);
            paths.any(|path| path.out.contains(&no) || path.into.contains(&no))
        };
        deltas.retain(|(line, _)| named(line.id));
        self.by_call(of, &mut deltas).await?;
        let left_behind = self.left_behind(of, &deltas).await?;
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
                let told = path_plan(folder, path, &calls, &whose);
                paths.push((name, is_folder, retake_wire::PathPlan { diff: text, hunks, kept, ..told }));
            }
            mark_full_folders(&mut paths);
            for (.., path) in paths {
                tally(&mut shown, &path);
                shown.paths.push(path);
            }
        }
        Ok(shown)
    }

    /// What a call did before its end, as a capture saw it meanwhile, is told with its result, where that is there: it is one call.
    async fn by_call(&self, of: ConversationId, deltas: &mut [(DeltaLine, EntryId)]) -> Result<(), Problem> {
        let store = self.engine.store();
        let mut results = HashMap::new();
        let all: HashSet<EntryId> = deltas.iter().map(|(_, entry)| *entry).collect();
        for entry in &all {
            if let Some(at) = store.meta(of, *entry).await.map_err(store_problem)?.answers {
                let asked = store.entry_id(of, at).await.map_err(store_problem)?;
                results.insert(asked, *entry);
            }
        }
        for (_, entry) in deltas.iter_mut() {
            *entry = results.get(entry).copied().unwrap_or(*entry);
        }
        Ok(())
    }

    /// The deltas whose calls are no part of the conversation any more, though files have them: an earlier step left them.
    async fn left_behind(
        &self,
        of: ConversationId,
        deltas: &[(DeltaLine, EntryId)],
    ) -> Result<HashSet<DeltaId>, Problem> {
        let now = self.engine.store().snapshot(of).await.map_err(store_problem)?;
        let (known, depth) = (now.conversation(), now.conversation().tree.depth());
        let is_there = |line: &DeltaLine| {
            let pos = Pos::new(depth, line.seq);
            known.is_on_path(pos) && known.mark(pos) != Mark::Dropped
        };
        Ok(deltas.iter().filter(|(line, _)| !is_there(line)).map(|(line, _)| line.id).collect())
    }

    /// How a path would differ, and how many hunks there are to choose from. Of a conflict hunks are always counted: it waits for a
    /// choice.
    async fn path_diff(
        &self,
        folder: Option<&Path>,
        path: &PathPlan,
        diff: bool,
    ) -> Result<(Option<String>, Option<u32>), Problem> {
        let waits = matches!(path.verdict, Verdict::Conflict(_));
        let (after, what) = match &path.verdict {
            Verdict::Part => {
                (&path.whole, Shown::Only(path.hunks.iter().map(|hunk| *hunk as usize).collect()))
            }
            Verdict::Conflict(_) | Verdict::Kept => (&path.whole, Shown::Numbered),
            _ => (&path.step.change.after, Shown::Numbered),
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
        // What comes or goes has hunks in its diff, but none that can be chosen.
        let stays = matches!(
            (&path.step.change.before, after),
            (Some(Record::File { .. }), Some(Record::File { .. }))
        );
        let hunks = u32::try_from(made.hunks).ok().filter(|hunks| stays && *hunks > 0);
        Ok((diff.then(|| String::from_utf8_lossy(&made.to_bytes()).into_owned()), hunks))
    }

    /// What nobody's call has changed in a folder since a moment, and the plan leaves as it is.
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
