//! The store as everybody above sees it.

use retake_core::{
    Action, Alternative, Answering, Apply, Branch, By, Care, Changes, Checked, ConversationId, Copied,
    EntryId, EntryPage, Head, Hits, ListRequest, Mark, MarkedPage, Message, Meta, NetChange, NewConversation,
    NewFork, OpNo, OpPage, OpRange, PageRequest, Part, Planned, Pos, Reading, Receipt, ReceiptDetails,
    RequestId, Revision, RunResult, SayRequest, SearchRequest, Shelf, ShownEntry, Summary, TargetLine, Time,
};
use std::path::PathBuf;

use async_trait::async_trait;

use crate::agent::AgentStore;
use crate::error::Result;
use crate::files::FileStore;
use crate::reading::Snapshot;
use crate::row_store::Subscriber;
use crate::stream::StreamRow;
use crate::transfer::{Excerpt, ExportPlace, FullImport, FullPiece, Import};

/// Conversations, kept. Every backend runs the same conformance suite.
///
/// A write is answered when it is durable. It is checked for what it needs and not more; refused, it has changed nothing. The same request id gets an equal receipt.
#[async_trait]
pub trait Store: FileStore + AgentStore {
    /// Refuses where the data directory was moved or deleted since it was opened, and where nothing can be written any more because the
    /// writer has failed. Costs a look at one file's name.
    fn check_place(&self) -> Result<()>;
    /// Makes a conversation.
    async fn create(&self, new: NewConversation) -> Result<Receipt>;
    /// Makes a fork of a conversation as it is now. Nothing is copied.
    async fn fork(&self, fork: NewFork) -> Result<Receipt>;
    /// Stores what somebody said.
    async fn say(&self, conversation: ConversationId, say: SayRequest) -> Result<Receipt>;
    /// Stores many things said, in order, all or none.
    async fn say_all(&self, conversation: ConversationId, says: Vec<SayRequest>) -> Result<Receipt>;
    /// Goes back and says something there, as one step: an edit. The receipts of both;
    /// the request id is the say's.
    async fn say_at(
        &self,
        conversation: ConversationId,
        apply: Apply,
        say: SayRequest,
    ) -> Result<(Receipt, Receipt)>;
    /// The receipt of an earlier request of that id and wording in this conversation, if there was one. Look it up before the names in a request: they may mean something else by now.
    async fn receipt(&self, conversation: ConversationId, by: By) -> Result<Option<Receipt>>;
    /// The receipt of the conversation that an earlier request of that id and wording made, if there was one.
    async fn created(&self, by: By) -> Result<Option<Receipt>>;
    /// The receipt of the request with this id in a conversation, whatever its wording was; without a conversation, of the request
    /// that made one.
    async fn receipt_of(&self, of: Option<ConversationId>, request: RequestId) -> Result<Option<Receipt>>;
    /// What became of the run that an earlier request began; `receipt` is that request's.
    async fn answered(&self, conversation: ConversationId, receipt: Receipt) -> Result<RunResult>;
    /// Changes the state.
    async fn apply(&self, conversation: ConversationId, apply: Apply) -> Result<Receipt>;
    /// The details that go with a receipt of this conversation.
    async fn receipt_details(&self, receipt: &Receipt) -> Result<ReceiptDetails>;
    /// Says what `apply` would do.
    async fn plan(&self, conversation: ConversationId, action: Action) -> Result<Planned>;

