//! Erasure of what is kept of files: rows first, with a note of the objects that they named; then those objects of the pack
//! that nothing else names. A crash between the two is finished at the next start. The files in the folders of the user are
//! never touched, and what is in one of them now stays in the pack: it would be captured again.

use std::collections::{BTreeSet, HashSet};

use futures::future::BoxFuture;

use retake_core::{
    Action, Apply, ContentHash, ConversationId, FilePath, Planned, Receipt, Time, WorkspaceInfo, WorkspaceNo,
};
use retake_store::digest::{action_value, of_arguments};
use retake_store::{Claim, Claimant, ErasureSum};
use retake_worktree::{Mark, Tree};

use super::blocking;
use crate::Engine;
use crate::error::Result;
use crate::log::LogFailure as _;

/// What became of the versions of files that an erasure named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ObjectsErased {
    /// They are gone.
    pub gone: u64,
    /// They stay, as another call, an operation or a capture names them too.
    pub shared: u64,
    /// They stay, as a file in a folder is just so now.
    pub current: u64,
    /// Other versions that were damaged, so that nothing could be kept of them.
    pub lost: u64,
}

/// What an erasure would do.
#[derive(Clone, Debug)]
pub struct ErasePlan {
    /// To the conversation.
    pub conversation: Planned,
    /// To messages, and to what is kept of files.
    pub rows: ErasedRows,
    /// To their versions.
    pub objects: ObjectsErased,
}

/// How much of conversations, and of what is kept of files, an erasure reaches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErasedRows {
    /// How many messages lose their content or a name, of each conversation of the tree of forks that loses some.
    pub messages: Vec<(ConversationId, u64)>,
    /// Operations that lose a title, a label, a summary, a path, a request id or an author.
    pub operations: u64,
    /// The paths.
    pub paths: BTreeSet<FilePath>,
    /// Whether a version of a file is among what goes.
    pub names_objects: bool,
}

/// What is needed.
#[derive(Debug, Default)]
pub(super) struct InUse {
    /// By rows.
    pub(super) rows: HashSet<ContentHash>,
    /// By the indexes of workspaces: it is in a file now.
    pub(super) current: HashSet<ContentHash>,
}

impl InUse {
    pub(super) fn has(&self, object: &ContentHash) -> bool {
        self.rows.contains(object) || self.current.contains(object)
    }
}

