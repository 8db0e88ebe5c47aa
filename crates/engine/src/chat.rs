//! Chats: what arrives from a gateway, what it does here, and the work on posts. The gateway is trusted for its account only: who a
//! person is, it says; what that person may do, is decided here. Must never store or log anything of a stranger but an id and a name.

mod approvals;
mod arrive;
mod commands;
mod edits;
mod pairing;
mod press;
mod previews;
mod queue;
mod steps;
mod waiting;
mod work;

pub(crate) use edits::OF_CHATS;
pub use press::{ChatPress, button_data};
pub use previews::ChatPreviews;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use retake_core::{
    ArrivalOutcome, ChatAccount, ChatBinding, ChatNotice, ChatNoticeKind, ChatPlace, ChatShare,
    ConversationId, OpNo, Part, PostKey, Time,
};
use tokio::sync::Notify;

use crate::Engine;
use crate::error::{EngineError, Kind, Result};

/// How long it is known what became of an event, in milliseconds: 30 days. Platforms deliver an event again for seven days at most
/// (WhatsApp). The rest is for a gateway that was away meanwhile. A message is also recognised by its id, without a limit.
const EVENTS_KEPT_MS: i64 = 30 * 24 * 60 * 60 * 1000;

/// The transient state of chats.
#[derive(Default)]
pub(crate) struct ChatState {
    /// Notified when there may be work on posts.
    changed: Arc<Notify>,
    /// Whether the owner ends: nobody waits for work any more.
    is_over: AtomicBool,
    /// The conversations with a run of a chat, whose owners can be asked there.
    attended: Arc<Mutex<Vec<ConversationId>>>,
    /// The open approvals of each place.
    approvals: Mutex<BTreeMap<ChatPlace, Vec<PostKey>>>,
    /// The edits that wait for further ones.
    edits: waiting::WaitingEdits,
    /// The number of the newest request for work of each account.
    takes: Mutex<BTreeMap<String, u64>>,
    /// The answers that are shown while they are written.
    shown: previews::ShownNow,
}

/// A run of a chat is at work, until this is dropped.
pub(crate) struct Attended(Arc<Mutex<Vec<ConversationId>>>, ConversationId);

impl Drop for Attended {
    fn drop(&mut self) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = all.iter().position(|id| *id == self.1) {
            all.swap_remove(at);
        }
    }
}

impl ChatState {
    /// Marks a conversation whose run can ask in a chat.
    fn attend(&self, of: ConversationId) -> Attended {
        self.attended.lock().unwrap_or_else(PoisonError::into_inner).push(of);
        Attended(Arc::clone(&self.attended), of)
    }

    /// An approval was opened in a place, or closed there.
    fn set_approval(&self, place: &ChatPlace, key: PostKey, is_open: bool) {
        let mut all = self.approvals.lock().unwrap_or_else(PoisonError::into_inner);
        let open = all.entry(place.clone()).or_default();
        open.retain(|other| *other != key);
        if is_open {
            open.push(key);
        } else if open.is_empty() {
            all.remove(place);
        }
    }

    /// The newest open approval of a place.
    fn open_approval(&self, place: &ChatPlace) -> Option<PostKey> {
        let all = self.approvals.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(place).and_then(|open| open.last()).copied()
    }

    /// Whether the run of a conversation can ask in a chat.
    pub(crate) fn is_attended(&self, of: ConversationId) -> bool {
        self.attended.lock().unwrap_or_else(PoisonError::into_inner).contains(&of)
    }

    /// Sends those away who wait for work: the owner ends.
    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::SeqCst);
        self.changed.notify_waiters();
    }

    /// A request for work begins. Returns its number.
    fn begin_take(&self, account: &str) -> u64 {
        let mut takes = self.takes.lock().unwrap_or_else(PoisonError::into_inner);
        let newest = takes.entry(account.to_owned()).or_default();
        *newest += 1;
        *newest
    }

    /// Whether no later request for work of the account has begun.
    fn is_newest_take(&self, account: &str, turn: u64) -> bool {
        self.takes.lock().unwrap_or_else(PoisonError::into_inner).get(account) == Some(&turn)
    }
}

