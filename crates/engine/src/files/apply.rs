//! A plan is carried out: prepared, decided, applied, settled; or taken back as a whole (design, section 2).
//!
//! The order of the steps is what makes it atomic. Between any two of them the process may die: `recover` finishes it.

use std::sync::Arc;

use retake_core::{
    ConversationId, FileChange, FilePlan, Hint, PathMove, Reason, Remedy, Seen, Verdict, Words,
};
use retake_store::{Action, Apply, FilesHalf, Receipt, WorkspaceNo};
use retake_worktree::{
    Failed, Left, Note, Noting, Objects as _, Outcome, Prepared, Refusal, Report, RootLock, Settled, Staging,
    StagingName,
};

use super::blocking;
use super::leave::Effects;
use super::plan::{FilesWish, Scope, digest_of};
use super::work::Doing;
use super::workspace::{Held, accept, lock};
use crate::engine::{Claim, Engine};
use crate::error::{EngineError, Kind, Result};

/// What was done.
#[derive(Debug)]
pub struct FilesApplied {
    /// The operation's receipt.
    pub receipt: Receipt,
    /// What became of files.
    pub plan: FilePlan,
    /// Paths that were left alone, as they are somebody's.
    pub left: Vec<Left>,
    /// What is different though the plan did not say it.
    pub notes: Vec<Note>,
    /// What can't be taken back. Said once: not to who repeats the request.
    pub effects: Effects,
    /// Words that waited for a run, and come back to whoever asked. Said once, too.
    pub waited: Vec<Words>,
    /// Commands of background jobs that came back to the conversation, and do not run again. Said once, too.
    pub ended: Vec<String>,
}

/// An apply that holds its workspace.
struct Applying<'a> {
    engine: &'a Engine,
    held: Held,
    lock: RootLock,
    no: WorkspaceNo,
}

impl Engine {
    /// Does an action, files included, all or nothing.
    pub async fn apply_both(
        self: &Arc<Self>,
        conversation: ConversationId,
        apply: Apply,
        wish: FilesWish,
    ) -> Result<FilesApplied> {
        let apply = worded(apply, &wish);
        if let Some(receipt) = self.recorded(conversation, &apply).await? {
            return Ok(FilesApplied::without_files(receipt));
        }
        self.apply_first(conversation, apply, wish).await
    }

    /// The same, where nothing is at work.
    pub(super) async fn apply_idle(
        self: &Arc<Self>,
        conversation: ConversationId,
        apply: Apply,
        wish: FilesWish,
    ) -> Result<FilesApplied> {
        let touched = self.takes_files(conversation, &apply.action, &wish).await?;
        if wish.scope == Scope::Conversation || !touched {
            if wish.scope == Scope::Files {
                return Err(nothing());
            }
            wish.chosen.fits(|_| false)?;
            return Ok(FilesApplied::without_files(self.apply(conversation, apply).await?));
        }
        // Neither a run nor a say comes in between: what is taken back must still be the last thing done.
        let _alone = self.alone(conversation).await?;
        self.apply_alone(conversation, apply, wish).await
    }

    /// The same, of who has claimed the conversation.
    pub(crate) async fn apply_claimed(
        self: &Arc<Self>,
        claim: &Claim,
        apply: Apply,
        wish: FilesWish,
    ) -> Result<Receipt> {
        let conversation = claim.conversation();
        let touched = self.takes_files(conversation, &apply.action, &wish).await?;
        if wish.scope == Scope::Conversation || !touched {
            return Ok(self.store().apply(conversation, apply).await?);
        }
        let _silence = self.silence(conversation).await;
        Ok(self.apply_alone(conversation, apply, wish).await?.receipt)
    }

    /// An action with its files, where nobody else says anything meanwhile.
    async fn apply_alone(
        self: &Arc<Self>,
        conversation: ConversationId,
        apply: Apply,
        wish: FilesWish,
    ) -> Result<FilesApplied> {
        self.without_jobs(conversation, &apply.action, wish.stop).await?;
        let held = self.workspace(conversation).await?;
        let no = held.no;
        let (held, lock) = lock(held).await?;
        let (held, _) = self.capture(held, None).await?;
        let (held, plan, _) = self.plan_files(held, conversation, &apply.action, &wish).await?;
        check(&plan, &wish)?;
        let apply = match wish.scope {
            Scope::Files => Apply { action: Action::Files(reason(&apply.action)), ..apply },
            _ => self.conversation_half(conversation, apply, &plan).await?,
        };
        Applying { engine: self, held, lock, no }.run(conversation, apply, plan).await
    }

    async fn recorded(&self, conversation: ConversationId, apply: &Apply) -> Result<Option<Receipt>> {
        match apply.by.request {
            Some(_) => Ok(self.store().receipt(conversation, apply.by.clone()).await?),
            None => Ok(None),
        }
    }

