//! Buttons of questions. A button is looked up where it was stored: who may press it, and whether the conversation is still as it was
//! asked about. Its answer replaces the question. Must never show something as decided before it is.

use std::sync::Arc;

use retake_core::{
    ArrivalOutcome, AskedStep, ChangeOrigin, ChatButton, ChatNotice, ChatNoticeKind, ChatPlace, ChatQuestion,
    ChatRole, ConversationId, Head, OpNo, Pos, PostKey, PostKind, RequestId, Seq,
};

use super::edits::edited_by;
use super::steps::Told;
use super::{Arrived, ChatMessage, GatewayEvent, coded, notice, refused};
use crate::chat::ChatVerb;
use crate::error::Result;
use crate::run::Decision;
use crate::{Engine, request_digest};

/// A press of a button.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatPress {
    /// Where the button stands.
    pub place: ChatPlace,
    /// The platform id of its post.
    pub post: String,
    /// The platform id of the person.
    pub person: String,
    /// The name of the person.
    pub name: String,
    /// The data of the button.
    pub button: String,
}

/// The data of a button: the name of its post, the round of its question, and its number there.
pub fn button_data(key: PostKey, round: u32, number: usize) -> String {
    format!("{}-{}-{round}-{number}", key.log.0, key.no.0)
}

/// The post, the round and the number that the data of a button names.
fn button_named(data: &str) -> Option<(PostKey, u32, usize)> {
    let mut parts = data.rsplitn(3, '-');
    let (number, round) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    Some((parts.next()?.replace('-', ".").parse().ok()?, round, number))
}

/// A question that was found.
pub(super) struct Asked {
    pub(super) of: ConversationId,
    key: PostKey,
    pub(super) asks: ChatQuestion,
    /// The notice of the question.
    told: ChatNotice,
    /// The operation that the notice tells of.
    op: Option<OpNo>,
}

impl Asked {
    /// The name of a request that a press on the question makes: however often it is pressed, it is made once.
    pub(super) fn request(&self) -> (Option<RequestId>, retake_core::Digest) {
        let digest = request_digest("question", &button_data(self.key, self.asks.round, 0));
        (format!("chat-{:032x}", u128::from_be_bytes(digest.current)).parse().ok(), digest)
    }

    fn is_about_a_call(&self) -> bool {
        matches!(self.asks.buttons.first(), Some(ChatButton::Approve(_)))
    }

    /// The button that does what the question asks about. A list of turns has none: the turn must be named.
    fn yes(&self) -> Option<usize> {
        let is_yes = |button: &ChatButton| {
            matches!(
                button,
                ChatButton::Confirm(_)
                    | ChatButton::DropMine(_)
                    | ChatButton::SayNew(_)
                    | ChatButton::PostAgain { .. }
                    | ChatButton::SendWaiting
                    | ChatButton::Approve(_)
            )
        };
        self.asks.buttons.iter().position(is_yes)
    }

    /// The button that leaves everything as it is.
    fn no(&self) -> Option<usize> {
        self.asks.buttons.iter().position(|button| matches!(button, ChatButton::Cancel | ChatButton::Deny(_)))
    }
}

impl Engine {
    pub(super) async fn press_arrived(
        self: &Arc<Self>,
        event: &GatewayEvent,
        press: &ChatPress,
    ) -> Result<Arrived> {
        let role = self.role_in(&press.place.account, &press.person).await?;
        if !role.may_talk() {
            return Ok(Arrived::Known(ArrivalOutcome::Ignored));
        }
        let stale = || Ok(Arrived::Pressed(notice(ChatNoticeKind::Stale)));
        let Some((key, round, number)) = button_named(&press.button) else { return stale() };
        if let Some((of, post)) = self.store().post(key).await?
            && let PostKind::Answer(entry) = post.kind
        {
            return self.take_back_pressed(event, press, (of, post.place, entry), role).await;
        }
        // The question may be another one by now, in the same post.
        let asked = self.asked(key).await?.filter(|(asked, place)| {
            (&place.account, &place.chat) == (&press.place.account, &press.place.chat)
                && asked.asks.round == round
        });
        let Some((asked, place)) = asked else { return stale() };
        let Some(binding) = self.store().chat_binding(place.clone()).await? else { return stale() };
        // An approval is asked in the chat of an owner, whatever is bound there. Answers may wait of an earlier conversation.
        let is_of_old = asked.is_about_a_call() || asked.told.kind == ChatNoticeKind::AnswersWait;
        if binding.conversation != asked.of && !is_of_old {
            return stale();
        }
        let message = ChatMessage { is_shared: binding.is_shared, ..message_of(press, place) };
        let told = self.answered(event, &message, role, &asked, number).await?;
        Ok(Arrived::Pressed(told))
    }

