//! An event arrives: who may do it, where it belongs, and what it does. Every event is done once, whatever is delivered again.

use std::sync::Arc;

use retake_core::{
    ArrivalOutcome, ChangeOrigin, ChatArrival, ChatBinding, ChatNoticeKind, ChatOrigin, ChatPlace, ChatRole,
    ConversationId, EntryId, Flags, NewConversation, Part, Principal, RequestId, Role, SayRequest, SeenState,
    Steer, Time, split_joined,
};

use super::steps::Seen;
use super::{Arrived, ChatEvent, ChatMessage, GatewayEvent, problem_notice};
use crate::error::Result;
use crate::files::FileOptions;
use crate::prompt::piped;
use crate::run::{Permit, RunRequest, Start};
use crate::{Engine, request_digest};

/// The longest name of a speaker in a prompt.
const NAME_MAX: usize = 60;

impl Engine {
    /// Takes an event of a platform. When this returns, its effect is durable.
    pub async fn chat_arrive(self: &Arc<Self>, holder: String, event: GatewayEvent) -> Result<Arrived> {
        self.chat_lease(&event.account, holder).await?;
        for key in &event.keys {
            if let Some(outcome) = self.store().chat_event(event.account.clone(), key.clone()).await? {
                return Ok(Arrived::Again(outcome));
            }
        }
        self.end_edits_before(&event).await?;
        let arrived = match &event.event {
            ChatEvent::Message(message) | ChatEvent::Edited(message) if message.is_bot => {
                Arrived::Known(ArrivalOutcome::Ignored)
            }
            ChatEvent::Message(message) => self.message_arrived(&event, message).await?,
            ChatEvent::Edited(message) => self.edit_arrived(&event, message).await?,
            ChatEvent::Recalled { place, message, by } => {
                self.recall_arrived(&event, (place, message), by.as_deref()).await?
            }
            ChatEvent::Migrated { from, to } => self.chat_migrated(&event.account, from, to).await?,
            ChatEvent::Pressed(press) => self.press_arrived(&event, press).await?,
            ChatEvent::Other => Arrived::Known(ArrivalOutcome::Ignored),
        };
        // A message that is stored was recorded in its own transaction; of strangers nothing is recorded.
        if matches!(arrived, Arrived::Known(ArrivalOutcome::Done) | Arrived::Pressed(_)) {
            let (account, keys) = (event.account.clone(), event.keys.clone());
            self.store().note_chat_event(account, keys, ArrivalOutcome::Done, self.now()).await?;
        }
        self.chats.changed.notify_waiters();
        Ok(arrived)
    }

    async fn message_arrived(
        self: &Arc<Self>,
        event: &GatewayEvent,
        message: &ChatMessage,
    ) -> Result<Arrived> {
        let role = self.role_of(message).await?;
        if !role.may_talk() {
            let is_told = !message.is_shared && self.chat_settings(&event.account).gives_codes();
            return match is_told {
                false => Ok(Arrived::Known(ArrivalOutcome::Ignored)),
                true => {
                    let code = self.pairing_code(&event.account, &message.person, &message.name).await?;
                    Ok(Arrived::Stranger(code))
                }
            };
        }
        if message.is_shared && !message.is_addressed {
            return Ok(Arrived::Known(ArrivalOutcome::Ignored));
        }
        let Some(binding) = self.binding_for(message, role).await? else {
            return Ok(Arrived::Known(ArrivalOutcome::Ignored));
        };
        let of = binding.conversation;
        let known = self.store().chat_entry(of, message.place.clone(), message.message.clone()).await?;
        if known.is_some() {
            return Ok(Arrived::Again(ArrivalOutcome::Said(of)));
        }
        if let Some((verb, count)) = event.command {
            self.chat_command(&binding, event, message, (verb, count)).await?;
            return Ok(Arrived::Known(ArrivalOutcome::Done));
        }
        let by = self.member(event, message);
        let mut parts = spoken(message);
        if event.is_late {
            crate::prompt::unmark(&mut parts);
            let flags = Flags { observed: true, ..Flags::default() };
            let say = SayRequest::new(self.new_entry_id(), Role::User, parts, by);
            self.store().say(of, SayRequest { flags, time: Some(message.sent), ..say }).await?;
            self.store().count_missed(of, message.place.clone(), self.now()).await?;
            return Ok(Arrived::Known(ArrivalOutcome::Observed));
        }
        self.run_for_chat(of, message, (Start::Say(parts, None), None), by).await?;
        Ok(Arrived::Known(ArrivalOutcome::Said(of)))
    }

    /// What the author of a message may do.
    pub(super) async fn role_of(&self, message: &ChatMessage) -> Result<ChatRole> {
        self.role_in(&message.place.account, &message.person).await
    }

