//! The engine: [`Engine`] runs turns with models, and owns the clock and the randomness. Each module contains the functions for
//! one subject; its state in memory is a part of [`Engine`].
//!
//! It must never listen on a socket or touch the terminal.

mod access;
mod agent;
mod chat;
pub mod clock;
mod completion;
mod confinement;
mod drafts;
mod error;
mod files;
mod history;
pub mod ids;
mod log;
pub mod mcp;
mod memory;
pub mod model;
mod names;
mod notice;
mod open;
pub mod outbox;
mod places;
mod process;
pub mod prompt;
pub mod prompt_files;
mod read;
mod run;
pub mod secret;
mod session;
pub mod settings;
mod steps;
mod transfer;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use futures::future::BoxFuture;

use retake_core::{
    Action, Apply, CallRefusal, ChangeOrigin, ConversationId, EntryId, Head, NewConversation, NewFork, Part,
    Planned, Receipt, RequestId, Role, SayRequest, Time,
};
use retake_store::Store;

use crate::agent::AgentState;
use crate::clock::Clock;
use crate::completion::Completions;
use crate::files::Files;
use crate::ids::Random;
use crate::mcp::{McpFiles, Started};
use crate::model::Catalogue;
use crate::outbox::{Destination, FolderHooks, Outbox};
use crate::session::Sessions;

pub use agent::{
    AgentConfig, Audience, ClientPresence, CommandEnvironment, JobAtWork, JobPrinted, JobShown,
    PermissionChange, SettledRules, Todo, TodoState, Used,
};
pub use chat::{
    Arrived, ChatEvent, ChatMessage, ChatPress, ChatPreviews, ChatVerb, GatewayConnected, GatewayEvent,
    button_data,
};
pub use confinement::Confinement;
pub use drafts::DraftHome;
pub use error::{EngineError, Kind, Result};
pub use files::{
    AppliedFiles, ByCalls, CallInfo, CaptureFailure, DeltaOrigin, EffectShown, Effects, ErasePlan,
    ErasedRows, Exec, FileOptions, FilesConfig, FilesStatus, FolderDone, FolderPlan, FolderRemark,
    FolderShown, FolderStatus, Job, NamedPath, NoArguments, NotOpened, Note, ObjectsErased, PERSON_COMMAND,
    PathShown, PathsBelow, PlannedDeltas, PlannedFiles, PointInTime, Prune, Pruned, Released, RequestedCall,
    Restore, Running, Scope, ShownDiff, Uncaptured, Unfinished, UnseenReason, WorkInProgress, headed_in,
    named_in, put_back, shown_in,
};
pub use history::Prompts;
use memory::BuiltIn;
pub use memory::{MEMORY_MOST, MemoryChange, MemoryProvider, MemoryQuestion, RecallFor};
pub use notice::{FileKind, Mentioned, Notice};
pub use open::OpenRequest;
pub use process::{OutputFile, make_private, supervise};
pub use read::Subscription;
pub use run::{
    CallEnded, CallShown, Compaction, ContextParts, ContextUse, Decision, Ended, NotRun, OfferedTool,
    Outcome, PendingApproval, Permit, Question, RunEvent, RunNow, RunRequest, RunSubscription, Start,
};
pub use transfer::{ExportChunk, ExportFormat, Inflow, mended, whole_pairs};

pub use steps::{Done, RefusedStep, WholeReceipt};

/// The parts of an engine. Clock and randomness come from outside, once.
pub struct Parts {
    /// The store of the conversations.
    pub store: Arc<Store>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The source of ids.
    pub random: Arc<dyn Random>,
    /// The available models.
    pub models: Arc<dyn Catalogue>,
    /// The system prompt of every conversation.
    pub system_prompt: Option<String>,
    /// The name of the person who types.
    pub user: String,
    /// Where files are stored; without it, no files are captured.
    pub files: Option<FilesConfig>,
    /// The user's files about MCP servers; without them there are no servers.
    pub mcp: Option<McpFiles>,
    /// The agent's configuration; without it, models have no tools.
    pub agent: Option<AgentConfig>,
    /// Where deliveries go.
    pub destinations: Vec<Arc<dyn Destination>>,
    /// A memory beside the built-in one.
    pub memory: Option<Arc<dyn MemoryProvider>>,
    /// What hooks of folders need; without it there are none.
    pub hooks: Option<Arc<FolderHooks>>,
}

