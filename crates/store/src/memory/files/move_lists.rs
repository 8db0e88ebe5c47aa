//! Lists of moves, in memory.

use retake_core::{FilePath, Moved, OpNo, PathMove, Stack, WorkspaceNo};
use rpds::RedBlackTreeMapSync;

use super::super::MemoryRows;
use crate::error::Result;
use crate::rows::{ConversationRow, LogNo, MoveListRows, OpenList};

type Moves = RedBlackTreeMapSync<FilePath, PathMove>;

/// All lists: their moves and their operations.
#[derive(Clone, Debug, Default)]
pub(super) struct MoveLists {
    moves: RedBlackTreeMapSync<(LogNo, u64), Moves>,
    /// Lists that an operation names, and whether they are open.
    named: Vec<(OpenList, bool)>,
}

impl MoveLists {
    /// An operation's moves in a workspace, from its row or its list.
    pub(super) fn whole(&self, log: LogNo, op: OpNo, row: &Moved) -> Moved {
        let of = |list: &OpenList| (list.log, list.op, list.workspace) == (log, op, row.workspace);
        let list = self.named.iter().find(|(list, _)| of(list));
        let moves = list.and_then(|(list, _)| self.moves.get(&(log, list.list)));
        match moves {
            Some(moves) => Moved { moves: moves.values().cloned().collect(), ..*row },
            None => row.clone(),
        }
    }

    /// The layers of a path in an open list.
    pub(super) fn open_layers(&self, log: LogNo, workspace: WorkspaceNo, path: &FilePath) -> Option<&Stack> {
        let here = |list: &OpenList| list.log == log && list.workspace == workspace;
        let mut open = self.named.iter().filter(|(list, open)| *open && here(list));
        open.find_map(|(list, _)| self.moves.get(&(log, list.list))?.get(path)).map(|made| &made.stack_after)
    }

    /// Removes lists that operations name.
    pub(super) fn forget(&mut self, which: impl Fn(&OpenList) -> bool) {
        for (list, _) in self.named.extract_if(.., |(list, _)| which(list)) {
            self.moves.remove_mut(&(list.log, list.list));
        }
    }
}

impl MoveListRows for MemoryRows {
    fn last_list(&self, log: LogNo) -> Result<u64> {
        let mut lists = self.data.files.lists.moves.range((log, 0)..=(log, u64::MAX));
        Ok(lists.next_back().map_or(0, |((_, list), _)| *list))
    }

    fn add_to_list(&mut self, home: &ConversationRow, list: u64, moves: &[PathMove]) -> Result<()> {
        let lists = &mut self.data.files.lists.moves;
        let mut all = lists.get(&(home.log, list)).cloned().unwrap_or_default();
        for made in moves {
            all.insert_mut(made.change.path.clone(), made.clone());
        }
        lists.insert_mut((home.log, list), all);
        Ok(())
    }

    fn insert_moved_list(
        &mut self,
        home: &ConversationRow,
        op: OpNo,
        workspace: WorkspaceNo,
        list: u64,
    ) -> Result<()> {
        let files = &mut self.data.files;
        files.moved.insert_mut((home.log, op, workspace), Moved { workspace, moves: Vec::new() });
        files.lists.named.push((OpenList { log: home.log, op, workspace, list }, true));
        Ok(())
    }

    fn open_lists(&self) -> Result<Vec<OpenList>> {
        let open = self.data.files.lists.named.iter().filter(|(_, open)| *open);
        Ok(open.map(|(list, _)| *list).collect())
    }

    fn listed(&self, log: LogNo, list: u64, after: Option<&FilePath>, limit: usize) -> Result<Vec<PathMove>> {
        let Some(moves) = self.data.files.lists.moves.get(&(log, list)) else {
            return Ok(Vec::new());
        };
        let behind = |path: &&FilePath| after.is_none_or(|after| *path > after);
        let found = moves.iter().filter(|(path, _)| behind(path)).take(limit);
        Ok(found.map(|(_, made)| made.clone()).collect())
    }

    fn close_list(&mut self, log: LogNo, list: u64) -> Result<()> {
        for (named, open) in &mut self.data.files.lists.named {
            *open &= (named.log, named.list) != (log, list);
        }
        Ok(())
    }

    fn remove_listed(&mut self, log: LogNo, list: u64, limit: usize) -> Result<usize> {
        let lists = &mut self.data.files.lists.moves;
        let Some(mut moves) = lists.get(&(log, list)).cloned() else { return Ok(0) };
        let doomed: Vec<FilePath> = moves.keys().take(limit).cloned().collect();
        for path in &doomed {
            moves.remove_mut(path);
        }
        match moves.is_empty() {
            true => drop(lists.remove_mut(&(log, list))),
            false => lists.insert_mut((log, list), moves),
        }
        Ok(doomed.len())
    }
}