    /// The action, or files alone where it would change nothing in the conversation.
    async fn conversation_half(
        &self,
        conversation: ConversationId,
        apply: Apply,
        plan: &FilePlan,
    ) -> Result<Apply> {
        let nothing_said = self.plan(conversation, apply.action.clone()).await?.unchanged;
        if nothing_said && !moves(plan).is_empty() {
            return Ok(Apply { action: Action::Files(reason(&apply.action)), ..apply });
        }
        Ok(apply)
    }
}

impl FilesApplied {
    pub(super) fn without_files(receipt: Receipt) -> Self {
        Self::new(receipt, FilePlan::default(), Vec::new(), Vec::new())
    }

    fn new(receipt: Receipt, plan: FilePlan, left: Vec<Left>, notes: Vec<Note>) -> Self {
        Self {
            receipt,
            plan,
            left,
            notes,
            effects: Effects::default(),
            waited: Vec::new(),
            ended: Vec::new(),
        }
    }
}

/// The same, with what tells it from another request: its wording, or else what it asks for. What is stored in the end is
/// not always what was asked: an exact head, files alone.
fn worded(mut apply: Apply, wish: &FilesWish) -> Apply {
    let asked = (&apply.action, apply.seen, wish.scope, &wish.chosen, &wish.restore);
    let asks = || retake_store::digest(&format!("{:?}", asked));
    if apply.by.request.is_some() && apply.by.wording.is_none() {
        apply.by.wording = Some(asks());
    }
    apply
}

/// Refuses a plan that leaves something to be chosen, or is not the one that was seen.
fn check(plan: &FilePlan, wish: &FilesWish) -> Result<()> {
    if wish.seen.is_some_and(|seen| seen != digest_of(Some(plan))) {
        let what = "files have changed since the plan was shown";
        return Err(EngineError::new(Kind::Stale, "stale_plan", what).hint("look at the new plan"));
    }
    let clash = |path: &&retake_core::PathPlan| matches!(path.verdict, Verdict::Conflict(_));
    let clashes: Vec<String> = plan.paths.iter().filter(clash).map(|path| path.path.to_string()).collect();
    if clashes.is_empty() {
        return Ok(());
    }
    let (shown, more) = (clashes.iter().take(5).cloned().collect::<Vec<_>>().join(", "), clashes.len() > 5);
    let what = format!(
        "somebody else has changed {} too: {shown}{}",
        if clashes.len() == 1 { "a file" } else { "files" },
        if more { " …" } else { "" }
    );
    let hint = match wish.restore {
        Some(_) => Hint::new("choose for each with {}", [Remedy::ChooseFiles]),
        None => {
            let remedies = [Remedy::ChooseFiles, Remedy::WithoutFiles];
            Hint::new("choose for each with {}, or leave files as they are with {}", remedies)
        }
    };
    Err(EngineError::new(Kind::Refused, "conflict", what).hint(hint))
}

/// What is recorded: paths that change, on the disk or in their layers.
fn moves(plan: &FilePlan) -> Vec<PathMove> {
    let counts =
        |step: &PathMove| step.change.before != step.change.after || step.stack_before != step.stack_after;
    plan.paths.iter().map(|path| &path.step).filter(|step| counts(step)).cloned().collect()
}

/// The reason of an operation on files alone.
fn reason(action: &Action) -> Reason {
    match action {
        Action::Rewind(_) => Reason::Rewind,
        _ => Reason::Files,
    }
}

fn nothing() -> EngineError {
    EngineError::new(Kind::Refused, "no_files", "no call of this conversation has changed a file")
        .hint("leave the scope away")
}

