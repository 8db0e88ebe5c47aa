//! The file half of a plan: what an action wants of each path, and what that changes now. Must never change a file.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use futures::future::BoxFuture;
use retake_core::{
    Action, Choice, Chosen, ConversationId, DeltaId, DeltaLine, DesiredState, FilePath, FilePlan, Layer,
    OpNo, PathMove, PathPlan, Pos, Reason, Scope, Stack, Verdict, WantedPath, WorkspaceNo,
};
use retake_store::{NeededFiles, WantedFiles};
use retake_worktree::Objects;

use super::authors::{self, KnownVersions};
use super::blocking;
use super::capture_state::PlannedWorkspace;
use super::conversation_folders::HeldWorkspaces;
use super::git::{GitHalf, by_folder};
use super::hard_links::of_links;
use super::known_folders::refuse_mounted;
use super::nested_repositories;
use super::note::{FolderRemark, Note};
use super::options::FileOptions;
use super::planned::{FolderPlan, PlannedFiles, Running};
use super::returning::ReturningLayers;
use super::workspace::HeldWorkspace;
use crate::Engine;
use crate::error::{EngineError, Result};

/// The captures that a plan is based on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PlanBasis {
    /// New captures.
    New,
    /// The captures that the same request made just before.
    JustNow,
}

