//! Rows about files. Part of the seam between the store's logic and its backends.

use retake_core::{
    Capture, ContentHash, DeltaId, DeltaLine, FilePath, GitMove, Moved, OpNo, Stack, Time, WorkspaceInfo,
    WorkspaceNo,
};

use super::{ConversationRow, LogNo};
use crate::error::Result;
use crate::files::{Claim, DeltaLayers, IntentRow, OpenCall};

/// Rows about files, within one transaction.
pub trait FileRows {
    /// Adds a workspace; its number comes back.
    fn insert_workspace(&mut self, row: &WorkspaceInfo) -> Result<WorkspaceNo>;
    /// Says what the last capture of a workspace saw.
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
    /// The last capture of this name.
    fn checkpoint(&self, workspace: WorkspaceNo, name: &str) -> Result<Option<Capture>>;

    /// Adds a call that may be changing a workspace.
    fn insert_call(&mut self, call: &OpenCall) -> Result<()>;
    /// Removes one of a workspace, where it is there.
    fn remove_call(&mut self, workspace: WorkspaceNo, id: &str) -> Result<()>;
    /// The calls that may be changing a workspace, in the order of their entries' ids.
    fn calls(&self) -> Result<Vec<OpenCall>>;

    /// Says what the call whose result is this entry moved in git; nothing, where that is erased.
    fn insert_git_move(
        &mut self,
        home: &ConversationRow,
        seq: u64,
        workspace: WorkspaceNo,
        moved: &GitMove,
    ) -> Result<()>;
    /// What the calls of a log moved in git, by their results, first first; of one, in the order of the workspaces.
    fn git_moves(&self, log: LogNo) -> Result<Vec<(u64, WorkspaceNo, GitMove)>>;

    /// Adds a delta with its number.
    fn insert_delta(&mut self, home: &ConversationRow, line: &DeltaLine, layers: &DeltaLayers) -> Result<()>;
    /// The deltas of a log, first first.
    fn deltas(&self, log: LogNo) -> Result<Vec<DeltaLine>>;
    /// Of the deltas of a range of a log, in the order of their entries: the entry, and how many paths.
    fn deltas_in(&self, log: LogNo, from: u64, to: u64) -> Result<Vec<(u64, u64)>>;
    /// The paths that the deltas of a range of a log changed, once for each delta, with its entry.
    fn paths_in(&self, log: LogNo, from: u64, to: u64) -> Result<Vec<(u64, WorkspaceNo, FilePath)>>;
    /// The number of the last delta of a log; 0 without any.
    fn last_delta(&self, log: LogNo) -> Result<u64>;
    /// Counts a delta into some more paths (or out of them).
    fn count_applied(&mut self, home: &ConversationRow, delta: DeltaId, by: i64) -> Result<()>;
    /// What a delta did.
    fn delta(&self, delta: DeltaId) -> Result<DeltaLayers>;
    /// Sets the layers of a path. Derived: from deltas and moves it can be made again.
    fn set_layers(
        &mut self,
        home: &ConversationRow,
        workspace: WorkspaceNo,
        path: &FilePath,
        stack: &Stack,
    ) -> Result<()>;
    /// The layers of a path.
    fn layers(&self, log: LogNo, workspace: WorkspaceNo, path: &FilePath) -> Result<Stack>;

    /// Adds what an operation does to the files of a workspace.
    fn insert_moved(&mut self, home: &ConversationRow, op: OpNo, moved: &Moved) -> Result<()>;
    /// What an operation did to files, in the order of the workspaces.
    fn moved(&self, log: LogNo, op: OpNo) -> Result<Vec<Moved>>;
    /// The last operation of a log before this one that did something to files; without one, the last of all.
    fn last_moved(&self, log: LogNo, before: Option<OpNo>) -> Result<Option<OpNo>>;
    /// Sets or removes the intent of a workspace.
    fn set_intent(&mut self, workspace: WorkspaceNo, intent: Option<&IntentRow>) -> Result<()>;
    /// Every intent.
    fn intents(&self) -> Result<Vec<IntentRow>>;

    /// Overwrites what a delta did, and the counts of its line.
    fn rewrite_delta(&mut self, home: &ConversationRow, line: &DeltaLine, layers: &DeltaLayers)
    -> Result<()>;
    /// What the operations of a log did to files, first first.
    fn all_moved(&self, log: LogNo) -> Result<Vec<(OpNo, Moved)>>;
    /// Overwrites what an operation did to the files of a workspace.
    fn rewrite_moved(&mut self, home: &ConversationRow, op: OpNo, moved: &Moved) -> Result<()>;
    /// Overwrites a capture's name and changes.
    fn rewrite_capture(&mut self, workspace: WorkspaceNo, row: &Capture) -> Result<()>;
    /// Removes the captures before a time that have no name; of the last one of a workspace, whose number is needed, only
    /// what it saw. How many there were.
    fn remove_captures(&mut self, before: Time) -> Result<u64>;
    /// How many those are.
    fn old_captures(&self, before: Time) -> Result<u64>;
    /// Removes a workspace, its captures and its intent; deltas and operations forget what they did there.
    fn remove_workspace(&mut self, workspace: WorkspaceNo) -> Result<()>;
    /// Every file's bytes that a row names. A row that can't be read is an error: what it names is not known.
    fn claims(&self) -> Result<Vec<Claim>>;

    /// What is noted under exactly this name.
    fn note(&self, name: &str) -> Result<Option<Vec<u8>>>;
    /// Notes something under a name, or removes what is noted there.
    fn set_note(&mut self, name: &str, note: Option<&[u8]>) -> Result<()>;
    /// The notes whose names begin so, with what they say.
    fn notes(&self, beginning: &str) -> Result<Vec<(String, Vec<u8>)>>;
}

/// The note of what is to be erased from the object store.
pub const ERASED_OBJECTS: &str = "erased_objects";
/// The note of how far back the bytes of files are kept.
pub const KEPT_SINCE: &str = "files_kept_since";
