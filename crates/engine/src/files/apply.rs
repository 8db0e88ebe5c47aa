//! An action with its files: planned on the current state, refused if a choice is open, then carried out as one step
//! (`carry_out`).

use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use futures::future::BoxFuture;

use retake_core::{
    Action, Apply, BlockingAuthor, Choice, Clash, ConversationId, FileChange, FilePath, FilePlan, LeftPath,
    PathMove, PathPlan, Reason, Receipt, Remedy, Scope, Unanswered, Verdict, Words,
};
use retake_store::ActionContext;
use retake_store::digest::{action_value, of_arguments};
use retake_worktree::{Report, WriteSource};
use serde_json::json;

use super::carry_out::{RunningApply, told, with_detail};
use super::conversation_folders::{lock_each, named_in, shown_in};
use super::effects::Effects;
use super::note::Note;
use super::options::FileOptions;
use super::plan::digest_of;
use super::planned::FolderPlan;
use super::uncaptured::Uncaptured;
use super::workspace::{HeldWorkspace, accept};
use crate::Engine;
use crate::error::{EngineError, Kind, Result};
use crate::session::Claim;

/// The result of an action with its files.
#[derive(Debug)]
pub struct AppliedFiles {
    /// The operation's receipt.
    pub receipt: Receipt,
    /// The results for files, the conversation's own folder first.
    pub folders: Vec<FolderDone>,
    /// The scope of the step.
    pub scope: Scope,
    /// What is adopted, and what stays. Like the fields below, it is empty for a repeated request.
    pub notes: Vec<Note>,
    /// Effects that cannot be reverted.
    pub effects: Effects,
    /// Changes of the reverted calls that captures do not cover: they stay.
    pub unseen: Uncaptured,
    /// Reverted calls that were interrupted and are not among the effects: what they did is not known.
    pub cut_off: Vec<Unanswered>,
    /// Messages that waited for a run. They return to the author of the step.
    pub waited: Vec<Words>,
    /// Commands of background jobs that came back to the conversation; they do not run again.
    pub ended: Vec<String>,
}

/// The result for the files in one folder of a conversation.
#[derive(Debug)]
pub struct FolderDone {
    /// The folder; none for the conversation's own.
    pub folder: Option<PathBuf>,
    /// The plan that was carried out.
    pub plan: FilePlan,
    /// Paths that were left as they are because somebody else changed them.
    pub left: Vec<LeftPath>,
}

