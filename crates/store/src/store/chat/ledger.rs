//! The ledger: which posts are wanted, which work is due, and what became of it.

use retake_core::{
    ArrivalOutcome, ChatNotice, ChatNoticeKind, ChatPlace, ConversationId, Deletion, EntryId, OpNo, Post,
    PostCounts, PostFailure, PostKey, PostKind, PostNo, PostResult, PostState, PostTask, PostWork, Seq, Time,
    joined_text, post_counts,
};

use crate::error::Result;
use crate::rows::Key;
use crate::store::load::Loaded;
use crate::store::{Context, Store};

/// How long a notice waits for the posts that it tells of, before it says what is still being tried.
const NOTICE_MS: i64 = 10_000;

/// How long a notice of a step stays in a place that several people read, after its last words.
const SHOWN_MS: i64 = 60_000;

impl Store {
    /// Leases work of an account that is due.
    pub async fn take_posts(&self, account: String, now: Time, most: usize) -> Result<Vec<PostWork>> {
        self.write(move |context| {
            let mut work = Vec::new();
            for key in context.rows.posts_due(&account, now, most)? {
                let Some(post) = context.rows.post(key)? else { continue };
                let row = context.rows.log(key.log)?;
                let Some(task) = post.task() else {
                    context.rows.set_post(&row, &Post { due: None, ..post })?;
                    continue;
                };
                if context.holds_back(row.id, &post, now)? {
                    continue;
                }
                let post = post.leased(now);
                context.rows.set_post(&row, &post)?;
                // A post that may be gone and is wanted again is left alone. The parts after it do not wait for it.
                if post.task().is_none() {
                    if let PostKind::Answer(entry) = post.kind {
                        let loaded = context.load(row.id)?;
                        context.next_part(&loaded, entry, now)?;
                    }
                    continue;
                }
                let text = match post.kind {
                    PostKind::Answer(entry) if task != PostTask::Delete => {
                        let entry = context.rows.entry(Key { log: key.log, seq: entry.0 })?;
                        Some((joined_text(&entry.parts), entry.meta.flags.interrupted))
                    }
                    _ => None,
                };
                let counts = context.counts_of(key, &post)?;
                let labels = match task {
                    PostTask::Delete => Vec::new(),
                    _ => context.labels(row.id, &post)?,
                };
                work.push(PostWork { key, conversation: row.id, task, post, text, counts, labels });
            }
            Ok(work)
        })
        .await
    }

    /// When work of an account is due next, after this time.
    pub async fn posts_next(&self, account: String, after: Time) -> Result<Option<Time>> {
        self.read(move |rows| rows.posts_next(&account, after)).await
    }

    /// Records what became of work on a post. Returns whether the post is wanted; `None` if there is none.
    pub async fn settle_post(
        &self,
        account: String,
        key: PostKey,
        result: PostResult,
        now: Time,
    ) -> Result<Option<bool>> {
        self.write(move |context| context.settle_post(&account, key, result, now)).await
    }

    /// A message was deleted at the platform. A post with this id is gone. While the id of a post in that chat is not known, the news is
    /// kept for it. Returns whether it was a post.
    pub async fn recall_post(&self, place: ChatPlace, message: String, now: Time) -> Result<bool> {
        self.write(move |context| {
            let (account, chat) = (&place.account, &place.chat);
            if let Some(key) = context.rows.post_by_id(account, chat, &message)? {
                context.settle_post(account, key, GONE, now)?;
                return Ok(true);
            }
            if context.awaits_id(&place)? {
                let key = recalled(chat, &message);
                context.rows.insert_chat_event(account, &key, &ArrivalOutcome::Done, now)?;
            }
            Ok(false)
        })
        .await
    }

    /// Plans a notice in a place, and returns its name. For a step there is one in each place.
    pub async fn plan_notice(
        &self,
        of: ConversationId,
        place: ChatPlace,
        notice: ChatNotice,
        reply_to: Option<String>,
        op: Option<OpNo>,
        now: Time,
    ) -> Result<PostKey> {
        self.write(move |context| {
            let loaded = context.load(of)?;
            let no = context.plan_notice(&loaded, place, notice, reply_to, op, now)?;
            Ok(PostKey { log: loaded.row.log, no })
        })
        .await
    }

    /// The posts of a conversation, the newest first, each with the entry that it shows.
    pub async fn posts(&self, of: ConversationId) -> Result<Vec<(PostKey, Post, Option<EntryId>)>> {
        self.with(of, |rows, loaded| {
            let log = loaded.row.log;
            let posts = rows.posts(log)?.into_iter().rev();
            posts
                .map(|post| {
                    let entry = match post.kind.entry() {
                        Some(Seq(seq)) => Some(rows.meta(Key { log, seq })?.id),
                        None => None,
                    };
                    Ok((PostKey { log, no: post.no }, post, entry))
                })
                .collect()
        })
        .await
    }
}

/// The most of the newest posts of a place among which one may wait for its id.
const NEWEST: usize = 100;

/// A post that somebody deleted.
const GONE: PostResult = PostResult::Deleted(Deletion::Gone);