    /// What a person of an account may do: by their pairing, and by the policy of the account.
    pub(super) async fn role_in(&self, account: &str, person: &str) -> Result<ChatRole> {
        let known = self.store().chat_person(account.to_owned(), person.to_owned()).await?;
        let known = known.map_or(ChatRole::Stranger { code: None, asked: Time(0) }, |known| known.role);
        let is_paired = known.may_talk();
        Ok(match self.chat_settings(account).admits(person, is_paired) {
            true if is_paired => known,
            true => ChatRole::Member,
            false => ChatRole::Stranger { code: None, asked: Time(0) },
        })
    }

    /// The binding of a message's place. A private place of a person gets a conversation of its own. A shared one gets it when an owner
    /// writes there: a group is allowed by itself, and not by its people.
    async fn binding_for(&self, message: &ChatMessage, role: ChatRole) -> Result<Option<ChatBinding>> {
        if let Some(binding) = self.store().chat_binding(message.place.clone()).await? {
            return self.with_audience(binding, message).await.map(Some);
        }
        // A thread of an allowed chat is allowed, too.
        let whole = ChatPlace { thread: None, ..message.place.clone() };
        let is_allowed = !message.is_shared
            || role == ChatRole::Owner
            || self.store().chat_binding(whole).await?.is_some();
        match is_allowed {
            true => self.bind_new(message).await.map(Some),
            false => Ok(None),
        }
    }

    /// People come to a place and leave it: a binding says who reads it by the last message.
    async fn with_audience(&self, binding: ChatBinding, message: &ChatMessage) -> Result<ChatBinding> {
        let person = Some(message.person.clone()).filter(|_| !message.is_shared);
        if (binding.is_shared, &binding.person) == (message.is_shared, &person) {
            return Ok(binding);
        }
        let binding = ChatBinding { is_shared: message.is_shared, person, ..binding };
        self.store().bind_chat(binding.clone()).await?;
        Ok(binding)
    }

    /// Binds the place of a message to a new conversation.
    pub(super) async fn bind_new(&self, message: &ChatMessage) -> Result<ChatBinding> {
        let ChatMessage { place, is_shared, person, .. } = message;
        let (is_shared, person) = (*is_shared, Some(person.clone()).filter(|_| !is_shared));
        let id = self.new_conversation_id();
        // A new conversation of a place goes on in the folder of the one before.
        let folder = match self.store().chat_binding(place.clone()).await? {
            Some(before) => self.store().snapshot(before.conversation).await?.folder().map(str::to_owned),
            None => self.folder_of_account(&place.account).await?,
        };
        let new = NewConversation { id, folder, title: None, by: self.by(None) };
        self.store().create(new).await?;
        let binding = ChatBinding { place: place.clone(), conversation: id, is_shared, person, last: None };
        self.store().bind_chat(binding.clone()).await?;
        Ok(binding)
    }

    /// The folder of new conversations of an account, if it can be worked in. Otherwise they have none.
    async fn folder_of_account(&self, account: &str) -> Result<Option<String>> {
        let folder = self.chat_settings(account).folder();
        match self.can_work_in(folder.as_deref()).await {
            Ok(()) => Ok(folder),
            Err(error) => {
                tracing::warn!(code = error.code, "a chat begins without the folder of its account");
                Ok(None)
            }
        }
    }

    /// Binds a place in which somebody wrote to a conversation, or to none. Returns whether the place is known.
    pub async fn chat_bind(&self, place: ChatPlace, conversation: Option<ConversationId>) -> Result<bool> {
        let Some(binding) = self.store().chat_binding(place.clone()).await? else { return Ok(false) };
        match conversation {
            Some(conversation) => self.store().bind_chat(ChatBinding { conversation, ..binding }).await?,
            None => drop(self.store().unbind_chat(place).await?),
        }
        Ok(true)
    }

    /// The places that are bound to conversations.
    pub async fn chat_places(&self) -> Result<Vec<ChatBinding>> {
        Ok(self.store().all_chat_bindings().await?)
    }

    /// The author of a change that a member requests. The request has the name of the event: it is done once.
    pub(super) fn member(&self, event: &GatewayEvent, message: &ChatMessage) -> ChangeOrigin {
        let account = event.account.clone();
        let key = (&account, event.keys.first());
        let digest = request_digest("arrive", &key);
        let request: Option<RequestId> =
            format!("chat-{:032x}", u128::from_be_bytes(digest.current)).parse().ok();
        let origin = ChatOrigin {
            place: message.place.clone(),
            message: message.message.clone(),
            person: message.person.clone(),
            joined: message.joined.clone(),
        };
        let (content, also) = contents_of(message);
        let arrival = ChatArrival { origin, keys: event.keys.clone(), also, content };
        ChangeOrigin {
            author: retake_core::shorten(&message.name, NAME_MAX),
            principal: Principal::Member { account, person: message.person.clone() },
            wording: Some(digest),
            chat: Some(Arc::new(arrival)),
            ..self.by(request)
        }
    }

