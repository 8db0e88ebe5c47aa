//! Rows about files, in memory.

mod move_lists;

use retake_core::{
    Capture, ContentHash, DeltaId, DeltaLine, FilePath, GitMove, Moved, OpNo, Stack, Time, WorkspaceInfo,
    WorkspaceNo,
};
use rpds::RedBlackTreeMapSync;

use super::MemoryRows;
use crate::error::{Result, StoreError};
use crate::files::{Claim, DeltaLayers, IntentRow, OpenCall};
use crate::rows::{Claims, ConversationRow, FileRows, Key, LogNo};

/// The first possible workspace number.
const FIRST: WorkspaceNo = WorkspaceNo(0);
const LAST: WorkspaceNo = WorkspaceNo(u64::MAX);

/// All rows about files.
#[derive(Clone, Debug, Default)]
pub(super) struct Files {
    workspaces: RedBlackTreeMapSync<WorkspaceNo, WorkspaceInfo>,
    captures: RedBlackTreeMapSync<(WorkspaceNo, u64), Capture>,
    calls: RedBlackTreeMapSync<(String, WorkspaceNo), OpenCall>,
    git_moves: RedBlackTreeMapSync<(LogNo, u64, WorkspaceNo), GitMove>,
    deltas: RedBlackTreeMapSync<DeltaId, (DeltaLine, DeltaLayers)>,
    candidates: RedBlackTreeMapSync<(DeltaId, u64), ()>,
    layers: RedBlackTreeMapSync<(LogNo, WorkspaceNo, FilePath), Stack>,
    moved: RedBlackTreeMapSync<(LogNo, OpNo, WorkspaceNo), Moved>,
    lists: move_lists::MoveLists,
    intents: RedBlackTreeMapSync<WorkspaceNo, IntentRow>,
    notes: RedBlackTreeMapSync<String, Vec<u8>>,
}

impl Files {
    fn is_last(&self, (workspace, no): (WorkspaceNo, u64)) -> bool {
        self.captures.range((workspace, no + 1)..=(workspace, u64::MAX)).next().is_none()
    }

    fn old_captures(&self, before: Time) -> Vec<(WorkspaceNo, u64)> {
        let old = |(key, row): (&(WorkspaceNo, u64), &Capture)| {
            let something = !row.changes.is_empty() || !self.is_last(*key);
            (row.name.is_none() && row.time < before && something).then_some(*key)
        };
        self.captures.iter().filter_map(old).collect()
    }

    fn moved_of(&self, log: LogNo) -> impl Iterator<Item = (OpNo, Moved)> {
        let moved = self.moved.range((log, OpNo(0), FIRST)..=(log, OpNo(u64::MAX), LAST));
        moved.map(|((log, op, _), moved)| (*op, self.lists.whole(*log, *op, moved)))
    }

    fn of_log(&self, log: LogNo) -> impl DoubleEndedIterator<Item = &(DeltaLine, DeltaLayers)> {
        self.deltas.range(DeltaId { log, no: 0 }..=DeltaId { log, no: u64::MAX }).map(|(_, delta)| delta)
    }

    fn within(&self, log: LogNo, from: u64, to: u64) -> impl Iterator<Item = &(DeltaLine, DeltaLayers)> {
        self.of_log(log).filter(move |(line, _)| (from..=to).contains(&line.seq))
    }
}

impl FileRows for MemoryRows {
    fn insert_workspace(&mut self, row: &WorkspaceInfo) -> Result<WorkspaceNo> {
        let files = &mut self.data.files;
        let no = WorkspaceNo(files.workspaces.keys().next_back().map_or(1, |last| last.0 + 1));
        files.workspaces.insert_mut(no, WorkspaceInfo { no, ..row.clone() });
        Ok(no)
    }

    fn workspaces(&self) -> Result<Vec<WorkspaceInfo>> {
        Ok(self.data.files.workspaces.values().cloned().collect())
    }

    fn set_mark(&mut self, workspace: WorkspaceNo, mark: ContentHash) -> Result<()> {
        if let Some(row) = self.data.files.workspaces.get_mut(&workspace) {
            row.mark = Some(mark);
        }
        Ok(())
    }

    fn insert_capture(&mut self, workspace: WorkspaceNo, row: &Capture) -> Result<()> {
        self.data.files.captures.insert_mut((workspace, row.no), row.clone());
        Ok(())
    }

    fn last_capture(&self, workspace: WorkspaceNo) -> Result<u64> {
        let mut captures = self.data.files.captures.range((workspace, 0)..=(workspace, u64::MAX));
        Ok(captures.next_back().map_or(0, |((_, no), _)| *no))
    }

    fn captures(&self, workspace: WorkspaceNo, before: Option<u64>, limit: usize) -> Result<Vec<Capture>> {
        let before = before.unwrap_or(u64::MAX);
        let captures = self.data.files.captures.range((workspace, 0)..(workspace, before));
        Ok(captures.rev().take(limit).map(|(_, row)| row.clone()).collect())
    }