    /// The button below an answer: goes back to before its turn, as a command in a reply to it would.
    async fn take_back_pressed(
        self: &Arc<Self>,
        event: &GatewayEvent,
        press: &ChatPress,
        (of, place, entry): (ConversationId, ChatPlace, Seq),
        role: ChatRole,
    ) -> Result<Arrived> {
        let is_there = (&place.account, &place.chat) == (&press.place.account, &press.place.chat);
        let binding = self.store().chat_binding(place.clone()).await?;
        let Some(binding) = binding.filter(|binding| is_there && binding.conversation == of) else {
            return Ok(Arrived::Pressed(notice(ChatNoticeKind::Stale)));
        };
        let depth = self.store().snapshot(of).await?.conversation().tree.depth();
        let entry = self.store().entry_id(of, Pos { depth, seq: entry.0 }).await?;
        let origin = self.store().turn_origin(of, entry).await?;
        let message = ChatMessage { is_shared: binding.is_shared, ..message_of(press, place) };
        let by = ChangeOrigin { chat: None, ..self.member(event, &message) };
        let may_all = role == ChatRole::Owner || !message.is_shared || event.moderates;
        let told = self.rewind_to(of, &message, entry, may_all, by).await;
        let (told, op) = told.or_else(|error| refused(ChatVerb::Rewind, error).map(|told| (told, None)))?;
        // A refusal without a choice is for the person who pressed only.
        if op.is_some() || told.asks.is_some() {
            let prompt = origin.map(|origin| origin.message);
            self.notify_chat(of, &message.place, told.clone(), prompt.as_deref(), op).await?;
        }
        Ok(Arrived::Pressed(told))
    }

    /// The question of a post, with its place.
    async fn asked(&self, key: PostKey) -> Result<Option<(Asked, ChatPlace)>> {
        let Some((of, post)) = self.store().post(key).await? else { return Ok(None) };
        let PostKind::Notice(told) = post.kind else { return Ok(None) };
        let Some(asks) = told.asks.clone() else { return Ok(None) };
        Ok(Some((Asked { of, key, asks, told, op: post.op }, post.place)))
    }

    /// `/confirm` and `/cancel`: answers the newest question that the person may answer.
    pub(super) async fn answer_in_chat(
        self: &Arc<Self>,
        of: ConversationId,
        event: &GatewayEvent,
        message: &ChatMessage,
        role: ChatRole,
        verb: ChatVerb,
    ) -> Result<Option<ChatNotice>> {
        let (place, person) = (message.place.clone(), message.person.clone());
        let own = self.store().last_question(of, place.clone(), person, role == ChatRole::Owner).await?;
        let call = self.chats.open_approval(&place).filter(|_| role == ChatRole::Owner);
        let asked = match self.newer(own, call).await? {
            Some(key) => self.asked(key).await?,
            None => None,
        };
        let nothing = Ok(Some(coded(ChatNoticeKind::Nothing, verb)));
        let Some((asked, _)) = asked else { return nothing };
        let number = match verb {
            ChatVerb::Confirm => asked.yes(),
            _ => asked.no(),
        };
        let Some(number) = number else {
            if verb == ChatVerb::Cancel {
                // What was said stays, and offers nothing any more.
                let told = ChatNotice { asks: None, posts: 0, ..asked.told };
                self.store().answer_question(asked.key, told, asked.op, self.now()).await?;
                return Ok(None);
            }
            return nothing;
        };
        // The question itself becomes the answer.
        self.answered(event, message, role, &asked, number).await?;
        Ok(None)
    }