    /// The conversation as it is now.
    async fn snapshot(&self, conversation: ConversationId) -> Result<Snapshot>;
    /// The conversation in short.
    async fn summary(&self, conversation: ConversationId) -> Result<Summary>;
    /// Conversations, newest change first (of changes in one millisecond, that of the newer conversation), one more than asked
    /// for where there are more.
    async fn list(&self, request: ListRequest) -> Result<Vec<Summary>>;
    /// Puts a conversation away, or fetches it back. It is no operation: nothing of what was said changes, and there is
    /// nothing to undo. Subscribers get an event.
    async fn archive(&self, conversation: ConversationId, to: Shelf) -> Result<()>;
    /// Conversations whose id begins so, at most `limit`.
    async fn conversations_like(&self, prefix: String, limit: usize) -> Result<Vec<ConversationId>>;
    /// Forks of a conversation, with the last entry that each begins with.
    async fn forks(&self, conversation: ConversationId) -> Result<Vec<(Summary, Option<EntryId>)>>;
    /// A page of a reading.
    async fn page(
        &self,
        conversation: ConversationId,
        reading: Reading,
        page: PageRequest,
    ) -> Result<EntryPage>;
    /// An entry as the timeline shows it; nothing, when it does not.
    async fn shown(&self, conversation: ConversationId, entry: EntryId) -> Result<Option<ShownEntry>>;
    /// The prompt, repaired, now or at an earlier head.
    async fn prompt(&self, conversation: ConversationId, at: Option<Head>) -> Result<Vec<Message>>;
    /// Turns to go back to, newest first.
    async fn targets(
        &self,
        conversation: ConversationId,
        before: Option<EntryId>,
        limit: usize,
    ) -> Result<Vec<TargetLine>>;
    /// What is hidden, dropped or excluded on the path, newest first; with `before`, what stands before that entry. For who asks for
    /// just that: no other reading tells of what is hidden.
    async fn marked(
        &self,
        conversation: ConversationId,
        before: Option<EntryId>,
        limit: usize,
    ) -> Result<MarkedPage>;
    /// The marks that the messages of an earlier head have now and did not have then, each pair (then, now) with how many have it:
    /// a return to that head leaves them.
    async fn other_marks(&self, conversation: ConversationId, head: Head)
    -> Result<Vec<((Mark, Mark), u64)>>;
    /// All of a turn that is on the path, with its marks, hidden entries too; 0 is what was said before the first turn.
    async fn turn_entries(&self, conversation: ConversationId, number: u64) -> Result<Vec<(EntryId, Mark)>>;
    /// What the operations from `first` on changed in all, up to a head.
    async fn net(&self, conversation: ConversationId, first: OpNo, to: Head) -> Result<NetChange>;
    /// The answer whose alternatives an entry names: any entry of its turn does.
    async fn answer_named(&self, conversation: ConversationId, entry: EntryId) -> Result<EntryId>;
    /// The alternatives of a visible answer.
    async fn alternatives(&self, conversation: ConversationId, entry: EntryId) -> Result<Vec<Alternative>>;
    /// Operations, newest first.
    async fn ops(&self, conversation: ConversationId, range: OpRange) -> Result<OpPage>;
    /// The branches.
    async fn branches(&self, conversation: ConversationId) -> Result<Vec<Branch>>;
    /// What was said in an entry that this conversation shows, or has on another branch.
    async fn content(&self, conversation: ConversationId, entry: EntryId) -> Result<Vec<Part>>;
    /// Full-text search.
    async fn search(&self, request: SearchRequest) -> Result<Hits>;
    /// Subscribes to the commits of a conversation, or of all, from now on: each once it is durable, in their order. A client that subscribes first and then reads what changed misses nothing.
    fn subscribe(&self, conversation: Option<ConversationId>) -> Subscriber;
    /// What changed since a revision.
    async fn changes(&self, conversation: ConversationId, since: Revision) -> Result<Changes>;
    /// The same, where no more than `most` entries came, went or look different; nothing else is read.
    async fn few_changes(
        &self,
        conversation: ConversationId,
        since: Revision,
        most: u64,
    ) -> Result<Option<Changes>>;

    /// What an answer asked for now would answer.
    async fn answering(&self, conversation: ConversationId) -> Result<Answering>;
    /// Where and when an entry that the conversation knows was said, also on another branch.
    async fn meta(&self, conversation: ConversationId, entry: EntryId) -> Result<Meta>;
    /// The id of the entry at a position.
    async fn entry_id(&self, conversation: ConversationId, pos: Pos) -> Result<EntryId>;
    /// Entries that the conversation knows and whose id begins so, at most `limit`.
    async fn entries_like(
        &self,
        conversation: ConversationId,
        prefix: String,
        limit: usize,
    ) -> Result<Vec<EntryId>>;
    /// An entry of any conversation whose id begins so, and the conversation that has it. For ids that a conversation does not know.
    async fn home_of(&self, prefix: String) -> Result<Option<(EntryId, ConversationId)>>;
    /// The entry that opened turn `number` (from 1) of the timeline.
    async fn turn(&self, conversation: ConversationId, number: u64) -> Result<Option<EntryId>>;

    /// Saves a stream in progress, outside the log; `None` when it came to nothing.
    async fn save_stream(&self, conversation: ConversationId, stream: Option<StreamRow>) -> Result<()>;
    /// Streams that a crash left.
    async fn streams(&self) -> Result<Vec<StreamRow>>;

    /// Keeps what somebody is about to say, as the one draft of this author here; nothing, of no parts. It is no change of
    /// the conversation: it has no revision and is in no reading and no export. Subscribers get an event, and `Erase` finds it.
    async fn set_draft(&self, conversation: ConversationId, author: String, parts: Vec<Part>) -> Result<()>;
    /// The drafts of a conversation with their authors, in the order of names; a fork begins with none.
    async fn drafts(&self, conversation: ConversationId) -> Result<Vec<(String, Vec<Part>)>>;
    /// Keeps with what this author is about to begin a conversation in a folder; nothing, of no parts. It belongs to no
    /// conversation and causes no event; `Erase` finds it.
    async fn set_draft_in(&self, folder: String, author: String, parts: Vec<Part>) -> Result<()>;
    /// What was kept so; nothing, where nothing was.
    async fn draft_in(&self, folder: String, author: String) -> Result<Vec<Part>>;

    /// A piece of an export, from where the last one ended; the first one fixes the state for all.
    async fn export(&self, conversation: ConversationId, from: Option<ExportPlace>) -> Result<Excerpt>;
    /// A piece of a full export of the whole tree of forks, from the cursor of the last one.
    async fn export_full(&self, conversation: ConversationId, cursor: Option<String>) -> Result<FullPiece>;
    /// Makes a conversation of what was said elsewhere, as one step. Asked again, the receipt tells how it is now.
    async fn import(&self, import: Import) -> Result<Receipt>;
    /// Restores a tree of forks exactly, as one step; the receipt is the root's. The same request again gets the same receipt.
    async fn restore_full(&self, import: FullImport, request: Option<RequestId>) -> Result<Receipt>;
    /// Writes a consistent copy of the whole store while it is in use: to a file that is not there yet, or
    /// without a name to a dated one beside the store.
    async fn backup(&self, to: Option<PathBuf>, now: Time) -> Result<Copied>;
    /// Looks the whole store through.
    async fn check(&self, care: Care) -> Result<Checked>;
}