/// An event of a platform.
#[derive(Clone, Debug, PartialEq)]
pub struct GatewayEvent {
    /// The account.
    pub account: String,
    /// Its names: the first one is that of the event, the others belong to it.
    pub keys: Vec<String>,
    /// What happened.
    pub event: ChatEvent,
    /// The command that the message is, with its number.
    pub command: Option<(ChatVerb, Option<u32>)>,
    /// Whether the person moderates the place.
    pub moderates: bool,
    /// Whether it is too old to be answered.
    pub is_late: bool,
}

/// What happened on a platform.
#[derive(Clone, Debug, PartialEq)]
pub enum ChatEvent {
    /// A message.
    Message(ChatMessage),
    /// Another wording of a message.
    Edited(ChatMessage),
    /// A message was deleted.
    Recalled {
        /// Its place.
        place: ChatPlace,
        /// Its platform id.
        message: String,
        /// The platform id of the person who deleted it, if it is known.
        by: Option<String>,
    },
    /// A button was pressed.
    Pressed(ChatPress),
    /// A chat has another id.
    Migrated {
        /// The id until now.
        from: String,
        /// The id from now on.
        to: String,
    },
    /// Something that changes nothing here.
    Other,
}

/// A message of a person.
#[derive(Clone, Debug, PartialEq)]
pub struct ChatMessage {
    /// Its place.
    pub place: ChatPlace,
    /// Whether several people read the place.
    pub is_shared: bool,
    /// Its platform id.
    pub message: String,
    /// The platform id of its author.
    pub person: String,
    /// The name of its author.
    pub name: String,
    /// Whether a program wrote it.
    pub is_bot: bool,
    /// When it was sent.
    pub sent: Time,
    /// Its content.
    pub parts: Vec<Part>,
    /// Whether it addresses us.
    pub is_addressed: bool,
    /// The message that it replies to.
    pub reply_to: Option<String>,
    /// If further messages were joined to it: the share of each, itself included, in their order.
    pub joined: Vec<ChatShare>,
}

/// A command of a chat. The names are those in notices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum ChatVerb {
    /// Take back turns.
    Rewind,
    /// Undo steps.
    Undo,
    /// Do undone steps again.
    Redo,
    /// Answer the last message again.
    Retry,
    /// Take back one turn.
    Drop,
    /// Stop the run.
    Stop,
    /// Begin a new conversation.
    New,
    /// List the commands.
    Help,
    /// Say what is going on.
    Status,
    /// List the posts that stay.
    Posts,
    /// Do what the newest question asks about.
    Confirm,
    /// Leave everything as it is.
    Cancel,
}

/// What became of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrived {
    /// It is stored, carried out or ignored.
    Known(ArrivalOutcome),
    /// It had arrived before.
    Again(ArrivalOutcome),
    /// Its author is not known here; a code to tell.
    Stranger(Option<String>),
    /// A button was pressed; a notice for the person who did it.
    Pressed(ChatNotice),
}

/// What a gateway needs to begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GatewayConnected {
    /// The account, with its cursor.
    pub account: ChatAccount,
    /// The holds in force.
    pub holds: Vec<(String, Time)>,
    /// The places that are bound.
    pub bindings: Vec<ChatBinding>,
}

impl Engine {
    /// Gives an account to a gateway.
    ///
    /// # Errors
    ///
    /// Another gateway has it.
    pub async fn chat_connect(
        self: &Arc<Self>,
        account: String,
        holder: String,
        replaces: Option<String>,
    ) -> Result<GatewayConnected> {
        self.chat_lease_after(&account, holder, replaces).await?;
        // An earlier gateway of this account takes no work any more.
        self.chats.begin_take(&account);
        self.resume_waiting(&account).await?;
        Ok(GatewayConnected {
            holds: self.store().chat_holds(account.clone(), self.now()).await?,
            bindings: self.store().chat_bindings(account.clone()).await?,
            account: self.store().chat_account(account).await?,
        })
    }

