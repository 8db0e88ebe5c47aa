//! The engine: everything that can be asked of the owner, in types of core and store.
//!
//! It refuses what must wait for a run, makes ids and times, and leaves the rest to the store.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use retake_core::{
    Action, Apply, By, ConversationId, EntryId, Head, NewConversation, NewFork, Part, Planned, Receipt,
    RequestId, Role, SayRequest, Time,
};
use retake_store::Store;
use tokio::runtime::Handle;
use tokio::sync::Notify;

use crate::agent::{AgentConfig, Waits};
use crate::clock::Clock;
use crate::error::{EngineError, Kind, Result};
use crate::files::{Files, FilesConfig};
use crate::ids::Random;
use crate::mcp::{McpFiles, Started};
use crate::model::Catalogue;
use crate::run::{Events, Feeds, Serving};
use crate::unbroken::Unbroken;

/// What an engine is made of. Clock and randomness come from outside, once.
pub struct Parts {
    /// Where conversations are kept.
    pub store: Arc<dyn Store>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The source of ids.
    pub random: Arc<dyn Random>,
    /// The models there are.
    pub models: Arc<dyn Catalogue>,
    /// Instructions above every conversation.
    pub system_prompt: Option<String>,
    /// The name of the person who types.
    pub user: String,
    /// Where files are kept; without it none are.
    pub files: Option<FilesConfig>,
    /// Where MCP servers are named by the user; without it there are none.
    pub mcp: Option<McpFiles>,
    /// What the agent can do, and may; without it models only talk.
    pub agent: Option<AgentConfig>,
}

/// Who waits for a run to begin, with words of theirs: the request of the words, and where to tell what becomes of them.
pub(crate) type Listener = (RequestId, Events);

/// What has claimed a conversation.
#[derive(Default)]
struct Running {
    stop: Arc<Notify>,
    /// The requests that the run at work answers; nothing, where it is no run, or not yet.
    serves: Option<Vec<Serving>>,
}

/// The owner of truth.
pub struct Engine {
    parts: Parts,
    running: Mutex<HashMap<ConversationId, Running>>,
    /// Some conversation is no longer claimed, or it is known now what has claimed it.
    idle: Notify,
    /// Where what runs is being ended, and nothing that waits is taken up; by which request, where the end of the run may be all
    /// that it asks for.
    halted: Mutex<Vec<(ConversationId, Option<By>)>>,
    pub(crate) importing: crate::port::Staging,
    pub(crate) files: Files,
    pub(crate) started: Started,
    alone: Mutex<HashMap<ConversationId, Arc<tokio::sync::RwLock<()>>>>,
    pub(crate) waits: Waits,
    /// What runs say, for all who follow.
    pub(crate) feeds: Feeds,
    listeners: Mutex<HashMap<ConversationId, Vec<Listener>>>,
    /// Where somebody has looked for what waits, and whoever has claimed the conversation has not since.
    sought: Mutex<HashSet<ConversationId>>,
    erasures: AtomicU64,
    /// The owner ends: what is stopped from now on, no person has stopped.
    ends: AtomicBool,
    pub(crate) unbroken: Unbroken,
}

impl Engine {
    /// An engine on these parts; streams that a crash left are stored as interrupted answers first.
    pub async fn start(mut parts: Parts) -> Result<Arc<Self>> {
        let files = Files::new(parts.files.take());
        let (running, importing, alone) = (Mutex::default(), Default::default(), Mutex::default());
        let engine = Arc::new(Self {
            parts,
            running,
            idle: Notify::new(),
            halted: Mutex::default(),
            importing,
            files,
            started: Started::default(),
            alone,
            waits: Waits::default(),
            listeners: Mutex::default(),
            feeds: Feeds::default(),
            sought: Mutex::default(),
            erasures: AtomicU64::new(0),
            ends: AtomicBool::new(false),
            unbroken: Unbroken::default(),
        });
        engine.recover().await?;
        Ok(engine)
    }

    pub(crate) fn store(&self) -> &dyn Store {
        &*self.parts.store
    }

    /// The store below, for tests of the engine that compare with what is kept. No program has it.
    #[cfg(feature = "test-access")]
    pub fn kept(&self) -> &dyn Store {
        self.store()
    }

