//! The adapter for Telegram, over the Bot API with long polling. It makes entities and never markup, so that no text can fail to
//! parse. Must never repeat a request whose answer was lost: the Bot API has neither a key for that nor a history.

mod api;
mod entities;
mod mention;
mod post;
mod queue;
mod update;

use std::convert::Infallible;
use std::time::Duration;

use async_trait::async_trait;
use retake_wire::chat::{InboundFile, Person, Place};
use secrecy::SecretString;
use serde_json::{Value, json};
use tokio::sync::OnceCell;
use unicode_segmentation::UnicodeSegmentation as _;

use crate::adapter::{Adapter, Deleted, Found, Identity, Inbox, Marker, Outgoing, Probe, Sent, SetupStep};
use crate::capabilities::{
    BulkDeletion, Capabilities, CommandPrefix, DeletionWindow, LengthUnit, Remains, Resend,
};
use crate::failure::{Failure, Refused};
use api::{Api, CallError};
use mention::Us;
use queue::Queue;

/// The address of the Bot API.
const BASE: &str = "https://api.telegram.org";

/// How long the Bot API holds a poll that has no update, in seconds.
const POLL: u64 = 50;

/// How long we wait for the answer of a poll.
const POLL_ANSWER: Duration = Duration::from_secs(POLL + 20);

/// The least time between two polls without updates: a server may not hold them \[T\].
const PAUSE: Duration = Duration::from_secs(1);

/// The largest file that bots can fetch \[U\].
const LARGEST_FILE: u64 = 20 * 1024 * 1024;

/// The longest answer to a press, in characters \[D\].
const LONGEST_ANSWER: usize = 200;

/// 48 hours, also for administrators \[D\]\[S\].
const WINDOW: Duration = Duration::from_secs(48 * 60 * 60);

static CAPABILITIES: Capabilities = Capabilities {
    platform: "telegram",
    title: "Telegram",
    commands: CommandPrefix::Slash,
    // After entities were parsed [D].
    longest: 4096,
    unit: LengthUnit::Utf16,
    deletes: DeletionWindow::Hard(WINDOW),
    // 1 to 100 ids; missing ones are skipped [S].
    bulk: Some(BulkDeletion { least: 1, most: 100, oldest: WINDOW }),
    remains: Remains::Nothing,
    edits_are_messages: false,
    edits: true,
    // No key, no history.
    resend: &[Resend::Send],
    // Drafts (`sendMessageDraft`) need a method of their own, which the trait does not have yet.
    previews: [true, true],
    buttons: true,
    // A text for one person only is possible as the answer to a press, not as a message.
    ephemeral: false,
    // One per second in a chat, 30 in total; the exact limits are not stated [D].
    spacing: [Duration::from_secs(1), Duration::from_millis(34)],
};

/// The settings of an account.
#[derive(Clone, Debug)]
pub struct TelegramConfig {
    /// The name of the account in the settings.
    pub account: String,
    /// The bot's token.
    pub token: SecretString,
    /// The address of the Bot API, if it is not the usual one.
    pub base: Option<String>,
}

/// A bot of Telegram.
#[derive(Debug)]
pub struct Telegram {
    account: String,
    api: Api,
    me: OnceCell<Us>,
}

impl Telegram {
    /// An adapter of this account. Calls nothing yet.
    ///
    /// # Errors
    /// The HTTP client cannot be created on this machine.
    pub fn new(config: TelegramConfig) -> Result<Self, Failure> {
        let api = Api::new(config.base.as_deref().unwrap_or(BASE), config.token)?;
        Ok(Self { account: config.account, api, me: OnceCell::new() })
    }

    async fn us(&self) -> Result<&Us, Failure> {
        self.me.get_or_try_init(async || us_of(&self.api.call("getMe", &json!({})).await?)).await
    }

    /// Sends a post. If the chat has a new id, nothing was sent. The event with that id moves the conversation, but not this post.
    async fn send_post(&self, place: &Place, post: &Outgoing) -> Result<Value, Failure> {
        let arguments = post::arguments(place, post);
        let sent = match &post.file {
            Some(file) => self.api.upload("sendDocument", post::form(&arguments, file)?).await,
            None => self.api.call("sendMessage", &arguments).await,
        };
        match sent {
            Err(CallError::Migrated) => Err(Failure::Unreachable),
            // It was accepted, but the answer cannot be read.
            Err(CallError::Failed(Failure::Unreadable)) => Err(Failure::Unknown),
            sent => Ok(sent?),
        }
    }

