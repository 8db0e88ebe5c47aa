//! The types for exports, imports, and the check of the store. `record` has the formats of the lines.

use std::path::{Path, PathBuf};

use std::fmt;

use retake_core::{
    ChangeOrigin, ConversationId, EffectClass, EffectState, Entry, EntryId, Finding, Flags, Head, Mark,
    Operation, Part, Permission, Post, Revision, Role, Run, ShownEntry, Time, Usage,
};

use crate::error::Result;
use crate::rows::{Fingerprint, MadeBy};

/// The progress of an export, and its state. All its pieces show that state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExportPlace {
    /// The head at the first piece.
    pub head: Head,
    /// Entries exported so far.
    pub done: u64,
}

/// A piece of the export projection.
#[derive(Clone, Debug)]
pub struct Excerpt {
    /// The conversation at the export's head.
    pub about: About,
    /// The beginning of the next piece.
    pub place: ExportPlace,
    /// The number of all entries.
    pub total: u64,
    /// The entries.
    pub entries: Vec<Exported>,
}

/// A conversation in an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// Its id.
    pub id: ConversationId,
    /// Its title.
    pub title: Option<String>,
    /// When it was created.
    pub created: Time,
    /// Its folder.
    pub folder: Option<String>,
    /// The head of the export.
    pub head: Head,
    /// For a fork: the parent and its head then.
    pub parent: Option<(ConversationId, Head)>,
}

/// An entry of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// The entry in the projection.
    pub shown: ShownEntry,
    /// All alternatives of an answer, itself included, in order; empty if there is only one.
    pub alternatives: Vec<Entry>,
}

/// A piece of a full export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FullPiece {
    /// Whole lines.
    pub text: String,
    /// The beginning of the next piece; `None` at the end.
    pub cursor: Option<String>,
    /// The entries and operations so far, and the total.
    pub progress: (u64, u64),
}

/// A conversation to create from imported entries, all or nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// Its id.
    pub id: ConversationId,
    /// Its title.
    pub title: Option<String>,
    /// Its folder.
    pub folder: Option<String>,
    /// When it was created; without a time, now.
    pub created: Option<Time>,
    /// Its entries, in order.
    pub entries: Vec<ImportEntry>,
    /// The author of the request.
    pub by: ChangeOrigin,
}

/// A place on the path of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportEntry {
    /// The entry there, or the alternatives of an answer in order.
    pub said: Vec<ImportMessage>,
    /// Which of them is on the path, from 0.
    pub chosen: usize,
    /// Its mark: `Normal`, `Excluded` or `Hidden`.
    pub mark: Mark,
    /// Its label.
    pub label: Option<String>,
}

/// An imported entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportMessage {
    /// Its new id.
    pub id: EntryId,
    /// Its role.
    pub role: Role,
    /// Its author.
    pub author: String,
    /// Its content.
    pub parts: Vec<Part>,
    /// Its flags.
    pub flags: Flags,
    /// Its time, if known.
    pub time: Option<Time>,
    /// The usage of a model's answer.
    pub usage: Option<Usage>,
    /// Its id on its platform.
    pub platform_id: Option<String>,
}

/// A whole tree of forks to restore exactly, in the order of a full export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FullImport {
    /// The conversations: the root first, each parent before its forks.
    pub conversations: Vec<FullConversation>,
}

/// A conversation of a full export: its row, its log, its operations.
#[derive(Clone, PartialEq, Eq)]
pub struct FullConversation {
    /// Its id.
    pub id: ConversationId,
    /// The conversation that it comes from.
    pub parent: FullParent,
    /// Its folder.
    pub folder: Option<String>,
    /// When it was created.
    pub created: Time,
    /// The request that created it.
    pub request: MadeBy,
    /// When it last changed.
    pub changed: Time,
    /// Its head: the number of operations and entries that follow.
    pub head: Head,
    /// Its revision.
    pub revision: Revision,
    /// The number of its rewinds.
    pub rewinds: u64,
    /// Whether it is archived.
    pub archived: bool,
    /// Its log.
    pub entries: Vec<(Entry, MadeBy)>,
    /// Its operations.
    pub ops: Vec<(Operation, MadeBy)>,
    /// What is beside its log.
    pub beside: FullBeside,
}

/// What a conversation of a full export has beside its log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FullBeside {
    /// The ledger of its calls' effects, by the entries that request them.
    pub effects: Vec<FullEffect>,
    /// Its runs with their waiting messages, by their numbers.
    pub runs: Vec<Run>,
    /// Its permissions.
    pub permission: Option<Permission>,
    /// Its posts in chats.
    pub posts: Vec<Post>,
}

/// Digests of earlier versions contain this text: they knew no posts.
impl fmt::Debug for FullConversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FullBeside { effects, runs, permission, posts } = &self.beside;
        let mut text = f.debug_struct("FullConversation");
        text.field("id", &self.id)
            .field("parent", &self.parent)
            .field("folder", &self.folder)
            .field("created", &self.created)
            .field("request", &self.request)
            .field("changed", &self.changed)
            .field("head", &self.head)
            .field("revision", &self.revision)
            .field("rewinds", &self.rewinds)
            .field("archived", &self.archived)
            .field("entries", &self.entries)
            .field("ops", &self.ops)
            .field("effects", effects)
            .field("runs", runs)
            .field("permission", permission);
        if !posts.is_empty() {
            text.field("posts", posts);
        }
        text.finish()
    }
}

/// The conversation that one of a full export comes from, by its number there.
#[derive(Clone, PartialEq, Eq)]
pub enum FullParent {
    /// None: it is the root.
    None,
    /// A fork of this one, with its head then and the last entry of the base.
    Fork(usize, Head, Option<retake_core::Pos>),
    /// A subagent that a call of this one started: the entry of the call, and its key.
    Caller(usize, u64, String),
}

/// Digests of earlier versions contain this text: they knew no subagents.
impl fmt::Debug for FullParent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("None"),
            Self::Fork(number, head, tip) => fmt::Debug::fmt(&Some((number, head, tip)), f),
            Self::Caller(number, seq, call) => fmt::Debug::fmt(&(number, seq, call), f),
        }
    }
}

/// A row of the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FullEffect {
    /// The entry that requests the call.
    pub seq: u64,
    /// The call.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// The most that it does to the world.
    pub class: EffectClass,
    /// A digest of tool and arguments.
    pub print: Fingerprint,
    /// When it began.
    pub began: Time,
    /// Its state.
    pub state: EffectState,
}

/// The problems in a backend's rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// The problems.
    pub problems: Vec<Finding>,
    /// The database's own messages about them.
    pub details: Vec<String>,
}

/// A backend's check and repair functions.
pub trait Upkeep {
    /// All problems in the stored rows.
    fn problems(&self) -> Result<Findings>;
    /// Rebuilds data that is derived from the entries, within the caller's transaction: the full-text index, the index of
    /// facts.
    fn mend(&mut self) -> Result<()>;
    /// Writes a consistent copy to a file that must not exist yet; without a name, to a dated one of its own.
    fn copy_to(&self, to: Option<&Path>, now: Time) -> Result<PathBuf>;
}