    fn manifests(&self) -> Result<Vec<ContentHash>> {
        Ok(self.data.files.captures.values().filter_map(|row| row.manifest).collect())
    }

    fn checkpoint(&self, workspace: WorkspaceNo, name: &str) -> Result<Option<Capture>> {
        let captures = self.data.files.captures.range((workspace, 0)..=(workspace, u64::MAX));
        let named = |row: &&Capture| row.name.as_deref() == Some(name);
        Ok(captures.rev().map(|(_, row)| row).find(named).cloned())
    }

    fn insert_call(&mut self, call: &OpenCall) -> Result<()> {
        self.data.files.calls.insert_mut((call.id.clone(), call.workspace), call.clone());
        Ok(())
    }

    fn remove_call(&mut self, workspace: WorkspaceNo, id: &str) -> Result<()> {
        self.data.files.calls.remove_mut(&(id.to_owned(), workspace));
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
        self.data.files.git_moves.insert_mut((home.log, seq, workspace), moved.clone());
        Ok(())
    }

    fn git_moves(&self, log: LogNo) -> Result<Vec<(u64, WorkspaceNo, GitMove)>> {
        let moves = self.data.files.git_moves.range((log, 0, FIRST)..=(log, u64::MAX, LAST));
        Ok(moves.map(|((_, seq, workspace), moved)| (*seq, *workspace, moved.clone())).collect())
    }

    fn insert_delta(&mut self, _: &ConversationRow, line: &DeltaLine, layers: &DeltaLayers) -> Result<()> {
        self.data.files.deltas.insert_mut(line.id, (*line, layers.clone()));
        Ok(())
    }

    fn insert_candidate(&mut self, _: &ConversationRow, delta: DeltaId, seq: u64) -> Result<()> {
        self.data.files.candidates.insert_mut((delta, seq), ());
        Ok(())
    }

    fn candidates(&self, log: LogNo) -> Result<Vec<(DeltaId, u64)>> {
        let all = (DeltaId { log, no: 0 }, 0)..=(DeltaId { log, no: u64::MAX }, u64::MAX);
        Ok(self.data.files.candidates.range(all).map(|(key, ())| *key).collect())
    }

    fn deltas(&self, log: LogNo) -> Result<Vec<DeltaLine>> {
        Ok(self.data.files.of_log(log).map(|(line, _)| *line).collect())
    }

    fn deltas_in(&self, log: LogNo, from: u64, to: u64) -> Result<Vec<(u64, u64)>> {
        let deltas = self.data.files.within(log, from, to);
        let mut lines: Vec<(u64, u64)> = deltas.map(|(line, _)| (line.seq, line.paths)).collect();
        lines.sort_unstable();
        Ok(lines)
    }

    fn paths_in(&self, log: LogNo, from: u64, to: u64) -> Result<Vec<(u64, WorkspaceNo, FilePath)>> {
        let deltas = self.data.files.within(log, from, to);
        let paths = deltas.flat_map(|(line, layers)| {
            layers.iter().map(|(path, _)| (line.seq, line.workspace, path.clone()))
        });
        Ok(paths.collect())
    }

    fn last_delta(&self, log: LogNo) -> Result<u64> {
        Ok(self.data.files.of_log(log).next_back().map_or(0, |(line, _)| line.id.no))
    }

    fn count_applied(&mut self, _: &ConversationRow, delta: DeltaId, by: i64) -> Result<()> {
        if let Some((line, _)) = self.data.files.deltas.get_mut(&delta) {
            line.applied = line.applied.saturating_add_signed(by);
        }
        Ok(())
    }

    fn delta(&self, id: DeltaId) -> Result<DeltaLayers> {
        let found = self.data.files.deltas.get(&id).map(|(_, layers)| layers.clone());
        found.ok_or_else(|| {
            StoreError::missing(format!("delta {} of conversation number {}", id.no, id.log.0))
        })
    }

    fn set_layers(
        &mut self,
        home: &ConversationRow,
        workspace: WorkspaceNo,
        path: &FilePath,
        stack: &Stack,
    ) -> Result<()> {
        let (key, layers) = ((home.log, workspace, path.clone()), &mut self.data.files.layers);
        match stack.layers() {
            [] => drop(layers.remove_mut(&key)),
            _ => layers.insert_mut(key, stack.clone()),
        }
        Ok(())
    }

    fn layers(&self, log: LogNo, workspace: WorkspaceNo, path: &FilePath) -> Result<Stack> {
        let files = &self.data.files;
        let open = files.lists.open_layers(log, workspace, path);
        Ok(open.or_else(|| files.layers.get(&(log, workspace, path.clone()))).cloned().unwrap_or_default())
    }

    fn insert_moved(&mut self, home: &ConversationRow, op: OpNo, moved: &Moved) -> Result<()> {
        self.data.files.moved.insert_mut((home.log, op, moved.workspace), moved.clone());
        Ok(())
    }

    fn moved(&self, log: LogNo, op: OpNo) -> Result<Vec<Moved>> {
        let moved = self.data.files.moved.range((log, op, FIRST)..=(log, op, LAST));
        Ok(moved.map(|(_, moved)| self.data.files.lists.whole(log, op, moved)).collect())
    }

