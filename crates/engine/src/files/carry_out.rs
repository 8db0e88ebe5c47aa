//! Carries out a plan in all of its folders, or reverts it in all of them: prepare, decide, apply, settle.
//!
//! Each phase is completed in all folders before the next one begins, which makes the step atomic. The process may die between
//! any two of them: `recover` finishes the step.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use retake_core::{
    Action, Apply, ConversationId, FileChange, FilePlan, LeftPath, PathMove, Scope, SeenState, WorkspaceNo,
};
use retake_store::FilesHalf;
use retake_worktree::{
    Failed, Interrupted, Objects as _, Obstacle, Outcome, Prepared, Refusal, Report, RootLock, SettledApply,
    StagedApply, StagingName,
};

use super::apply::{AppliedFiles, FolderDone, as_before, moves, unchanged};
use super::blocking;
use super::conversation_folders::{HeldWorkspaces, shown_in};
use super::planned::FolderPlan;
use super::progress::WorkInProgress;
use super::workspace::HeldWorkspace;
use crate::Engine;
use crate::error::{EngineError, Kind, Result};

/// An apply that holds its workspaces.
pub(super) struct RunningApply<'a> {
    engine: &'a Arc<Engine>,
    parts: Vec<Part>,
}

/// One folder of an apply.
struct Part {
    held: HeldWorkspace,
    lock: RootLock,
    no: WorkspaceNo,
    folder: Option<PathBuf>,
    plan: FilePlan,
    /// The moves that are recorded.
    moves: Vec<PathMove>,
    /// The changes on disk.
    changes: Vec<FileChange>,
    left: Vec<LeftPath>,
}

impl Part {
    /// Whether there is something to record: an adoption counts even if no file changes.
    fn does_something(&self) -> bool {
        !self.moves.is_empty() || self.plan.adopted().next().is_some()
    }
}

/// The stage of a folder with staged content.
enum FolderStage {
    Staged(StagedApply),
    CarriedOut(SettledApply),
    Interrupted(Interrupted),
}

impl<'a> RunningApply<'a> {
    /// An apply of these plans, in the workspaces that they were made in.
    pub(super) fn new(
        engine: &'a Arc<Engine>,
        held: HeldWorkspaces,
        locks: Vec<RootLock>,
        mut plans: Vec<FolderPlan>,
    ) -> Self {
        let parts = held.all.into_iter().zip(locks).filter_map(|(held, lock)| {
            let at = plans.iter().position(|plan| plan.workspace == held.no)?;
            let FolderPlan { workspace, folder, plan, .. } = plans.swap_remove(at);
            let (moves, changes) = (moves(&plan), plan.changes().cloned().collect());
            Some(Part { held, lock, no: workspace, folder, plan, moves, changes, left: Vec::new() })
        });
        Self { engine, parts: parts.collect() }
    }

    pub(super) async fn run(mut self, conversation: ConversationId, apply: Apply) -> Result<AppliedFiles> {
        if !self.parts.iter().any(Part::does_something) {
            if matches!(apply.action, Action::Files(_) | Action::Half(Scope::Files, _)) {
                return Err(unchanged());
            }
            let receipt = self.engine.store().apply(conversation, apply).await?;
            return Ok(AppliedFiles::new(receipt, self.done()));
        }
        // The decision must be made on the same head as the plan.
        let seen = match apply.seen {
            SeenState::Anything => SeenState::Exactly(self.engine.head(conversation).await?),
            seen => seen,
        };
        let apply = Apply { seen, ..apply };
        let files = self.parts.iter().map(|part| part.changes.len() as u64).sum();
        let _busy = (files > 0).then(|| self.engine.files.work.begin(WorkInProgress::Writing { files }));
        // Subscribers get the event when the step is done.
        let _held = self.engine.open_plan(conversation);
        let stages = self.prepare_all().await?;
        let receipt = match self.engine.store().apply_files(conversation, apply, self.halves()).await {
            Ok(receipt) => receipt,
            Err(error) => {
                self.discard_all(stages).await?;
                return Err(error.into());
            }
        };
        let carried = self.carry_out_all(stages).await?;
        self.settle_all(carried).await?;
        Ok(AppliedFiles::new(receipt, self.done()))
    }

    /// The result for each folder, also for folders without changes.
    fn done(self) -> Vec<FolderDone> {
        let done = |part: Part| {
            let Part { folder, plan, left, .. } = part;
            FolderDone { folder, plan, left }
        };
        let mut folders: Vec<_> = self.parts.into_iter().map(done).collect();
        folders.sort_by(|one, other| one.folder.cmp(&other.folder));
        folders
    }