/// Runs turns and carries out steps on one data directory.
pub struct Engine {
    parts: Parts,
    pub(crate) sessions: Sessions,
    pub(crate) importing: crate::transfer::StagedImports,
    pub(crate) files: Files,
    pub(crate) started: Started,
    pub(crate) waits: AgentState,
    /// Where facts are remembered; the first one is built in.
    memory: Vec<Arc<dyn MemoryProvider>>,
    /// Held while a draft is read and written again.
    drafting: tokio::sync::Mutex<()>,
    erasures: AtomicU64,
    /// Whether the owner is shutting down: runs that stop from now on were not stopped by a person.
    ends: AtomicBool,
    /// Whether no conversation can be claimed any more.
    closed: AtomicBool,
    pub(crate) completions: Completions,
    pub(crate) outbox: Outbox,
    pub(crate) chats: chat::ChatState,
}

impl Engine {
    /// Starts an engine with these parts. Streams that a crash left are first stored as interrupted answers.
    pub fn start(mut parts: Parts) -> BoxFuture<'static, Result<Arc<Self>>> {
        Box::pin(async move {
            let files = Files::new(parts.files.take());
            let built_in = Arc::new(BuiltIn(Arc::clone(&parts.store))) as Arc<dyn MemoryProvider>;
            let memory: Vec<_> = std::iter::once(built_in).chain(parts.memory.take()).collect();
            let of_memory = memory.iter().filter_map(memory::destination);
            let destinations = std::mem::take(&mut parts.destinations).into_iter().chain(of_memory);
            let outbox = Outbox::new(destinations.collect());
            let engine = Arc::new(Self {
                parts,
                sessions: Sessions::default(),
                importing: Default::default(),
                files,
                started: Started::default(),
                waits: AgentState::default(),
                memory,
                drafting: tokio::sync::Mutex::default(),
                erasures: AtomicU64::new(0),
                ends: AtomicBool::new(false),
                closed: AtomicBool::new(false),
                completions: Completions::default(),
                outbox,
                chats: chat::ChatState::default(),
            });
            engine.set_approved_hooks().await;
            engine.set_destinations().await?;
            engine.recover().await?;
            Ok(engine)
        })
    }

    pub(crate) fn store(&self) -> &Store {
        &self.parts.store
    }

    /// The store, for tests that compare with its rows. No program has this function.
    #[cfg(feature = "test-access")]
    pub fn kept(&self) -> &Store {
        self.store()
    }

    /// The number of erasures by this owner: data read before the last one may contain erased content.
    pub fn erasures(&self) -> u64 {
        self.erasures.load(Ordering::SeqCst)
    }

    /// Counts an erasure.
    pub(crate) fn has_erased(&self) {
        self.erasures.fetch_add(1, Ordering::SeqCst);
    }

    /// The models.
    pub fn models(&self) -> &dyn Catalogue {
        &*self.parts.models
    }

    pub(crate) fn parts(&self) -> &Parts {
        &self.parts
    }

    /// The current time.
    pub fn now(&self) -> Time {
        Time(self.parts.clock.now_ms())
    }

    /// A new entry's id.
    pub fn new_entry_id(&self) -> EntryId {
        EntryId::new(self.parts.random.uuid_v7(self.parts.clock.now_ms()))
    }

    /// An id for a request without one.
    pub(crate) fn new_request_id(&self) -> RequestId {
        let id = self.new_entry_id().to_string();
        id.parse().expect("BUG: an id is printable and short")
    }

    pub(crate) fn new_conversation_id(&self) -> ConversationId {
        ConversationId::new(self.parts.random.uuid_v7(self.parts.clock.now_ms()))
    }

    /// The author for a request now: the user.
    pub fn by(&self, request: Option<RequestId>) -> ChangeOrigin {
        ChangeOrigin { author: self.parts.user.clone(), time: self.now(), request, ..ChangeOrigin::default() }
    }

    /// Refuses a new conversation without a folder to work in.
    pub async fn can_work_in(&self, folder: Option<&str>) -> Result<()> {
        let Some(folder) = folder else { return Ok(()) };
        let looked = PathBuf::from(folder);
        let is_there = retake_tools::blocking(move || looked.is_dir()).await;
        if is_there.expect("BUG: looking at a folder does not panic") {
            return Ok(());
        }
        let what = format!("there is no folder {}", folder.escape_debug());
        Err(EngineError::new(Kind::Refused, "folder_missing", what).with("path", folder))
    }

    /// Creates a conversation.
    pub async fn create(
        &self,
        title: Option<String>,
        folder: Option<String>,
        by: ChangeOrigin,
    ) -> Result<Receipt> {
        let new = NewConversation { id: self.new_conversation_id(), folder, title, by };
        Ok(self.store().create(new).await?)
    }

    /// Creates a fork.
    pub async fn fork(
        &self,
        parent: ConversationId,
        entry: Option<EntryId>,
        title: Option<String>,
        by: ChangeOrigin,
    ) -> Result<Receipt> {
        let fork = NewFork { parent, id: self.new_conversation_id(), entry, title, by };
        Ok(self.store().fork(fork).await?)
    }

    /// Appends a message.
    pub async fn say(&self, conversation: ConversationId, say: SayRequest) -> Result<Receipt> {
        if say.role == Role::User {
            not_blank(&say.parts)?;
        }
        self.for_people(conversation).await?;
        let _access = self.shared(conversation).await;
        Ok(self.store().say(conversation, say).await?)
    }

    /// Changes the state. A move never waits: while a model is answering, it is refused.
    pub fn apply(&self, conversation: ConversationId, apply: Apply) -> BoxFuture<'_, Result<Receipt>> {
        Box::pin(async move {
            self.can_name(conversation, &apply.action).await?;
            if apply.action.traits().moves_tip && self.is_running(conversation) {
                return Err(EngineError::running());
            }
            Ok(self.store().apply(conversation, apply).await?)
        })
    }

    /// Plans an action.
    pub fn plan(&self, conversation: ConversationId, action: Action) -> BoxFuture<'_, Result<Planned>> {
        Box::pin(async move {
            self.can_name(conversation, &action).await?;
            Ok(self.store().plan(conversation, action).await?)
        })
    }

    /// The head of a conversation, without a reading.
    pub(crate) async fn head(&self, conversation: ConversationId) -> Result<Head> {
        Ok(self.store().snapshot(conversation).await?.conversation().head)
    }

    /// The folder of a conversation, without a reading.
    pub(crate) async fn folder_of(&self, conversation: ConversationId) -> Result<Option<PathBuf>> {
        Ok(self.store().snapshot(conversation).await?.folder().map(PathBuf::from))
    }

    /// Waits for this time until nothing runs, then stops all runs, and waits for the same time again. Steps at work are awaited
    /// likewise. When this returns, no run can begin any more.
    pub async fn finish(&self, patience: std::time::Duration) {
        self.chats.end();
        for last in [false, true] {
            let late = self.parts.clock.sleep(patience);
            if last {
                self.ends.store(true, Ordering::SeqCst);
                self.closed.store(true, Ordering::SeqCst);
            }
            let idle = async {
                loop {
                    self.rest(last).await;
                    // What was claimed just before is awaited like the others.
                    self.closed.store(true, Ordering::SeqCst);
                    if self.running().is_empty() {
                        return;
                    }
                }
            };
            tokio::select! {
                biased;
                () = idle => return,
                () = late => {}
            }
        }
    }

    /// Waits until nothing is at work. Something may begin after that.
    pub async fn at_rest(&self) {
        self.rest(false).await;
    }

    /// The same; `stops`: all runs are stopped.
    async fn rest(&self, stops: bool) {
        while let Some(of) = self.running().first() {
            if stops {
                self.cancel(*of);
            }
            self.until_idle(*of).await;
        }
        self.completions.over().await;
    }

    /// Whether the end has come: nothing can begin.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    /// Who or what stops calls.
    pub(crate) fn stopped_by(&self) -> &'static str {
        match self.ends.load(Ordering::SeqCst) {
            true => "stopped because the owner of the conversations ended",
            false => "stopped by the person",
        }
    }

    /// Why a call does not begin where its run is stopped.
    pub(crate) fn stopped(&self) -> CallRefusal {
        match self.ends.load(Ordering::SeqCst) {
            true => CallRefusal::OwnerEnded,
            false => CallRefusal::Stopped,
        }
    }
}

/// Refuses a blank message.
pub(crate) fn not_blank(parts: &[Part]) -> Result<()> {
    let blank = |part: &Part| part.as_text().is_some_and(|text| text.trim().is_empty());
    if parts.iter().all(blank) {
        return Err(EngineError::usage("can't store an empty message").with("what", "empty_message"));
    }
    Ok(())
}

/// The tool that runs commands, by the name that models use.
pub const SHELL: &str = retake_tools::SHELL;

/// The digest of a request's arguments, which the store uses to recognise a repeated request.
pub fn request_digest(
    kind: &str,
    arguments: &(impl serde::Serialize + std::fmt::Debug),
) -> retake_core::Digest {
    retake_store::digest::of_request(kind, arguments)
}
