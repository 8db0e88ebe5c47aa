//! Calls of a chat's run that need an approval: an owner is asked in their private chat. Must never run a call that no owner allowed.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use futures::stream::BoxStream;
use retake_core::{
    ChatButton, ChatNotice, ChatNoticeKind, ChatPlace, ChatQuestion, ChatRole, ConversationId, PostKey,
    PostKind, PostWork,
};

use super::previews::Shows;
use super::{Attended, notice, problem_notice};
use crate::Engine;
use crate::error::Result;
use crate::log::LogFailure as _;
use crate::run::{Decision, Outcome, PendingApproval, RunEvent};

/// How long an owner has to answer.
const ANSWER_WAIT: Duration = Duration::from_secs(5 * 60);

impl Engine {
    /// Follows the run of a chat until its end: asks for its approvals, and tells its place if it fails.
    pub(super) fn follow_for_chat(
        self: &Arc<Self>,
        of: ConversationId,
        (place, message): (&ChatPlace, &str),
        mut events: BoxStream<'static, RunEvent>,
        attended: Option<Attended>,
    ) {
        // A message may wait for as long as its owner lives: it must not keep the owner alive.
        let owner = Arc::downgrade(self);
        let (place, id) = (place.clone(), message.to_owned());
        let mut shows = Shows::new(self, of, &place);
        tokio::spawn(async move {
            let mut asked: HashMap<String, PostKey> = HashMap::new();
            while let Some(event) = shows.until(events.next()).await {
                let Some(engine) = owner.upgrade() else { return };
                shows.heard(&engine, &event).await;
                match event {
                    RunEvent::Asks(asks) => {
                        let call = asks.id.clone();
                        let told = engine.ask_in_chat(of, &place, asks).await;
                        if let Some(key) = told.or_log("an owner is not asked in a chat").flatten() {
                            asked.insert(call, key);
                        }
                    }
                    RunEvent::Settled(call) => {
                        if let Some(key) = asked.remove(&call) {
                            engine.close_question(key, notice(ChatNoticeKind::ApprovalOver)).await;
                        }
                    }
                    RunEvent::Ended(ended) => {
                        if matches!(ended.outcome, Outcome::Failed | Outcome::RolledBack)
                            && let Some(error) = &ended.error
                        {
                            let told = problem_notice(ChatNoticeKind::RunFailed, error);
                            let told = engine.notify_chat(of, &place, told, Some(&id), None).await;
                            told.or_log("a chat is not told that a run failed");
                        }
                    }
                    _ => {}
                }
            }
            drop(attended);
            let Some(engine) = owner.upgrade() else { return };
            shows.end(&engine).await;
            for key in asked.into_values() {
                engine.close_question(key, notice(ChatNoticeKind::ApprovalOver)).await;
            }
        });
    }

    /// Marks a conversation whose run can ask an owner in a chat.
    pub(super) async fn attended(&self, of: ConversationId, place: &ChatPlace) -> Result<Option<Attended>> {
        Ok(self.place_of_owner(place).await?.map(|_| self.chats.attend(of)))
    }

    /// Asks an owner about a call. `None`: there is no owner to ask in a chat. A terminal can answer, too.
    async fn ask_in_chat(
        self: &Arc<Self>,
        of: ConversationId,
        place: &ChatPlace,
        asks: PendingApproval,
    ) -> Result<Option<PostKey>> {
        let call = asks.id;
        let key = match self.place_of_owner(place).await? {
            Some(there) => {
                let (head, _) = self.now_at(of).await?;
                let buttons = vec![ChatButton::Approve(call.clone()), ChatButton::Deny(call.clone())];
                let asks_owner = ChatQuestion { person: None, head, files: None, round: 0, buttons };
                let told = ChatNotice {
                    code: Some(asks.call.tool),
                    asks: Some(asks_owner),
                    ..notice(ChatNoticeKind::ApprovalNeeded)
                };
                let key = self.notify_chat(of, &there, told, None, None).await?;
                self.chats.set_approval(&there, key, true);
                Some(key)
            }
            None => None,
        };
        let (engine, place, session) = (Arc::clone(self), place.clone(), self.session(of));
        tokio::spawn(async move {
            tokio::select! {
                () = engine.parts().clock.sleep(ANSWER_WAIT) => engine.not_answered(of, &place, &call, key).await,
                () = session.until_settled(&call) => {}
            }
        });
        Ok(key)
    }

    /// Nobody answered in time: the call is denied, and a notice says so.
    async fn not_answered(&self, of: ConversationId, place: &ChatPlace, call: &str, key: Option<PostKey>) {
        if self.decide(of, call, Decision::LastClientLeft).is_err() {
            return;
        }
        let waited = u32::try_from(ANSWER_WAIT.as_secs()).unwrap_or(u32::MAX);
        let told = ChatNotice { count: waited, ..notice(ChatNoticeKind::NoAnswer) };
        if let Some(key) = key {
            self.close_question(key, told.clone()).await;
        }
        let told = self.notify_chat(of, place, told, None, None).await;
        told.or_log("a chat is not told that an approval was not given");
    }

    /// Where an owner can be asked: in the place itself if it is the owner's private chat, else in the private chat of an owner.
    async fn place_of_owner(&self, place: &ChatPlace) -> Result<Option<ChatPlace>> {
        let people = self.store().chat_people(Some(place.account.clone())).await?;
        let settings = self.chat_settings(&place.account);
        let is_owner = |person: &Option<String>| {
            let mut owners = people.iter().filter(|it| it.role == ChatRole::Owner).map(|it| &it.person);
            owners.any(|owner| Some(owner) == person.as_ref() && settings.admits(owner, true))
        };
        let mut private = self.store().chat_bindings(place.account.clone()).await?;
        private.retain(|binding| !binding.is_shared && is_owner(&binding.person));
        let here = private.iter().position(|binding| binding.place == *place);
        Ok(private.into_iter().nth(here.unwrap_or(0)).map(|binding| binding.place))
    }

    /// Replaces a question that nobody needs to answer any more, unless it was answered.
    async fn close_question(&self, key: PostKey, told: ChatNotice) {
        let closed = async {
            let open = match self.store().post(key).await? {
                Some((_, post)) => {
                    self.chats.set_approval(&post.place, key, false);
                    matches!(post.kind, PostKind::Notice(ChatNotice { asks: Some(_), .. }))
                }
                None => false,
            };
            if open {
                self.store().answer_question(key, told, None, self.now()).await?;
                self.chats.changed.notify_waiters();
            }
            Ok::<_, crate::error::EngineError>(())
        };
        closed.await.or_log("a question in a chat is not closed");
    }

    /// The words of an approval that waits, for the post that asks for it. They are not stored.
    pub(super) fn words_of_approval(&self, work: &mut PostWork) {
        let PostKind::Notice(ChatNotice { asks: Some(asks), .. }) = &work.post.kind else { return };
        let Some(ChatButton::Approve(call)) = asks.buttons.first() else { return };
        let (now, _) = self.follow_runs(work.conversation);
        let line = now.asks.into_iter().find(|asks| asks.id == *call).map(|asks| asks.call.line);
        work.text = line.map(|line| (line, false));
    }
}