    /// The accounts that a gateway has now, each with the gateway's name.
    ///
    /// # Errors
    ///
    /// The store cannot be read.
    pub async fn chat_holders(&self) -> Result<Vec<(String, String)>> {
        let now = self.now();
        let all = self.store().chat_accounts().await?.into_iter();
        let held = all.filter_map(|account| {
            let (holder, until) = account.lease?;
            (until > now).then_some((account.name, holder))
        });
        Ok(held.collect())
    }

    /// Renews the lease of a gateway.
    async fn chat_lease(&self, account: &str, holder: String) -> Result<()> {
        self.chat_lease_after(account, holder, None).await
    }

    async fn chat_lease_after(&self, account: &str, holder: String, replaces: Option<String>) -> Result<()> {
        match self.store().lease_account(account.to_owned(), holder, replaces, self.now()).await? {
            None => Ok(()),
            Some(other) => {
                let what = "another gateway has this account";
                Err(EngineError::new(Kind::Refused, "account_held", what).with("holder", other))
            }
        }
    }

    /// Records where the events of an account end.
    pub async fn chat_cursor(&self, account: String, holder: String, cursor: String) -> Result<()> {
        self.chat_lease(&account, holder).await?;
        Ok(self.store().set_chat_cursor(account, cursor).await?)
    }

    /// Records a hold.
    pub async fn chat_hold(
        &self,
        account: String,
        holder: String,
        bucket: String,
        until: Time,
    ) -> Result<()> {
        self.chat_lease(&account, holder).await?;
        Ok(self.store().set_chat_hold(account, bucket, until).await?)
    }

    /// Removes what is known of old events.
    pub(crate) async fn forget_chat_events(&self) -> Result<()> {
        let before = Time(self.now().0.saturating_sub(EVENTS_KEPT_MS));
        while self.store().forget_chat_events(before).await? {}
        Ok(())
    }

    /// Plans a notice.
    async fn notify_chat(
        &self,
        of: ConversationId,
        place: &ChatPlace,
        notice: ChatNotice,
        reply_to: Option<&str>,
        op: Option<OpNo>,
    ) -> Result<PostKey> {
        let reply_to = reply_to.map(str::to_owned);
        let key = self.store().plan_notice(of, place.clone(), notice, reply_to, op, self.now()).await?;
        self.chats.changed.notify_waiters();
        Ok(key)
    }
}

/// A notice without values.
fn notice(kind: ChatNoticeKind) -> ChatNotice {
    ChatNotice { kind, ..ChatNotice::default() }
}

/// A notice of a failure.
fn problem_notice(kind: ChatNoticeKind, error: &EngineError) -> ChatNotice {
    ChatNotice { code: Some(error.code.to_owned()), ..notice(kind) }
}

/// There is nothing that the command could do.
fn nothing(verb: ChatVerb) -> ChatNotice {
    coded(ChatNoticeKind::Nothing, verb)
}

fn coded(kind: ChatNoticeKind, verb: ChatVerb) -> ChatNotice {
    ChatNotice { code: Some(<&str>::from(verb).to_owned()), ..notice(kind) }
}

/// The notice of a refused step. An owner that ends has not decided: the platform delivers the event to the next one.
fn refused(verb: ChatVerb, error: EngineError) -> Result<ChatNotice> {
    match error.code {
        _ if error.is_leaving() => Err(error),
        "nothing_to_undo" | "nothing_to_redo" | "no_turn" | "not_on_path" | "unchanged" => Ok(nothing(verb)),
        _ => Ok(problem_notice(ChatNoticeKind::Problem, &error)),
    }
}
