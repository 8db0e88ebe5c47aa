//! A plan is carried out in all of its folders, or taken back in all of them: prepared, decided, applied, settled.
//!
//! The order of the steps is what makes it atomic: each is done in all folders before the next. Between any two of them the
//! process may die: `recover` finishes it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use retake_core::{
    Action, Apply, ConversationId, FileChange, FilePlan, LeftPath, PathMove, Scope, Seen, WorkspaceNo,
};
use retake_store::FilesHalf;
use retake_worktree::{
    Failed, Interrupted, Objects as _, Outcome, Prepared, Refusal, Report, RootLock, Settled, Staging,
    StagingName,
};

use super::apply::{AppliedFiles, FolderDone, as_before, moves, unchanged};
use super::blocking;
use super::conversation_folders::{HeldAll, shown_in};
use super::plan::FolderPlan;
use super::progress::Doing;
use super::workspace::Held;
use crate::Engine;
use crate::error::{EngineError, Kind, Result};

/// An apply that holds its workspaces.
pub(super) struct Applying<'a> {
    engine: &'a Arc<Engine>,
    parts: Vec<Part>,
}

/// One folder of it.
struct Part {
    held: Held,
    lock: RootLock,
    no: WorkspaceNo,
    folder: Option<PathBuf>,
    plan: FilePlan,
    /// What is recorded.
    moves: Vec<PathMove>,
    /// What is to be done on the disk.
    changes: Vec<FileChange>,
    left: Vec<LeftPath>,
}

impl Part {
    /// Whether there is something to be recorded: what is kept counts also where no file changes.
    fn does_something(&self) -> bool {
        !self.moves.is_empty() || self.plan.adopted().next().is_some()
    }
}

/// A folder in which something is staged: how far it has come.
enum Stage {
    Staged(Staging),
    CarriedOut(Settled),
    Interrupted(Interrupted),
}