    /// How often this owner has erased something: what was read of any conversation before the last time may hold what is gone.
    pub fn erasures(&self) -> u64 {
        self.erasures.load(Ordering::SeqCst)
    }

    /// Something was erased.
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

    /// The time.
    pub(crate) fn now(&self) -> Time {
        Time(self.parts.clock.now_ms())
    }

    /// A new entry's id.
    pub fn new_entry_id(&self) -> EntryId {
        EntryId::new(self.parts.random.uuid_v7(self.parts.clock.now_ms()))
    }

    /// A name for a request of somebody who gave it none.
    pub(crate) fn new_request_id(&self) -> RequestId {
        let id = self.new_entry_id().to_string();
        id.parse().expect("BUG: an id is printable and short")
    }

    pub(crate) fn new_conversation_id(&self) -> ConversationId {
        ConversationId::new(self.parts.random.uuid_v7(self.parts.clock.now_ms()))
    }

    /// The person who types, now, by this request.
    pub fn by(&self, request: Option<RequestId>) -> By {
        By { author: self.parts.user.clone(), time: self.now(), request, wording: None }
    }

    /// Refuses to begin a conversation where there is no folder to work in.
    pub async fn can_work_in(&self, folder: Option<&str>) -> Result<()> {
        let Some(folder) = folder else { return Ok(()) };
        let looked = PathBuf::from(folder);
        let is_there = tokio::task::spawn_blocking(move || looked.is_dir()).await;
        if is_there.expect("BUG: looking at a folder does not panic") {
            return Ok(());
        }
        let what = format!("there is no folder {}", folder.escape_debug());
        Err(EngineError::new(Kind::Refused, "folder_missing", what)
            .hint("make it first, or name another one"))
    }

    /// Makes a conversation.
    pub async fn create(&self, title: Option<String>, folder: Option<String>, by: By) -> Result<Receipt> {
        let new = NewConversation { id: self.new_conversation_id(), folder, title, by };
        Ok(self.store().create(new).await?)
    }

    /// Makes a fork.
    pub async fn fork(
        &self,
        parent: ConversationId,
        entry: Option<EntryId>,
        title: Option<String>,
        by: By,
    ) -> Result<Receipt> {
        let fork = NewFork { parent, id: self.new_conversation_id(), entry, title, by };
        Ok(self.store().fork(fork).await?)
    }

    /// Stores what somebody said.
    pub async fn say(&self, conversation: ConversationId, say: SayRequest) -> Result<Receipt> {
        if say.role == Role::User {
            not_blank(&say.parts)?;
        }
        let gate = self.gate(conversation);
        let _open = gate.read().await;
        Ok(self.store().say(conversation, say).await?)
    }

    /// Changes the state. A Move waits for nobody: while a model is answering it is refused.
    pub async fn apply(&self, conversation: ConversationId, apply: Apply) -> Result<Receipt> {
        self.can_name(conversation, &apply.action).await?;
        if moves(&apply.action) && self.is_running(conversation) {
            return Err(EngineError::running());
        }
        Ok(self.store().apply(conversation, apply).await?)
    }

    /// Says what an action would do.
    pub async fn plan(&self, conversation: ConversationId, action: Action) -> Result<Planned> {
        self.can_name(conversation, &action).await?;
        Ok(self.store().plan(conversation, action).await?)
    }

    /// The head of a conversation, without a reading.
    pub(crate) async fn head(&self, conversation: ConversationId) -> Result<Head> {
        Ok(self.store().snapshot(conversation).await?.conversation().head)
    }

    /// The folder of a conversation, without a reading.
    pub(crate) async fn folder_of(&self, conversation: ConversationId) -> Result<Option<PathBuf>> {
        Ok(self.store().snapshot(conversation).await?.folder().map(PathBuf::from))
    }

    /// Whether a model is answering.
    pub fn is_running(&self, conversation: ConversationId) -> bool {
        self.runs().contains_key(&conversation)
    }

    /// The conversations in which something runs.
    pub fn running(&self) -> Vec<ConversationId> {
        self.runs().keys().copied().collect()
    }