impl Engine {
    /// Applies an action with its files, all or nothing. Runs to its end, even if the caller is gone.
    pub fn apply_both(
        self: &Arc<Self>,
        conversation: ConversationId,
        apply: Apply,
        options: FileOptions,
    ) -> BoxFuture<'_, Result<AppliedFiles>> {
        Box::pin(async move {
            let apply = worded(apply, &options);
            if let Some(receipt) = self.recorded(conversation, &apply).await? {
                return Ok(AppliedFiles::without_files(receipt));
            }
            let engine = Arc::clone(self);
            self.run_to_completion(async move { engine.apply_first(conversation, apply, options).await })
                .await
        })
    }

    /// Refuses several steps that were planned together if they have changed since, or if a choice is for a name in none of them.
    /// Each step is then planned again before it is applied.
    ///
    /// # Errors
    ///
    /// The plan is stale, or a chosen name is in no plan; also those of [`Engine::plan_both`].
    pub async fn as_seen(
        &self,
        of: ConversationId,
        action: &Action,
        options: FileOptions,
    ) -> Result<FileOptions> {
        let chooses = !(options.chosen.paths.is_empty() && options.elsewhere.is_empty());
        let seen = options.seen;
        let options = FileOptions { seen: None, of_several: true, ..options };
        if seen.is_none() && !chooses {
            return Ok(options);
        }
        let planned = self.plan_both(of, action.clone(), options.clone()).await?;
        if seen.is_some_and(|seen| seen != planned.digest) {
            return Err(stale_plan());
        }
        let step: fn(usize) -> Action = match action {
            Action::Redo(_) => Action::Redo,
            _ => Action::Undo,
        };
        let fewer = planned.conversation.as_ref().map_or(0, |half| half.ops);
        let mut plans = planned.files;
        // A file that one step creates and the next one removes is in no plan of both.
        for count in (1..fewer).rev() {
            if unplanned(&plans, &options).is_none() {
                break;
            }
            plans.extend(self.plan_both(of, step(count), options.clone()).await?.files);
        }
        match unplanned(&plans, &options) {
            Some(name) => Err(nothing_called(&name, &clashes(&plans))),
            None => Ok(options),
        }
    }

    /// The same as [`Engine::apply_both`], for a conversation without a run at work and with known captures.
    pub(super) async fn apply_idle(
        self: &Arc<Self>,
        conversation: ConversationId,
        apply: Apply,
        options: FileOptions,
        ahead: &ActionContext,
    ) -> Result<AppliedFiles> {
        let unseen = self.unseen(conversation, &ahead.said, &options).await?;
        if !self.takes_of(conversation, &apply.action, &options, ahead.changes).await? {
            if options.scope == Scope::Files {
                return Err(unchanged());
            }
            options.fits_nothing()?;
            let notes = self.kept_by(conversation, &apply.action, &options, &[]).await?;
            let done = AppliedFiles::without_files(self.apply(conversation, options.half(apply)).await?);
            return Ok(AppliedFiles { scope: options.scope, notes, unseen, ..done });
        }
        // No run and no message can come in between: the reverted step must still be the last one.
        let _alone = self.claim_exclusively(conversation).await?;
        let done = self.apply_alone(conversation, apply, options).await?;
        Ok(AppliedFiles { unseen, ..done })
    }

    /// The same, for a caller that has claimed the conversation.
    pub(crate) async fn apply_claimed(
        self: &Arc<Self>,
        claim: &Claim,
        apply: Apply,
        options: FileOptions,
    ) -> Result<AppliedFiles> {
        let conversation = claim.conversation();
        if !self.takes_files(conversation, &apply.action, &options).await? {
            let notes = self.kept_by(conversation, &apply.action, &options, &[]).await?;
            let done =
                AppliedFiles::without_files(self.store().apply(conversation, options.half(apply)).await?);
            return Ok(AppliedFiles { scope: options.scope, notes, ..done });
        }
        let _access = self.exclusive(conversation).await;
        self.apply_alone(conversation, apply, options).await
    }

    /// Applies an action with its files, in a conversation that nobody else can change meanwhile.
    async fn apply_alone(
        self: &Arc<Self>,
        conversation: ConversationId,
        apply: Apply,
        options: FileOptions,
    ) -> Result<AppliedFiles> {
        self.without_jobs(conversation, &apply.action, options.stop).await?;
        let (held, gone) = self.concerned(conversation, &apply.action, &options).await?;
        let (held, locks) = lock_each(held).await?;
        let held = self.capture_each(held, None).await?;
        let (held, plans, git) = self.plan_files(held, conversation, &apply.action, &options).await?;
        check(&plans, &options)?;
        let mut notes = self.kept_by(conversation, &apply.action, &options, &plans).await?;
        notes.extend(gone.into_iter().chain(git));
        let apply = match options.scope {
            Scope::Files => options.half(apply),
            _ => self.conversation_half(conversation, apply, &plans).await?,
        };
        let applied = RunningApply::new(self, held, locks, plans).run(conversation, apply).await?;
        Ok(AppliedFiles { scope: options.scope, notes, ..applied })
    }

    async fn recorded(&self, conversation: ConversationId, apply: &Apply) -> Result<Option<Receipt>> {
        match apply.by.request {
            Some(_) => Ok(self.store().receipt(conversation, apply.by.clone()).await?),
            None => Ok(None),
        }
    }

    /// Applies the action, or files alone if the action would change nothing in the conversation.
    async fn conversation_half(
        &self,
        conversation: ConversationId,
        apply: Apply,
        plans: &[FolderPlan],
    ) -> Result<Apply> {
        let nothing_said = self.plan(conversation, apply.action.clone()).await?.unchanged;
        let is_something = |plan: &FilePlan| !moves(plan).is_empty() || plan.adopted().next().is_some();
        if nothing_said && plans.iter().any(|folder| is_something(&folder.plan)) {
            return Ok(Apply { action: Action::Files(reason(&apply.action)), ..apply });
        }
        Ok(apply)
    }
}

impl AppliedFiles {
    pub(crate) fn without_files(receipt: Receipt) -> Self {
        Self::new(receipt, Vec::new())
    }