impl<'a> Applying<'a> {
    /// Of these plans, in the workspaces that they were made in.
    pub(super) fn new(
        engine: &'a Arc<Engine>,
        held: HeldAll,
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
        // What is decided was planned on this very head.
        let seen = match apply.seen {
            Seen::Anything => Seen::Exactly(self.engine.head(conversation).await?),
            seen => seen,
        };
        let apply = Apply { seen, ..apply };
        let files = self.parts.iter().map(|part| part.changes.len() as u64).sum();
        let _busy = (files > 0).then(|| self.engine.files.work.begin(Doing::Writing { files }));
        // Who follows hears of it when it is done.
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

    /// What became of each folder, also where nothing was done in it.
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
    async fn prepare_all(&mut self) -> Result<Vec<(usize, Stage)>> {
        // Also where no file changes, layers can name a text that was merged for them: it is durable before they are.
        let objects = self.engine.files.objects().await?;
        blocking(move || objects.sync()).await??;
        let mut stages = Vec::new();
        for at in 0..self.parts.len() {
            if self.parts[at].changes.is_empty() {
                continue;
            }
            self.parts[at].held.unsettled = true;
            match self.prepare(at).await {
                Ok(staging) => stages.push((at, Stage::Staged(staging))),
                Err(error) => {
                    self.discard_all(stages).await?;
                    return Err(error);
                }
            }
        }
        Ok(stages)
    }

    /// Writes the name down, then stages: a full disk and a folder that can't be written are met before anything changes.
    async fn prepare(&self, at: usize) -> Result<Staging> {
        let part = &self.parts[at];
        let name = StagingName::new(&self.engine.new_entry_id().to_string())?;
        self.engine.store().preparing(part.no, name.as_str().to_owned()).await?;
        let (lock, objects) = (part.lock.clone(), self.engine.files.objects().await?);
        let changes = part.held.tree.to_apply(part.changes.clone());
        let prepared = blocking(move || Staging::prepare(&lock, &name, changes, &*objects));
        let error = match prepared.await?.map_err(EngineError::from) {
            Ok(Prepared::Ready(staging)) => return Ok(*staging),
            Ok(Prepared::Refused(refusals)) => refused(part.folder.as_deref(), &refusals),
            Err(error) => error,
        };
        self.engine.store().settle(part.no).await?;
        Err(error)
    }

    /// The decision was not taken: nothing stays in any folder. What can't be removed is, at the next start.
    async fn discard_all(&self, stages: Vec<(usize, Stage)>) -> Result<()> {
        let mut first = Ok(());
        for (at, stage) in stages {
            let Stage::Staged(staging) = stage else { continue };
            let done = match blocking(move || staging.discard()).await? {
                Ok(()) => self.engine.store().settle(self.parts[at].no).await.map_err(EngineError::from),
                Err(error) => Err(error.into()),
            };
            first = first.and(done);
        }
        first
    }

    /// Carries it out folder by folder. Where it is interrupted in one, the direction is turned for all, and all are put back.
    async fn carry_out_all(&mut self, stages: Vec<(usize, Stage)>) -> Result<Vec<(usize, Settled)>> {
        let mut stages = stages.into_iter();
        let mut carried = Vec::new();
        while let Some((at, stage)) = stages.next() {
            let Stage::Staged(staging) = stage else { continue };
            match blocking(move || staging.carry_out()).await?? {
                Outcome::Applied(settled) => carried.push((at, settled)),
                Outcome::Interrupted(interrupted) => {
                    let what = told(self.parts[at].folder.as_deref(), &interrupted.cause);
                    let carried = carried.into_iter().map(|(at, settled)| (at, Stage::CarriedOut(settled)));
                    let all = carried.chain([(at, Stage::Interrupted(interrupted))]).chain(stages);
                    let left = self.put_back_all(self.parts[at].no, all.collect()).await?;
                    let what = format!("{what}; {}", put_back(&left));
                    return Err(EngineError::new(Kind::Refused, "interrupted", what)
                        .hint("try again, the new plan sees what is there now"));
                }
            }
        }
        Ok(carried)
    }

    /// Takes the operation back, and then what was done in any folder; what was left alone comes back. One that can't be put
    /// back keeps no other from it.
    async fn put_back_all(&mut self, of: WorkspaceNo, stages: Vec<(usize, Stage)>) -> Result<Vec<String>> {
        self.engine.store().turn_back(of, self.engine.by(None)).await?;
        let (mut left, mut first) = (Vec::new(), Ok(()));
        for (at, stage) in stages {
            let objects = self.engine.files.objects().await?;
            let settled = match stage {
                Stage::Staged(staging) => {
                    first = first.and(self.discard_all(vec![(at, Stage::Staged(staging))]).await);
                    continue;
                }
                Stage::CarriedOut(settled) => blocking(move || settled.put_back(&*objects)).await?,
                Stage::Interrupted(interrupted) => blocking(move || interrupted.put_back(&*objects)).await?,
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

    /// All of it is done: the staging folders go, and the intents are closed.
    async fn settle_all(&mut self, carried: Vec<(usize, Settled)>) -> Result<()> {
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

    /// The staging folder goes, the index learns what was written, and then the intent is closed.
    async fn finish(&mut self, at: usize, settled: Settled, changes: Vec<FileChange>) -> Result<Report> {
        let report = blocking(move || settled.finish()).await??;
        self.engine.settle(&mut self.parts[at].held, &changes, &report).await?;
        self.parts[at].held.unsettled = false;
        Ok(report)
    }
}

/// What stopped an apply, on what.
pub(super) fn told(folder: Option<&Path>, failed: &Failed) -> String {
    match &failed.path {
        Some(path) => format!("{}: {}", shown_in(folder, path), failed.why),
        None => failed.why.to_string(),
    }
}

/// What a step that was taken back has left behind.
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
    let error =
        EngineError::new(Kind::Refused, "files_refused", format!("can't: {}{more}", shown.join("; ")));
    match refusals.first() {
        Some(first) => error.hint(crate::error::of_obstacle(&first.why)),
        None => error,
    }
}