    /// Waits until nothing runs, for so long; what runs then is stopped, and waited for as long again. So is a step back or forth.
    pub async fn finish(&self, patience: std::time::Duration) {
        for last in [false, true] {
            let late = self.parts.clock.sleep(patience);
            let idle = async {
                while let Some(of) = self.running().first() {
                    if last {
                        self.ends.store(true, Ordering::SeqCst);
                        self.cancel(*of);
                    }
                    self.until_idle(*of).await;
                }
                self.unbroken.over().await;
            };
            tokio::select! {
                biased;
                () = idle => return,
                () = late => {}
            }
        }
    }

    /// By whom or what calls are stopped.
    pub(crate) fn stopped_by(&self) -> &'static str {
        match self.ends.load(Ordering::SeqCst) {
            true => "stopped because the owner of the conversations ended",
            false => "stopped by the person",
        }
    }

    /// Asks the run of a conversation to stop. Whether there was one.
    pub fn cancel(&self, conversation: ConversationId) -> bool {
        match self.runs().get(&conversation) {
            Some(running) => {
                running.stop.notify_one();
                true
            }
            None => false,
        }
    }

    /// Waits until nobody says anything, and keeps runs, moves and says out while it lives.
    pub(crate) async fn alone(self: &Arc<Self>, conversation: ConversationId) -> Result<Alone> {
        let claim = self.claim(conversation)?;
        Ok(Alone { _silence: self.silence(conversation).await, _claim: claim })
    }

    /// Waits until nobody says anything, and keeps says out while it lives.
    pub(crate) async fn silence(&self, conversation: ConversationId) -> Silence {
        Silence { _gate: self.gate(conversation).write_owned().await }
    }

    fn gate(&self, conversation: ConversationId) -> Arc<tokio::sync::RwLock<()>> {
        let mut gates = self.alone.lock().unwrap_or_else(PoisonError::into_inner);
        // A gate that nobody holds is made anew when it is needed.
        gates.retain(|_, gate| Arc::strong_count(gate) > 1);
        Arc::clone(gates.entry(conversation).or_default())
    }

    pub(crate) fn listeners(&self) -> MutexGuard<'_, HashMap<ConversationId, Vec<Listener>>> {
        self.listeners.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn sought(&self) -> MutexGuard<'_, HashSet<ConversationId>> {
        self.sought.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Claims a conversation for a run.
    pub(crate) fn claim(self: &Arc<Self>, conversation: ConversationId) -> Result<Claim> {
        let mut runs = self.runs();
        if runs.contains_key(&conversation) {
            return Err(EngineError::running());
        }
        let running = Running::default();
        let stop = Arc::clone(&running.stop);
        runs.insert(conversation, running);
        Ok(Claim { engine: Arc::clone(self), conversation, stop })
    }

    /// The run at work that answers a request.
    pub(crate) fn serving(&self, conversation: ConversationId, request: &RequestId) -> Option<Serving> {
        let runs = self.runs();
        let serves = runs.get(&conversation)?.serves.as_ref()?;
        serves.iter().find(|serving| serving.by.request.as_ref() == Some(request)).cloned()
    }

    /// The last request that the run at work answers.
    pub(crate) fn served_last(&self, conversation: ConversationId) -> Option<RequestId> {
        self.runs().get(&conversation)?.serves.as_ref()?.last()?.by.request.clone()
    }

    /// Whether what has claimed a conversation is a run at work.
    pub(crate) fn is_at_work(&self, conversation: ConversationId) -> bool {
        self.runs().get(&conversation).is_some_and(|running| running.serves.is_some())
    }

    /// Waits until a conversation is not claimed, or a run is at work there.
    pub(crate) async fn until_known(&self, conversation: ConversationId) {
        self.until(|| !self.is_running(conversation) || self.is_at_work(conversation)).await;
    }

    /// Nothing that waits is taken up while this lives.
    pub(crate) fn halting(self: &Arc<Self>, conversation: ConversationId) -> Halting {
        self.halted().push((conversation, None));
        Halting { engine: Arc::clone(self), conversation }
    }

    /// Whether nothing that waits is to be taken up now.
    pub(crate) fn is_halted(&self, conversation: ConversationId) -> bool {
        self.halted().iter().any(|(halted, _)| *halted == conversation)
    }

    /// What a run takes back when it is ended is what this request asks for.
    pub(crate) fn halted_for(&self, conversation: ConversationId, by: By) {
        let mut halted = self.halted();
        let last = halted.iter_mut().rfind(|(halted, _)| *halted == conversation);
        last.into_iter().for_each(|(_, asked)| *asked = Some(by.clone()));
    }

    /// The request whose work it is to take back what a run has begun with.
    pub(crate) fn asked_to_halt(&self, conversation: ConversationId) -> Option<By> {
        let mut halted = self.halted();
        halted.iter_mut().filter(|(halted, _)| *halted == conversation).find_map(|(_, by)| by.take())
    }

    /// Waits until a conversation is not claimed.
    pub(crate) async fn until_idle(&self, conversation: ConversationId) {
        self.until(|| !self.is_running(conversation)).await;
    }

    /// Waits until what is claimed is so.
    async fn until(&self, is_so: impl Fn() -> bool) {
        loop {
            let mut idle = std::pin::pin!(self.idle.notified());
            // From here on no claim that ends is missed.
            idle.as_mut().enable();
            if is_so() {
                return;
            }
            idle.await;
        }
    }

    fn halted(&self) -> MutexGuard<'_, Vec<(ConversationId, Option<By>)>> {
        self.halted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn runs(&self) -> MutexGuard<'_, HashMap<ConversationId, Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A person says something, or it is no message.
