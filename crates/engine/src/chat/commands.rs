//! Commands of chats. Each answers with one notice, in the place where it was written, in reply to it.

use std::sync::Arc;

use retake_core::{
    Action, Apply, ChangeOrigin, ChatBinding, ChatNotice, ChatNoticeKind, ChatRole, ConversationId, EntryId,
    OpNo, OpRange, PostState, Principal, Reason, SeenState,
};

use super::{ChatMessage, ChatVerb, GatewayEvent, notice, problem_notice};
use crate::Engine;
use crate::error::{EngineError, Result};
use crate::files::FileOptions;
use crate::run::Start;
use crate::steps::Done;

/// The most turns that one command takes back.
const TURNS_MAX: u32 = 100;

/// The most names in a refusal.
const NAMES_MAX: usize = 8;

/// The answer to a command: a notice, and the operation whose posts it counts.
type Told = (ChatNotice, Option<OpNo>);

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
        let role = self.chat_role(message).await?;
        let may_all = role == ChatRole::Owner || !message.is_shared || event.moderates;
        let count = count.unwrap_or(1).clamp(1, TURNS_MAX);
        let told = match verb {
            ChatVerb::Rewind => self.rewind_in_chat(of, message, (count, may_all), by).await,
            ChatVerb::Undo => {
                let action = Action::Undo(usize::try_from(count).unwrap_or(1));
                self.step_back_in_chat(of, message, (action, may_all), by).await
            }
            ChatVerb::Redo => {
                let action = Action::Redo(usize::try_from(count).unwrap_or(1));
                self.step_back_in_chat(of, message, (action, may_all), by).await
            }
            ChatVerb::Drop => self.drop_in_chat(of, message, may_all, by).await,
            ChatVerb::Retry => return self.retry_in_chat(of, message, may_all, by).await,
            ChatVerb::Stop => Ok(match self.cancel(of) {
                true => (notice(ChatNoticeKind::Stopped), None),
                false => (nothing(verb), None),
            }),
            ChatVerb::New => {
                let new = self.bind_new(&message.place, message.is_shared).await?;
                let told = notice(ChatNoticeKind::NewConversation);
                return self
                    .notify_chat(new.conversation, &message.place, told, Some(&message.message), None)
                    .await;
            }
            ChatVerb::Help => Ok((notice(ChatNoticeKind::Help), None)),
            ChatVerb::Status => self.status_of_chat(of).await,
            ChatVerb::Posts => Ok((notice(ChatNoticeKind::PostsThatStay), None)),
        };
        let (told, op) = told.unwrap_or_else(|error| (refused(verb, &error), None));
        self.notify_chat(of, &message.place, told, Some(&message.message), op).await
    }

    async fn chat_role(&self, message: &ChatMessage) -> Result<ChatRole> {
        let known = self.store().chat_person(message.place.account.clone(), message.person.clone()).await?;
        Ok(known.map_or(ChatRole::Member, |person| person.role))
    }

    /// Rewinds so many turns, or to the turn of the message that the command replies to.
    async fn rewind_in_chat(
        self: &Arc<Self>,
        of: ConversationId,
        message: &ChatMessage,
        (count, may_all): (u32, bool),
        by: ChangeOrigin,
    ) -> Result<Told> {
        let named = match &message.reply_to {
            Some(reply_to) => match self.turn_in_chat(of, &message.place, reply_to).await? {
                Some(entry) => Some(entry),
                None => return Ok((notice(ChatNoticeKind::NotOfThisConversation), None)),
            },
            None => None,
        };
        let most = usize::try_from(TURNS_MAX).unwrap_or(100);
        let targets = self.store().targets(of, None, most).await?;
        let at = match named {
            None => Some(usize::try_from(count).unwrap_or(1) - 1).filter(|at| *at < targets.len()),
            // The entry is in the turn whose own entries have it; the turn itself may be named, too.
            Some(entry) => {
                let pos = self.store().meta(of, entry).await?;
                targets
                    .iter()
                    .position(|line| Some(line.target.meta.pos) == pos.turn || line.target.meta.id == entry)
            }
        };
        let Some(at) = at else { return Ok((nothing(ChatVerb::Rewind), None)) };
        if !may_all {
            let mut others = Vec::new();
            for line in &targets[..=at] {
                let origin = self.store().turn_origin(of, line.target.meta.id).await?;
                if origin.is_none_or(|origin| origin.person != message.person) {
                    let shown = self.shown(of, line.target.meta.id).await?;
                    let name = shown
                        .and_then(|shown| shown.entry.ok())
                        .map(|entry| entry.author)
                        .unwrap_or_default();
                    if !others.contains(&name) && others.len() < NAMES_MAX {
                        others.push(name);
                    }
                }
            }
            if !others.is_empty() {
                return Ok((ChatNotice { names: others, ..notice(ChatNoticeKind::TurnsOfOthers) }, None));
            }
        }
        let turns = u32::try_from(at + 1).unwrap_or(1);
        let action = Action::Rewind(targets[at].target.meta.id);
        self.step_in_chat(of, action, by, (ChatNoticeKind::Rewound, turns)).await
    }

    /// Undo and redo: in a shared place a member takes back only what was their own.
    async fn step_back_in_chat(
        self: &Arc<Self>,
        of: ConversationId,
        message: &ChatMessage,
        (action, may_all): (Action, bool),
        by: ChangeOrigin,
    ) -> Result<Told> {
        if !may_all {
            let (mine, name) = self.last_step_is_of(of, &by, &message.person).await?;
            if !mine {
                return Ok((ChatNotice { names: vec![name], ..notice(ChatNoticeKind::StepOfOther) }, None));
            }
        }
        let (kind, count) = match &action {
            Action::Undo(count) => (ChatNoticeKind::Undone, *count),
            Action::Redo(count) => (ChatNoticeKind::Redone, *count),
            _ => (ChatNoticeKind::Undone, 1),
        };
        self.step_in_chat(of, action, by, (kind, u32::try_from(count).unwrap_or(1))).await
    }

    /// Whether the last thing that was done is of this person, and the name of who did it.
    async fn last_step_is_of(
        &self,
        of: ConversationId,
        by: &ChangeOrigin,
        person: &str,
    ) -> Result<(bool, String)> {
        let newest = self.store().ops(of, OpRange { before: None, limit: 1 }).await?.ops.into_iter().next();
        let turn = self.store().targets(of, None, 1).await?.into_iter().next();
        let turn_is_later = match (&newest, &turn) {
            (Some(op), Some(turn)) => turn.target.meta.pos.seq > op.op.at.0,
            (None, _) => true,
            (Some(_), None) => false,
        };
        if turn_is_later {
            let Some(turn) = turn else { return Ok((true, String::new())) };
            let origin = self.store().turn_origin(of, turn.target.meta.id).await?;
            let mine = origin.is_some_and(|origin| origin.person == person);
            let shown = self.shown(of, turn.target.meta.id).await?;
            return Ok((
                mine,
                shown.and_then(|shown| shown.entry.ok()).map(|entry| entry.author).unwrap_or_default(),
            ));
        }
        let op = newest.map(|line| line.op);
        let mine =
            op.as_ref().is_some_and(|op| op.principal == by.principal && op.principal != Principal::Local);
        Ok((mine, op.map(|op| op.author).unwrap_or_default()))
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
        let origin = self.store().turn_origin(of, entry).await?;
        if !may_all && origin.is_none_or(|origin| origin.person != message.person) {
            return Ok((notice(ChatNoticeKind::OwnersOnly), None));
        }
        let name = entry.to_string();
        let action = self.mark_named(of, Reason::Drop, &[name], false, None).await?;
        self.step_in_chat(of, action, by, (ChatNoticeKind::Dropped, 1)).await
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
                let origin = self.store().turn_origin(of, last.target.meta.id).await?;
                match may_all || origin.is_some_and(|origin| origin.person == message.person) {
                    true => {
                        return self.run_for_chat(of, message, Start::Retry(last.target.meta.id), by).await;
                    }
                    false => notice(ChatNoticeKind::OwnersOnly),
                }
            }
        };
        self.notify_chat(of, &message.place, told, Some(&message.message), None).await
    }

    /// Makes a step: a run at work is stopped first.
    async fn step_in_chat(
        self: &Arc<Self>,
        of: ConversationId,
        action: Action,
        by: ChangeOrigin,
        (kind, count): (ChatNoticeKind, u32),
    ) -> Result<Told> {
        let author = by.author.clone();
        let apply = Apply { action, seen: SeenState::Anything, by };
        let options = FileOptions { stop: true, ..FileOptions::default() };
        let done = self.act(of, apply, options).await?;
        let (receipt, files) = match done {
            Done::Changed(receipt) | Done::Erased(receipt, ..) => (Some(receipt), 0),
            Done::Steps { applied, .. } => {
                let files: usize = applied
                    .iter()
                    .flat_map(|applied| &applied.folders)
                    .map(|folder| folder.plan.changes().count())
                    .sum();
                (applied.into_iter().next_back().map(|applied| applied.receipt), files)
            }
            Done::Again { receipts, .. } => (receipts.into_iter().next_back(), 0),
        };
        let op = receipt.filter(|receipt| !receipt.unchanged).map(|receipt| receipt.head.op);
        let files = u32::try_from(files).unwrap_or(u32::MAX);
        Ok((ChatNotice { kind, count, files, names: vec![author], code: None }, op))
    }

    async fn status_of_chat(&self, of: ConversationId) -> Result<Told> {
        let posts = self.store().posts(of).await?;
        let count = |is: fn(PostState) -> bool| {
            u32::try_from(posts.iter().filter(|(_, post, _)| is(post.state)).count()).unwrap_or(u32::MAX)
        };
        let to_send =
            count(|state| matches!(state, PostState::Planned | PostState::Sending | PostState::Lost));
        let to_delete = count(|state| state == PostState::Deleting);
        let code = self.is_running(of).then(|| "running".to_owned());
        let kind = ChatNoticeKind::Status;
        Ok((ChatNotice { kind, count: to_send, files: to_delete, names: Vec::new(), code }, None))
    }

    /// The entry that a post shows, for the posts of a conversation.
    pub async fn chat_posts(
        &self,
        of: ConversationId,
    ) -> Result<Vec<(retake_core::PostKey, retake_core::Post, Option<EntryId>)>> {
        Ok(self.store().posts(of).await?)
    }
}

/// There is nothing that the command could do.
fn nothing(verb: ChatVerb) -> ChatNotice {
    coded(ChatNoticeKind::Nothing, verb)
}

fn coded(kind: ChatNoticeKind, verb: ChatVerb) -> ChatNotice {
    ChatNotice { code: Some(<&str>::from(verb).to_owned()), ..notice(kind) }
}

/// The notice of a refused step.
fn refused(verb: ChatVerb, error: &EngineError) -> ChatNotice {
    match error.code {
        "nothing_to_undo" | "nothing_to_redo" | "no_turn" | "unchanged" => nothing(verb),
        _ => problem_notice(ChatNoticeKind::Problem, error),
    }
}