impl Engine {
    /// What an action would do to the conversation and to files.
    pub fn plan_both(
        &self,
        conversation: ConversationId,
        action: Action,
        options: FileOptions,
    ) -> BoxFuture<'_, Result<PlannedFiles>> {
        Box::pin(async move {
            self.for_people(conversation).await?;
            self.plan_on(conversation, action, options, PlanBasis::New).await
        })
    }

    /// The same, based on the captures that a plan of the same request has just made, for example for one more step.
    pub fn plan_as_seen(
        &self,
        conversation: ConversationId,
        action: Action,
        options: FileOptions,
    ) -> BoxFuture<'_, Result<PlannedFiles>> {
        Box::pin(async move { self.plan_on(conversation, action, options, PlanBasis::JustNow).await })
    }

    async fn plan_on(
        &self,
        conversation: ConversationId,
        action: Action,
        options: FileOptions,
        sight: PlanBasis,
    ) -> Result<PlannedFiles> {
        let planned = match options.scope {
            Scope::Files => None,
            _ => Some(self.plan(conversation, action.clone()).await?),
        };
        let (changes, said) = match &planned {
            // Without a folder no call has captures; that is known without a reading.
            Some(planned) if self.folder_of(conversation).await?.is_none() => (planned.changes, Vec::new()),
            _ => {
                let ahead = self.ahead(conversation, &action, options.scope).await?;
                (ahead.changes, ahead.said)
            }
        };
        // A step on files alone reverts no call.
        let effects = planned.as_ref().map(|planned| planned.effects.clone()).unwrap_or_default();
        let effects = self.left_behind(conversation, effects).await;
        let unseen = self.unseen(conversation, &said, &options).await?;
        let takes_files = self.takes_of(conversation, &action, &options, changes).await?;
        let (files, stays, running) = match takes_files {
            false => {
                options.fits_nothing()?;
                (Vec::new(), Vec::new(), Vec::new())
            }
            true => {
                let (held, mut stays) = self.concerned(conversation, &action, &options).await?;
                let is_seen = sight == PlanBasis::JustNow && held.all.iter().all(|held| held.tree.is_known());
                let held = if is_seen { held } else { self.capture_each(held, None).await? };
                let (_, plan, git) = self.plan_files(held, conversation, &action, &options).await?;
                stays.extend(git);
                let running = self.jobs(conversation, &action).await?;
                let running =
                    running.iter().map(|(call, pids)| Running { entry: call.entry, processes: pids.len() });
                (plan, stays, running.collect())
            }
        };
        let mut notes = self.kept_by(conversation, &action, &options, &files).await?;
        notes.extend(stays);
        notes.extend(self.of_ancestors(conversation, &action, &options).await?);
        let digest = digest_of(&files);
        let moves_tip = action.traits().moves_tip;
        let at_work = self.is_running(conversation) && (takes_files || moves_tip);
        let waiting = if at_work && moves_tip { self.waiting(conversation).await?.len() } else { 0 };
        let unanswered = planned.iter().flat_map(|half| &half.unanswered).cloned().collect();
        let cut_off = effects.cut_off(unanswered, self.is_running(conversation));
        Ok(PlannedFiles {
            conversation: planned,
            files,
            digest,
            notes,
            running,
            effects,
            unseen,
            at_work,
            waiting,
            cut_off,
        })
    }

    /// Whether files may change with an action.
    pub(crate) async fn takes_files(
        &self,
        conversation: ConversationId,
        action: &Action,
        options: &FileOptions,
    ) -> Result<bool> {
        let changes = self.store().has_changes(conversation).await?;
        self.takes_of(conversation, action, options, changes).await
    }

    /// The same, if it is known whether there are changes at all.
    pub(super) async fn takes_of(
        &self,
        conversation: ConversationId,
        action: &Action,
        options: &FileOptions,
        changes: bool,
    ) -> Result<bool> {
        if options.restore.is_some() || options.scope == Scope::Conversation || !changes {
            return Ok(options.restore.is_some());
        }
        match action {
            Action::Mark { verb: Reason::Show, .. } => {
                let wanted = self.store().wanted(conversation, action.clone()).await?;
                let flips = match wanted.files {
                    WantedFiles::Path(lines) => !self.flipped(conversation, &lines).await?.is_empty(),
                    WantedFiles::Back { .. } => true,
                };
                Ok(flips || !wanted.running.is_empty())
            }
            _ => Ok(true),
        }
    }

    /// Those of these deltas that the action switches between wanted and not wanted.
    async fn flipped(
        &self,
        conversation: ConversationId,
        deltas: &[(DeltaLine, bool)],
    ) -> Result<Vec<(DeltaLine, bool)>> {
        let snapshot = self.store().snapshot(conversation).await?;
        let (known, depth) = (snapshot.conversation(), snapshot.conversation().tree.depth());
        let is_wanted = |line: &DeltaLine| known.wants_files_of(Pos::new(depth, line.seq));
        Ok(deltas.iter().copied().filter(|(line, wanted)| is_wanted(line) != *wanted).collect())
    }

    /// Plans on the latest captures, and adds what stays in git.
    pub(super) async fn plan_files(
        &self,
        held: HeldWorkspaces,
        conversation: ConversationId,
        action: &Action,
        options: &FileOptions,
    ) -> Result<(HeldWorkspaces, Vec<FolderPlan>, Vec<Note>)> {
        options.fits(held.all.iter().map(|held| held.root.path()))?;
        let wanted = match &options.restore {
            Some(_) => None,
            None => Some(self.store().wanted(conversation, action.clone()).await?),
        };
        let HeldWorkspaces { own, all } = held;
        let (mut looked, mut plans, mut told) = (Vec::new(), Vec::new(), Vec::new());
        for held in all {
            let folder = (held.no != own).then(|| held.root.path().to_owned());
            let (held, plan, git) = self
                .plan_folder(held, conversation, (action, wanted.as_ref()), options, folder.is_none())
                .await?;
            let plan = self.with_layers(conversation, held.no, plan).await?;
            told.extend(git.into_iter().map(|note| (folder.clone(), note)));
            if folder.is_none() || !plan.paths.is_empty() {
                let root = held.root.path().to_owned();
                plans.push(FolderPlan { workspace: held.no, folder, root, plan });
            }
            looked.push(held);
        }
        plans.sort_by(|one, other| one.folder.cmp(&other.folder));
        Ok((HeldWorkspaces { own, all: looked }, plans, by_folder(told)))
    }

    /// A folder that is created for restored content keeps its layers.
    async fn with_layers(
        &self,
        conversation: ConversationId,
        workspace: WorkspaceNo,
        mut plan: FilePlan,
    ) -> Result<FilePlan> {
        let is_made = |path: &PathPlan| {
            path.out.is_empty() && path.into.is_empty() && path.step.stack_before.layers().is_empty()
        };
        let mut made: Vec<_> = plan.paths.iter_mut().filter(|path| is_made(path)).collect();
        let names = made.iter().map(|path| path.path.clone()).collect();
        let stacks = self.store().layers(conversation, workspace, names).await?;
        for (path, (_, stack)) in made.iter_mut().zip(stacks) {
            (path.step.stack_before, path.step.stack_after) = (stack.clone(), stack);
        }
        Ok(plan)
    }

    /// The same in one of the folders.
    async fn plan_folder(
        &self,
        held: HeldWorkspace,
        conversation: ConversationId,
        (action, wanted): (&Action, Option<&NeededFiles>),
        options: &FileOptions,
        own: bool,
    ) -> Result<(HeldWorkspace, FilePlan, Vec<FolderRemark>)> {
        let chosen = &options.chosen_in(held.root.path(), own);
        let (held, paths, moves) = match (&options.restore, wanted) {
            (Some(restore), _) => {
                let (held, paths) = self.put_back(held, conversation, restore, own).await?;
                (held, paths, Vec::new())
            }
            (None, Some(wanted)) => {
                let paths = self.wanted_paths(&held, conversation, Some(action), wanted).await?;
                let paths = self.with_moved(conversation, held.no, paths).await?;
                (held, paths, wanted.git.clone())
            }
            (None, None) => (held, Vec::new(), Vec::new()),
        };
        let (held, GitHalf { stays, has, worktrees }) = self.git_half(held, moves, &paths).await?;
        let objects = self.files.objects().await? as Arc<dyn Objects>;
        let certain = wanted.map(|wanted| wanted.certain.clone()).unwrap_or_default();
        let told = KnownVersions { certain, ..KnownVersions::default() };
        let mut first = draw(held, paths.clone(), chosen, &objects, told.clone(), has).await?;
        let (held, moved) = nested_repositories::moved(first.held, &first.plan).await?;
        first.held = held;
        if !moved.is_empty() {
            first.git_s.extend(nested_repositories::with_them(&first.plan, &moved));
            first = draw(first.held, paths.clone(), chosen, &objects, told.clone(), first.git_s).await?;
        }
        let drawn = match authors::is_asked(&first.plan) || *chosen != Chosen::default() {
            true => self.drawn_again(first, paths, conversation, chosen, &objects, told).await?,
            false => first,
        };
        let PlanWithInput { held, mut plan, .. } = drawn;
        if options.restore.is_none() {
            refuse_mounted(&held, &plan, (!own).then(|| held.root.path()), chosen)?;
        }
        nested_repositories::blame(&mut plan, &moved);
        let (held, nested) = nested_repositories::stays(held, &plan, own, (moved, worktrees)).await?;
        let (held, links) = of_links(held, &plan).await?;
        let rewritten = self.rewritten(conversation, &held, &plan).await?;
        let (held, planted) = self.planted_since(held, own).await?;
        Ok((held, plan, [links, rewritten, nested, stays, planted].concat()))
    }

    /// The same plan, with the authors of the changes that conflict with it.
    async fn drawn_again(
        &self,
        first: PlanWithInput,
        paths: Vec<WantedPath>,
        conversation: ConversationId,
        chosen: &Chosen,
        objects: &Arc<dyn Objects>,
        told: KnownVersions,
    ) -> Result<PlanWithInput> {
        let told = self.told(&first.held, conversation, &first.plan, told).await?;
        let drawn = draw(first.held, paths.clone(), chosen, objects, told.clone(), first.git_s).await?;
        if drawn.in_the_way.is_empty() {
            return Ok(drawn);
        }
        let (more, chosen) = self.making_way(&drawn, conversation, chosen).await?;
        let paths = paths.into_iter().chain(more).collect();
        draw(drawn.held, paths, &chosen, objects, told, drawn.git_s).await
    }

    /// The content of a folder goes with it, unless there is a choice for its name.
    async fn making_way(
        &self,
        drawn: &PlanWithInput,
        conversation: ConversationId,
        chosen: &Chosen,
    ) -> Result<(Vec<WantedPath>, Chosen)> {
        let mut chosen = chosen.clone();
        for path in &drawn.in_the_way {
            chosen.paths.entry(path.clone()).or_insert(Choice::Checkpoint);
        }
        let stacks = self.store().layers(conversation, drawn.held.no, drawn.in_the_way.clone()).await?;
        let want = DesiredState::Version { record: None, named: true };
        let wanted_path = |(path, stack)| WantedPath { path, stack, want: want.clone() };
        Ok((stacks.into_iter().map(wanted_path).collect(), chosen))
    }

    /// The wanted versions of each path that an action touches.
    pub(super) async fn wanted_paths(
        &self,
        held: &HeldWorkspace,
        conversation: ConversationId,
        action: Option<&Action>,
        wanted: &NeededFiles,
    ) -> Result<Vec<WantedPath>> {
        match &wanted.files {
            // `show` brings back its own files and settles nothing else: a hidden turn usually still has its files.
            WantedFiles::Path(lines) if matches!(action, Some(Action::Mark { verb: Reason::Show, .. })) => {
                let lines = self.flipped(conversation, lines).await?;
                self.settling(held, conversation, &lines, wanted, true).await
            }
            WantedFiles::Path(lines) => {
                self.settling(held, conversation, lines, wanted, action.is_some()).await
            }
            WantedFiles::Back { reversed, without, staying } => {
                self.going_back(held, conversation, reversed, (without, staying)).await
            }
        }
    }

    /// The wanted files are those of a path.
    async fn settling(
        &self,
        held: &HeldWorkspace,
        conversation: ConversationId,
        lines: &[(DeltaLine, bool)],
        wanted: &NeededFiles,
        reverses: bool,
    ) -> Result<Vec<WantedPath>> {
        let is_kept = |line: &DeltaLine, path: &FilePath| {
            let mut kept = wanted.kept.iter().filter(|kept| kept.workspace == held.no);
            kept.any(|kept| kept.entry.seq == line.seq && kept.path == *path)
        };
        let here = lines.iter().filter(|(line, _)| line.workspace == held.no);
        let is_wanted: HashMap<DeltaId, bool> =
            here.clone().map(|(line, wanted)| (line.id, *wanted)).collect();
        // Files that are returned to their turn may be in place in part.
        let returns = self.flipped(conversation, lines).await?;
        let returns: HashSet<DeltaId> =
            returns.iter().filter(|(_, is)| *is).map(|(line, _)| line.id).collect();
        let unsettled = here.filter(|(line, wanted)| match *wanted {
            true => line.applied < line.paths || returns.contains(&line.id),
            false => line.applied > 0,
        });
        let mut paths: BTreeMap<FilePath, Vec<Layer>> = BTreeMap::new();
        for (line, wanted) in unsettled {
            for (path, layers) in self.store().delta(conversation, line.id).await? {
                if is_kept(line, &path) {
                    continue;
                }
                let entering = paths.entry(path).or_default();
                entering.extend(layers.into_iter().filter(|_| *wanted));
            }
        }
        let stacks = self.store().layers(conversation, held.no, paths.keys().cloned().collect()).await?;
        let paths = stacks.into_iter().zip(paths.into_values());
        let paths = paths.map(|((path, stack), entering)| (path, stack, entering)).collect();
        let settling = ReturningLayers { paths, is_wanted: &is_wanted, reverses };
        self.coming(conversation, held.no, settling).await
    }

    /// Reverses the changes of operations and of later turns, except what stays.
    async fn going_back(
        &self,
        held: &HeldWorkspace,
        conversation: ConversationId,
        reversed: &[OpNo],
        (without, staying): (&[DeltaLine], &[DeltaLine]),
    ) -> Result<Vec<WantedPath>> {
        let mut paths: BTreeMap<FilePath, Vec<PathMove>> = BTreeMap::new();
        for op in reversed {
            let moved = self.store().moved(conversation, *op).await?.into_iter();
            for made in moved.filter(|moved| moved.workspace == held.no).flat_map(|it| it.moves) {
                paths.entry(made.change.path.clone()).or_default().push(made);
            }
        }
        let here = |lines: &[DeltaLine]| -> Vec<DeltaId> {
            lines.iter().filter(|line| line.workspace == held.no).map(|line| line.id).collect()
        };
        let (without, staying) = (here(without), here(staying));
        for no in &without {
            for (path, _) in self.store().delta(conversation, *no).await? {
                paths.entry(path).or_default();
            }
        }
        let stacks = self.store().layers(conversation, held.no, paths.keys().cloned().collect()).await?;
        let wanted_path = |((path, stack), reversed): ((FilePath, Stack), Vec<PathMove>)| {
            // If nothing is reversed, layers go as in any step, also along with renames.
            let want = match reversed.is_empty() {
                true => DesiredState::Layers(stack.without(&without).layers().to_vec()),
                false => DesiredState::Back { reversed, without: without.clone(), staying: staying.clone() },
            };
            WantedPath { path, stack, want }
        };
        Ok(stacks.into_iter().zip(paths.into_values()).map(wanted_path).collect())
    }
}