    /// Polls until it fails.
    async fn poll(&self, cursor: Option<String>, inbox: &dyn Inbox) -> Result<Infallible, Failure> {
        let us = self.us().await?;
        let mut queue = Queue::after(cursor.and_then(|cursor| cursor.parse().ok()));
        loop {
            let pause = tokio::time::sleep(PAUSE);
            let mut arguments = json!({ "timeout": POLL, "allowed_updates": update::KINDS });
            if let Some(last) = queue.last() {
                // This confirms everything before it [S]: all of that is durable.
                arguments["offset"] = (last + 1).into();
            }
            let answer = self.api.poll("getUpdates", &arguments, POLL_ANSWER).await?;
            let updates = answer.as_array().ok_or(Failure::Unreadable)?;
            let read = |update: &Value| update::event(&self.account, us, update);
            queue.take(updates, read, inbox).await?;
            if updates.is_empty() {
                pause.await;
            }
            queue.wait(inbox).await?;
        }
    }
}

/// Who we are, from the answer of `getMe`.
fn us_of(me: &Value) -> Result<Us, Failure> {
    let id = update::text_of(&me["id"]).ok_or(Failure::Unreadable)?;
    Ok(Us { id, name: me["username"].as_str().unwrap_or_default().to_owned() })
}

/// An id as a number, or a name such as `@channel` as a text.
fn id(id: &str) -> Value {
    id.parse::<i64>().map_or_else(|_| id.into(), Value::from)
}

/// The id of a message, as a number.
fn message_id(id: &str) -> Result<i64, Failure> {
    id.parse().map_err(|_| Failure::Refused(Refused::Other))
}

