//! What a store keeps of files: workspaces, captures, deltas, the layers of each path, and the intents of operations whose
//! files are not settled yet. The bytes are the object store's.

use std::collections::BTreeSet;

use retake_core::{
    ContentHash, ConversationId, DeltaId, DeltaLine, EntryId, FileChange, FilePath, GitMove, Grade, KeptPath,
    Layer, OpNo, PathMove, Time, WorkspaceNo,
};

/// A capture to be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCapture {
    /// When.
    pub time: Time,
    /// The name that somebody gives it.
    pub name: Option<String>,
    /// Changes that belong to no call.
    pub changes: Vec<FileChange>,
    /// What belongs to calls.
    pub calls: CallsSeen,
    /// What it saw, by name.
    pub mark: ContentHash,
    /// All that was there, as an object.
    pub manifest: Option<ContentHash>,
}

/// A call that may be changing a workspace: it runs, or processes of it have outlived it. It is kept, so that what they
/// change is its own also after a restart (spec `rewind.md`, case 5). One that may change several has a row for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenCall {
    /// Its name, which its processes bear.
    pub id: String,
    /// Where.
    pub workspace: WorkspaceNo,
    /// The conversation that it is part of.
    pub conversation: ConversationId,
    /// The entry that made it.
    pub entry: EntryId,
}

/// What a call was seen to change while its result was not yet, or long since, stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owned {
    /// The conversation that the call is part of.
    pub conversation: ConversationId,
    /// The entry that made it.
    pub entry: EntryId,
    /// What, in the order of observation.
    pub changes: Vec<(Grade, FileChange)>,
}

/// What a capture tells of calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallsSeen {
    /// What they changed.
    pub owned: Vec<Owned>,
    /// Those that are over, none of whose processes is left, by their names.
    pub over: Vec<String>,
}

/// What a call did to the files of a workspace, to be stored with the entry that tells its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDelta {
    /// Where.
    pub workspace: WorkspaceNo,
    /// What, in the order of observation.
    pub changes: Vec<(Grade, FileChange)>,
    /// What it moved in git, which no rewind brings back.
    pub git: Option<GitMove>,
    /// What belongs to other calls.
    pub calls: CallsSeen,
    /// What the last capture saw, by name.
    pub mark: ContentHash,
}

/// What an action wants of files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// What is to be in the files.
    pub files: WantedFiles,
    /// Calls of the conversation that are taken back and may still be changing files; each once, in one of its workspaces.
    pub running: Vec<OpenCall>,
    /// What calls that are taken back, or were before, moved in git, first first.
    pub git: Vec<GitTaken>,
    /// Single paths of entries that stay as they are, whatever is wanted of the entries' deltas.
    pub kept: BTreeSet<KeptPath>,
    /// How many files become the person's own: the conversation goes back, and they stay.
    pub adopted: usize,
    /// How many files belong to their turns again.
    pub returned: usize,
}

/// What a call that is taken back moved in git.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitTaken {
    /// Where.
    pub workspace: WorkspaceNo,
    /// What.
    pub moved: GitMove,
    /// Whether the call was taken back before, and this action has no part in it.
    pub earlier: bool,
}

/// What is to be in the files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WantedFiles {
    /// What belongs to a path: the deltas, first first, and whether each is to be in them.
    Path(Vec<(DeltaLine, bool)>),
    /// What is there, without what an undo or a redo takes back.
    Back {
        /// The operations whose own doing is reversed, in this order; those that have done something.
        reversed: Vec<OpNo>,
        /// The deltas of what was said since, which goes with it.
        without: Vec<DeltaLine>,
        /// The deltas of what was said since, and stays.
        staying: Vec<DeltaLine>,
    },
}

/// The layers that a delta has put on each path.
pub type DeltaLayers = Vec<(FilePath, Vec<Layer>)>;

/// The file half of an operation in a workspace: decided, and about to be carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilesHalf {
    /// Where.
    pub workspace: WorkspaceNo,
    /// What is done to each path. The layers that it found must be those that are there.
    pub moves: Vec<PathMove>,
    /// Whether something is staged, to be carried out on the disk.
    pub staged: bool,
    /// Paths that a person has chosen to keep as they are, each with a delta that would have left it or come into it.
    pub adopted: Vec<(DeltaId, FilePath)>,
}

/// An operation whose files are not settled: a crash at any moment is finished from this (spec `rewind.md`, case 24).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IntentRow {
    /// Where. A workspace has one at a time.
    pub workspace: WorkspaceNo,
    /// The operation, once it is decided: only then are files touched.
    pub op: Option<(ConversationId, OpNo)>,
    /// The staging folder.
    pub staging: String,
    /// Whether it is being taken back.
    pub back: bool,
}

/// What an erasure takes: how much of conversations, and what of files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErasureSum {
    /// How many messages lose their content or a name, of each conversation of the tree of forks that loses some.
    pub messages: Vec<(ConversationId, u64)>,
    /// Operations that lose a title, a label, a summary, a path, a request or who asked.
    pub operations: u64,
    /// Calls whose changes go, in all paths or in some.
    pub calls: u64,
    /// Steps back or forth that can't be undone any more, in all paths or in some.
    pub steps: u64,
    /// Captures that lose changes.
    pub captures: u64,
    /// The paths.
    pub paths: BTreeSet<FilePath>,
    /// What was named there. Other rows may name it too.
    pub objects: BTreeSet<ContentHash>,
    /// The rows that lose something, as claimants,
    pub rows: BTreeSet<(WorkspaceNo, Claimant)>,
    /// and what they name still.
    pub stays: BTreeSet<ContentHash>,
}

/// A file's bytes that a row names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Where.
    pub workspace: WorkspaceNo,
    /// Which row.
    pub by: Claimant,
    /// When that was.
    pub time: Time,
    /// The bytes.
    pub object: ContentHash,
    /// How many.
    pub len: u64,
}

/// A row that names bytes.
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
