//! Work on posts: what is due is leased to the gateway that has the account, and its reports are recorded. Edits that have waited are carried
//! out before.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use retake_core::{ConversationId, EntryId, Post, PostKey, PostResult, PostWork};

use super::ChatPreviews;
use crate::Engine;
use crate::error::{EngineError, Kind, Result};

/// How long a gateway waits for work at most.
const WAIT_MAX: Duration = Duration::from_secs(30);

impl Engine {
    /// The posts of a conversation, each with the entry that it shows.
    pub async fn chat_posts(&self, of: ConversationId) -> Result<Vec<(PostKey, Post, Option<EntryId>)>> {
        Ok(self.store().posts(of).await?)
    }

    /// Leases work of an account; waits for it. A later request for work of the same account ends the wait. The gateway of the
    /// earlier one may be gone, and what it got would wait until the lease ends.
    pub async fn chat_take(
        self: &Arc<Self>,
        account: String,
        holder: String,
        (wait, most): (Duration, usize),
        previews: ChatPreviews,
    ) -> Result<Vec<PostWork>> {
        self.chat_lease(&account, holder.clone()).await?;
        self.chats.shown.can(&account, previews);
        let turn = self.chats.begin_take(&account);
        self.chats.changed.notify_waiters();
        let mut over = pin!(tokio::time::sleep(wait.min(WAIT_MAX)));
        // Subscribed before looking: nothing that is committed in between is missed.
        let mut commits = self.subscribe(None);
        loop {
            let changed = self.chats.changed.notified();
            if !self.chats.is_newest_take(&account, turn) {
                return Ok(Vec::new());
            }
            self.chat_lease(&account, holder.clone()).await?;
            let edits = self.edits_due(&account).await?;
            let now = self.now();
            while self.store().compare_posts(now).await? {}
            let taken = self.store().take_posts(account.clone(), now, most).await?;
            let mut is_all = true;
            let mut work = Vec::with_capacity(taken.len());
            for mut one in taken {
                self.words_of_approval(&mut one);
                match self.text_of_preview(&mut one, now).await? {
                    true => work.push(one),
                    false => is_all = false,
                }
            }
            let is_over = self.chats.is_over.load(Ordering::SeqCst);
            if is_over || !work.is_empty() || (wait.is_zero() && is_all) {
                return Ok(work);
            }
            if !is_all {
                continue;
            }
            let next = self.store().posts_next(account.clone(), now).await?;
            let next = next.into_iter().chain(edits).min();
            let next = next.map(|next| Duration::from_millis(next.0.abs_diff(now.0)));
            tokio::select! {
                () = &mut over => return Ok(Vec::new()),
                () = tokio::time::sleep(next.unwrap_or(WAIT_MAX)) => {}
                () = changed => {}
                event = commits.next() => if event.is_none() {
                    return Ok(Vec::new());
                },
            }
        }
    }

    /// Records what became of work on a post. Returns whether the post is wanted.
    pub async fn chat_settle(
        &self,
        account: String,
        holder: String,
        key: PostKey,
        result: PostResult,
    ) -> Result<bool> {
        self.chat_lease(&account, holder).await?;
        // What was taken back in the meantime must not be sent.
        let now = self.now();
        while self.store().compare_posts(now).await? {}
        let told = result.clone();
        let settled = self.store().settle_post(account, key, result, now).await?;
        self.chats.shown.settled(key, &told, now);
        self.chats.changed.notify_waiters();
        settled.ok_or_else(|| EngineError::new(Kind::NotFound, "no_post", "there is no such post"))
    }
}
