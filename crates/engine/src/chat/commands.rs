//! Commands of chats. Each answers with one notice, in the place where it was written, in reply to it.

use std::cmp::Ordering;
use std::sync::Arc;

use retake_core::{
    AskedStep, ChangeOrigin, ChatBinding, ChatButton, ChatNotice, ChatNoticeKind, ChatQuestion, ChatRole,
    ConversationId, EntryId, PostState, PostTask, TargetLine,
};

use super::steps::{NAMES_MAX, Told};
use super::{ChatMessage, ChatVerb, GatewayEvent, coded, nothing, notice, refused};
use crate::Engine;
use crate::error::Result;
use crate::run::Start;

/// The most turns that one command takes back.
pub(super) const TURNS_MAX: usize = 100;

/// The most turns of a list.
const TURNS_SHOWN: usize = 8;

impl Engine {
    pub(super) async fn chat_command(
        self: &Arc<Self>,
        binding: &ChatBinding,
        event: &GatewayEvent,
        message: &ChatMessage,
        (verb, count): (ChatVerb, Option<u32>),
    ) -> Result<()> {
        let of = binding.conversation;
        // A command is not a message of the conversation: it has no row of its own.
        let by = ChangeOrigin { chat: None, ..self.member(event, message) };
        let role = self.role_of(message).await?;
        let may_all = role == ChatRole::Owner || !message.is_shared || event.moderates;
        let steps = usize::try_from(count.unwrap_or(1)).unwrap_or(1).clamp(1, TURNS_MAX);
        let told = match verb {
            ChatVerb::Rewind => self.rewind_in_chat(of, message, (count, may_all), by).await,
            ChatVerb::Undo => {
                self.step_in_chat(of, message, (AskedStep::Undo(steps), may_all), by, None).await
            }
            ChatVerb::Redo => {
                self.step_in_chat(of, message, (AskedStep::Redo(steps), may_all), by, None).await
            }
            ChatVerb::Drop => self.drop_in_chat(of, message, may_all, by).await,
            ChatVerb::Retry => return self.retry_in_chat(of, message, may_all, by).await,
            ChatVerb::Stop => Ok(match self.cancel(of) {
                true => (notice(ChatNoticeKind::Stopped), None),
                false => (nothing(verb), None),
            }),
            ChatVerb::New if role != ChatRole::Owner && self.has_folder(of).await? => {
                // The new conversation would not have the permissions of this one.
                Ok((notice(ChatNoticeKind::OwnersOnly), None))
            }
            ChatVerb::New => {
                let new = self.bind_new(message).await?;
                let told = notice(ChatNoticeKind::NewConversation);
                let place = &message.place;
                return self
                    .notify_chat(new.conversation, place, told, Some(&message.message), None)
                    .await
                    .map(drop);
            }
            ChatVerb::Help => Ok((notice(ChatNoticeKind::Help), None)),
            ChatVerb::Status => self.status_of_chat(of).await,
            ChatVerb::Posts => Ok((notice(ChatNoticeKind::PostsThatStay), None)),
            ChatVerb::Confirm | ChatVerb::Cancel => {
                match self.answer_in_chat(of, event, message, role, verb).await? {
                    Some(told) => Ok((told, None)),
                    None => return Ok(()),
                }
            }
        };
        let (told, op) = told.or_else(|error| refused(verb, error).map(|told| (told, None)))?;
        self.notify_chat(of, &message.place, told, Some(&message.message), op).await.map(drop)
    }

    async fn has_folder(&self, of: ConversationId) -> Result<bool> {
        Ok(self.store().snapshot(of).await?.folder().is_some())
    }

    /// Lists the turns to go back to, rewinds so many turns, or rewinds to the turn of the message that the command replies to.
    async fn rewind_in_chat(
        self: &Arc<Self>,
        of: ConversationId,
        message: &ChatMessage,
        (count, may_all): (Option<u32>, bool),
        by: ChangeOrigin,
    ) -> Result<Told> {
        let entry = match (&message.reply_to, count) {
            (Some(reply_to), _) => match self.turn_in_chat(of, &message.place, reply_to).await? {
                Some(entry) => entry,
                None => return Ok((notice(ChatNoticeKind::NotOfThisConversation), None)),
            },
            (None, None) => return Ok((self.choose(of, message, None).await?, None)),
            (None, Some(count)) => {
                let count = usize::try_from(count).unwrap_or(1).clamp(1, TURNS_MAX);
                let mut targets = self.store().targets(of, None, count).await?;
                match targets.len() == count {
                    true => targets.remove(count - 1).target.meta.id,
                    false => return Ok((nothing(ChatVerb::Rewind), None)),
                }
            }
        };
        self.rewind_to(of, message, entry, may_all, by).await
    }

    /// Asks for the turn to go back to: the newest ones, or those before one of them.
    pub(super) async fn choose(
        &self,
        of: ConversationId,
        message: &ChatMessage,
        before: Option<EntryId>,
    ) -> Result<ChatNotice> {
        let (head, _) = self.now_at(of).await?;
        let mut targets = self.store().targets(of, before, TURNS_SHOWN + 1).await?;
        let has_more = targets.len() > TURNS_SHOWN;
        targets.truncate(TURNS_SHOWN);
        let ids: Vec<EntryId> = targets.iter().map(|line| line.target.meta.id).collect();
        let Some(oldest) = ids.last().copied() else { return Ok(nothing(ChatVerb::Rewind)) };
        let older = has_more.then_some(ChatButton::Older(oldest));
        let turns = ids.into_iter().map(ChatButton::Turn);
        let buttons = turns.chain(older).chain([ChatButton::Cancel]).collect();
        let asks =
            ChatQuestion { person: Some(message.person.clone()), head, files: None, round: 0, buttons };
        Ok(ChatNotice { asks: Some(asks), ..notice(ChatNoticeKind::Choose) })
    }