    fn last_moved(&self, log: LogNo, before: Option<OpNo>) -> Result<Option<OpNo>> {
        let moved = self.data.files.moved.range((log, OpNo(0), FIRST)..=(log, OpNo(u64::MAX), LAST));
        let ops = moved.map(|((_, op, _), _)| *op);
        Ok(ops.take_while(|op| before.is_none_or(|before| *op < before)).last())
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

    fn rewrite_delta(
        &mut self,
        home: &ConversationRow,
        line: &DeltaLine,
        layers: &DeltaLayers,
    ) -> Result<()> {
        self.insert_delta(home, line, layers)
    }

    fn all_moved(&self, log: LogNo) -> Result<Vec<(OpNo, Moved)>> {
        Ok(self.data.files.moved_of(log).collect())
    }

    fn rewrite_moved(&mut self, home: &ConversationRow, op: OpNo, moved: &Moved) -> Result<()> {
        self.data
            .files
            .lists
            .forget(|list| (list.log, list.op, list.workspace) == (home.log, op, moved.workspace));
        self.insert_moved(home, op, moved)
    }

    fn rewrite_capture(&mut self, workspace: WorkspaceNo, row: &Capture) -> Result<()> {
        self.insert_capture(workspace, row)
    }

    fn remove_captures(&mut self, before: Time) -> Result<u64> {
        let doomed = self.data.files.old_captures(before);
        for key in &doomed {
            let is_last = self.data.files.is_last(*key);
            match self.data.files.captures.get_mut(key).filter(|_| is_last) {
                Some(last) => last.changes.clear(),
                None => drop(self.data.files.captures.remove_mut(key)),
            }
        }
        Ok(doomed.len() as u64)
    }

    fn old_captures(&self, before: Time) -> Result<u64> {
        Ok(self.data.files.old_captures(before).len() as u64)
    }

    fn remove_workspace(&mut self, workspace: WorkspaceNo) -> Result<()> {
        let files = &mut self.data.files;
        files.workspaces.remove_mut(&workspace);
        files.intents.remove_mut(&workspace);
        let calls: Vec<_> = files.calls.keys().filter(|(_, of)| *of == workspace).cloned().collect();
        for key in &calls {
            files.calls.remove_mut(key);
        }
        let captures: Vec<_> = files.captures.keys().filter(|(of, _)| *of == workspace).copied().collect();
        for key in &captures {
            files.captures.remove_mut(key);
        }
        let layers: Vec<_> = files.layers.keys().filter(|(_, of, _)| *of == workspace).cloned().collect();
        for key in &layers {
            files.layers.remove_mut(key);
        }
        let here = |(key, (line, _)): (&DeltaId, &(DeltaLine, DeltaLayers))| {
            (line.workspace == workspace).then_some((*key, DeltaLine { paths: 0, applied: 0, ..*line }))
        };
        let deltas: Vec<_> = files.deltas.iter().filter_map(here).collect();
        deltas.into_iter().for_each(|(key, line)| files.deltas.insert_mut(key, (line, DeltaLayers::new())));
        files.lists.forget(|list| list.workspace == workspace);
        let moved: Vec<_> = files.moved.keys().filter(|(.., of)| *of == workspace).copied().collect();
        moved.into_iter().for_each(|key| files.moved.insert_mut(key, Moved { workspace, moves: Vec::new() }));
        Ok(())
    }

    fn claims(&self) -> Result<Vec<Claim>> {
        let files = &self.data.files;
        let mut claims = Claims::default();
        for ((workspace, _), row) in files.captures.iter() {
            claims.capture(*workspace, row);
        }
        for (id, (line, layers)) in files.deltas.iter() {
            let time = self.data.saved(Key { log: id.log, seq: line.seq })?.entry.meta.time;
            let by = (self.data.log(id.log)?.row.id, *id);
            claims.delta(line.workspace, by, time, layers);
        }
        for ((log, workspace, _), stack) in files.layers.iter() {
            claims.stack(*workspace, self.data.log(*log)?.row.id, stack);
        }
        for ((log, op, _), moved) in files.moved.iter() {
            let moved = files.lists.whole(*log, *op, moved);
            claims.moved((self.data.log(*log)?.row.id, *op), self.data.op(*log, *op)?.time, &moved);
        }
        Ok(claims.found)
    }

    fn note(&self, name: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.data.files.notes.get(name).cloned())
    }

    fn notes(&self, beginning: &str) -> Result<Vec<(String, Vec<u8>)>> {
        let notes = self.data.files.notes.iter().filter(|(name, _)| name.starts_with(beginning));
        Ok(notes.map(|(name, note)| (name.clone(), note.clone())).collect())
    }

    fn set_note(&mut self, name: &str, note: Option<&[u8]>) -> Result<()> {
        match note {
            Some(note) => self.data.files.notes.insert_mut(name.to_owned(), note.to_vec()),
            None => drop(self.data.files.notes.remove_mut(name)),
        }
        Ok(())
    }
}