    /// The newer one of two posts.
    async fn newer(&self, one: Option<PostKey>, other: Option<PostKey>) -> Result<Option<PostKey>> {
        let (Some(one), Some(other)) = (one, other) else { return Ok(one.or(other)) };
        let mut since = Vec::new();
        for key in [one, other] {
            let post = self.store().post(key).await?;
            since.push((post.and_then(|(_, post)| post.sent).map(|(at, ..)| at), key));
        }
        Ok(since.into_iter().max_by_key(|(at, _)| *at).map(|(_, key)| key))
    }

    /// Does what a button says. The notice is for the person who pressed it.
    async fn answered(
        self: &Arc<Self>,
        event: &GatewayEvent,
        message: &ChatMessage,
        role: ChatRole,
        asked: &Asked,
        number: usize,
    ) -> Result<ChatNotice> {
        let Some(button) = asked.asks.buttons.get(number) else { return Ok(notice(ChatNoticeKind::Stale)) };
        match &asked.asks.person {
            // It may concern answers to several people: an owner decides, too.
            Some(_) if role == ChatRole::Owner && asked.told.kind == ChatNoticeKind::AnswersWait => {}
            Some(person) if *person != message.person => return Ok(notice(ChatNoticeKind::NotYours)),
            None if role != ChatRole::Owner => return Ok(notice(ChatNoticeKind::OwnersOnly)),
            _ => {}
        }
        if matches!(button, ChatButton::Cancel) {
            if let Some(edited) = asked.asks.buttons.iter().find_map(edited_by) {
                self.forget_wording(asked.of, &message.place, edited).await?;
            }
            if asked.told.kind == ChatNoticeKind::AnswersWait {
                self.store().settle_waiting(asked.of, message.place.clone(), false, self.now()).await?;
            }
            self.store().remove_question(asked.key, self.now()).await?;
            return Ok(notice(ChatNoticeKind::Cancelled));
        }
        let may_all = role == ChatRole::Owner || !message.is_shared || event.moderates;
        if let Some(edited) = edited_by(button) {
            let told = self.edit_decided(event, message, asked, (button, edited), may_all).await;
            let told = told.or_else(|error| refused(verb_of(button), error).map(Some))?;
            let Some(told) = told else {
                self.store().remove_question(asked.key, self.now()).await?;
                let is_new = matches!(button, ChatButton::SayNew(_));
                return Ok(notice(if is_new { ChatNoticeKind::SaidAnew } else { ChatNoticeKind::Edited }));
            };
            self.store().answer_question(asked.key, told.clone(), None, self.now()).await?;
            return Ok(told);
        }
        let by = ChangeOrigin { chat: None, ..self.member(event, message) };
        let told = self.pressed(asked, button, message, may_all, by).await;
        let (told, op) = told.or_else(|error| refused(verb_of(button), error).map(|told| (told, None)))?;
        self.store().answer_question(asked.key, told.clone(), op, self.now()).await?;
        Ok(told)
    }

