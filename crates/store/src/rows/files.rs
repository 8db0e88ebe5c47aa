//! The interface for rows about files.

use retake_core::{
    Capture, ContentHash, DeltaId, DeltaLine, FilePath, GitMove, Moved, OpNo, Stack, Time, WorkspaceInfo,
    WorkspaceNo,
};

use super::{ConversationRow, LogNo};
use crate::error::Result;
use crate::files::{Claim, DeltaLayers, IntentRow, OpenCall};

/// Rows about files, within one transaction.
pub trait FileRows {
    /// Adds a workspace; returns its number.
    fn insert_workspace(&mut self, row: &WorkspaceInfo) -> Result<WorkspaceNo>;
    /// Sets the mark of a workspace's last capture.
    fn set_mark(&mut self, workspace: WorkspaceNo, mark: ContentHash) -> Result<()>;
    /// Every workspace, in order of their numbers.
    fn workspaces(&self) -> Result<Vec<WorkspaceInfo>>;
    /// Adds a capture, with its number.
    fn insert_capture(&mut self, workspace: WorkspaceNo, row: &Capture) -> Result<()>;
    /// The number of the last capture of a workspace; 0 without any.
    fn last_capture(&self, workspace: WorkspaceNo) -> Result<u64>;
    /// Captures before a number, newest first.
    fn captures(&self, workspace: WorkspaceNo, before: Option<u64>, limit: usize) -> Result<Vec<Capture>>;
    /// The manifests of all captures, in all workspaces.
    fn manifests(&self) -> Result<Vec<ContentHash>>;
    /// The last capture with this name.
    fn checkpoint(&self, workspace: WorkspaceNo, name: &str) -> Result<Option<Capture>>;

    /// Adds a call that may change a workspace.
    fn insert_call(&mut self, call: &OpenCall) -> Result<()>;
    /// Removes a call of a workspace, if it exists.
    fn remove_call(&mut self, workspace: WorkspaceNo, id: &str) -> Result<()>;
    /// The calls that may change a workspace, in the order of their entries' ids.
    fn calls(&self) -> Result<Vec<OpenCall>>;

    /// Sets a call's moves in git, by the entry of its result; nothing if they are erased.
    fn insert_git_move(
        &mut self,
        home: &ConversationRow,
        seq: u64,
        workspace: WorkspaceNo,
        moved: &GitMove,
    ) -> Result<()>;
    /// The moves in git of a log's calls, by their results, oldest first; those of one call in the order of the
    /// workspaces.
    fn git_moves(&self, log: LogNo) -> Result<Vec<(u64, WorkspaceNo, GitMove)>>;

    /// Adds a delta with its number.
    fn insert_delta(&mut self, home: &ConversationRow, line: &DeltaLine, layers: &DeltaLayers) -> Result<()>;
    /// Adds the entry of an answer whose calls may have made a delta's ambiguous changes.
    fn insert_candidate(&mut self, home: &ConversationRow, delta: DeltaId, seq: u64) -> Result<()>;
    /// The candidates of a log's deltas.
    fn candidates(&self, log: LogNo) -> Result<Vec<(DeltaId, u64)>>;
    /// The deltas of a log, oldest first.
    fn deltas(&self, log: LogNo) -> Result<Vec<DeltaLine>>;
    /// The deltas in a range of a log, in the order of their entries: the entry, and the number of paths.
    fn deltas_in(&self, log: LogNo, from: u64, to: u64) -> Result<Vec<(u64, u64)>>;
    /// The paths that the deltas of a range of a log changed, once for each delta, with its entry.
    fn paths_in(&self, log: LogNo, from: u64, to: u64) -> Result<Vec<(u64, WorkspaceNo, FilePath)>>;
    /// The number of the last delta of a log; 0 without any.
    fn last_delta(&self, log: LogNo) -> Result<u64>;
    /// Adds a number to a delta's count of paths that contain it.
    fn count_applied(&mut self, home: &ConversationRow, delta: DeltaId, by: i64) -> Result<()>;
    /// The layers of a delta.
    fn delta(&self, delta: DeltaId) -> Result<DeltaLayers>;
    /// Sets the layers of a path. Derived: they can be computed from deltas and moves.
    fn set_layers(
        &mut self,
        home: &ConversationRow,
        workspace: WorkspaceNo,
        path: &FilePath,
        stack: &Stack,
    ) -> Result<()>;
    /// The layers of a path.
    fn layers(&self, log: LogNo, workspace: WorkspaceNo, path: &FilePath) -> Result<Stack>;

    /// Adds an operation's moves in a workspace.
    fn insert_moved(&mut self, home: &ConversationRow, op: OpNo, moved: &Moved) -> Result<()>;
    /// An operation's moves, in the order of the workspaces.
    fn moved(&self, log: LogNo, op: OpNo) -> Result<Vec<Moved>>;
    /// The last operation of a log before this one with file changes; without one, the last of all.
    fn last_moved(&self, log: LogNo, before: Option<OpNo>) -> Result<Option<OpNo>>;
    /// Sets or removes the intent of a workspace.
    fn set_intent(&mut self, workspace: WorkspaceNo, intent: Option<&IntentRow>) -> Result<()>;
    /// Every intent.
    fn intents(&self) -> Result<Vec<IntentRow>>;

    /// Overwrites a delta's layers, and the counts of its line.
    fn rewrite_delta(&mut self, home: &ConversationRow, line: &DeltaLine, layers: &DeltaLayers)
    -> Result<()>;
    /// The moves of a log's operations, oldest first.
    fn all_moved(&self, log: LogNo) -> Result<Vec<(OpNo, Moved)>>;
    /// Overwrites an operation's moves in a workspace.
    fn rewrite_moved(&mut self, home: &ConversationRow, op: OpNo, moved: &Moved) -> Result<()>;
    /// Overwrites a capture's name and changes.
    fn rewrite_capture(&mut self, workspace: WorkspaceNo, row: &Capture) -> Result<()>;
    /// Removes the captures before a time that have no name; the last one of a workspace, whose number is needed, loses
    /// only its changes. Returns their number.
    fn remove_captures(&mut self, before: Time) -> Result<u64>;
    /// The number of these captures.
    fn old_captures(&self, before: Time) -> Result<u64>;
    /// Removes a workspace, its captures and its intent; deltas and operations lose their changes there.
    fn remove_workspace(&mut self, workspace: WorkspaceNo) -> Result<()>;
    /// Every object that a row names. An unreadable row is an error, because its objects are not known.
    fn claims(&self) -> Result<Vec<Claim>>;

    /// The note with exactly this name.
    fn note(&self, name: &str) -> Result<Option<Vec<u8>>>;
    /// Sets or removes the note with this name.
    fn set_note(&mut self, name: &str, note: Option<&[u8]>) -> Result<()>;
    /// The notes whose names have this prefix, with their content.
    fn notes(&self, beginning: &str) -> Result<Vec<(String, Vec<u8>)>>;
}

/// The name of the note of objects to erase from the object store.
pub const ERASED_OBJECTS: &str = "erased_objects";
/// The name of the note of how far back file versions are kept.
pub const KEPT_SINCE: &str = "files_kept_since";
