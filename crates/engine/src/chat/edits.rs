//! Edits and deleted messages of people: what they do to turns. What an account's settings want to be asked about is asked. Must never take back what the person may not take back, and never lose a wording that waits for an answer.

use std::sync::Arc;
use std::time::Duration;

use retake_core::{
    ArrivalOutcome, AskedStep, ChangeOrigin, ChatButton, ChatEntry, ChatNotice, ChatNoticeKind, ChatOrigin,
    ChatPlace, ChatQuestion, ChatRole, ConversationId, EntryId, Time,
};

use super::arrive::{content_of, spoken, unspoken};
use super::commands::TURNS_MAX;
use super::press::Asked;
use super::queue::with_others;
use super::{Arrived, ChatMessage, ChatVerb, GatewayEvent, notice, refused};
use crate::Engine;
use crate::error::Result;
use crate::run::Start;
use crate::settings::ChatConsent;

/// The beginning of the authors of drafts that belong to chats. No person has such a name.
pub(crate) const OF_CHATS: &str = "@chat ";

/// The beginning of the author of a draft that keeps the new wording of a message until its author has decided.
const WORDING: &str = "@chat asks ";

/// The author of the draft that keeps the new wording of a message.
fn wording_of(place: &ChatPlace, message: &str) -> String {
    format!("{WORDING}{} {} {message}", place.account, place.chat)
}

impl Engine {
    /// Another wording of a message. Commands in edits never run. It waits for further ones, if it does something.
    pub(super) async fn edit_arrived(
        self: &Arc<Self>,
        event: &GatewayEvent,
        message: &ChatMessage,
    ) -> Result<Arrived> {
        let Some((of, content)) = self.edited(message).await? else {
            return Ok(Arrived::Known(ArrivalOutcome::Ignored));
        };
        let is_other = content != content_of(message);
        match self.chat_settings(&event.account).edit_wait() {
            Duration::ZERO => return self.edit_now(event, message).await,
            // One that returns to the wording before ends an edit that waits.
            wait if is_other || self.chats.edits.has(&message.place, &message.message) => {
                self.edit_waits(of, message, event.moderates, wait).await?;
            }
            _ => return Ok(Arrived::Known(ArrivalOutcome::Ignored)),
        }
        Ok(Arrived::Known(ArrivalOutcome::Done))
    }

    /// The conversation of a message that its author may edit, and the digest of its content until now.
    async fn edited(&self, message: &ChatMessage) -> Result<Option<(ConversationId, [u8; 16])>> {
        let place = &message.place;
        let consent = self.chat_settings(&place.account).edits(message.is_shared);
        let may = self.role_of(message).await?.may_talk() && consent != ChatConsent::Off;
        if !may || message.parts.is_empty() {
            return Ok(None);
        }
        let Some(binding) = self.store().chat_binding(place.clone()).await? else { return Ok(None) };
        let of = binding.conversation;
        let known = self.store().chat_entry(of, place.clone(), message.message.clone()).await?;
        Ok(match known {
            Some(ChatEntry { entry: Some(_), content: Some(content), origin: Some(origin), .. })
                if origin.person == message.person =>
            {
                Some((of, content))
            }
            Some(ChatEntry { entry: None, post: None, content: Some(content), .. }) => {
                let author = self.author_of_waiting(of, place, &message.message).await?;
                author.filter(|author| author.person == message.person).map(|_| (of, content))
            }
            _ => None,
        })
    }