    async fn pressed(
        self: &Arc<Self>,
        asked: &Asked,
        button: &ChatButton,
        message: &ChatMessage,
        may_all: bool,
        by: ChangeOrigin,
    ) -> Result<Told> {
        let of = asked.of;
        // Neither depends on what was said since.
        let is_lasting =
            matches!(button, ChatButton::Approve(_) | ChatButton::Deny(_) | ChatButton::SendWaiting);
        if !is_lasting && !self.is_as_asked(asked).await? {
            let stale = notice(ChatNoticeKind::Stale);
            return match button {
                // A new list.
                ChatButton::Turn(_) | ChatButton::Older(_) => {
                    Ok((self.choose(of, message, None).await?, None))
                }
                _ => Ok((stale, None)),
            };
        }
        match button {
            ChatButton::Confirm(step) => {
                let seen = Some((asked.asks.head, asked.asks.files));
                self.step_in_chat(of, message, (step.clone(), may_all), by, seen).await
            }
            ChatButton::Turn(entry) => self.rewind_to(of, message, *entry, may_all, by).await,
            ChatButton::Older(entry) => Ok((self.choose(of, message, Some(*entry)).await?, None)),
            ChatButton::DropMine(entries) => {
                self.step_in_chat(of, message, (AskedStep::Drop(entries.clone()), may_all), by, None).await
            }
            ChatButton::PostAgain { first, to } => {
                let place = message.place.clone();
                let posts = self.store().post_again(of, place, (*first, *to), self.now()).await?;
                let kind = if posts == 0 { ChatNoticeKind::Stale } else { ChatNoticeKind::PostedAgain };
                Ok((ChatNotice { posts, ..notice(kind) }, None))
            }
            ChatButton::SendWaiting => {
                let place = message.place.clone();
                let count = self.store().settle_waiting(of, place, true, self.now()).await?;
                let kind = if count == 0 { ChatNoticeKind::Stale } else { ChatNoticeKind::AnswersSent };
                Ok((ChatNotice { count, ..notice(kind) }, None))
            }
            ChatButton::Approve(call) | ChatButton::Deny(call) => {
                let (decision, kind) = match button {
                    ChatButton::Approve(_) => (Decision::Once, ChatNoticeKind::Approved),
                    _ => (Decision::Deny(None), ChatNoticeKind::Denied),
                };
                // Only what is decided is shown as decided.
                let kind = self.decide(of, call, decision).map_or(ChatNoticeKind::ApprovalOver, |()| kind);
                Ok((
                    ChatNotice { names: vec![by.author], code: asked.told.code.clone(), ..notice(kind) },
                    None,
                ))
            }
            // These do not reach this place: they need the message that was edited.
            ChatButton::SayNew(_) | ChatButton::Cancel => Ok((notice(ChatNoticeKind::Cancelled), None)),
        }
    }

    /// Whether nothing but the end of an answer has come since the question.
    pub(super) async fn is_as_asked(&self, asked: &Asked) -> Result<bool> {
        self.is_as_seen(asked.of, asked.asks.head).await
    }

    /// Whether nothing but the end of an answer has come since a head.
    pub(super) async fn is_as_seen(&self, of: ConversationId, seen: Head) -> Result<bool> {
        let (now, _) = self.now_at(of).await?;
        if now.op != seen.op {
            return Ok(false);
        }
        let depth = self.store().snapshot(of).await?.conversation().tree.depth();
        let last = self.store().targets(of, None, 1).await?.into_iter().next();
        // A turn of the parent is older than anything here.
        Ok(last.is_none_or(|last| {
            let pos = last.target.meta.pos;
            pos.depth < depth || pos.seq <= seen.seq.0
        }))
    }
}

/// The command that a button stands for.
fn verb_of(button: &ChatButton) -> ChatVerb {
    match button {
        ChatButton::Confirm(AskedStep::Undo(_)) => ChatVerb::Undo,
        ChatButton::Confirm(AskedStep::Redo(_)) => ChatVerb::Redo,
        ChatButton::Confirm(AskedStep::Drop(_)) | ChatButton::DropMine(_) => ChatVerb::Drop,
        _ => ChatVerb::Rewind,
    }
}

/// A press as the message of its author, without words.
fn message_of(press: &ChatPress, place: ChatPlace) -> ChatMessage {
    ChatMessage {
        place,
        is_shared: false,
        message: press.post.clone(),
        person: press.person.clone(),
        name: press.name.clone(),
        is_bot: false,
        sent: retake_core::Time(0),
        parts: Vec::new(),
        is_addressed: true,
        reply_to: None,
        joined: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use retake_core::{LogNo, PostKey, PostNo};

    use super::{button_data, button_named};

    #[test]
    fn data_of_a_button_names_its_post_and_its_number() {
        let key = PostKey { log: LogNo(12), no: PostNo(345) };
        let data = button_data(key, 3, 6);
        assert_eq!(data, "12-345-3-6");
        assert_eq!(button_named(&data), Some((key, 3, 6)));
        let longest =
            button_data(PostKey { log: LogNo(i64::MAX), no: PostNo(i64::MAX as u64) }, u32::MAX, 99);
        // The least that a platform permits.
        assert!(longest.len() <= 64, "{longest}");
        for odd in ["", "-", "1-2-3", "1-2-3-x", "a-b-c-d", "1-2-3-4-5"] {
            assert_eq!(button_named(odd), None, "{odd}");
        }
    }
}