#[async_trait]
impl Adapter for Telegram {
    fn capabilities(&self) -> &'static Capabilities {
        &CAPABILITIES
    }

    async fn identify(&self) -> Result<Identity, Failure> {
        let me = self.api.call("getMe", &json!({})).await.map_err(Failure::from)?;
        let Us { id, name } = us_of(&me)?;
        // Privacy mode: groups deliver commands, replies and service messages only [D].
        let reads_all = me["can_read_all_group_messages"].as_bool() == Some(true);
        let missing = if reads_all { Vec::new() } else { vec![SetupStep::ReadMessages] };
        Ok(Identity { id, name, missing })
    }

    async fn receive(&self, cursor: Option<String>, inbox: &dyn Inbox) -> Failure {
        match self.poll(cursor, inbox).await {
            Ok(never) => match never {},
            Err(failure) => failure,
        }
    }

    async fn send(&self, place: &Place, post: &Outgoing, _marker: &Marker) -> Result<Sent, Failure> {
        post::check(post)?;
        let message = self.send_post(place, post).await?;
        let id = update::text_of(&message["message_id"]).ok_or(Failure::Unknown)?;
        Ok(Sent { ids: vec![id], sent_ms: update::sent_ms(&message) })
    }

    async fn edit(
        &self,
        place: &Place,
        message: &str,
        post: &Outgoing,
        _marker: &Marker,
    ) -> Result<Sent, Failure> {
        post::check(post)?;
        let method = if post.file.is_some() { "editMessageCaption" } else { "editMessageText" };
        let arguments = post::edit_arguments(place, message_id(message)?, post);
        match self.api.call(method, &arguments).await {
            Ok(_) | Err(CallError::NotModified) => Ok(Sent::default()),
            Err(error) => Err(error.into()),
        }
    }

    async fn delete(&self, place: &Place, message: &str) -> Result<Deleted, Failure> {
        let arguments = json!({ "chat_id": id(&place.chat), "message_id": message_id(message)? });
        match self.api.call("deleteMessage", &arguments).await.map_err(Failure::from) {
            Ok(_) => Ok(Deleted::Gone),
            Err(Failure::NotFound) => Ok(Deleted::AlreadyGone),
            Err(failure) => Err(failure),
        }
    }

    async fn delete_many(&self, place: &Place, ids: &[String]) -> Result<(), Failure> {
        let numbers = ids.iter().map(|id| message_id(id)).collect::<Result<Vec<_>, _>>();
        let numbers = numbers.map_err(|_| Failure::Refused(Refused::Batch))?;
        let arguments = json!({ "chat_id": id(&place.chat), "message_ids": numbers });
        match self.api.call("deleteMessages", &arguments).await {
            Ok(_) => Ok(()),
            // Whether one id fails the batch is not known [?]. So the caller tries each one.
            Err(CallError::Rejected(_)) => Err(Failure::Refused(Refused::Batch)),
            Err(error) => Err(error.into()),
        }
    }

    async fn find(&self, _place: &Place, _marker: &Marker, _since_ms: i64) -> Result<Found, Failure> {
        Ok(Found::CannotTell)
    }

    async fn probe(&self, place: &Place) -> Result<Probe, Failure> {
        // Private chats have positive ids, all others negative ones [D].
        if place.chat.parse::<i64>().is_ok_and(|chat| chat > 0) {
            return Ok(Probe::Yes { bulk: true });
        }
        let arguments = json!({ "chat_id": id(&place.chat), "user_id": id(&self.us().await?.id) });
        match self.api.call("getChatMember", &arguments).await.map_err(Failure::from) {
            // Our own posts: in groups always, in channels with the right to post [D].
            Ok(member) if update::is_there(&member) => Ok(Probe::Yes { bulk: true }),
            Ok(_) | Err(Failure::Refused(Refused::NotPermitted)) => Ok(Probe::NotPermitted),
            Err(Failure::Refused(_)) => Ok(Probe::Unknown),
            Err(failure) => Err(failure),
        }
    }

    async fn moderates(&self, place: &Place, person: &str) -> Result<bool, Failure> {
        let arguments = json!({ "chat_id": id(&place.chat), "user_id": id(person) });
        match self.api.call("getChatMember", &arguments).await.map_err(Failure::from) {
            Ok(member) => Ok(matches!(member["status"].as_str(), Some("creator" | "administrator"))),
            // Not a member, or nobody that Telegram knows.
            Err(Failure::Refused(Refused::Other | Refused::NotPermitted)) => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    async fn fetch(&self, file: &InboundFile, most: u64) -> Result<Vec<u8>, Failure> {
        let most = most.min(LARGEST_FILE);
        let is_longer = |value: Option<u64>| value.is_some_and(|size| size > most);
        if is_longer(file.size) {
            return Err(Failure::Refused(Refused::TooLong));
        }
        let found = self.api.call("getFile", &json!({ "file_id": file.handle })).await;
        let found = found.map_err(Failure::from)?;
        if is_longer(found["file_size"].as_u64()) {
            return Err(Failure::Refused(Refused::TooLong));
        }
        let path = found["file_path"].as_str().ok_or(Failure::Unreadable)?;
        self.api.download(path, most).await
    }

    async fn whisper(
        &self,
        _place: &Place,
        _person: &Person,
        text: &str,
        answer_to: Option<&str>,
    ) -> Result<(), Failure> {
        // A message that only one person sees is new in Bot API 10.2 [U], and is not used.
        let query = answer_to.ok_or(Failure::Refused(Refused::Other))?;
        let mut arguments = json!({ "callback_query_id": query });
        if !text.is_empty() {
            arguments["text"] = shortened(text, LONGEST_ANSWER).into();
            arguments["show_alert"] = true.into();
        }
        self.api.call("answerCallbackQuery", &arguments).await.map(drop).map_err(Failure::from)
    }

    async fn typing(&self, place: &Place) -> Result<(), Failure> {
        let mut arguments = json!({ "chat_id": id(&place.chat), "action": "typing" });
        if let Some(thread) = &place.thread {
            arguments["message_thread_id"] = id(thread);
        }
        self.api.call("sendChatAction", &arguments).await.map(drop).map_err(Failure::from)
    }
}

/// The beginning of a text, at most so many UTF-16 code units, cut between graphemes.
fn shortened(text: &str, most: usize) -> String {
    if entities::length(text) <= most {
        return text.to_owned();
    }
    let mut kept = String::new();
    for grapheme in text.graphemes(true) {
        if entities::length(&kept) + entities::length(grapheme) >= most {
            break;
        }
        kept.push_str(grapheme);
    }
    kept + "…"
}