    pub(super) fn new(receipt: Receipt, folders: Vec<FolderDone>) -> Self {
        Self {
            receipt,
            folders,
            scope: Scope::Both,
            notes: Vec::new(),
            effects: Effects::default(),
            unseen: Uncaptured::default(),
            cut_off: Vec::new(),
            waited: Vec::new(),
            ended: Vec::new(),
        }
    }
}

/// Adds the digest of the request: its wording, or else its content. The stored step can differ from the request: an exact head,
/// files alone.
fn worded(mut apply: Apply, options: &FileOptions) -> Apply {
    if apply.by.request.is_some() && apply.by.wording.is_none() {
        let arguments = json!([action_value(&apply.action, apply.seen), options.digest_value()]);
        apply.by.wording = Some(of_arguments("apply with files", &arguments));
    }
    apply
}

fn stale_plan() -> EngineError {
    let what = "files have changed since the plan was shown";
    EngineError::new(Kind::Stale, "stale_plan", what)
}

/// Files with an open conflict, as they are shown.
fn clashes(plans: &[FolderPlan]) -> Vec<String> {
    open(plans).map(|(folder, path)| shown_in(folder.folder.as_deref(), &path.path)).collect()
}

/// Whose changes the files conflict with, for programs, and the beginning of a sentence that names them. It never blames
/// somebody else for changes of this conversation.
fn against(plans: &[FolderPlan]) -> (&'static str, &'static str) {
    let (own, others): (Vec<_>, Vec<_>) = open(plans)
        .map(|(_, path)| path.against)
        .partition(|against| against.and_then(BlockingAuthor::delta).is_some());
    match (own.is_empty(), others.is_empty()) {
        (false, true) => ("other_turns", "other turns of this conversation"),
        (false, false) => ("both", "you, another program or another turn"),
        (true, _) => ("others", "you or another program"),
    }
}

/// Refuses a plan with an open conflict, with a choice for a name that is not in it, or with another digest than the one that was
/// seen.
fn check(plans: &[FolderPlan], options: &FileOptions) -> Result<()> {
    if options.seen.is_some_and(|seen| seen != digest_of(plans)) {
        return Err(stale_plan());
    }
    let clashes = clashes(plans);
    if let Some(name) = unplanned(plans, options).filter(|_| !options.of_several) {
        return Err(nothing_called(&name, &clashes));
    }
    if clashes.is_empty() {
        return Ok(());
    }
    if let Some(refused) = not_offered(plans) {
        return Err(refused);
    }
    let files = if clashes.len() == 1 { "a file" } else { "files" };
    let (whose, who) = against(plans);
    let what = format!("{who} changed {files} too: {}", few(&clashes));
    let mut sealed = open(plans).filter(|(_, path)| path.verdict == Verdict::Conflict(Clash::Sealed));
    let sealed = sealed.next().map(|(folder, path)| shown_in(folder.folder.as_deref(), &path.path));
    let what = match &sealed {
        Some(name) => format!("{what}; not all can be taken away there: move what is in {name} elsewhere"),
        None => what,
    };
    let mut remedies = vec![Remedy::ChooseFiles(choices_of(open(plans).map(|(_, path)| path)))];
    if options.restore.is_none() {
        remedies.push(Remedy::WithoutFiles);
    }
    let error = EngineError::new(Kind::Refused, "conflict", what)
        .with("what", whose)
        .with("paths", super::carry_out::few(&clashes))
        .with("count", clashes.len())
        .remedies(remedies);
    Err(sealed.into_iter().fold(error, |error, name| error.with("sealed", name)))
}

/// The files with an open conflict.
fn open(plans: &[FolderPlan]) -> impl Iterator<Item = (&FolderPlan, &PathPlan)> {
    let all = plans.iter().flat_map(|folder| folder.plan.paths.iter().map(move |path| (folder, path)));
    all.filter(|(_, path)| matches!(path.verdict, Verdict::Conflict(_)))
}

/// The choices that at least one of the files has.
fn choices_of<'a>(paths: impl Iterator<Item = &'a PathPlan>) -> Vec<Choice> {
    let mut all = Vec::new();
    for choice in paths.flat_map(|path| &path.choices) {
        if !all.contains(choice) {
            all.push(choice.clone());
        }
    }
    all
}