    /// Does what an edit does. One of the last prompt replaces it at once, if the account's settings do not want a question.
    pub(super) async fn edit_now(
        self: &Arc<Self>,
        event: &GatewayEvent,
        message: &ChatMessage,
    ) -> Result<Arrived> {
        let found = self.edited(message).await?;
        let Some((of, _)) = found.filter(|(_, content)| *content != content_of(message)) else {
            return Ok(Arrived::Known(ArrivalOutcome::Ignored));
        };
        let (place, role) = (&message.place, self.role_of(message).await?);
        if self.reword_waiting(of, message).await? {
            let (place, id) = (place.clone(), message.message.clone());
            self.store().set_chat_content(of, place, id, content_of(message)).await?;
            return Ok(Arrived::Known(ArrivalOutcome::Done));
        }
        let consent = self.chat_settings(&event.account).edits(message.is_shared);
        let (head, _) = self.now_at(of).await?;
        // Several wordings of a message are entries. The one on the path counts: an undo may have brought an older one back.
        let turn = self.turn_of_message(of, place, &message.message).await?;
        if let Some((entry, 0)) = turn
            && consent == ChatConsent::Always
            && let Some(whole) = self.whole_edit(of, entry, message).await?
        {
            let by = self.member(event, &whole);
            let seen = Some((head, None));
            // If something came in between, the author is asked about it.
            if self.run_for_chat(of, &whole, (Start::Edit(entry, spoken(&whole)), seen), by).await? {
                return Ok(Arrived::Known(ArrivalOutcome::Done));
            }
        }
        let by = self.member(event, message);
        let may_all = role == ChatRole::Owner || !message.is_shared || event.moderates;
        // In this order: an owner that is killed in between asks a second time, and loses nothing.
        let kept = wording_of(place, &message.message);
        self.store().set_draft(of, kept, message.parts.clone()).await?;
        let told = self.question_of_edit(of, message, may_all, &by).await?;
        self.notify_chat(of, place, told, Some(&message.message), None).await?;
        let (place, id) = (place.clone(), message.message.clone());
        self.store().set_chat_content(of, place, id, content_of(message)).await?;
        Ok(Arrived::Known(ArrivalOutcome::Done))
    }

    /// The turn of a message on the path, and how many turns come after it.
    async fn turn_of_message(
        &self,
        of: ConversationId,
        place: &ChatPlace,
        message: &str,
    ) -> Result<Option<(EntryId, usize)>> {
        let targets = self.store().targets(of, None, TURNS_MAX).await?;
        for (after, line) in targets.iter().enumerate() {
            let id = line.target.meta.id;
            let origin = self.store().turn_origin(of, id).await?;
            if origin.is_some_and(|origin| is_same_chat(&origin.place, place) && origin.is_of(message)) {
                return Ok(Some((id, after)));
            }
        }
        Ok(None)
    }

    /// The new prompt of a turn after an edit: of messages that were joined, only the edited one changes. `None` if its part is not known.
    async fn whole_edit(
        &self,
        of: ConversationId,
        entry: EntryId,
        message: &ChatMessage,
    ) -> Result<Option<ChatMessage>> {
        let Some(origin) = self.store().turn_origin(of, entry).await? else { return Ok(None) };
        if origin.joined.is_empty() {
            return Ok(with_others(&origin, &[], message));
        }
        let content = self.visible_content(of, entry).await?;
        let content = content.and_then(|parts| unspoken(message, parts));
        Ok(content.and_then(|parts| with_others(&origin, &parts, message)))
    }

    /// Asks what an edit should do, and shows what it takes back.
    async fn question_of_edit(
        &self,
        of: ConversationId,
        message: &ChatMessage,
        may_all: bool,
        by: &ChangeOrigin,
    ) -> Result<ChatNotice> {
        let turn = self.turn_of_message(of, &message.place, &message.message).await?;
        let is_whole = match turn {
            Some((entry, _)) => self.whole_edit(of, entry, message).await?.is_some(),
            None => false,
        };
        match turn.filter(|_| is_whole) {
            Some((entry, _)) => {
                let step = AskedStep::Edit { entry, message: message.message.clone() };
                self.ask_step(of, message, (step, may_all), ChatNoticeKind::ConfirmEdit, by).await
            }
            None => self.offers_new(of, message, &message.message, notice(ChatNoticeKind::EditOfOlder)).await,
        }
    }

    /// The notice, with the offer to say the new wording of a message as a new one.
    pub(super) async fn offers_new(
        &self,
        of: ConversationId,
        message: &ChatMessage,
        edited: &str,
        told: ChatNotice,
    ) -> Result<ChatNotice> {
        let (head, _) = self.now_at(of).await?;
        let buttons = vec![ChatButton::SayNew(edited.to_owned()), ChatButton::Cancel];
        let asks =
            ChatQuestion { person: Some(message.person.clone()), head, files: None, round: 0, buttons };
        Ok(ChatNotice { asks: Some(asks), ..told })
    }

