//! What goes out of a store and comes into it: exports, imports, and the care of the whole. Shapes only; the
//! formats of the lines are `record`'s.

use std::path::{Path, PathBuf};

use retake_core::{
    By, ConversationId, EffectClass, EffectState, Entry, EntryId, Finding, Flags, Head, Mark, Operation,
    Part, Permission, Revision, Role, Run, ShownEntry, Time, Usage,
};

use crate::error::Result;
use crate::rows::{Fingerprint, MadeBy};

/// How far an export has come, and of which state it is. All its pieces are of that one state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExportPlace {
    /// The head that the first piece found.
    pub head: Head,
    /// Entries exported so far.
    pub done: u64,
}

/// A piece of the export projection.
#[derive(Clone, Debug)]
pub struct Excerpt {
    /// Which conversation, as of the export's head.
    pub about: About,
    /// Where the next piece begins.
    pub place: ExportPlace,
    /// Entries in all.
    pub total: u64,
    /// The entries.
    pub entries: Vec<Exported>,
}

/// A conversation, as an export names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct About {
    /// Its id.
    pub id: ConversationId,
    /// Its title.
    pub title: Option<String>,
    /// When it was made.
    pub created: Time,
    /// Its folder.
    pub folder: Option<String>,
    /// The head that the export is of.
    pub head: Head,
    /// Of a fork: the parent and its head then.
    pub parent: Option<(ConversationId, Head)>,
}

/// An entry of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    /// The entry as the reading shows it.
    pub shown: ShownEntry,
    /// Where an answer has alternatives: all of them, itself included, in order.
    pub alternatives: Vec<Entry>,
}

/// A piece of a full export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FullPiece {
    /// Whole lines.
    pub text: String,
    /// Where the next piece begins; none at the end.
    pub cursor: Option<String>,
    /// Entries and operations so far, and in all.
    pub progress: (u64, u64),
}

/// A conversation to be made from what was said elsewhere: all of it or nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// Its id.
    pub id: ConversationId,
    /// Its title.
    pub title: Option<String>,
    /// Its folder.
    pub folder: Option<String>,
    /// When it was made; now, without.
    pub created: Option<Time>,
    /// What was said, in order.
    pub entries: Vec<ImportEntry>,
    /// Who asks.
    pub by: By,
}

/// A place on the path of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportEntry {
    /// What was said there: one thing, or the alternatives of an answer in order.
    pub said: Vec<Said>,
    /// Which of them is on the path, from 0.
    pub chosen: usize,
    /// Who sees it: `Normal`, `Excluded` or `Hidden`.
    pub mark: Mark,
    /// Its label.
    pub label: Option<String>,
}

/// Something said elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// Its new id.
    pub id: EntryId,
    /// Who spoke.
    pub role: Role,
    /// The speaker's name.
    pub author: String,
    /// What.
    pub parts: Vec<Part>,
    /// How it came about.
    pub flags: Flags,
    /// When, as far as it is known.
    pub time: Option<Time>,
    /// What a model's answer used.
    pub usage: Option<Usage>,
    /// Its id on its platform.
    pub platform_id: Option<String>,
}

/// A whole tree of forks to be restored exactly, in the order of a full export.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FullImport {
    /// The conversations: the root first, each parent before its forks.
    pub conversations: Vec<FullConversation>,
}

/// A conversation of a full export: its row, its log, its operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FullConversation {
    /// Its id.
    pub id: ConversationId,
    /// Of a fork: which conversation of the export, its head then, and the entry that the fork begins with.
    pub parent: Option<(usize, Head, Option<retake_core::Pos>)>,
    /// Its folder.
    pub folder: Option<String>,
    /// When it was made.
    pub created: Time,
    /// The request that made it.
    pub request: MadeBy,
    /// When it last changed.
    pub changed: Time,
    /// Its head: how many operations and entries follow.
    pub head: Head,
    /// Its revision.
    pub revision: Revision,
    /// How many rewinds it has seen.
    pub rewinds: u64,
    /// Whether somebody has put it away.
    pub archived: bool,
    /// Its log.
    pub entries: Vec<(Entry, MadeBy)>,
    /// Its operations.
    pub ops: Vec<(Operation, MadeBy)>,
    /// The ledger of what its calls did to the world, by the entries that ask for them.
    pub effects: Vec<FullEffect>,
    /// Its runs, with the words that wait in them, by their numbers.
    pub runs: Vec<Run>,
    /// What is settled of its permissions.
    pub permission: Option<Permission>,
}

/// A line of the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FullEffect {
    /// The entry that asks for the call.
    pub seq: u64,
    /// The call.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// What it does to the world at most.
    pub class: EffectClass,
    /// A digest of tool and arguments.
    pub print: Fingerprint,
    /// When it began.
    pub began: Time,
    /// What came of it.
    pub state: EffectState,
}

/// What is wrong with what a backend keeps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// What.
    pub problems: Vec<Finding>,
    /// What the database says of it, as it says it.
    pub details: Vec<String>,
}

/// The care that a backend takes of itself.
pub trait Upkeep {
    /// Everything that is wrong with what is kept.
    fn problems(&self) -> Result<Findings>;
    /// Rebuilds what is derived from the entries, within the caller's transaction: the full-text index, the index of facts.
    fn mend(&mut self) -> Result<()>;
    /// Writes a consistent copy to a file that is not there yet; without a name, to a dated one of its own.
    fn copy_to(&self, to: Option<&Path>, now: Time) -> Result<PathBuf>;
}
