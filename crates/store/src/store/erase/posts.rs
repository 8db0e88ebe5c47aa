//! The ledger of posts after an erasure: posts of erased entries are taken back, and no digest, name or code of the content stays. Must
//! never remove a post: what is in a chat must be known.

use std::collections::BTreeSet;

use retake_core::{ChatArrival, ChatMessageRow, Post, PostKind, Time};

use super::holds;
use crate::error::Result;
use crate::rows::Key;
use crate::store::Context;
use crate::store::load::Loaded;

impl Context {
    /// Takes back the posts of erased entries of a conversation's own log. `after`: the conversation with the erasure as its last step.
    pub(super) fn take_back_posts(&mut self, after: &Loaded, erased: &[Key], now: Time) -> Result<()> {
        let (log, op) = (after.row.log, after.conversation.head.op);
        let own: BTreeSet<u64> = erased.iter().filter(|key| key.log == log).map(|key| key.seq).collect();
        if own.is_empty() || !self.rows.has_posts(log)? {
            return Ok(());
        }
        for post in self.rows.posts(log)? {
            if post.kind.entry().is_some_and(|entry| own.contains(&entry.0)) {
                self.rows.set_post(&after.row, &post.erased(op, now))?;
            }
        }
        Ok(())
    }

    /// Removes names that contain a text from the notices of a conversation. Returns the number of notices.
    pub(super) fn erase_notices(&mut self, member: &Loaded, text: &str) -> Result<usize> {
        let mut found = 0;
        for post in self.rows.posts(member.row.log)? {
            let PostKind::Notice(mut notice) = post.kind else { continue };
            let before = notice.names.len();
            notice.names.retain(|name| !holds(name, text));
            if notice.names.len() < before {
                found += 1;
                let kind = PostKind::Notice(notice);
                self.rows.set_post(&member.row, &Post { kind, ..post })?;
            }
        }
        Ok(found)
    }

    /// Overwrites the digest of a message that waited for a run and was erased.
    pub(in crate::store) fn forget_waiting(&mut self, member: &Loaded, chat: &ChatArrival) -> Result<()> {
        let place = &chat.origin.place;
        for message in std::iter::once(&chat.origin.message).chain(chat.also.iter().map(|(it, _)| it)) {
            let before = self.rows.chat_message(member.row.log, &place.account, &place.chat, message)?;
            let row = ChatMessageRow::arrived(before, None, [0; 16]);
            self.rows.set_chat_message(&member.row, &place.account, (&place.chat, message), row)?;
        }
        Ok(())
    }
}