    /// Rewinds to before the turn of an entry.
    pub(super) async fn rewind_to(
        self: &Arc<Self>,
        of: ConversationId,
        message: &ChatMessage,
        entry: EntryId,
        may_all: bool,
        by: ChangeOrigin,
    ) -> Result<Told> {
        let turns = self.turns_since(of, entry).await?;
        let Some(turn) = turns.last().copied() else { return Ok((nothing(ChatVerb::Rewind), None)) };
        self.step_in_chat(of, message, (AskedStep::Rewind(turn), may_all), by, None).await
    }

    /// The turns from that of an entry on, newest first. None if it is not on the path. It reads as much as it returns.
    pub(super) async fn turns_since(&self, of: ConversationId, entry: EntryId) -> Result<Vec<EntryId>> {
        let meta = self.store().meta(of, entry).await?;
        let turn = meta.turn.unwrap_or(meta.pos);
        let mut turns = Vec::new();
        loop {
            let page = self.store().targets(of, turns.last().copied(), TURNS_MAX).await?;
            let is_last = page.len() < TURNS_MAX;
            for TargetLine { target, .. } in page {
                turns.push(target.meta.id);
                match target.meta.pos.cmp(&turn) {
                    Ordering::Greater => {}
                    Ordering::Equal => return Ok(turns),
                    Ordering::Less => return Ok(Vec::new()),
                }
            }
            if is_last {
                return Ok(Vec::new());
            }
        }
    }

    /// The refusal to take back turns of other people. It offers to drop only the person's own.
    pub(super) async fn turns_of_others(
        &self,
        of: ConversationId,
        message: &ChatMessage,
        turns: &[EntryId],
    ) -> Result<Option<ChatNotice>> {
        let (mut mine, mut names) = (Vec::new(), Vec::new());
        for id in turns.iter().copied() {
            let origin = self.store().turn_origin(of, id).await?;
            if origin.is_some_and(|origin| origin.person == message.person) {
                mine.push(id);
                continue;
            }
            let shown = self.shown(of, id).await?;
            let name = shown.and_then(|shown| shown.entry.ok()).map(|entry| entry.author).unwrap_or_default();
            if !names.contains(&name) && names.len() < NAMES_MAX {
                names.push(name);
            }
        }
        if names.is_empty() {
            return Ok(None);
        }
        let (head, _) = self.now_at(of).await?;
        let buttons = vec![ChatButton::DropMine(mine.clone())];
        let asks =
            ChatQuestion { person: Some(message.person.clone()), head, files: None, round: 0, buttons };
        let asks = Some(asks).filter(|_| !mine.is_empty());
        Ok(Some(ChatNotice { names, asks, ..notice(ChatNoticeKind::TurnsOfOthers) }))
    }

    /// Takes one turn out of the middle.
    async fn drop_in_chat(
        self: &Arc<Self>,
        of: ConversationId,
        message: &ChatMessage,
        may_all: bool,
        by: ChangeOrigin,
    ) -> Result<Told> {
        let Some(reply_to) = &message.reply_to else {
            return Ok((coded(ChatNoticeKind::NeedsReply, ChatVerb::Drop), None));
        };
        let Some(entry) = self.turn_in_chat(of, &message.place, reply_to).await? else {
            return Ok((notice(ChatNoticeKind::NotOfThisConversation), None));
        };
        self.step_in_chat(of, message, (AskedStep::Drop(vec![entry]), may_all), by, None).await
    }

    async fn retry_in_chat(
        self: &Arc<Self>,
        of: ConversationId,
        message: &ChatMessage,
        may_all: bool,
        by: ChangeOrigin,
    ) -> Result<()> {
        let last = self.store().targets(of, None, 1).await?.into_iter().next();
        let told = match last {
            None => nothing(ChatVerb::Retry),
            Some(last) => {
                let last = last.target.meta.id;
                let refusal = match may_all {
                    true => None,
                    false => self.turns_of_others(of, message, &[last]).await?,
                };
                match refusal {
                    Some(refusal) => refusal,
                    None => {
                        return self
                            .run_for_chat(of, message, (Start::Retry(last), None), by)
                            .await
                            .map(drop);
                    }
                }
            }
        };
        self.notify_chat(of, &message.place, told, Some(&message.message), None).await.map(drop)
    }

    async fn status_of_chat(&self, of: ConversationId) -> Result<Told> {
        let posts = self.store().posts(of).await?;
        let count = |of: &[PostTask]| {
            // Nothing is done any more for a lost one that is not due.
            let open =
                posts.iter().filter(|(_, post, _)| post.due.is_some() || post.state != PostState::Lost);
            let some = open.filter(|(_, post, _)| post.task().is_some_and(|task| of.contains(&task)));
            u32::try_from(some.count()).unwrap_or(u32::MAX)
        };
        let (to_send, to_delete) = (count(&[PostTask::Send, PostTask::Resend]), count(&[PostTask::Delete]));
        let code = self.is_running(of).then(|| "running".to_owned());
        let kind = ChatNoticeKind::Status;
        Ok((ChatNotice { kind, count: to_send, files: to_delete, code, ..ChatNotice::default() }, None))
    }
}
