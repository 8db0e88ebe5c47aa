//! Erasure of stored file versions: first their rows, with a note of the objects that they named; then those objects that nothing
//! else names. The next start finishes an interrupted erasure. Must never touch a file in the user's folders. The content of a
//! current file stays in the pack, because it would be captured again.

use std::collections::{BTreeSet, HashSet};

use futures::future::BoxFuture;

use retake_core::{
    Action, Apply, ContentHash, ConversationId, FactsChanged, FilePath, Planned, Receipt, Time,
    WorkspaceInfo, WorkspaceNo,
};
use retake_store::digest::{action_value, of_arguments};
use retake_store::{Claim, Claimant, ErasureSum};
use retake_worktree::{Mark, Tree};

use super::blocking;
use crate::Engine;
use crate::error::Result;
use crate::log::LogFailure as _;

/// The results for the versions that an erasure named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ObjectsErased {
    /// Erased.
    pub gone: u64,
    /// Kept, because another call, operation or capture names them too.
    pub shared: u64,
    /// Kept, because a file in a folder has this content now.
    pub current: u64,
    /// Other versions, which were in use and damaged, so that nothing of them could be kept.
    pub lost: u64,
}

/// What an erasure would do.
#[derive(Clone, Debug)]
pub struct ErasePlan {
    /// The changes to the conversation.
    pub conversation: Planned,
    /// The changes to messages, and to the rows of files.
    pub rows: ErasedRows,
    /// The changes to versions of files.
    pub objects: ObjectsErased,
}

/// What an erasure removes from conversations and from the rows of files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErasedRows {
    /// The number of messages that lose their content or a name, for each conversation of the tree of forks.
    pub messages: Vec<(ConversationId, u64)>,
    /// Operations that lose a title, a label, a summary, a path, a request id or an author.
    pub operations: u64,
    /// The paths.
    pub paths: BTreeSet<FilePath>,
    /// Whether a version of a file is erased.
    pub names_objects: bool,
}

/// The objects that are in use.
#[derive(Debug, Default)]
pub(super) struct InUse {
    /// By rows.
    pub(super) rows: HashSet<ContentHash>,
    /// By the indexes of workspaces: the content of current files.
    pub(super) current: HashSet<ContentHash>,
}

impl InUse {
    pub(super) fn has(&self, object: &ContentHash) -> bool {
        self.rows.contains(object) || self.current.contains(object)
    }
}

impl Engine {
    /// Erases content in conversations and in the rows of files. Also says how this changed which remembered facts count.
    pub fn erase(
        &self,
        conversation: ConversationId,
        apply: Apply,
    ) -> BoxFuture<'_, Result<(Receipt, ObjectsErased, FactsChanged)>> {
        Box::pin(async move {
            self.look_first(conversation, &apply.action).await;
            let _quiet = self.files.quiet().await;
            let mut by = apply.by;
            if by.request.is_some() && by.wording.is_none() {
                // The objects with the text are no part of the request's digest: they are gone when the request is repeated.
                by.wording = Some(of_arguments("erase", &action_value(&apply.action, apply.seen)));
            }
            let mut calls = self.calls_erased(conversation, &apply.action).await?;
            let action = self.with_objects(apply.action).await?;
            let text = match &action {
                Action::Erase { matching, .. } => matching.clone(),
                _ => None,
            };
            let erasing = self.store().erasing(conversation, action.clone()).await?;
            let facts = erasing.facts;
            // Those of subagents are among them.
            calls.extend(erasing.entries);
            // A committed erasure is finished, even if the store's own pages could not be overwritten at once.
            let receipt = self.store().apply(conversation, Apply { action, by, seen: apply.seen }).await;
            // Before the reply: a subscriber that lags must get no event from before the erasure.
            self.has_erased();
            let erased = self.erase_objects().await?;
            let receipt = receipt?;
            self.erase_output(calls, text).await?;
            Ok((receipt, erased, facts))
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
            let planned = Planned { facts: files.facts, ..self.plan(conversation, action).await? };
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

    /// Where else an erased text is: for each other tree of forks that contains it, one of the conversations with the text, and
    /// the number of these conversations.
    pub async fn elsewhere(
        &self,
        conversation: ConversationId,
        text: String,
    ) -> Result<Vec<(ConversationId, usize)>> {
        let action = Action::Erase { entries: Vec::new(), matching: Some(text.clone()), objects: Vec::new() };
        let Action::Erase { objects, .. } = self.with_objects(action).await? else { return Ok(Vec::new()) };
        Ok(self.store().elsewhere(conversation, text, objects).await?)
    }

    /// Captures the folders first: an index must not name content that was removed since. A folder that is gone or cannot be
    /// captured does not prevent an erasure.
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

    /// The folders that the conversation's calls changed; for a fork, also those with erased versions. Also every folder where a
    /// current file has content to be erased.
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

    /// Erases what an earlier start has left.
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

    /// Erases the noted objects that are no longer needed. Can be repeated.
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
            // A damaged copy of a collected object may have come back: nothing needs it.
            let is_needed =
                |object: &&ContentHash| in_use.rows.contains(*object) || in_use.current.contains(*object);
            let lost = done.lost.iter().filter(is_needed).count() as u64;
            erased = ObjectsErased { gone: was, lost, ..counts };
        }
        self.store().objects_erased(left).await?;
        Ok(erased)
    }

    /// The objects in use: by rows, by open steps, and by the indexes of workspaces. Needs exclusive access.
    pub(super) async fn in_use(&self) -> Result<InUse> {
        let mut in_use = InUse { current: self.current().await?, ..InUse::default() };
        let since = self.store().kept_since().await?;
        let claims = self.store().claims().await?.into_iter();
        let kept = claims.filter(|claim| is_kept(claim.by, claim.time, since));
        in_use.rows = kept.map(|claim| claim.object).collect();
        in_use.rows.extend(self.underway().await?);
        Ok(in_use)
    }

    /// The same, after this erasure.
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

    /// The content of files in all workspaces at the last capture.
    pub(super) async fn current(&self) -> Result<HashSet<ContentHash>> {
        let mut current = HashSet::new();
        for row in self.store().workspaces().await? {
            current.extend(self.current_in(&row).await?);
        }
        Ok(current)
    }

    /// The same for one workspace.
    async fn current_in(&self, row: &WorkspaceInfo) -> Result<HashSet<ContentHash>> {
        if let Some(opened) = self.files.opened(row.no) {
            return Ok(opened.lock().await.tree.objects_in_use().into_iter().collect());
        }
        let Some(mark) = row.mark else { return Ok(HashSet::new()) };
        let dir = self.files.index_dir(row.no)?;
        let kept = blocking(move || Tree::objects_kept(&dir, Mark(mark))).await?;
        Ok(kept.into_iter().collect())
    }

    /// The objects that open steps need, however old they are.
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

/// Whether the objects of a row are kept, when calls and operations since a time keep theirs.
pub(super) fn is_kept(by: Claimant, time: Time, since: Option<Time>) -> bool {
    match by {
        Claimant::Capture(_) | Claimant::Checkpoint(_) => true,
        Claimant::Call(..) | Claimant::Op(..) => since.is_none_or(|since| time >= since),
    }
}

/// The number of these objects that go, and of those that stay.
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