/// A plan and its input.
struct PlanWithInput {
    held: HeldWorkspace,
    plan: FilePlan,
    git_s: HashSet<FilePath>,
    /// The content of folders that must make way.
    in_the_way: Vec<FilePath>,
}

async fn draw(
    held: HeldWorkspace,
    paths: Vec<WantedPath>,
    chosen: &Chosen,
    objects: &Arc<dyn Objects>,
    told: KnownVersions,
    git_s: HashSet<FilePath>,
) -> Result<PlanWithInput> {
    let (chosen, objects) = (chosen.clone(), Arc::clone(objects));
    let (held, plan, git_s, in_the_way, error) = blocking(move || {
        let mut looking = PlannedWorkspace::new(&held, objects, &told, &git_s);
        let mut plan = FilePlan::new(paths, &chosen, &mut looking);
        let mut in_the_way = Vec::new();
        if let Ok(plan) = &mut plan {
            looking.skip_collected(plan);
            in_the_way = plan.in_the_way(&chosen, &mut looking);
        }
        let error = looking.take_error();
        (held, plan, git_s, in_the_way, error)
    })
    .await?;
    match error {
        Some(error) => Err(EngineError::from(error)),
        None => Ok(PlanWithInput { held, plan: plan?, git_s, in_the_way }),
    }
}

/// The digest of a plan: equal plans have equal digests.
pub(super) fn digest_of(plans: &[FolderPlan]) -> [u8; 16] {
    let mut text = String::from("[]");
    for FolderPlan { folder, plan, .. } in plans {
        let said = plan.paths.iter().filter(|path| path.verdict != Verdict::Unchanged);
        let said = format!("{:?}", said.map(|path| (&path.verdict, &path.step)).collect::<Vec<_>>());
        match folder {
            None => text = said,
            Some(folder) => text.push_str(&format!("{folder:?} {said}")),
        }
    }
    retake_store::digest(&text)
}