/// The name of the event that a message was deleted that may be a post.
fn recalled(chat: &str, message: &str) -> String {
    format!("recalled {chat} {message}")
}

impl Context {
    /// Whether a post may be in the place whose id is not known. The news of a deletion may not say the thread.
    fn awaits_id(&self, place: &ChatPlace) -> Result<bool> {
        let is_meant =
            |it: &ChatPlace| it.chat == place.chat && (place.thread.is_none() || it.thread == place.thread);
        for binding in self.rows.chat_bindings(&place.account)?.iter().filter(|it| is_meant(&it.place)) {
            let row = self.rows.conversation(binding.conversation)?;
            let Some(row) = row else { continue };
            let posts = self.rows.last_posts(row.log, NEWEST)?;
            let is_open = |post: &Post| {
                let is_lost = post.state == PostState::Lost && post.due.is_some() && post.ids.is_empty();
                is_meant(&post.place) && (post.state == PostState::Sending || is_lost)
            };
            if posts.iter().any(is_open) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The first part of an answer that was not sent is due, when all before it are there or failed.
    pub(super) fn next_part(&mut self, loaded: &Loaded, entry: Seq, now: Time) -> Result<()> {
        let mut parts = self.rows.posts_of_entries(loaded.row.log, entry, entry)?;
        parts.retain(|post| matches!(post.kind, PostKind::Answer(_)) && !post.is_imported());
        parts.sort_by_key(|post| post.part.0);
        let is_over = |post: &Post| match post.state {
            PostState::Failed(_) | PostState::Gone(_) | PostState::Stays(_) => true,
            // What a preview showed is replaced first.
            PostState::Sent | PostState::Lost => post.due.is_none(),
            _ => false,
        };
        if let Some(next) = parts.into_iter().find(|post| !is_over(post))
            && next.state == PostState::Planned
            && next.due.is_none()
        {
            self.rows.set_post(&loaded.row, &Post { due: Some(now), since: Some(now), ..next })?;
        }
        Ok(())
    }

    pub(super) fn plan_notice(
        &mut self,
        loaded: &Loaded,
        place: ChatPlace,
        notice: ChatNotice,
        reply_to: Option<String>,
        op: Option<OpNo>,
        now: Time,
    ) -> Result<PostNo> {
        if let Some(op) = op
            && let Some(post) = self.step_notice(loaded, &place, op)?
        {
            // The one that a comparison has planned gets what only the request knows.
            let kind = PostKind::Notice(notice);
            let is_waiting = post.state == PostState::Planned;
            let no = post.no;
            if is_waiting {
                self.rows.set_post(&loaded.row, &Post { kind, reply_to, ..post })?;
            }
            return Ok(no);
        }
        let post = Post { op, ..Post::planned(place, PostKind::Notice(notice), reply_to, now) };
        self.rows.insert_post(&loaded.row, post)
    }

    /// The notice of a step in a place.
    pub(super) fn step_notice(&self, loaded: &Loaded, place: &ChatPlace, op: OpNo) -> Result<Option<Post>> {
        let posts = self.rows.posts_of_op(loaded.row.log, op)?;
        Ok(posts.into_iter().find(|post| match &post.kind {
            PostKind::Notice(notice) => notice.kind.is_step() && post.place == *place,
            PostKind::Answer(_) | PostKind::Preview(_) => false,
        }))
    }

    /// The posts that a notice tells of: those of its step, or all that stay.
    fn counts_of(&self, key: PostKey, post: &Post) -> Result<PostCounts> {
        let posts = match (&post.kind, post.op) {
            (PostKind::Notice(notice), _) if notice.kind == ChatNoticeKind::PostsThatStay => {
                let mut posts = self.rows.posts(key.log)?;
                posts.retain(|post| matches!(post.state, PostState::Stays(_)) && !post.is_imported());
                posts
            }
            (PostKind::Notice(_), Some(op)) => self.rows.posts_of_op(key.log, op)?,
            _ => Vec::new(),
        };
        Ok(post_counts(posts.iter().filter(|post| post.kind.entry().is_some())))
    }

    fn settle_post(
        &mut self,
        account: &str,
        key: PostKey,
        result: PostResult,
        now: Time,
    ) -> Result<Option<bool>> {
        let before = self.rows.post(key)?;
        let before = before.filter(|post| post.place.account == account && !post.is_imported());
        let Some(before) = before else { return Ok(None) };
        let row = self.rows.log(key.log)?;
        let loaded = self.load(row.id)?;
        let is_deletion = matches!(result, PostResult::Deleting { .. });
        let is_cancelled = before.state == PostState::Cancelled || (before.is_done && before.ids.is_empty());
        let is_preview = match &result {
            PostResult::Sending { is_preview, .. } if !is_cancelled => Some(*is_preview),
            _ => None,
        };
        let mut after = match is_cancelled && matches!(result, PostResult::Sending { .. }) {
            true => before.clone(),
            false => before.clone().settled(result, now),
        };
        if after.state == PostState::Planned && before.state == PostState::Sending {
            after = self.placed_now(after)?;
        }
        for id in after.ids.iter().filter(|id| !before.ids.contains(id)) {
            // Somebody deleted it before its id was known.
            let key = recalled(&after.place.chat, id);
            if self.rows.chat_event(account, &key)?.is_some() {
                after = after.clone().settled(GONE, now);
                break;
            }
        }
        let is_new = after.state != before.state;
        let is_of_step = matches!(&after.kind, PostKind::Notice(notice) if notice.kind.is_step());
        if is_new && after.state == PostState::Sent && is_of_step {
            let counts = self.counts_of(key, &after)?;
            after.due = match (counts.sum(), counts.is_final()) {
                (0, _) => None,
                (_, true) => Some(now),
                (_, false) => Some(Time(now.0.saturating_add(NOTICE_MS))),
            };
        }
        if is_of_step && before.due.is_some() && after.due.is_none() && after.state == PostState::Sent {
            self.after_words(key, &mut after, now)?;
        }
        self.rows.set_post(&row, &after)?;
        for id in after.ids.iter().filter(|id| !before.ids.contains(id)) {
            self.rows.set_post_id(&after.place.account, &after.place.chat, id, key)?;
        }
        self.replace_preview(&loaded, (&before, &after), now)?;
        if let Some(entry) = after.kind.entry() {
            self.further_parts(&loaded, &before, &after)?;
            // Nobody will know of a lost one that is not due. Of one in the chat, the preview was replaced.
            let is_over = matches!(after.state, PostState::Lost | PostState::Sent) && after.due.is_none();
            if is_new || is_over {
                self.next_part(&loaded, entry, now)?;
                if let PostKind::Answer(answer) = after.kind {
                    self.remove_replaced(&loaded, answer, now)?;
                }
                if let (PostState::Failed(why), true, PostKind::Answer(_)) =
                    (after.state, after.part.1 > 1, &after.kind)
                {
                    self.tell_failure(&loaded, &after, why, now)?;
                }
                self.notices_of(&loaded, after.op, now)?;
            }
        }
        Ok(Some(match is_preview {
            // A post that came back onto the path since the deletion was leased is wanted.
            _ if is_deletion => after.task() != Some(PostTask::Delete),
            // The answer may have been stored, or taken back, since the edit was leased.
            Some(is_preview) if !before.ids.is_empty() => {
                after.task() == Some(PostTask::Edit)
                    && is_preview == matches!(after.kind, PostKind::Preview(_))
            }
            _ => !is_cancelled,
        }))
    }

    /// The words of a notice are in the chat. If it was the answer to a question, its last words come as those of a notice that was sent
    /// then. After its last words, it is deleted where others read it, too.
    fn after_words(&self, key: PostKey, notice: &mut Post, now: Time) -> Result<()> {
        let last = Time(notice.since.unwrap_or(now).0.saturating_add(NOTICE_MS));
        if now < last && !self.counts_of(key, notice)?.is_final() {
            (notice.due, notice.is_done) = (Some(last), false);
        } else if self.rows.chat_binding(&notice.place)?.is_some_and(|binding| binding.is_shared) {
            *notice = notice.clone().removed(Time(now.0.saturating_add(SHOWN_MS)));
        }
        Ok(())
    }

    /// Adds the rows of the further parts of an answer, once the gateway knows how many there are.
    fn further_parts(&mut self, loaded: &Loaded, before: &Post, after: &Post) -> Result<()> {
        let parts = after.part.1;
        if before.part.1 > 0 || after.part.0 > 0 {
            return Ok(());
        }
        for part in 1..parts {
            let post = Post::planned(after.place.clone(), after.kind.clone(), None, Time(0));
            self.rows.insert_post(&loaded.row, Post { part: (part, parts), due: None, ..post })?;
        }
        Ok(())
    }

    fn tell_failure(&mut self, loaded: &Loaded, post: &Post, why: PostFailure, now: Time) -> Result<()> {
        // Where nothing may be posted, nobody would read it.
        if why == PostFailure::NotPermitted {
            return Ok(());
        }
        let (part, of) = (post.part.0 + 1, post.part.1);
        let notice =
            ChatNotice { kind: ChatNoticeKind::PartNotSent, count: part, files: of, ..ChatNotice::default() };
        self.plan_notice(loaded, post.place.clone(), notice, None, None, now).map(drop)
    }

    /// The notices of a step are due for their last words when nothing is being tried any more.
    fn notices_of(&mut self, loaded: &Loaded, op: Option<OpNo>, now: Time) -> Result<()> {
        let Some(op) = op else { return Ok(()) };
        let posts = self.rows.posts_of_op(loaded.row.log, op)?;
        let (answers, notices): (Vec<Post>, Vec<Post>) =
            posts.into_iter().partition(|post| post.kind.entry().is_some());
        if !post_counts(answers.iter()).is_final() {
            return Ok(());
        }
        for notice in notices.into_iter().filter(|post| post.state == PostState::Sent && !post.is_done) {
            self.rows.set_post(&loaded.row, &Post { due: Some(now), ..notice })?;
        }
        Ok(())
    }
}
