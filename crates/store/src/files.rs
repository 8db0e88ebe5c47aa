//! The store's rows about files: workspaces, captures, deltas, the layers of each path, and the intents of operations
//! whose files are not settled. The object store has the bytes.

use std::collections::BTreeSet;

use retake_core::{
    ContentHash, ConversationId, DeltaId, DeltaLine, EntryId, FactsChanged, FileChange, FilePath, GitMove,
    Grade, KeptPath, Layer, OpNo, PathMove, Time, WorkspaceNo,
};

/// A capture to store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCapture {
    /// Its time.
    pub time: Time,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Changes without a call.
    pub changes: Vec<FileChange>,
    /// Changes of calls.
    pub calls: CallsSeen,
    /// The mark of what it saw.
    pub mark: ContentHash,
    /// The manifest of all files, as an object.
    pub manifest: Option<ContentHash>,
}

/// A call that may change a workspace: it runs, or its processes outlived it. It is stored, so that its changes are
/// attributed to it even after a restart (spec `rewind.md`, case 5). A call that may change several workspaces has a row
/// for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenCall {
    /// Its name, which marks its processes.
    pub id: String,
    /// The workspace.
    pub workspace: WorkspaceNo,
    /// The conversation that it is part of.
    pub conversation: ConversationId,
    /// The entry with its request.
    pub entry: EntryId,
}

/// Changes of a call that were captured before its result was stored, or long after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedCallChanges {
    /// The conversation of the call.
    pub conversation: ConversationId,
    /// The entry with its request.
    pub entry: EntryId,
    /// The changes, in the order of observation.
    pub changes: Vec<(Grade, FileChange)>,
    /// The answers whose calls may have made ambiguous ones; empty if others may have made them, too.
    pub candidates: Vec<EntryId>,
}

/// A capture's information about calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallsSeen {
    /// Their changes.
    pub owned: Vec<CapturedCallChanges>,
    /// The names of ended calls without running processes.
    pub over: Vec<String>,
}

/// A call's changes in a workspace, to be stored with the entry of its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDelta {
    /// The workspace.
    pub workspace: WorkspaceNo,
    /// The changes, in the order of observation.
    pub changes: Vec<(Grade, FileChange)>,
    /// The answers whose calls may have made ambiguous ones; empty if others may have made them, too.
    pub candidates: Vec<EntryId>,
    /// For a call of a subagent: the conversation and the answer that started the subagent, which get the changes.
    pub of: Option<(ConversationId, EntryId)>,
    /// Its moves in git, which no rewind reverts.
    pub git: Option<GitMove>,
    /// Changes of other calls.
    pub calls: CallsSeen,
    /// The mark of the last capture.
    pub mark: ContentHash,
}

impl NewDelta {
    /// Changes of a call, and nothing else.
    pub fn new(workspace: WorkspaceNo, changes: Vec<(Grade, FileChange)>, mark: ContentHash) -> Self {
        let (candidates, calls) = (Vec::new(), CallsSeen::default());
        Self { workspace, changes, candidates, of: None, git: None, calls, mark }
    }
}

/// The files that an action wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeededFiles {
    /// The wanted files.
    pub files: WantedFiles,
    /// Calls of the conversation that are reverted and may still change files; each once, in one of its workspaces.
    pub running: Vec<OpenCall>,
    /// Moves in git of calls that are reverted now or were reverted before, oldest first.
    pub git: Vec<GitTaken>,
    /// Single paths of entries that stay as they are, whatever the entries' deltas want.
    pub kept: BTreeSet<KeptPath>,
    /// Ambiguous deltas that no call which stays may have made: they go by default.
    pub certain: BTreeSet<DeltaId>,
    /// The number of files that are adopted: the conversation goes back, and they stay.
    pub adopted: usize,
    /// The number of files that are returned to their turns.
    pub returned: usize,
}

/// A reverted call's move in git.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitTaken {
    /// The workspace.
    pub workspace: WorkspaceNo,
    /// The move.
    pub moved: GitMove,
    /// Whether the call was reverted before, not by this action.
    pub earlier: bool,
}

/// The wanted files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WantedFiles {
    /// The deltas of a path, oldest first, and whether each one is wanted.
    Path(Vec<(DeltaLine, bool)>),
    /// The current files, without what an undo or a redo reverts.
    Back {
        /// The operations whose own file changes are reversed, in this order; only those with changes.
        reversed: Vec<OpNo>,
        /// The deltas of later entries that go with it.
        without: Vec<DeltaLine>,
        /// The deltas of later entries that stay.
        staying: Vec<DeltaLine>,
    },
}

/// The layers of a delta, by path.
pub type DeltaLayers = Vec<(FilePath, Vec<Layer>)>;

/// The file half of an operation in a workspace: decided, and not carried out yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilesHalf {
    /// The workspace.
    pub workspace: WorkspaceNo,
    /// The move of each path. Its layers before must be the current ones.
    pub moves: Vec<PathMove>,
    /// Whether staged content must be carried out on disk.
    pub staged: bool,
    /// Paths that a person chose to keep, each with a delta that would have left it or come into it.
    pub adopted: Vec<(DeltaId, FilePath)>,
}

/// An operation whose files are not settled: recovery finishes it after a crash at any moment (spec `rewind.md`, case 24).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntentRow {
    /// The workspace, which has one intent at a time.
    pub workspace: WorkspaceNo,
    /// The operation, after the decision: only then are files changed.
    pub op: Option<(ConversationId, OpNo)>,
    /// The staging folder.
    pub staging: String,
    /// Whether it is being reverted.
    pub back: bool,
}

/// What an erasure removes from conversations and from rows about files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErasureSum {
    /// The number of messages that lose their content or a name, for each conversation of the tree of forks.
    pub messages: Vec<(ConversationId, u64)>,
    /// Entries that lose their content.
    pub entries: Vec<EntryId>,
    /// Operations that lose a title, a label, a summary, a path, a request or an author.
    pub operations: u64,
    /// How it would change which remembered facts count.
    pub facts: FactsChanged,
    /// Calls that lose their changes, at all paths or at some.
    pub calls: u64,
    /// Steps that cannot be undone any more, at all paths or at some.
    pub steps: u64,
    /// Captures that lose changes.
    pub captures: u64,
    /// The paths.
    pub paths: BTreeSet<FilePath>,
    /// The objects that were named there. Other rows may name them too.
    pub objects: BTreeSet<ContentHash>,
    /// The rows that lose something, as claimants,
    pub rows: BTreeSet<(WorkspaceNo, Claimant)>,
    /// and the objects that they still name.
    pub stays: BTreeSet<ContentHash>,
}

/// An object that a row names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The workspace.
    pub workspace: WorkspaceNo,
    /// The row.
    pub by: Claimant,
    /// The time of the row.
    pub time: Time,
    /// The object.
    pub object: ContentHash,
    /// Its size in bytes.
    pub len: u64,
}

/// A row that names objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Claimant {
    /// A capture.
    Capture(u64),
    /// A capture with a name.
    Checkpoint(u64),
    /// A call of this conversation, by its delta.
    Call(ConversationId, DeltaId),
    /// An operation of this conversation.
    Op(ConversationId, OpNo),
}
