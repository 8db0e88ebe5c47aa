//! Chats in a full import: where turns were said, and what was posted. It is history of another store. Must never give a gateway anything
//! to do, nor let a message of a chat find what was imported.

use retake_core::{ChatOrigin, ChatPlace, Post, PostKind, Role, Seq};

use crate::error::{Result, StoreError};
use crate::rows::ConversationRow;
use crate::store::Context;
use crate::transfer::FullConversation;

/// The longest id of a platform, in bytes.
const ID_MAX: usize = 1024;

/// The most ids of a post.
const IDS_MAX: usize = 1024;

impl Context {
    /// Restores posts, and checks the origins of messages. No id of a platform is entered where gateways look for messages, so an imported
    /// message or post is unknown to them.
    pub(super) fn restore_posts(&mut self, home: &ConversationRow, full: &FullConversation) -> Result<()> {
        let bad = |why: String| StoreError::BadExport(format!("conversation {}: {why}", home.id));
        for (seq, (entry, _)) in (1_u64..).zip(&full.entries) {
            if !entry.origin.as_ref().is_none_or(is_origin) {
                return Err(bad(format!("where message {seq} came from is no place of a chat")));
            }
        }
        for (no, post) in (1_u64..).zip(&full.beside.posts) {
            if !is_post(post) {
                return Err(bad(format!("post {no} is in no place of a chat")));
            }
            if let PostKind::Answer(Seq(seq)) = post.kind {
                let entry = usize::try_from(seq).ok().and_then(|seq| full.entries.get(seq.checked_sub(1)?));
                if entry.is_none_or(|(entry, _)| entry.meta.role != Role::Assistant) {
                    return Err(bad(format!("post {no} shows no answer")));
                }
            }
            self.rows.insert_post(home, post.clone().imported())?;
        }
        Ok(())
    }
}

fn is_id(text: &str) -> bool {
    !text.is_empty() && text.len() <= ID_MAX
}

fn is_place(place: &ChatPlace) -> bool {
    is_id(&place.account) && is_id(&place.chat) && place.thread.as_deref().is_none_or(is_id)
}

fn is_origin(origin: &ChatOrigin) -> bool {
    is_place(&origin.place) && is_id(&origin.message) && is_id(&origin.person)
}

fn is_post(post: &Post) -> bool {
    is_place(&post.place)
        && post.ids.len() <= IDS_MAX
        && post.ids.iter().all(|id| is_id(id))
        && post.reply_to.as_deref().is_none_or(is_id)
}
