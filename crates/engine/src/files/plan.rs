//! The file half of a plan: which deltas an action wants, what that means for each path now. Captures first, changes
//! nothing.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use retake_core::{
    Chosen, ConversationId, DeltaNo, EntryId, FilePath, FilePlan, Layer, Mark, OpNo, PathMove, Pos, Reason,
    Record, Stack, Verdict, Want, Wish,
};
use retake_store::{Action, DeltaLine, Planned, Wanted, WantedFiles};
use retake_worktree::Objects;

use super::blocking;
use super::git::GitHalf;
use super::leave::Effects;
use super::look::Looking;
use super::restore::Restore;
use super::workspace::Held;
use crate::engine::{Engine, moves};
use crate::error::{EngineError, Result};

/// How many of the last captures are looked through for what somebody else wrote last.
const LOOK_BACK: usize = 256;

/// What a step takes along.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// Messages and files.
    #[default]
    Both,
    /// Files alone; the conversation stays.
    Files,
    /// The conversation alone; files stay.
    Conversation,
}

/// What is wished for files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilesWish {
    /// What is taken along.
    pub scope: Scope,
    /// What was chosen for paths.
    pub chosen: Chosen,
    /// The plan that its author saw, by its digest: another one is refused.
    pub seen: Option<[u8; 16]>,
    /// Named files are put back, and nothing else is done.
    pub restore: Option<Restore>,
    /// Whether a run at work, and processes that calls taken back have left running, are ended first; else they are a refusal.
    pub stop: bool,
}

/// Both halves of a plan.
#[derive(Clone, Debug)]
pub struct FilesPlanned {
    /// What would become of the conversation; nothing for files alone.
    pub conversation: Option<Planned>,
    /// What would become of files; nothing for the conversation alone, or where there is no workspace.
    pub files: Option<FilePlan>,
    /// Names this plan of files.
    pub digest: [u8; 16],
    /// What stays in git, a sentence each, with the command that would go back.
    pub git: Vec<String>,
    /// Calls that are taken back and of which processes still run: they have to be ended first.
    pub running: Vec<Running>,
    /// What can't be taken back.
    pub effects: Effects,
    /// A run is at work: it has to be ended first.
    pub at_work: bool,
    /// So many messages wait for it to end: they come back to whoever ends it.
    pub waiting: usize,
}

/// A call of which processes still run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Running {
    /// The entry that made it.
    pub entry: EntryId,
    /// The number of its processes.
    pub processes: usize,
}

impl Engine {
    /// What an action would do to the conversation and to files.
    pub async fn plan_both(
        &self,
        conversation: ConversationId,
        action: Action,
        wish: FilesWish,
    ) -> Result<FilesPlanned> {
        let planned = match wish.scope {
            Scope::Files => None,
            _ => Some(self.plan(conversation, action.clone()).await?),
        };
        let effects = self.effects_of(conversation, &action, &wish).await?;
        let takes_files =
            wish.scope != Scope::Conversation && self.takes_files(conversation, &action, &wish).await?;
        let (files, git, running) = match takes_files {
            false => {
                wish.chosen.fits(|_| false)?;
                (None, Vec::new(), Vec::new())
            }
            true => {
                let held = self.workspace(conversation).await?;
                let (held, _) = self.capture(held, None).await?;
                let (_, plan, git) = self.plan_files(held, conversation, &action, &wish).await?;
                let running = self.jobs(conversation, &action).await?;
                let running =
                    running.iter().map(|(call, pids)| Running { entry: call.entry, processes: pids.len() });
                (Some(plan), git, running.collect())
            }
        };
        let digest = digest_of(files.as_ref());
        let at_work = self.is_running(conversation) && (takes_files || moves(&action));
        let waiting = if at_work && moves(&action) { self.waiting(conversation).await?.len() } else { 0 };
        Ok(FilesPlanned { conversation: planned, files, digest, git, running, effects, at_work, waiting })
    }

