//! Chats that continue under another id: bindings and what is not sent go along. Must never move a post that was sent: its id belongs to
//! the old chat.

use retake_core::{ArrivalOutcome, ChatBinding, ChatPlace, Post, PostState, Time};

use crate::error::Result;
use crate::store::{Context, Store};

/// The name of the event that a chat moved.
fn moved(from: &str, to: &str) -> String {
    format!("moved {from} {to}")
}

impl Store {
    /// A chat has another id from now on.
    pub async fn move_chat(&self, account: String, from: String, to: String, now: Time) -> Result<()> {
        self.write(move |context| {
            context.rows.insert_chat_event(&account, &moved(&from, &to), &ArrivalOutcome::Done, now)?;
            let bindings = context.rows.chat_bindings(&account)?.into_iter();
            for binding in bindings.filter(|it| it.place.chat == from) {
                let place = ChatPlace { chat: to.clone(), ..binding.place.clone() };
                context.rows.set_chat_binding(&ChatBinding { place, ..binding.clone() })?;
                context.rows.remove_chat_binding(&binding.place)?;
                let row = context.load(binding.conversation)?.row.clone();
                let is_open = |post: &Post| post.place == binding.place && post.state == PostState::Planned;
                for post in context.rows.posts(row.log)?.into_iter().filter(is_open) {
                    context.rows.set_post(&row, &context.placed_now(post)?)?;
                }
            }
            Ok(())
        })
        .await
    }
}

impl Context {
    /// A post that is to be sent, where it is sent now. Messages have other ids in another chat: it replies to none.
    pub(super) fn placed_now(&self, post: Post) -> Result<Post> {
        let place = self.place_now(post.place.clone())?;
        let reply_to = post.reply_to.filter(|_| place == post.place);
        Ok(Post { place, reply_to, ..post })
    }

    /// Where something for a place is sent now: its chat may have another id since.
    pub(super) fn place_now(&self, place: ChatPlace) -> Result<ChatPlace> {
        if self.rows.chat_binding(&place)?.is_some() {
            return Ok(place);
        }
        for ChatBinding { place: other, .. } in self.rows.chat_bindings(&place.account)? {
            let name = moved(&place.chat, &other.chat);
            if other.thread == place.thread && self.rows.chat_event(&place.account, &name)?.is_some() {
                return Ok(other);
            }
        }
        Ok(place)
    }
}
