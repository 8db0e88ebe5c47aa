//! An operation with its file half: decided, settled, or reversed.
//!
//! The decision is one short transaction, however many files it affects. The moves of a large step are written before it, in
//! batches, as a list without effect. The decision names the list, and its layers apply from then on. They are set on the paths
//! in batches, too, when the files are settled. A list that no operation names is removed, at the latest at the next start.

use std::collections::{BTreeMap, BTreeSet};

use retake_core::{
    Action, Apply, ChangeKind, ChangeOrigin, ConversationId, DeltaId, FilePath, KeptPath, Moved, OpNo,
    PathMove, Pos, Receipt, Stack, Step, WorkspaceNo,
};

use super::super::load::Loaded;
use super::super::{Context, Store};
use crate::error::{Result, StoreError};
use crate::files::{FilesHalf, IntentRow};
use crate::rows::{ConversationRow, LogNo, OpenList, Rows, Transactions};

/// The most paths in one request of a step. A larger step is written in batches: other commands make several small requests,
/// each of which may wait for one batch.
const BATCH: usize = 256;

/// The prefix of notes about lists that no operation names yet.
const STAGED: &str = "staged moves ";

fn note_of(log: LogNo, list: u64) -> String {
    format!("{STAGED}{} {list}", log.0)
}

/// The number of paths that deltas enter or leave.
type Counts = BTreeMap<DeltaId, i64>;

/// Each delta is counted once, however many paths it has.
fn count<'a>(counts: &mut Counts, moves: impl Iterator<Item = (&'a Stack, &'a Stack)>) {
    for (before, after) in moves {
        let (out, into) = before.difference(after.layers());
        for (deltas, by) in [(out, -1), (into, 1)] {
            deltas.into_iter().for_each(|no| *counts.entry(no).or_default() += by);
        }
    }
}

fn forth(made: &PathMove) -> (&Stack, &Stack) {
    (&made.stack_before, &made.stack_after)
}

fn back(made: &PathMove) -> (&Stack, &Stack) {
    (&made.stack_after, &made.stack_before)
}

/// A list whose moves are written, at least in part.
#[derive(Clone, Copy)]
struct Started {
    log: LogNo,
    list: u64,
    /// The workspace's layers are the compared ones while the version is the same.
    version: u64,
}

/// A file half to decide: small, or with a list of its moves.
struct Prepared {
    half: FilesHalf,
    list: Option<(Started, Counts)>,
}

impl Context {
    /// Sets the layers of a path.
    pub(in crate::store) fn set_layers(
        &mut self,
        home: &ConversationRow,
        workspace: WorkspaceNo,
        path: &FilePath,
        stack: &Stack,
    ) -> Result<()> {
        *self.layer_versions.entry((home.log, workspace)).or_default() += 1;
        self.rows.set_layers(home, workspace, path, stack)
    }

    fn layer_version(&self, log: LogNo, workspace: WorkspaceNo) -> u64 {
        self.layer_versions.get(&(log, workspace)).copied().unwrap_or_default()
    }

    fn check_layers(&self, log: LogNo, workspace: WorkspaceNo, moves: &[PathMove]) -> Result<()> {
        for made in moves {
            let path = &made.change.path;
            if self.rows.layers(log, workspace, path)? != made.stack_before {
                return Err(StoreError::StaleFiles(path.to_string()));
            }
        }
        Ok(())
    }

    /// Writes a batch of a list that has no effect yet.
    fn add_to_list(
        &mut self,
        id: ConversationId,
        workspace: WorkspaceNo,
        started: Option<Started>,
        moves: &[PathMove],
    ) -> Result<Started> {
        let loaded = self.load(id)?;
        let log = loaded.row.log;
        let started = match started {
            Some(started) => started,
            None => {
                self.finish_lists(log, Some(workspace))?;
                let list = self.rows.last_list(log)? + 1;
                self.rows.set_note(&note_of(log, list), Some(&staged_list(log, list)))?;
                Started { log, list, version: self.layer_version(log, workspace) }
            }
        };
        self.check_layers(log, workspace, moves)?;
        self.rows.add_to_list(&loaded.row, started.list, moves)?;
        Ok(started)
    }

    /// Removes a batch of a list that no operation names; returns whether nothing is left of it.
    fn remove_from_list(&mut self, log: LogNo, list: u64, limit: usize) -> Result<bool> {
        let done = self.rows.remove_listed(log, list, limit)? < limit;
        if done {
            self.rows.set_note(&note_of(log, list), None)?;
        }
        Ok(done)
    }

    /// Removes the lists of a log that no operation names: their source is erased.
    pub(in crate::store) fn drop_staged_lists(&mut self, log: LogNo) -> Result<()> {
        for (log, list) in staged(&*self.rows)?.into_iter().filter(|(of, _)| *of == log) {
            self.remove_from_list(log, list, usize::MAX)?;
        }
        Ok(())
    }

