//! What a store keeps of files: workspaces, captures, deltas, the layers of each path, and the intents of operations whose
//! files are not settled yet. The bytes are the object store's.

use std::collections::BTreeSet;

use async_trait::async_trait;
use retake_core::{
    Action, Apply, By, Capture, ContentHash, ConversationId, DeltaId, DeltaLine, EntryId, FileChange,
    FilePath, GitMove, Grade, KeptPath, Layer, Moved, OpNo, PathMove, Receipt, SayRequest, Stack, Time,
    WorkspaceInfo, WorkspaceNo,
};

use crate::error::Result;

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

/// What a store keeps of files. Every backend runs the same conformance suite.
#[async_trait]
pub trait FileStore: Send + Sync {
    /// The workspace at a path, made where it is new.
    async fn workspace(&self, root: Vec<u8>, identity: (u64, u64), now: Time) -> Result<WorkspaceInfo>;
    /// Every workspace.
    async fn workspaces(&self) -> Result<Vec<WorkspaceInfo>>;
    /// Keeps a capture; its number comes back.
    async fn captured(&self, workspace: WorkspaceNo, capture: NewCapture) -> Result<u64>;
    /// Captures, newest first.
    async fn captures(
        &self,
        workspace: WorkspaceNo,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<Capture>>;
    /// The manifests of all captures that somebody named, in all workspaces.
    async fn manifests(&self) -> Result<Vec<ContentHash>>;
    /// The last capture that somebody gave this name.
    async fn checkpoint(&self, workspace: WorkspaceNo, name: String) -> Result<Option<Capture>>;

    /// A call begins, that may change these workspaces: a row for each.
    async fn begin_call(&self, call: Vec<OpenCall>) -> Result<()>;
    /// Calls are over that can have changed nothing more in a workspace.
    async fn forget_calls(&self, workspace: WorkspaceNo, ids: Vec<String>) -> Result<()>;
    /// The calls that may be changing workspaces, in the order of their entries' ids.
    async fn open_calls(&self) -> Result<Vec<OpenCall>>;

    /// Stores what somebody said together with what it did to files, a delta for each workspace, and puts the layers on their
    /// paths.
    async fn say_changed(
        &self,
        conversation: ConversationId,
        say: SayRequest,
        deltas: Vec<NewDelta>,
    ) -> Result<Receipt>;
    /// Whether a call of a conversation has ever changed something, or may yet: else there is nothing to plan.
    async fn has_changes(&self, conversation: ConversationId) -> Result<bool>;
    /// The deltas of a conversation, first first. Those of its parent are not its own.
    async fn deltas(&self, conversation: ConversationId) -> Result<Vec<(DeltaLine, EntryId)>>;
    /// What a delta did.
    async fn delta(&self, conversation: ConversationId, id: DeltaId) -> Result<DeltaLayers>;
    /// The layers of these paths; an untouched path has none.
    async fn layers(
        &self,
        conversation: ConversationId,
        workspace: WorkspaceNo,
        paths: Vec<FilePath>,
    ) -> Result<Vec<(FilePath, Stack)>>;

    /// What belonged in the files before an entry on the path was said.
    async fn wanted_before(&self, conversation: ConversationId, entry: EntryId) -> Result<Wanted>;
    /// What an action wants of files.
    async fn wanted(&self, conversation: ConversationId, action: Action) -> Result<Wanted>;
    /// Writes the name of a staging folder down, before it is made. One at a time in a workspace.
    async fn preparing(&self, workspace: WorkspaceNo, staging: String) -> Result<()>;
    /// Decides an operation with its file half in each of these workspaces, as one transaction: after it, the files are to be
    /// carried out.
    async fn apply_files(
        &self,
        conversation: ConversationId,
        apply: Apply,
        halves: Vec<FilesHalf>,
    ) -> Result<Receipt>;
    /// What an operation did to files, in the order of the workspaces; nothing, when it did nothing.
    async fn moved(&self, conversation: ConversationId, op: OpNo) -> Result<Vec<Moved>>;
    /// The last operation before this one that did something to files; without one, the last of all.
    async fn last_moved(&self, conversation: ConversationId, before: Option<OpNo>) -> Result<Option<OpNo>>;
    /// Operations whose files are not settled.
    async fn intents(&self) -> Result<Vec<IntentRow>>;
    /// Turns the direction of the intent of a workspace, and with it of all that are of the same operation: that is taken
    /// back, its layers are as before. From here on its files are to be put back.
    async fn turn_back(&self, workspace: WorkspaceNo, by: By) -> Result<Receipt>;
    /// The files of the intent are settled, or nothing was decided.
    async fn settle(&self, workspace: WorkspaceNo) -> Result<()>;

    /// What of files an erasure would take; nothing, for another action. Changes nothing.
    async fn erasing(&self, conversation: ConversationId, action: Action) -> Result<ErasureSum>;
    /// Of each other tree of forks a conversation that holds a text, or names one of these objects, and how many of the tree do.
    async fn elsewhere(
        &self,
        conversation: ConversationId,
        text: String,
        objects: Vec<ContentHash>,
    ) -> Result<Vec<(ConversationId, usize)>>;
    /// What erasures named, to be erased from the object store unless something else names it.
    async fn erased_objects(&self) -> Result<Vec<ContentHash>>;
    /// It is erased from there: its names are forgotten too, for real. What a file in a folder is now is left for later: it is
    /// erased by the first erasure, or start, that finds it in no file any more.
    async fn objects_erased(&self, left: Vec<ContentHash>) -> Result<()>;
    /// Every file's bytes that a row names, of all conversations and captures.
    async fn claims(&self) -> Result<Vec<Claim>>;
    /// How many captures before a time have no name. The last one of a workspace counts while it says something.
    async fn old_captures(&self, before: Time) -> Result<u64>;
    /// Forgets captures before a time that have no name; how many there were.
    async fn forget_captures(&self, before: Time) -> Result<u64>;
    /// Since when the bytes of what calls and operations did are kept; always, when there is no note.
    async fn kept_since(&self) -> Result<Option<Time>>;
    /// From now on they are kept since this time only.
    async fn keep_since(&self, since: Time) -> Result<()>;
    /// Forgets a workspace: its captures, and what calls and operations did there. What was said stays.
    async fn forget_workspace(&self, workspace: WorkspaceNo) -> Result<()>;
}