    /// Does what a person has decided about an edit. `None`: it is done. Otherwise this notice replaces the question.
    pub(super) async fn edit_decided(
        self: &Arc<Self>,
        event: &GatewayEvent,
        message: &ChatMessage,
        asked: &Asked,
        (button, edited): (&ChatButton, &str),
        may_all: bool,
    ) -> Result<Option<ChatNotice>> {
        let (of, kept) = (asked.of, wording_of(&message.place, edited));
        let drafts = self.store().drafts(of).await?.into_iter();
        let parts = drafts.into_iter().find(|(author, _)| *author == kept).map(|(_, parts)| parts);
        let Some(parts) = parts else { return Ok(Some(notice(ChatNoticeKind::Stale))) };
        let (head, _) = self.now_at(of).await?;
        let is_as_asked = self.is_as_asked(asked).await?;
        // What is said now is the edited message, and not the press of a button.
        let said = ChatMessage { message: edited.to_owned(), parts, ..message.clone() };
        let by = self.member(event, &said);
        let (start, seen, whole) = match button {
            ChatButton::Confirm(step @ AskedStep::Edit { entry, .. }) => {
                let whole = self.whole_edit(of, *entry, &said).await?;
                let Some(whole) = whole.filter(|_| is_as_asked) else {
                    return self.question_of_edit(of, &said, may_all, &by).await.map(Some);
                };
                // Who asked may have lost a right since the question.
                if !may_all && let Some(refusal) = self.step_of_others(of, &said, step, &by).await? {
                    return Ok(Some(refusal));
                }
                let seen = Some((head, asked.asks.files));
                (Start::Edit(*entry, spoken(&whole)), seen, whole)
            }
            _ => (Start::Say(spoken(&said), None), None, said.clone()),
        };
        // Pressed again, after an owner was killed before the question had ended, it is the same request.
        let (request, wording) = asked.request();
        let by = ChangeOrigin { request, wording: Some(wording), ..self.member(event, &whole) };
        // The new wording is kept until it is a turn: a notice has told why it is none.
        if !self.run_for_chat(of, &whole, (start, seen), by).await? {
            return self.question_of_edit(of, &said, may_all, &self.member(event, &said)).await.map(Some);
        }
        self.store().set_draft(of, kept, Vec::new()).await?;
        Ok(None)
    }

    /// Forgets the new wording of a message: its author has decided against it.
    pub(super) async fn forget_wording(
        &self,
        of: ConversationId,
        place: &ChatPlace,
        message: &str,
    ) -> Result<()> {
        Ok(self.store().set_draft(of, wording_of(place, message), Vec::new()).await?)
    }