/// Refuses a choice for a file that is still in conflict with it: the file does not have this choice.
fn not_offered(plans: &[FolderPlan]) -> Option<EngineError> {
    let is_chosen = |path: &PathPlan| path.choice.as_ref().is_some_and(|it| !path.choices.contains(it));
    // What cannot be taken away is named by the conflict.
    let is_sealed = |path: &PathPlan| path.verdict == Verdict::Conflict(Clash::Sealed);
    let (folder, path) = open(plans).find(|(_, path)| is_chosen(path) && !is_sealed(path))?;
    let choice = path.choice.as_ref()?.name();
    let name = shown_in(folder.folder.as_deref(), &path.path);
    let what = format!("{choice} is not possible for {name}");
    let error = EngineError::new(Kind::Refused, "conflict", what)
        .with("what", "not_offered")
        .with("choice", choice)
        .with("path", name)
        .remedies([Remedy::ChooseFiles(choices_of(std::iter::once(path)))]);
    Some(error)
}

/// The first few names.
fn few(names: &[String]) -> String {
    let more = if names.len() > 5 { " …" } else { "" };
    format!("{}{more}", names[..names.len().min(5)].join(", "))
}

/// A name with a choice that is not in the plan, as it is shown.
fn unplanned(plans: &[FolderPlan], options: &FileOptions) -> Option<String> {
    let is_planned = |name: &[u8], is_whole: bool| {
        plans.iter().any(|folder| {
            let below = folder.folder.as_deref().or_else(|| is_whole.then_some(&*folder.root));
            folder.plan.paths.iter().any(|path| named_in(below, &path.path) == name)
        })
    };
    let here = options.chosen.paths.keys().find(|path| !is_planned(path.as_bytes(), false));
    let elsewhere = options.elsewhere.keys().find(|path| !is_planned(path.as_os_str().as_bytes(), true));
    here.map(ToString::to_string).or_else(|| {
        let below = elsewhere?.as_os_str().as_bytes();
        let below = FilePath::new(below.strip_prefix(b"/").unwrap_or(below));
        below.ok().map(|below| format!("/{below}"))
    })
}

fn nothing_called(name: &str, clashes: &[String]) -> EngineError {
    let conflicts = match clashes {
        [] => "nothing in it is in conflict".to_owned(),
        [one] => format!("the conflict is {one}"),
        several => format!("the conflicts are {}", few(several)),
    };
    let what = format!("nothing in the plan is called {name}; {conflicts}");
    EngineError::new(Kind::Usage, "bad_path", what)
        .with("path", name)
        .with("paths", super::carry_out::few(clashes))
        .with("count", clashes.len())
        .with("what", "not_in_plan")
}

/// The recorded moves: paths that change on disk or in their layers.
pub(super) fn moves(plan: &FilePlan) -> Vec<PathMove> {
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

/// The refusal of a step on files alone that changes no file.
pub(super) fn unchanged() -> EngineError {
    EngineError::new(Kind::Refused, "unchanged", "the files are already in this state").with("what", "files")
}

impl Engine {
    /// After an apply or a recovery: accepts its writes as changes of no author, and closes its intent.
    pub(super) async fn settle(
        &self,
        held: &mut HeldWorkspace,
        changes: &[FileChange],
        report: &Report,
    ) -> Result<()> {
        if let Some(failed) = report.failed.first() {
            let what = format!(
                "{}; the rest is done, and this is tried again at the next step",
                told(Some(held.root.path()), failed)
            );
            let error = EngineError::new(Kind::Storage, "unsettled", what)
                .with("folder", held.root.path())
                .with("obstacle", failed.why.name())
                .remedies(failed.why.remedies());
            let error = with_detail(error, &failed.why);
            let path = failed.path.as_ref().map(ToString::to_string);
            return Err(path.into_iter().fold(error, |error, path| error.with("path", path)));
        }
        let capture = held.tree.note(changes, WriteSource::Apply)?;
        self.keep_capture(held, &capture, None, Vec::new()).await?;
        accept(held, capture)?;
        Ok(self.store().settle(held.no).await?)
    }
}

/// The change of a path by a step that was put back, relative to the last capture: no change, although the path was written
/// again.
pub(super) fn as_before(change: &FileChange) -> FileChange {
    FileChange { after: change.before.clone(), ..change.clone() }
}