    /// Whether files may come or go with an action.
    pub(crate) async fn takes_files(
        &self,
        conversation: ConversationId,
        action: &Action,
        wish: &FilesWish,
    ) -> Result<bool> {
        if wish.restore.is_some() {
            return Ok(true);
        }
        if !self.store().has_changes(conversation).await? {
            return Ok(false);
        }
        match action {
            Action::Mark { verb: Reason::Show, .. } => {
                let wanted = self.store().wanted(conversation, action.clone()).await?;
                let flips = match wanted.files {
                    WantedFiles::Path(lines) => !self.flipped(conversation, lines).await?.is_empty(),
                    WantedFiles::Back { .. } => true,
                };
                Ok(flips || !wanted.running.is_empty())
            }
            _ => Ok(true),
        }
    }

    /// Of these deltas, those that are wanted now and would not be, or the other way round.
    async fn flipped(
        &self,
        conversation: ConversationId,
        deltas: Vec<(DeltaLine, bool)>,
    ) -> Result<Vec<(DeltaLine, bool)>> {
        let snapshot = self.store().snapshot(conversation).await?;
        let (known, depth) = (snapshot.conversation(), snapshot.conversation().tree.depth());
        let is_wanted = |line: &DeltaLine| {
            let pos = Pos::new(depth, line.seq);
            known.is_on_path(pos) && known.mark(pos) != Mark::Dropped
        };
        Ok(deltas.into_iter().filter(|(line, wanted)| is_wanted(line) != *wanted).collect())
    }

    /// Plans on what the capture just made saw, and says what stays in git.
    pub(super) async fn plan_files(
        &self,
        held: Held,
        conversation: ConversationId,
        action: &Action,
        wish: &FilesWish,
    ) -> Result<(Held, FilePlan, Vec<String>)> {
        let chosen = &wish.chosen;
        let (held, wishes, moves) = match &wish.restore {
            Some(restore) => {
                let (held, wishes) = self.put_back(held, conversation, restore).await?;
                (held, wishes, Vec::new())
            }
            None => {
                let mut wanted = self.store().wanted(conversation, action.clone()).await?;
                let moves = std::mem::take(&mut wanted.git);
                let wishes = self.wishes(&held, conversation, action, wanted).await?;
                (held, wishes, moves)
            }
        };
        let (held, GitHalf { stays, has }) = self.git_half(held, moves, &wishes).await?;
        let objects = self.files.objects().await? as Arc<dyn Objects>;
        let (held, plan, has) = draw(held, wishes.clone(), chosen, &objects, HashMap::new(), has).await?;
        if plan.is_clean() && *chosen == Chosen::default() {
            return Ok((held, plan, stays));
        }
        let theirs = self.theirs(&held).await?;
        let (held, plan, _) = draw(held, wishes, chosen, &objects, theirs, has).await?;
        Ok((held, plan, stays))
    }

    /// What an action wants of each path that it touches.
    pub(super) async fn wishes(
        &self,
        held: &Held,
        conversation: ConversationId,
        action: &Action,
        wanted: Wanted,
    ) -> Result<Vec<Wish>> {
        match wanted.files {
            // What is shown brings its own files, and settles nothing else: most of the time it was hidden, and they are there.
            WantedFiles::Path(lines) if matches!(action, Action::Mark { verb: Reason::Show, .. }) => {
                let lines = self.flipped(conversation, lines).await?;
                self.settling(held, conversation, &lines).await
            }
            WantedFiles::Path(lines) => self.settling(held, conversation, &lines).await,
            WantedFiles::Back { reversed, without } => {
                self.going_back(held, conversation, reversed, without).await
            }
        }
    }

    /// The files are to be those of a path.
    async fn settling(
        &self,
        held: &Held,
        conversation: ConversationId,
        lines: &[(DeltaLine, bool)],
    ) -> Result<Vec<Wish>> {
        let here = lines.iter().filter(|(line, _)| line.workspace == held.no);
        let is_wanted: HashMap<DeltaNo, bool> =
            here.clone().map(|(line, wanted)| (line.no, *wanted)).collect();
        let unsettled =
            here.filter(|(line, wanted)| if *wanted { line.applied < line.paths } else { line.applied > 0 });
        let mut paths: BTreeMap<FilePath, Vec<Layer>> = BTreeMap::new();
        for (line, wanted) in unsettled {
            for (path, layers) in self.store().delta(conversation, line.no).await? {
                let entering = paths.entry(path).or_default();
                entering.extend(layers.into_iter().filter(|_| *wanted));
            }
        }
        let stacks = self.store().layers(conversation, held.no, paths.keys().cloned().collect()).await?;
        let wish = |((path, stack), entering): ((FilePath, Stack), Vec<Layer>)| {
            let layers = wanted_layers(&stack, entering, &is_wanted);
            Wish { path, stack, want: Want::Layers(layers) }
        };
        Ok(stacks.into_iter().zip(paths.into_values()).map(wish).collect())
    }