impl Applying<'_> {
    async fn run(
        mut self,
        conversation: ConversationId,
        apply: Apply,
        plan: FilePlan,
    ) -> Result<FilesApplied> {
        let moves = moves(&plan);
        let changes: Vec<FileChange> = plan.changes().cloned().collect();
        if moves.is_empty() {
            if matches!(apply.action, Action::Files(_)) {
                let error = EngineError::new(Kind::Refused, "unchanged", "the files are so already");
                return Err(error.hint(
                    "what others wrote since a turn stays; only a checkpoint brings back what it was",
                ));
            }
            return Ok(FilesApplied::without_files(self.engine.store().apply(conversation, apply).await?));
        }
        let staged = !changes.is_empty();
        let half = FilesHalf { workspace: self.no, moves, staged };
        // What is decided was planned on this very head.
        let seen = match apply.seen {
            Seen::Anything => Seen::Exactly(self.engine.store().summary(conversation).await?.head),
            seen => seen,
        };
        let apply = Apply { seen, ..apply };
        if !staged {
            let receipt = self.engine.store().apply_files(conversation, apply, half).await?;
            return Ok(FilesApplied::new(receipt, plan, Vec::new(), Vec::new()));
        }
        let _busy = self.engine.files.work.begin(Doing::Writing { files: changes.len() as u64 });
        let staging = self.prepare(changes.clone()).await?;
        let notes = staging.notes().to_vec();
        let receipt = match self.engine.store().apply_files(conversation, apply, half).await {
            Ok(receipt) => receipt,
            Err(error) => {
                blocking(move || staging.discard()).await??;
                self.engine.store().settle(self.no).await?;
                return Err(error.into());
            }
        };
        match blocking(move || staging.carry_out()).await?? {
            Outcome::Applied(settled) => {
                let report = self.finish(settled, changes).await?;
                Ok(FilesApplied::new(receipt, plan, report.left, notes))
            }
            Outcome::Interrupted(interrupted) => {
                let what = told(&interrupted.cause);
                self.engine.store().turn_back(self.no, self.engine.by(None)).await?;
                let objects = self.engine.files.objects().await?;
                let settled = blocking(move || interrupted.put_back(&*objects)).await??;
                let back = changes.iter().map(as_before).collect();
                let report = self.finish(settled, back).await?;
                let what = format!("{what}; {}", put_back(&report));
                Err(EngineError::new(Kind::Refused, "interrupted", what)
                    .hint("try again, the new plan sees what is there now"))
            }
        }
    }

    /// Writes the name down, then stages: a full disk and a folder that can't be written are met before anything changes.
    async fn prepare(&mut self, changes: Vec<FileChange>) -> Result<Staging> {
        let name = StagingName::new(&self.engine.new_entry_id().to_string())?;
        self.engine.store().preparing(self.no, name.as_str().to_owned()).await?;
        let (lock, objects) = (self.lock.clone(), self.engine.files.objects().await?);
        let prepared = blocking(move || {
            objects.sync()?;
            Staging::prepare(&lock, &name, changes, &*objects)
        });
        match prepared.await?.map_err(EngineError::from) {
            Ok(Prepared::Ready(staging)) => Ok(staging),
            Ok(Prepared::Refused(refusals)) => {
                self.engine.store().settle(self.no).await?;
                Err(refused(&refusals))
            }
            Err(error) => {
                self.engine.store().settle(self.no).await?;
                Err(error)
            }
        }
    }

    /// The staging folder goes, the index learns what was written, and then the intent is closed.
    async fn finish(&mut self, settled: Settled, changes: Vec<FileChange>) -> Result<Report> {
        let report = blocking(move || settled.finish()).await??;
        self.engine.settle(&mut self.held, &changes, &report).await?;
        Ok(report)
    }
}

impl Engine {
    /// After an apply or a recovery: what it wrote is no one's change, and its intent is closed.
    pub(super) async fn settle(
        &self,
        held: &mut Held,
        changes: &[FileChange],
        report: &Report,
    ) -> Result<()> {
        if let Some(failed) = report.failed.first() {
            let what =
                format!("{}; the rest is done, and this is tried again at the next start", told(failed));
            return Err(EngineError::new(Kind::Storage, "unsettled", what).hint(failed.why.hint()));
        }
        let capture = held.tree.note(changes, Noting::Apply)?;
        self.keep_capture(held, &capture, None, Vec::new()).await?;
        accept(held, capture)?;
        Ok(self.store().settle(held.no).await?)
    }
}

/// What stopped an apply, on what.
fn told(failed: &Failed) -> String {
    match &failed.path {
        Some(path) => format!("{path}: {}", failed.why),
        None => failed.why.to_string(),
    }
}

/// What a step that was taken back has made of a path, seen from the last capture: nothing, though it was written again.
pub(super) fn as_before(change: &FileChange) -> FileChange {
    FileChange { after: change.before.clone(), ..change.clone() }
}

/// What a step that was taken back has left behind.
fn put_back(report: &Report) -> String {
    let left: Vec<String> = report.left.iter().take(5).map(|left| left.path.to_string()).collect();
    match left.as_slice() {
        [] => "nothing was changed".to_owned(),
        left => format!(
            "everything is as it was but for what somebody has written there meanwhile: {}{}",
            left.join(", "),
            if report.left.len() > left.len() { " …" } else { "" }
        ),
    }
}

/// What stopped an apply before anything changed.
fn refused(refusals: &[Refusal]) -> EngineError {
    let shown: Vec<String> = refusals.iter().take(5).map(ToString::to_string).collect();
    let more = if refusals.len() > shown.len() { " …" } else { "" };
    let error =
        EngineError::new(Kind::Refused, "files_refused", format!("can't: {}{more}", shown.join("; ")));
    match refusals.first() {
        Some(first) => error.hint(first.why.hint()),
        None => error,
    }
}
