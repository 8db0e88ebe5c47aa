//! Rows about files, in memory.

use retake_core::{ContentHash, DeltaNo, FilePath, GitMove, OpNo, Stack};
use rpds::{RedBlackTreeMapSync, VectorSync};

use super::MemoryRows;
use crate::error::{Result, StoreError};
use crate::files::{
    CaptureRow, DeltaLayers, DeltaLine, IntentRow, Moved, OpenCall, WorkspaceNo, WorkspaceRow,
};
use crate::rows::{ConversationRow, FileRows, LogNo};

/// Everything about files.
#[derive(Clone, Debug, Default)]
pub(super) struct Files {
    workspaces: VectorSync<WorkspaceRow>,
    captures: RedBlackTreeMapSync<(WorkspaceNo, u64), CaptureRow>,
    calls: RedBlackTreeMapSync<String, OpenCall>,
    git_moves: RedBlackTreeMapSync<(LogNo, u64), (WorkspaceNo, GitMove)>,
    deltas: RedBlackTreeMapSync<(LogNo, DeltaNo), (DeltaLine, DeltaLayers)>,
    layers: RedBlackTreeMapSync<(LogNo, WorkspaceNo, FilePath), Stack>,
    moved: RedBlackTreeMapSync<(LogNo, OpNo), Moved>,
    intents: RedBlackTreeMapSync<WorkspaceNo, IntentRow>,
}

impl Files {
    fn of_log(&self, log: LogNo) -> impl DoubleEndedIterator<Item = &(DeltaLine, DeltaLayers)> {
        self.deltas.range((log, DeltaNo(0))..=(log, DeltaNo(u64::MAX))).map(|(_, delta)| delta)
    }
}

impl FileRows for MemoryRows {
    fn insert_workspace(&mut self, row: &WorkspaceRow) -> Result<WorkspaceNo> {
        let files = &mut self.data.files;
        let no = WorkspaceNo(files.workspaces.len() as u64 + 1);
        files.workspaces.push_back_mut(WorkspaceRow { no, ..row.clone() });
        Ok(no)
    }

    fn workspaces(&self) -> Result<Vec<WorkspaceRow>> {
        Ok(self.data.files.workspaces.iter().cloned().collect())
    }

    fn set_mark(&mut self, workspace: WorkspaceNo, mark: ContentHash) -> Result<()> {
        let at = usize::try_from(workspace.0).unwrap_or(0).wrapping_sub(1);
        if let Some(row) = self.data.files.workspaces.get_mut(at) {
            row.mark = Some(mark);
        }
        Ok(())
    }

    fn insert_capture(&mut self, workspace: WorkspaceNo, row: &CaptureRow) -> Result<()> {
        self.data.files.captures.insert_mut((workspace, row.no), row.clone());
        Ok(())
    }

    fn captures(&self, workspace: WorkspaceNo, before: Option<u64>, limit: usize) -> Result<Vec<CaptureRow>> {
        let before = before.unwrap_or(u64::MAX);
        let captures = self.data.files.captures.range((workspace, 0)..(workspace, before));
        Ok(captures.rev().take(limit).map(|(_, row)| row.clone()).collect())
    }

    fn insert_call(&mut self, call: &OpenCall) -> Result<()> {
        self.data.files.calls.insert_mut(call.id.clone(), call.clone());
        Ok(())
    }

    fn remove_call(&mut self, id: &str) -> Result<()> {
        self.data.files.calls.remove_mut(id);
        Ok(())
    }

    fn calls(&self) -> Result<Vec<OpenCall>> {
        let mut calls: Vec<OpenCall> = self.data.files.calls.values().cloned().collect();
        calls.sort_by_key(|call| call.entry);
        Ok(calls)
    }

    fn insert_git_move(
        &mut self,
        home: &ConversationRow,
        seq: u64,
        workspace: WorkspaceNo,
        moved: &GitMove,
    ) -> Result<()> {
        self.data.files.git_moves.insert_mut((home.log, seq), (workspace, moved.clone()));
        Ok(())
    }

    fn git_moves(&self, log: LogNo) -> Result<Vec<(u64, WorkspaceNo, GitMove)>> {
        let moves = self.data.files.git_moves.range((log, 0)..=(log, u64::MAX));
        Ok(moves.map(|((_, seq), (workspace, moved))| (*seq, *workspace, moved.clone())).collect())
    }

    fn insert_delta(&mut self, home: &ConversationRow, line: &DeltaLine, layers: &DeltaLayers) -> Result<()> {
        self.data.files.deltas.insert_mut((home.log, line.no), (*line, layers.clone()));
        Ok(())
    }

    fn deltas(&self, log: LogNo) -> Result<Vec<DeltaLine>> {
        Ok(self.data.files.of_log(log).map(|(line, _)| *line).collect())
    }

    fn last_delta(&self, log: LogNo) -> Result<Option<DeltaNo>> {
        Ok(self.data.files.of_log(log).next_back().map(|(line, _)| line.no))
    }

    fn count_applied(&mut self, home: &ConversationRow, no: DeltaNo, by: i64) -> Result<()> {
        if let Some((line, _)) = self.data.files.deltas.get_mut(&(home.log, no)) {
            line.applied = line.applied.saturating_add_signed(by);
        }
        Ok(())
    }

    fn delta(&self, log: LogNo, no: DeltaNo) -> Result<DeltaLayers> {
        let found = self.data.files.deltas.get(&(log, no)).map(|(_, layers)| layers.clone());
        found.ok_or_else(|| StoreError::Damaged {
            row: format!("delta {} of conversation number {}", no.0, log.0),
            why: "it is missing".into(),
        })
    }

    fn set_layers(
        &mut self,
        home: &ConversationRow,
        workspace: WorkspaceNo,
        path: &FilePath,
        stack: &Stack,
    ) -> Result<()> {
        self.data.files.layers.insert_mut((home.log, workspace, path.clone()), stack.clone());
        Ok(())
    }

    fn layers(&self, log: LogNo, workspace: WorkspaceNo, path: &FilePath) -> Result<Stack> {
        Ok(self.data.files.layers.get(&(log, workspace, path.clone())).cloned().unwrap_or_default())
    }

    fn insert_moved(&mut self, home: &ConversationRow, op: OpNo, moved: &Moved) -> Result<()> {
        self.data.files.moved.insert_mut((home.log, op), moved.clone());
        Ok(())
    }

    fn moved(&self, log: LogNo, op: OpNo) -> Result<Option<Moved>> {
        Ok(self.data.files.moved.get(&(log, op)).cloned())
    }

    fn set_intent(&mut self, workspace: WorkspaceNo, intent: Option<&IntentRow>) -> Result<()> {
        match intent {
            Some(intent) => self.data.files.intents.insert_mut(workspace, intent.clone()),
            None => drop(self.data.files.intents.remove_mut(&workspace)),
        }
        Ok(())
    }

    fn intents(&self) -> Result<Vec<IntentRow>> {
        Ok(self.data.files.intents.values().cloned().collect())
    }
}