    /// What operations did is reversed, and what was said since goes with it.
    async fn going_back(
        &self,
        held: &Held,
        conversation: ConversationId,
        reversed: Vec<OpNo>,
        without: Vec<DeltaLine>,
    ) -> Result<Vec<Wish>> {
        let mut paths: BTreeMap<FilePath, Vec<PathMove>> = BTreeMap::new();
        for op in reversed {
            let moved = self.store().moved(conversation, op).await?;
            for made in moved.filter(|moved| moved.workspace == held.no).into_iter().flat_map(|it| it.moves) {
                paths.entry(made.change.path.clone()).or_default().push(made);
            }
        }
        let without: Vec<DeltaNo> =
            without.iter().filter(|line| line.workspace == held.no).map(|line| line.no).collect();
        for no in &without {
            for (path, _) in self.store().delta(conversation, *no).await? {
                paths.entry(path).or_default();
            }
        }
        let stacks = self.store().layers(conversation, held.no, paths.keys().cloned().collect()).await?;
        let wish = |((path, stack), reversed): ((FilePath, Stack), Vec<PathMove>)| {
            let without = without.clone();
            Wish { path, stack, want: Want::Back { reversed, without } }
        };
        Ok(stacks.into_iter().zip(paths.into_values()).map(wish).collect())
    }

    /// The last version of each path that nobody's call wrote, as far as captures are looked through.
    async fn theirs(&self, held: &Held) -> Result<HashMap<FilePath, Option<Record>>> {
        let mut theirs = HashMap::new();
        for capture in self.store().captures(held.no, None, LOOK_BACK).await? {
            for change in capture.changes {
                theirs.entry(change.path).or_insert(change.after);
            }
        }
        Ok(theirs)
    }
}

/// The layers that are to be in a path, in the order of their deltas.
fn wanted_layers(stack: &Stack, entering: Vec<Layer>, is_wanted: &HashMap<DeltaNo, bool>) -> Vec<Layer> {
    let have: Vec<DeltaNo> = stack.layers().iter().map(|layer| layer.delta).collect();
    let staying = stack.layers().iter().filter(|layer| is_wanted.get(&layer.delta).copied().unwrap_or(true));
    let entering = entering.into_iter().filter(|layer| !have.contains(&layer.delta));
    let mut layers: Vec<Layer> = staying.cloned().chain(entering).collect();
    layers.sort_by_key(|layer| layer.delta);
    layers
}

async fn draw(
    held: Held,
    wishes: Vec<Wish>,
    chosen: &Chosen,
    objects: &Arc<dyn Objects>,
    theirs: HashMap<FilePath, Option<Record>>,
    git_s: HashSet<FilePath>,
) -> Result<(Held, FilePlan, HashSet<FilePath>)> {
    let (chosen, objects) = (chosen.clone(), Arc::clone(objects));
    let (held, plan, git_s, error) = blocking(move || {
        let mut looking = Looking::new(&held, objects, &theirs, &git_s);
        let mut plan = FilePlan::new(wishes, &chosen, &mut looking);
        if let Ok(plan) = &mut plan {
            looking.leave_what_is_gone(plan);
        }
        let error = looking.take_error();
        (held, plan, git_s, error)
    })
    .await?;
    match error {
        Some(error) => Err(EngineError::from(error)),
        None => Ok((held, plan?, git_s)),
    }
}

/// A plan's name: equal plans have equal ones.
pub(super) fn digest_of(plan: Option<&FilePlan>) -> [u8; 16] {
    let paths = plan.map(|plan| plan.paths.as_slice()).unwrap_or_default();
    let said = paths.iter().filter(|path| path.verdict != Verdict::Unchanged);
    retake_store::digest(&format!("{:?}", said.map(|path| (&path.verdict, &path.step)).collect::<Vec<_>>()))
}