    fn halves(&self) -> Vec<FilesHalf> {
        let parts = self.parts.iter().filter(|part| part.does_something());
        let half = |part: &Part| FilesHalf {
            workspace: part.no,
            moves: part.moves.clone(),
            staged: !part.changes.is_empty(),
            adopted: part.plan.adopted().collect(),
        };
        parts.map(half).collect()
    }

    /// Stages in all folders, or in none.
    async fn prepare_all(&mut self) -> Result<Vec<(usize, FolderStage)>> {
        // Even if no file changes, layers can name a merged text, which must be durable first.
        let objects = self.engine.files.objects().await?;
        blocking(move || objects.sync()).await??;
        let mut stages = Vec::new();
        for at in 0..self.parts.len() {
            if self.parts[at].changes.is_empty() {
                continue;
            }
            self.parts[at].held.unsettled = true;
            match self.prepare(at).await {
                Ok(staging) => stages.push((at, FolderStage::Staged(staging))),
                Err(error) => {
                    self.discard_all(stages).await?;
                    return Err(error);
                }
            }
        }
        Ok(stages)
    }

    /// Records the staging folder's name, then stages: a full disk or a read-only folder is found before anything changes.
    async fn prepare(&self, at: usize) -> Result<StagedApply> {
        let part = &self.parts[at];
        let name = StagingName::new(&self.engine.new_entry_id().to_string())?;
        self.engine.store().preparing(part.no, name.as_str().to_owned()).await?;
        let (lock, objects) = (part.lock.clone(), self.engine.files.objects().await?);
        let changes = part.held.tree.to_apply(part.changes.clone());
        let prepared = blocking(move || StagedApply::prepare(&lock, &name, changes, &*objects));
        let error = match prepared.await?.map_err(EngineError::from) {
            Ok(Prepared::Ready(staging)) => return Ok(*staging),
            Ok(Prepared::Refused(refusals)) => refused(part.folder.as_deref(), &refusals),
            Err(error) => error,
        };
        self.engine.store().settle(part.no).await?;
        Err(error)
    }

    /// Removes the staged content in every folder after a decision that was not made. The next start removes what cannot be
    /// removed now.
    async fn discard_all(&self, stages: Vec<(usize, FolderStage)>) -> Result<()> {
        let mut first = Ok(());
        for (at, stage) in stages {
            let FolderStage::Staged(staging) = stage else { continue };
            let done = match blocking(move || staging.discard()).await? {
                Ok(()) => self.engine.store().settle(self.parts[at].no).await.map_err(EngineError::from),
                Err(error) => Err(error.into()),
            };
            first = first.and(done);
        }
        first
    }

    /// Carries the step out, folder by folder. If it is interrupted in one, the direction is reversed and all folders are put
    /// back.
    async fn carry_out_all(
        &mut self,
        stages: Vec<(usize, FolderStage)>,
    ) -> Result<Vec<(usize, SettledApply)>> {
        let mut stages = stages.into_iter();
        let mut carried = Vec::new();
        while let Some((at, stage)) = stages.next() {
            let FolderStage::Staged(staging) = stage else { continue };
            match blocking(move || staging.carry_out()).await?? {
                Outcome::Applied(settled) => carried.push((at, settled)),
                Outcome::Interrupted(interrupted) => {
                    let folder = self.parts[at].folder.as_deref();
                    let what = told(folder, &interrupted.cause);
                    let path = interrupted.cause.path.as_ref().map(|path| shown_in(folder, path));
                    let error = EngineError::new(Kind::Refused, "interrupted", what.clone())
                        .with("obstacle", interrupted.cause.why.name());
                    let error = with_detail(error, &interrupted.cause.why);
                    let carried =
                        carried.into_iter().map(|(at, settled)| (at, FolderStage::CarriedOut(settled)));
                    let all = carried.chain([(at, FolderStage::Interrupted(interrupted))]).chain(stages);
                    let left = self.put_back_all(self.parts[at].no, all.collect()).await?;
                    let message = format!("{what}; {}", put_back(&left));
                    let error =
                        EngineError { message, ..error }.with("left", few(&left)).with("count", left.len());
                    return Err(path.into_iter().fold(error, |error, path| error.with("path", path)));
                }
            }
        }
        Ok(carried)
    }