    /// A deleted message: a post of ours is gone, no matter who deleted it. The turn of a person's own message is taken back, as the
    /// settings of the account say.
    pub(super) async fn recall_arrived(
        self: &Arc<Self>,
        event: &GatewayEvent,
        (place, message): (&ChatPlace, &str),
        by: Option<&str>,
    ) -> Result<Arrived> {
        if self.store().recall_post(place.clone(), message.to_owned(), self.now()).await? {
            return Ok(Arrived::Known(ArrivalOutcome::Done));
        }
        let ignored = Ok(Arrived::Known(ArrivalOutcome::Ignored));
        let consent = self.chat_settings(&event.account).recalls();
        let binding = self.store().chat_binding(place.clone()).await?;
        let Some(binding) = binding.filter(|_| consent != ChatConsent::Off) else { return ignored };
        let of = binding.conversation;
        if let Some(author) = self.author_of_waiting(of, place, message).await? {
            let may = self.role_of(&author).await?.may_talk() && by.is_none_or(|by| by == author.person);
            let recalled =
                ChatMessage { message: message.to_owned(), is_shared: binding.is_shared, ..author };
            if may && self.reword_waiting(of, &recalled).await? {
                return Ok(Arrived::Known(ArrivalOutcome::Done));
            }
        }
        let (head, _) = self.now_at(of).await?;
        let Some((entry, after)) = self.turn_of_message(of, place, message).await? else { return ignored };
        let Some(author) = self.author_of_turn(of, entry, binding.is_shared).await? else { return ignored };
        let role = self.role_of(&author).await?;
        // What a moderator deletes is not recalled by its author.
        if !role.may_talk() || by.is_some_and(|by| by != author.person) {
            return ignored;
        }
        // Not every platform says who deleted it. In a shared place it may have been a moderator: its author is asked.
        let is_certain = by.is_some() || !binding.is_shared;
        if author.message != message || !author.joined.is_empty() {
            // It is a part of its turn. Only the last prompt goes on without it, and only where nothing is asked.
            let part = ChatMessage { message: message.to_owned(), joined: Vec::new(), ..author };
            let rest = self.whole_edit(of, entry, &part).await?;
            let Some(rest) = rest.filter(|_| consent == ChatConsent::Always && after == 0 && is_certain)
            else {
                return ignored;
            };
            let by = self.member(event, &rest);
            // If something came in between, it is no part of what is edited: nothing is done.
            let seen = Some((head, None));
            self.run_for_chat(of, &rest, (Start::Edit(entry, spoken(&rest)), seen), by).await?;
            return Ok(Arrived::Known(ArrivalOutcome::Done));
        }
        // Turns of others stay.
        let mut step = AskedStep::Rewind(entry);
        for line in self.store().targets(of, None, after).await? {
            let origin = self.store().turn_origin(of, line.target.meta.id).await?;
            if origin.is_none_or(|origin| origin.person != author.person) {
                step = AskedStep::Drop(vec![entry]);
            }
        }
        let by = ChangeOrigin { chat: None, ..self.member(event, &author) };
        let may_all = role == ChatRole::Owner || !binding.is_shared;
        let told = match consent {
            ChatConsent::Always if is_certain => {
                self.step_in_chat(of, &author, (step, may_all), by, None).await
            }
            _ => {
                let kind = ChatNoticeKind::ConfirmRecall;
                self.ask_step(of, &author, (step, may_all), kind, &by).await.map(|told| (told, None))
            }
        };
        let (told, op) = told.or_else(|error| refused(ChatVerb::Rewind, error).map(|told| (told, None)))?;
        self.notify_chat(of, place, told, None, op).await?;
        Ok(Arrived::Known(ArrivalOutcome::Done))
    }

    /// The author of a turn, as of a message without words.
    async fn author_of_turn(
        &self,
        of: ConversationId,
        entry: EntryId,
        is_shared: bool,
    ) -> Result<Option<ChatMessage>> {
        let Some(origin) = self.store().turn_origin(of, entry).await? else { return Ok(None) };
        let shown = self.shown(of, entry).await?;
        let name = shown.and_then(|shown| shown.entry.ok()).map(|entry| entry.author).unwrap_or_default();
        Ok(Some(ChatMessage { is_shared, ..wordless(origin, name) }))
    }
}

/// A message of the author of a turn, without words.
pub(super) fn wordless(origin: ChatOrigin, name: String) -> ChatMessage {
    ChatMessage {
        place: origin.place,
        is_shared: false,
        message: origin.message,
        person: origin.person,
        name,
        is_bot: false,
        sent: Time(0),
        parts: Vec::new(),
        is_addressed: true,
        reply_to: None,
        joined: origin.joined,
    }
}

/// Whether a message of this place is one of that chat. The news of a deletion may not say the thread.
pub(super) fn is_same_chat(place: &ChatPlace, other: &ChatPlace) -> bool {
    (&place.account, &place.chat) == (&other.account, &other.chat)
}

/// The message whose new wording a button is about.
pub(super) fn edited_by(button: &ChatButton) -> Option<&str> {
    match button {
        ChatButton::Confirm(AskedStep::Edit { message, .. }) | ChatButton::SayNew(message) => Some(message),
        _ => None,
    }
}
