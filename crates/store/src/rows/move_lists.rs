//! Rows of large steps of files: a list of moves is written in batches before the operation that it belongs to, and has no
//! effect until an operation names it. Part of the interface between the store's logic and its backends.

use retake_core::{FilePath, OpNo, PathMove, WorkspaceNo};

use super::{ConversationRow, LogNo};
use crate::error::Result;

/// A list of moves that an operation names and whose layers are not set on the paths yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenList {
    /// The log of the operation.
    pub log: LogNo,
    /// The operation.
    pub op: OpNo,
    /// The workspace.
    pub workspace: WorkspaceNo,
    /// The number of the list in its log.
    pub list: u64,
}

/// Lists of moves, within one transaction.
pub trait MoveListRows {
    /// The number of the last list of a log; 0 without any.
    fn last_list(&self, log: LogNo) -> Result<u64>;
    /// Adds moves to a list.
    fn add_to_list(&mut self, home: &ConversationRow, list: u64, moves: &[PathMove]) -> Result<()>;
    /// Adds an operation's changes in a workspace: the moves of a list. The list is open: its layers apply instead of those on
    /// its paths.
    fn insert_moved_list(
        &mut self,
        home: &ConversationRow,
        op: OpNo,
        workspace: WorkspaceNo,
        list: u64,
    ) -> Result<()>;
    /// The open lists of all logs: a few at any time.
    fn open_lists(&self) -> Result<Vec<OpenList>>;
    /// Moves of a list after a path, at most `limit`, in the backend's order of paths.
    fn listed(&self, log: LogNo, list: u64, after: Option<&FilePath>, limit: usize) -> Result<Vec<PathMove>>;
    /// Closes a list: the layers on its paths apply again.
    fn close_list(&mut self, log: LogNo, list: u64) -> Result<()>;
    /// Removes moves of a list that no operation names, at most `limit`; returns their number.
    fn remove_listed(&mut self, log: LogNo, list: u64, limit: usize) -> Result<usize>;
}