    /// Reverts the operation, then the changes in each folder, including paths that were left alone. A folder that cannot be
    /// put back does not stop the others.
    async fn put_back_all(
        &mut self,
        of: WorkspaceNo,
        stages: Vec<(usize, FolderStage)>,
    ) -> Result<Vec<String>> {
        self.engine.store().turn_back(of, self.engine.by(None)).await?;
        let (mut left, mut first) = (Vec::new(), Ok(()));
        for (at, stage) in stages {
            let objects = self.engine.files.objects().await?;
            let settled = match stage {
                FolderStage::Staged(staging) => {
                    first = first.and(self.discard_all(vec![(at, FolderStage::Staged(staging))]).await);
                    continue;
                }
                FolderStage::CarriedOut(settled) => blocking(move || settled.put_back(&*objects)).await?,
                FolderStage::Interrupted(interrupted) => {
                    blocking(move || interrupted.put_back(&*objects)).await?
                }
            };
            let back = self.parts[at].changes.iter().map(as_before).collect();
            let report = match settled {
                Ok(settled) => self.finish(at, settled, back).await,
                Err(error) => Err(error.into()),
            };
            let folder = self.parts[at].folder.as_deref();
            match report {
                Ok(report) => left.extend(report.left.iter().map(|left| shown_in(folder, &left.path))),
                Err(error) => first = first.and(Err(error)),
            }
        }
        first.map(|()| left)
    }

    /// After all folders are done: removes the staging folders, and closes the intents.
    async fn settle_all(&mut self, carried: Vec<(usize, SettledApply)>) -> Result<()> {
        let mut first = Ok(());
        for (at, settled) in carried {
            let changes = self.parts[at].changes.clone();
            match self.finish(at, settled, changes).await {
                Ok(report) => self.parts[at].left = report.left,
                Err(error) => first = first.and(Err(error)),
            }
        }
        first
    }

    /// Removes the staging folder, updates the index, and then closes the intent.
    async fn finish(&mut self, at: usize, settled: SettledApply, changes: Vec<FileChange>) -> Result<Report> {
        let report = blocking(move || settled.finish()).await??;
        self.engine.settle(&mut self.parts[at].held, &changes, &report).await?;
        self.parts[at].held.unsettled = false;
        Ok(report)
    }
}

/// What stopped an apply, and where.
pub(super) fn told(folder: Option<&Path>, failed: &Failed) -> String {
    match &failed.path {
        Some(path) => format!("{}: {}", shown_in(folder, path), failed.why),
        None => failed.why.to_string(),
    }
}

/// The error of an obstacle, with the kind or the attribute that the obstacle has.
pub(super) fn with_detail(error: EngineError, why: &Obstacle) -> EngineError {
    why.detail().into_iter().fold(error, |error, detail| error.with("detail", detail))
}

/// The first of several names.
pub(super) fn few(names: &[String]) -> Vec<String> {
    names.iter().take(20).cloned().collect()
}

/// What a reverted step has left behind.
fn put_back(left: &[String]) -> String {
    match left {
        [] => "nothing was changed".to_owned(),
        left => format!(
            "everything is as it was but for what somebody has written there meanwhile: {}{}",
            left.iter().take(5).cloned().collect::<Vec<_>>().join(", "),
            if left.len() > 5 { " …" } else { "" }
        ),
    }
}

/// What stopped an apply before anything changed.
fn refused(folder: Option<&Path>, refusals: &[Refusal]) -> EngineError {
    let shown = |refusal: &Refusal| format!("{}: {}", shown_in(folder, &refusal.path), refusal.why);
    let shown: Vec<String> = refusals.iter().take(5).map(shown).collect();
    let more = if refusals.len() > shown.len() { " …" } else { "" };
    let paths: Vec<String> = refusals.iter().map(|refusal| shown_in(folder, &refusal.path)).collect();
    let obstacles: Vec<String> = refusals.iter().map(|refusal| refusal.why.name().to_owned()).collect();
    let details = refusals.iter().map(|refusal| refusal.why.detail().unwrap_or_default().to_owned());
    let details: Vec<String> = details.collect();
    let error =
        EngineError::new(Kind::Refused, "files_refused", format!("can't: {}{more}", shown.join("; ")))
            .with("paths", few(&paths))
            .with("obstacles", few(&obstacles))
            .with("details", few(&details))
            .with("count", paths.len());
    match refusals.first() {
        Some(first) => error.remedies(first.why.remedies()),
        None => error,
    }
}