pub(crate) fn not_blank(parts: &[Part]) -> Result<()> {
    let blank = |part: &Part| part.as_text().is_some_and(|text| text.trim().is_empty());
    if parts.iter().all(blank) {
        return Err(EngineError::usage("can't store an empty message").hint("say something"));
    }
    Ok(())
}

/// Whether an action moves the tip.
pub(crate) fn moves(action: &Action) -> bool {
    !matches!(
        action,
        Action::Mark { .. }
            | Action::Fold { .. }
            | Action::Unfold(_)
            | Action::Label(..)
            | Action::Files(_)
            | Action::Half(retake_core::Scope::Files, _)
            | Action::Erase { .. }
    )
}

/// Nobody says anything in a conversation while this lives.
#[must_use = "others are kept out only while this lives"]
pub(crate) struct Alone {
    _silence: Silence,
    _claim: Claim,
}

/// Nobody says anything while this lives; who has claimed the conversation goes on.
#[must_use = "others are kept out only while this lives"]
pub(crate) struct Silence {
    _gate: tokio::sync::OwnedRwLockWriteGuard<()>,
}

/// The one run of a conversation.
#[must_use = "a conversation is claimed only while this lives"]
pub(crate) struct Claim {
    engine: Arc<Engine>,
    conversation: ConversationId,
    stop: Arc<Notify>,
}

impl Claim {
    /// The conversation.
    pub(crate) fn conversation(&self) -> ConversationId {
        self.conversation
    }

    /// A run is at work here, which answers these requests; or what was is over.
    pub(crate) fn serves(&self, requests: Option<Vec<Serving>>) {
        if let Some(running) = self.engine.runs().get_mut(&self.conversation) {
            running.serves = requests;
        }
        self.engine.idle.notify_waiters();
    }

    /// Another run is at work from here on: what was asked of the one before is over with it.
    pub(crate) fn hand_on(&mut self) {
        self.stop = Arc::default();
        if let Some(running) = self.engine.runs().get_mut(&self.conversation) {
            running.stop = Arc::clone(&self.stop);
        }
    }

    /// Waits until somebody asks the run to stop.
    pub(crate) async fn stopped(&self) {
        self.stop.notified().await;
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.engine.runs().remove(&self.conversation);
        self.engine.idle.notify_waiters();
        // Who looked for what waits meanwhile has found it claimed.
        if self.engine.sought().remove(&self.conversation)
            && let Ok(runtime) = Handle::try_current()
        {
            let (engine, conversation) = (Arc::clone(&self.engine), self.conversation);
            runtime.spawn(async move { engine.next_run(conversation).await });
        }
    }
}

/// While this lives, what waits in a conversation goes on waiting.
#[must_use = "what waits goes on waiting only while this lives"]
pub(crate) struct Halting {
    engine: Arc<Engine>,
    conversation: ConversationId,
}

impl Drop for Halting {
    fn drop(&mut self) {
        let mut halted = self.engine.halted();
        if let Some(at) = halted.iter().position(|(of, _)| *of == self.conversation) {
            halted.swap_remove(at);
        }
    }
}