    /// Sets a batch of an open list's layers on their paths. Returns the path before the next batch; `None` when the list is
    /// finished.
    fn finish_list(&mut self, open: &OpenList, after: Option<&FilePath>) -> Result<Option<FilePath>> {
        let moves = self.rows.listed(open.log, open.list, after, BATCH)?;
        let home = self.rows.log(open.log)?;
        for made in &moves {
            self.set_layers(&home, open.workspace, &made.change.path, &made.stack_after)?;
        }
        if moves.len() < BATCH {
            self.rows.close_list(open.log, open.list)?;
            return Ok(None);
        }
        Ok(moves.into_iter().next_back().map(|made| made.change.path))
    }

    /// Finishes the open lists of a log. A crash may have left them; otherwise their workspace is held until it is settled.
    pub(in crate::store) fn finish_lists(
        &mut self,
        log: LogNo,
        workspace: Option<WorkspaceNo>,
    ) -> Result<()> {
        let here = |open: &OpenList| open.log == log && workspace.is_none_or(|it| it == open.workspace);
        for open in self.rows.open_lists()?.into_iter().filter(here) {
            let mut after = None;
            loop {
                after = self.finish_list(&open, after.as_ref())?;
                if after.is_none() {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Decides. Also returns whether this call made the operation: the same request may have made it before.
    fn apply_prepared(
        &mut self,
        id: ConversationId,
        apply: Apply,
        halves: Vec<Prepared>,
    ) -> Result<(Receipt, bool)> {
        let kept = self.kept_paths(id, halves.iter().map(|prepared| &prepared.half))?;
        let receipt = self.apply_keeping(id, apply, kept)?;
        let loaded = self.load(id)?;
        let Some(op) = receipt.ops.last().copied() else {
            return Err(StoreError::NothingToDo);
        };
        if self.rows.last_moved(loaded.row.log, Some(OpNo(op.0 + 1)))? == Some(op) {
            return Ok((receipt, false));
        }
        self.touched(id, ChangeKind::Files);
        // A half without moves only names adopted paths.
        let (large, small): (Vec<_>, Vec<_>) = halves.into_iter().partition(|half| half.list.is_some());
        for Prepared { half, list } in large.into_iter().chain(small) {
            match list {
                Some((list, counts)) => self.apply_list(&loaded, op, half, list, counts)?,
                None if half.moves.is_empty() => {}
                None => self.apply_half(&loaded, op, half)?,
            }
        }
        Ok((receipt, true))
    }

    /// The single paths that these halves adopt, each with the entry of its delta.
    fn kept_paths<'a>(
        &mut self,
        id: ConversationId,
        halves: impl Iterator<Item = &'a FilesHalf>,
    ) -> Result<Vec<KeptPath>> {
        let halves: Vec<_> = halves.filter(|half| !half.adopted.is_empty()).collect();
        if halves.is_empty() {
            return Ok(Vec::new());
        }
        let loaded = self.load(id)?;
        let (log, depth) = (loaded.row.log, loaded.conversation.tree.depth());
        let seqs: BTreeMap<DeltaId, u64> =
            self.rows.deltas(log)?.into_iter().map(|line| (line.id, line.seq)).collect();
        let kept = halves.iter().flat_map(|half| {
            half.adopted.iter().filter_map(|(delta, path)| {
                let entry = Pos::new(depth, *seqs.get(delta)?);
                Some(KeptPath { entry, workspace: half.workspace, path: path.clone() })
            })
        });
        Ok(kept.collect::<BTreeSet<KeptPath>>().into_iter().collect())
    }

    /// Records an operation's moves in one workspace.
    fn apply_half(&mut self, loaded: &Loaded, op: OpNo, half: FilesHalf) -> Result<()> {
        self.finish_lists(loaded.row.log, Some(half.workspace))?;
        self.check_layers(loaded.row.log, half.workspace, &half.moves)?;
        self.restack(loaded, half.workspace, &half.moves, forth)?;
        self.decide_intent(loaded, op, &half)?;
        self.rows.insert_moved(&loaded.row, op, &Moved { workspace: half.workspace, moves: half.moves })
    }

    /// The same with a list of moves: however many there are, these are a few rows.
    fn apply_list(
        &mut self,
        loaded: &Loaded,
        op: OpNo,
        half: FilesHalf,
        list: Started,
        counts: Counts,
    ) -> Result<()> {
        let note = note_of(list.log, list.list);
        let is_whole = self.rows.note(&note)?.is_some();
        if !is_whole || self.layer_version(list.log, half.workspace) != list.version {
            let first = half.moves.first().map(|made| made.change.path.to_string());
            return Err(StoreError::StaleFiles(first.unwrap_or_default()));
        }
        self.decide_intent(loaded, op, &half)?;
        self.count_applied(loaded, counts)?;
        self.rows.insert_moved_list(&loaded.row, op, half.workspace, list.list)?;
        self.rows.set_note(&note, None)
    }

    fn decide_intent(&mut self, loaded: &Loaded, op: OpNo, half: &FilesHalf) -> Result<()> {
        let prepared = self.intent(half.workspace)?;
        match prepared.filter(|intent| half.staged && intent.op.is_none()) {
            Some(prepared) => {
                let intent = IntentRow { op: Some((loaded.row.id, op)), ..prepared };
                self.rows.set_intent(half.workspace, Some(&intent))
            }
            None if half.staged => Err(StoreError::Unsettled),
            None => Ok(()),
        }
    }

    /// Replaces the layers of paths, and counts the deltas that left and came.
    fn restack(
        &mut self,
        loaded: &Loaded,
        workspace: WorkspaceNo,
        moves: &[PathMove],
        which: fn(&PathMove) -> (&Stack, &Stack),
    ) -> Result<()> {
        let mut counts = Counts::new();
        count(&mut counts, moves.iter().map(which));
        for made in moves {
            self.set_layers(&loaded.row, workspace, &made.change.path, which(made).1)?;
        }
        self.count_applied(loaded, counts)
    }

    fn count_applied(&mut self, loaded: &Loaded, counts: Counts) -> Result<()> {
        counts.into_iter().try_for_each(|(no, by)| self.rows.count_applied(&loaded.row, no, by))
    }

    pub(super) fn preparing(&mut self, workspace: WorkspaceNo, staging: String) -> Result<()> {
        if self.intent(workspace)?.is_some() {
            return Err(StoreError::Unsettled);
        }
        self.rows.set_intent(workspace, Some(&IntentRow { workspace, op: None, staging, back: false }))
    }

    fn intent(&self, workspace: WorkspaceNo) -> Result<Option<IntentRow>> {
        intent(&*self.rows, workspace)
    }

    /// Settles the files of an operation.
    fn settle(&mut self, workspace: WorkspaceNo) -> Result<()> {
        if let Some((conversation, _)) = self.intent(workspace)?.and_then(|intent| intent.op) {
            self.touched(conversation, ChangeKind::Files);
        }
        self.rows.set_intent(workspace, None)
    }

    /// Reverts an operation with these moves.
    fn turn_back(
        &mut self,
        of: (ConversationId, OpNo),
        did: Vec<AppliedChanges>,
        by: ChangeOrigin,
    ) -> Result<Receipt> {
        let (conversation, op) = of;
        let loaded = self.load(conversation)?;
        let action = Action::Compensate(Step::Op(op));
        let apply = Apply { action, seen: retake_core::SeenState::Anything, by };
        let receipt = self.apply(conversation, apply)?;
        for AppliedChanges { moved, open, counts } in did {
            match open {
                // Its layers were never set on the paths.
                Some(list) => {
                    self.rows.close_list(loaded.row.log, list)?;
                    self.count_applied(&loaded, counts)?;
                }
                None => self.restack(&loaded, moved.workspace, &moved.moves, back)?,
            }
        }
        for intent in self.rows.intents()?.into_iter().filter(|other| other.op == Some(of)) {
            self.rows.set_intent(intent.workspace, Some(&IntentRow { back: true, ..intent.clone() }))?;
        }
        Ok(receipt)
    }
}

/// An operation's changes in a workspace: moves, or an open list with its reversed counts.
struct AppliedChanges {
    moved: Moved,
    open: Option<u64>,
    counts: Counts,
}

fn intent(rows: &dyn Rows, workspace: WorkspaceNo) -> Result<Option<IntentRow>> {
    Ok(rows.intents()?.into_iter().find(|intent| intent.workspace == workspace))
}

/// The lists that no operation names.
fn staged(rows: &dyn Rows) -> Result<Vec<(LogNo, u64)>> {
    let lists = rows.notes(STAGED)?.into_iter().filter_map(|(_, note)| {
        let (log, list) = note.split_first_chunk::<8>()?;
        Some((LogNo(i64::from_le_bytes(*log)), u64::from_le_bytes(list.try_into().ok()?)))
    });
    Ok(lists.collect())
}

/// The content of a list's note.
fn staged_list(log: LogNo, list: u64) -> Vec<u8> {
    [log.0.to_le_bytes(), list.to_le_bytes()].concat()
}

/// Removes lists that no operation names, which a crash has left.
pub(in crate::store) fn sweep(rows: &mut dyn Transactions) -> Result<()> {
    for (log, list) in staged(rows)? {
        let mut left = BATCH;
        while left == BATCH {
            rows.begin()?;
            rows.save()?;
            left = rows.remove_listed(log, list, BATCH)?;
            if left < BATCH {
                rows.set_note(&note_of(log, list), None)?;
            }
            rows.keep()?;
            rows.commit()?;
        }
    }
    Ok(())
}

impl Store {
    /// Decides an operation with its file half in each of these workspaces, as one transaction: afterwards the files must be
    /// carried out.
    pub async fn apply_files(
        &self,
        id: ConversationId,
        apply: Apply,
        halves: Vec<FilesHalf>,
    ) -> Result<Receipt> {
        let is_large = halves.iter().map(|half| half.moves.len()).sum::<usize>() > BATCH;
        let (mut prepared, mut started) = (Vec::new(), Vec::new());
        for mut half in halves {
            let mut list = None;
            if is_large && !half.moves.is_empty() {
                match self.write_list(id, half.workspace, std::mem::take(&mut half.moves), &mut started).await
                {
                    Ok(written) => list = Some(written),
                    Err(error) => {
                        self.remove_lists(started).await;
                        return Err(error);
                    }
                }
            }
            prepared.push(Prepared { half, list });
        }
        let unstaged: Vec<_> = prepared.iter().filter(|it| !it.half.staged && it.list.is_some()).collect();
        let unstaged: Vec<_> = unstaged.into_iter().map(|it| it.half.workspace).collect();
        let decided = self.write(move |context| context.apply_prepared(id, apply, prepared)).await;
        match decided {
            Ok((receipt, true)) => {
                for workspace in unstaged {
                    // The operation is decided, and its layers apply; the rest is finished later.
                    if let Err(error) = self.finish_in_batches(workspace).await {
                        tracing::warn!(cause = error.for_log(), "layers of a step are completed later");
                    }
                }
                Ok(receipt)
            }
            other => {
                self.remove_lists(started).await;
                other.map(|(receipt, _)| receipt)
            }
        }
    }

    /// Writes a list of moves in batches.
    async fn write_list(
        &self,
        id: ConversationId,
        workspace: WorkspaceNo,
        moves: Vec<PathMove>,
        all: &mut Vec<Started>,
    ) -> Result<(Started, Counts)> {
        let (mut counts, mut started) = (Counts::new(), None);
        count(&mut counts, moves.iter().map(forth));
        let mut moves = moves.into_iter();
        loop {
            let batch: Vec<PathMove> = moves.by_ref().take(BATCH).collect();
            if batch.is_empty() {
                break;
            }
            let first = started.is_none();
            let written =
                self.write_alone(move |context| context.add_to_list(id, workspace, started, &batch)).await?;
            if first {
                all.push(written);
            }
            started = Some(written);
        }
        started.map(|started| (started, counts)).ok_or(StoreError::NothingToDo)
    }

    /// Removes lists without a decision. The next start removes the rest.
    async fn remove_lists(&self, lists: Vec<Started>) {
        for Started { log, list, .. } in lists {
            while let Ok(false) =
                self.write_alone(move |context| context.remove_from_list(log, list, BATCH)).await
            {
            }
        }
    }

    /// Sets the layers of the open lists of a workspace on their paths.
    async fn finish_in_batches(&self, workspace: WorkspaceNo) -> Result<()> {
        let open = self.read(|rows| rows.open_lists()).await?;
        for list in open.into_iter().filter(|list| list.workspace == workspace) {
            let mut after = None;
            loop {
                after = self.write_alone(move |context| context.finish_list(&list, after.as_ref())).await?;
                if after.is_none() {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Closes the intent: its files are settled, or nothing was decided.
    pub async fn settle(&self, workspace: WorkspaceNo) -> Result<()> {
        self.finish_in_batches(workspace).await?;
        self.write(move |context| context.settle(workspace)).await
    }

    /// Reverses the intent of a workspace, and all intents of the same operation: the operation is reverted, its layers are as
    /// before. From here on its files must be put back.
    pub async fn turn_back(&self, workspace: WorkspaceNo, by: ChangeOrigin) -> Result<Receipt> {
        let found = self.read(move |rows| {
            let Some((id, op)) = intent(rows, workspace)?.and_then(|intent| intent.op) else {
                return Ok(None);
            };
            let row =
                rows.conversation(id)?.ok_or_else(|| StoreError::UnknownConversation(id.to_string()))?;
            let open = rows.open_lists()?;
            let did = rows.moved(row.log, op)?.into_iter().map(|moved| {
                let here =
                    |list: &&OpenList| (list.log, list.op, list.workspace) == (row.log, op, moved.workspace);
                let open = open.iter().find(here).map(|list| list.list);
                let mut counts = Counts::new();
                count(&mut counts, moved.moves.iter().map(back));
                AppliedChanges { moved, open, counts }
            });
            Ok(Some(((id, op), did.collect())))
        });
        let (of, did) = found.await?.ok_or(StoreError::NothingToDo)?;
        self.write(move |context| context.turn_back(of, did, by)).await
    }
}