impl Engine {
    /// Erases, in the conversations and in what is kept of files.
    pub fn erase(
        &self,
        conversation: ConversationId,
        apply: Apply,
    ) -> BoxFuture<'_, Result<(Receipt, ObjectsErased)>> {
        Box::pin(async move {
            self.look_first(conversation, &apply.action).await;
            let _quiet = self.files.quiet().await;
            let mut by = apply.by;
            if by.request.is_some() && by.wording.is_none() {
                // What holds the text is no part of what is asked for: it is gone when the request comes again.
                by.wording = Some(of_arguments("erase", &action_value(&apply.action, apply.seen)));
            }
            let calls = self.calls_erased(conversation, &apply.action).await?;
            let action = self.with_objects(apply.action).await?;
            let text = match &action {
                Action::Erase { matching, .. } => matching.clone(),
                _ => None,
            };
            // What was committed is finished, also when the store's own pages could not be overwritten at once.
            let receipt = self.store().apply(conversation, Apply { action, by, seen: apply.seen }).await;
            // Before anybody is told that it is done: who is told things late is told nothing from before.
            self.has_erased();
            let erased = self.erase_objects().await?;
            let receipt = receipt?;
            self.erase_output(calls, text).await?;
            Ok((receipt, erased))
        })
    }

    /// What an erasure would do. Changes nothing.
    pub fn plan_erase(
        &self,
        conversation: ConversationId,
        action: Action,
    ) -> BoxFuture<'_, Result<ErasePlan>> {
        Box::pin(async move {
            self.look_first(conversation, &action).await;
            let _quiet = self.files.quiet().await;
            let action = self.with_objects(action).await?;
            let files = self.store().erasing(conversation, action.clone()).await?;
            let planned = self.plan(conversation, action).await?;
            let mut doomed = files.objects.clone();
            doomed.extend(self.store().erased_objects().await?);
            let mut objects = ObjectsErased::default();
            if !doomed.is_empty() {
                let in_use = self.in_use_without(&files).await?;
                objects = tally(doomed.into_iter(), &in_use).1;
            }
            let rows = ErasedRows {
                names_objects: !files.objects.is_empty(),
                messages: files.messages,
                operations: files.operations,
                paths: files.paths,
            };
            Ok(ErasePlan { conversation: planned, rows, objects })
        })
    }

    /// Where else a text is that is erased in a conversation: of each other tree of forks one that holds it, and how many do.
    pub async fn elsewhere(
        &self,
        conversation: ConversationId,
        text: String,
    ) -> Result<Vec<(ConversationId, usize)>> {
        let action = Action::Erase { entries: Vec::new(), matching: Some(text.clone()), objects: Vec::new() };
        let Action::Erase { objects, .. } = self.with_objects(action).await? else { return Ok(Vec::new()) };
        Ok(self.store().elsewhere(conversation, text, objects).await?)
    }

    /// Looks at the folders: what was removed there since is not what a file is now, and an index must not name it. A folder that
    /// is gone or can't be looked at keeps nothing from being erased.
    async fn look_first(&self, conversation: ConversationId, action: &Action) {
        let nos = self.folders_of(conversation, action.clone()).await;
        let Some(nos) = nos.or_log("no folder is captured before the erasure") else { return };
        if nos.is_empty() {
            return;
        }
        let held = self.workspaces_with(conversation, &nos).await;
        if let Some((held, _)) = held.or_log("no folder is captured before the erasure") {
            for one in held.all {
                self.capture(one, None).await.or_log("a folder is not captured before the erasure");
            }
        }
    }

    /// The folders that the conversation's calls changed; of a fork also those of which something is erased. And every folder in which
    /// a file is now what is to be erased.
    async fn folders_of(
        &self,
        conversation: ConversationId,
        action: Action,
    ) -> Result<BTreeSet<WorkspaceNo>> {
        let deltas = self.store().deltas(conversation).await?;
        let mut nos: BTreeSet<_> = deltas.iter().map(|(line, _)| line.workspace).collect();
        let action = self.with_objects(action).await?;
        let files = self.store().erasing(conversation, action).await?;
        nos.extend(files.rows.iter().map(|(workspace, _)| *workspace));
        let mut doomed = files.objects;
        doomed.extend(self.store().erased_objects().await?);
        for row in self.store().workspaces().await? {
            if !doomed.is_disjoint(&self.current_in(&row).await?.into_iter().collect()) {
                nos.insert(row.no);
            }
        }
        Ok(nos)
    }

    /// What is left to be erased of a start before this one.
    pub(super) async fn finish_erasing(&self) -> Result<ObjectsErased> {
        let _quiet = self.files.quiet().await;
        self.erase_objects().await
    }

    /// The same, with the objects that hold its text.
    async fn with_objects(&self, action: Action) -> Result<Action> {
        let Action::Erase { entries, matching: Some(text), .. } = action else {
            return Ok(action);
        };
        let objects = match self.files.objects_if_any().await? {
            Some(pack) => {
                let bytes = text.clone().into_bytes();
                blocking(move || pack.find(&bytes, &mut |_, _| ())).await??
            }
            None => Vec::new(),
        };
        Ok(Action::Erase { entries, matching: Some(text), objects })
    }

    /// Erases what is noted and no longer needed. Done again, it does the same.
    async fn erase_objects(&self) -> Result<ObjectsErased> {
        let doomed = self.store().erased_objects().await?;
        if doomed.is_empty() {
            return Ok(ObjectsErased::default());
        }
        let (mut erased, mut left) = (ObjectsErased::default(), Vec::new());
        if let Some(pack) = self.files.objects_if_any().await? {
            let in_use = self.in_use().await?;
            left = doomed.iter().copied().filter(|object| in_use.current.contains(object)).collect();
            let (gone, counts) = tally(doomed.into_iter(), &in_use);
            let was = gone.iter().filter(|object| pack.has(object)).count() as u64;
            let done = blocking(move || pack.erase(&gone, &mut |_, _| ())).await??;
            // A damaged copy of what a collection let go may have come back: nobody misses it.
            let is_needed =
                |object: &&ContentHash| in_use.rows.contains(*object) || in_use.current.contains(*object);
            let lost = done.lost.iter().filter(is_needed).count() as u64;
            erased = ObjectsErased { gone: was, lost, ..counts };
        }
        self.store().objects_erased(left).await?;
        Ok(erased)
    }

    /// All that is needed: by rows, by rewinds that are not settled, by the indexes of workspaces. Nobody may be at work.
    pub(super) async fn in_use(&self) -> Result<InUse> {
        let mut in_use = InUse { current: self.current().await?, ..InUse::default() };
        let since = self.store().kept_since().await?;
        let claims = self.store().claims().await?.into_iter();
        let kept = claims.filter(|claim| is_kept(claim.by, claim.time, since));
        in_use.rows = kept.map(|claim| claim.object).collect();
        in_use.rows.extend(self.underway().await?);
        Ok(in_use)
    }

    /// The same, as it will be once this is erased.
    async fn in_use_without(&self, files: &ErasureSum) -> Result<InUse> {
        let mut in_use = InUse { current: self.current().await?, ..InUse::default() };
        let since = self.store().kept_since().await?;
        let claims = self.store().claims().await?.into_iter();
        let stays = |claim: &Claim| {
            is_kept(claim.by, claim.time, since) && !files.rows.contains(&(claim.workspace, claim.by))
        };
        in_use.rows = claims.filter(stays).map(|claim| claim.object).collect();
        in_use.rows.extend(&files.stays);
        in_use.rows.extend(self.underway().await?);
        Ok(in_use)
    }

    /// What files in the folders of all workspaces were at the last look.
    pub(super) async fn current(&self) -> Result<HashSet<ContentHash>> {
        let mut current = HashSet::new();
        for row in self.store().workspaces().await? {
            current.extend(self.current_in(&row).await?);
        }
        Ok(current)
    }

    /// The same of one.
    async fn current_in(&self, row: &WorkspaceInfo) -> Result<HashSet<ContentHash>> {
        if let Some(opened) = self.files.opened(row.no) {
            return Ok(opened.lock().await.tree.objects_in_use().into_iter().collect());
        }
        let Some(mark) = row.mark else { return Ok(HashSet::new()) };
        let dir = self.files.index_dir(row.no)?;
        let kept = blocking(move || Tree::objects_kept(&dir, Mark(mark))).await?;
        Ok(kept.into_iter().collect())
    }

    /// What rewinds that are not settled need, however old they are.
    pub(super) async fn underway(&self) -> Result<HashSet<ContentHash>> {
        let mut underway = HashSet::new();
        for (conversation, op) in self.store().intents().await?.into_iter().filter_map(|intent| intent.op) {
            let moved = self.store().moved(conversation, op).await?;
            for made in moved.into_iter().flat_map(|moved| moved.moves) {
                let records = [made.change.before, made.change.after].into_iter().flatten();
                underway.extend(records.filter_map(|record| record.hash()));
            }
        }
        Ok(underway)
    }
}

/// Whether a row's bytes are kept, when those of calls and operations are kept since then.
pub(super) fn is_kept(by: Claimant, time: Time, since: Option<Time>) -> bool {
    match by {
        Claimant::Capture(_) | Claimant::Checkpoint(_) => true,
        Claimant::Call(..) | Claimant::Op(..) => since.is_none_or(|since| time >= since),
    }
}

/// What goes of these, and how much of them stays.
fn tally(doomed: impl Iterator<Item = ContentHash>, in_use: &InUse) -> (Vec<ContentHash>, ObjectsErased) {
    let mut counts = ObjectsErased::default();
    let goes = |object: &ContentHash| {
        if in_use.current.contains(object) {
            counts.current += 1;
        } else if in_use.rows.contains(object) {
            counts.shared += 1;
        } else {
            counts.gone += 1;
        }
        !in_use.has(object)
    };
    let gone: Vec<ContentHash> = doomed.filter(goes).collect();
    (gone, counts)
}
