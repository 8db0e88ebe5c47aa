//! Messages of chats that wait for a run: they are edited and recalled where they wait, and the next owner goes on with them. Must never
//! ask about one: it has no answer yet that could be lost.

use std::sync::Arc;

use retake_core::{
    ChatArrival, ChatOrigin, ChatPlace, ConversationId, RunInput, RunState, Words, join_pieces, split_joined,
};

use super::arrive::{contents_of, spoken, unspoken};
use super::{ChatMessage, edits};
use crate::Engine;
use crate::error::Result;
use crate::log::LogFailure as _;

/// A message that waits: all that wait, and its number among them.
type Waiting = (Vec<Words>, usize);

impl Engine {
    /// A message of a chat that waits for a run.
    async fn waiting_message(
        &self,
        of: ConversationId,
        place: &ChatPlace,
        message: &str,
    ) -> Result<Option<Waiting>> {
        let all = self.waiting(of).await?;
        let is_it = |words: &Words| {
            let origin = words.chat.as_ref().map(|chat| &chat.origin);
            origin.is_some_and(|origin| edits::is_same_chat(&origin.place, place) && origin.is_of(message))
        };
        let at = all.iter().position(is_it);
        Ok(at.map(|at| (all, at)))
    }

    /// The author of a message that waits.
    pub(super) async fn author_of_waiting(
        &self,
        of: ConversationId,
        place: &ChatPlace,
        message: &str,
    ) -> Result<Option<ChatMessage>> {
        let Some((mut all, at)) = self.waiting_message(of, place, message).await? else { return Ok(None) };
        let words = all.swap_remove(at);
        let origin = words.chat.map(|chat| chat.origin.clone());
        Ok(origin.map(|origin| edits::wordless(origin, words.author)))
    }

    /// Gives a message that waits its new wording. Without content, it does not wait any more. Returns whether it still waited.
    pub(super) async fn reword_waiting(&self, of: ConversationId, message: &ChatMessage) -> Result<bool> {
        loop {
            let found = self.waiting_message(of, &message.place, &message.message).await?;
            let Some((all, at)) = found else { return Ok(false) };
            let words = all[at].clone();
            let Some(chat) = words.chat.clone() else { return Ok(false) };
            let content = unspoken(message, words.parts.clone());
            let stepped = match content.and_then(|parts| with_others(&chat.origin, &parts, message)) {
                Some(whole) => {
                    let (content, also) = contents_of(&whole);
                    let ChatMessage { message, joined, .. } = whole.clone();
                    let origin = ChatOrigin { message, joined, ..chat.origin.clone() };
                    let chat = Arc::new(ChatArrival { origin, keys: chat.keys.clone(), also, content });
                    let mut ready = all.clone();
                    ready[at] = Words { parts: spoken(&whole), chat: Some(chat), ..words };
                    let step = RunInput::Ready(all, ready, self.now());
                    self.store().step_runs(of, vec![step]).await.map(drop).map_err(Into::into)
                }
                None if message.parts.is_empty() && chat.origin.joined.is_empty() => {
                    let withdrawn = self.withdraw(of, vec![words.clone()]).await;
                    withdrawn.inspect(|()| self.forget_waiting_clients(of, &words))
                }
                None => return Ok(false),
            };
            match stepped {
                // Its turn came meanwhile, or another message began to wait.
                Err(error) if matches!(error.code, "other_words" | "nothing_waits") => {}
                stepped => return stepped.map(|()| true),
            }
        }
    }

    /// Goes on with the messages of an account that waited when an earlier owner ended.
    pub(super) async fn resume_waiting(self: &Arc<Self>, account: &str) -> Result<()> {
        for (of, run) in self.store().live_runs().await? {
            let of_account =
                |words: &&Words| words.chat.as_ref().is_some_and(|chat| chat.origin.place.account == account);
            let mut is_left = false;
            for words in run.words.iter().filter(of_account).filter(|_| run.state == RunState::Queued) {
                let (Some(chat), Some(events)) = (&words.chat, self.listen(of, words)) else { continue };
                is_left = true;
                let origin = &chat.origin;
                // One conversation does not keep its account from connecting.
                let attended = self.attended(of, &origin.place).await;
                let attended = attended.or_log("a run that waited cannot ask in a chat").flatten();
                self.follow_for_chat(of, (&origin.place, &origin.message), events, attended);
            }
            if is_left {
                self.next_run(of).await;
            }
        }
        Ok(())
    }
}

/// The whole prompt with another wording of one of the messages that it was joined from. Without content, the message leaves it. `None` if
/// nothing is left, or if it is not known which part is whose.
pub(super) fn with_others(
    origin: &ChatOrigin,
    parts: &[retake_core::Part],
    message: &ChatMessage,
) -> Option<ChatMessage> {
    if origin.joined.is_empty() {
        return Some(message.clone()).filter(|message| !message.parts.is_empty());
    }
    let pieces = split_joined(parts, &origin.joined)?;
    let pieces = origin.joined.iter().cloned().zip(pieces).map(|(share, piece)| {
        let is_it = share.message == message.message;
        (share, if is_it { message.parts.clone() } else { piece })
    });
    let (parts, mut joined) = join_pieces(pieces.collect());
    let first = joined.first()?.message.clone();
    if joined.len() == 1 {
        joined.clear();
    }
    Some(ChatMessage { message: first, parts, joined, ..message.clone() })
}