    /// Starts a run, and tells its place if it fails. Returns whether it began. It is refused if the conversation or the files are not as the person has seen them.
    pub(super) async fn run_for_chat(
        self: &Arc<Self>,
        of: ConversationId,
        message: &ChatMessage,
        (start, seen): (Start, Option<Seen>),
        by: ChangeOrigin,
    ) -> Result<bool> {
        // A run at work appends to its turn.
        let on = |head| if self.is_running(of) { SeenState::Since(head) } else { SeenState::Exactly(head) };
        let (seen, digest) = seen.map_or((SeenState::Anything, None), |(head, files)| (on(head), files));
        let files = FileOptions { stop: true, seen: digest, ..FileOptions::default() };
        let steer = Some(Steer::Queue);
        let request =
            RunRequest { start, model: None, steer, permit: Permit::default(), files, seen, by: by.clone() };
        let attended = self.attended(of, &message.place).await?;
        let events = match self.run(of, request).await {
            Ok(events) => events,
            // The gateway brings it to the next owner.
            Err(error) if error.is_leaving() => return Err(error),
            Err(error) => {
                // It was not stored, and would be refused again.
                if let Some(chat) = &by.chat {
                    let (account, keys) = (chat.origin.place.account.clone(), chat.keys.clone());
                    self.store().note_chat_event(account, keys, ArrivalOutcome::Done, self.now()).await?;
                }
                let told = problem_notice(ChatNoticeKind::RunFailed, &error);
                self.notify_chat(of, &message.place, told, Some(&message.message), None).await?;
                return Ok(false);
            }
        };
        self.follow_for_chat(of, (&message.place, &message.message), events, attended);
        Ok(true)
    }

    /// The bindings of a chat, and what is not sent, go with it to its new id.
    async fn chat_migrated(&self, account: &str, from: &str, to: &str) -> Result<Arrived> {
        self.store().move_chat(account.to_owned(), from.to_owned(), to.to_owned(), self.now()).await?;
        Ok(Arrived::Known(ArrivalOutcome::Done))
    }

    /// The entry of the turn that a message of the chat belongs to: a person's message, or one of our posts.
    pub(super) async fn turn_in_chat(
        &self,
        of: ConversationId,
        place: &ChatPlace,
        message: &str,
    ) -> Result<Option<EntryId>> {
        let known = self.store().chat_entry(of, place.clone(), message.to_owned()).await?;
        Ok(known.and_then(|known| known.entry))
    }
}

/// The content of a message for the model. It attaches no file of this machine. Where several people write, it names the speaker.
pub(super) fn spoken(message: &ChatMessage) -> Vec<Part> {
    let mut parts = message.parts.clone();
    if message.is_shared {
        let name: String = message.name.chars().filter(|char| !char.is_control()).take(NAME_MAX).collect();
        match parts.first_mut() {
            Some(Part::Text(text)) => *text = format!("{name}: {text}"),
            _ => parts.insert(0, Part::text(format!("{name}:"))),
        }
    }
    parts.push(piped());
    parts
}

/// The content of a prompt as its author wrote it, without the name of the speaker. `None` if it does not begin with the name.
pub(super) fn unspoken(message: &ChatMessage, mut parts: Vec<Part>) -> Option<Vec<Part>> {
    crate::prompt::unmark(&mut parts);
    if message.is_shared {
        let named = spoken(&ChatMessage { parts: vec![Part::text("")], ..message.clone() });
        let name = named.first().and_then(Part::as_text)?.to_owned();
        match parts.first_mut() {
            Some(Part::Text(text)) if text.starts_with(&name) => *text = text[name.len()..].to_owned(),
            Some(Part::Text(text)) if *text == name.trim_end() => drop(parts.remove(0)),
            _ => return None,
        }
    }
    Some(parts)
}

/// A digest of a message's content.
pub(super) fn content_of(message: &ChatMessage) -> [u8; 16] {
    digest_of(&message.parts)
}

fn digest_of(parts: &[Part]) -> [u8; 16] {
    let texts: Vec<String> = parts.iter().map(|part| format!("{part:?}")).collect();
    request_digest("content", &texts).current
}

/// The digest of a message's own content, and those of the messages that were joined to it.
pub(super) fn contents_of(message: &ChatMessage) -> ([u8; 16], Vec<(String, [u8; 16])>) {
    let whole = content_of(message);
    let pieces = split_joined(&message.parts, &message.joined);
    let further = |at: usize| pieces.as_ref().map_or(whole, |pieces| digest_of(&pieces[at]));
    let also = message.joined.iter().enumerate().skip(1);
    let also = also.map(|(at, share)| (share.message.clone(), further(at))).collect();
    (if message.joined.is_empty() { whole } else { further(0) }, also)
}
