//! Answers that wait for so long that people are asked before they are sent. Must never send one that nobody has decided about.

use retake_core::{
    ChatButton, ChatNotice, ChatNoticeKind, ChatPlace, ChatQuestion, ConversationId, Head, Post, PostKind,
    PostState, PostTask, Time,
};

use super::super::load::Loaded;
use super::super::{Context, Store};
use super::origin_of;
use super::questions::SEARCHED;
use crate::error::Result;
use crate::rows::Key;

/// An answer that waits for longer is sent only when somebody says so (`gateways.md`, case 38).
const WAITS_MS: i64 = 24 * 60 * 60 * 1000;

impl Store {
    /// Sends the answers of a place that were held back, or drops them from the work. Returns how many there were.
    pub async fn settle_waiting(
        &self,
        of: ConversationId,
        place: ChatPlace,
        sends: bool,
        now: Time,
    ) -> Result<u32> {
        self.write(move |context| {
            let loaded = context.load(of)?;
            let row = &loaded.row;
            let mut count = 0;
            for post in context.held_in(&loaded, &place)? {
                count += 1;
                let post = match sends {
                    true => Post { due: Some(now), since: Some(now), ..post },
                    false => post.declined(),
                };
                context.rows.set_post(row, &post)?;
                if let PostKind::Answer(answer) = post.kind {
                    context.remove_replaced(&loaded, answer, now)?;
                }
            }
            Ok(count)
        })
        .await
    }
}

impl Context {
    /// The answers of a place that are held back.
    fn held_in(&self, loaded: &Loaded, place: &ChatPlace) -> Result<Vec<Post>> {
        let posts = self.rows.posts(loaded.row.log)?.into_iter();
        Ok(posts.filter(|post| post.place == *place && is_held(post)).collect())
    }

    /// Asks again about answers that are held back, if the question could not be posted: its place can be reached again.
    pub(super) fn asks_again(&mut self, loaded: &Loaded, place: &ChatPlace, now: Time) -> Result<()> {
        let posts = self.rows.last_posts(loaded.row.log, SEARCHED)?.into_iter();
        let mut failed = posts.filter(|post| {
            matches!(&post.kind, PostKind::Notice(notice) if notice.kind == ChatNoticeKind::AnswersWait && notice.asks.is_some())
                && post.place == *place
                && matches!(post.state, PostState::Failed(_))
        });
        let Some(post) = failed.next() else { return Ok(()) };
        let count = self.held_in(loaded, place)?.len();
        let PostKind::Notice(notice) = &post.kind else { return Ok(()) };
        // Rewording a notice that is not in the chat posts it anew.
        let notice = ChatNotice { count: u32::try_from(count).unwrap_or(u32::MAX), ..notice.clone() };
        match count {
            0 => Ok(()),
            _ => self.reword(loaded, post, notice, None, now),
        }
    }

    /// Holds an answer back if it waits for too long, and asks about it in its place. Returns whether it is held.
    pub(super) fn holds_back(&mut self, of: ConversationId, post: &Post, now: Time) -> Result<bool> {
        let is_old = post.since.is_some_and(|since| now.0.saturating_sub(since.0) > WAITS_MS);
        let PostKind::Answer(entry) = post.kind else { return Ok(false) };
        if !is_old || post.task() != Some(PostTask::Send) || post.part.0 > 0 {
            return Ok(false);
        }
        let loaded = self.load(of)?;
        self.rows.set_post(&loaded.row, &Post { due: None, ..post.clone() })?;
        let answer = self.rows.entry(Key { log: loaded.row.log, seq: entry.0 })?;
        let person = origin_of(&*self.rows, &loaded, &answer)?.map(|origin| origin.person);
        self.asks_to_send(&loaded, post.place.clone(), person, now)?;
        Ok(true)
    }

    /// One question for all answers that wait in a place.
    fn asks_to_send(
        &mut self,
        loaded: &Loaded,
        place: ChatPlace,
        person: Option<String>,
        now: Time,
    ) -> Result<()> {
        let kind = ChatNoticeKind::AnswersWait;
        let posts = self.rows.last_posts(loaded.row.log, SEARCHED)?.into_iter();
        let is_it = |post: &Post| match &post.kind {
            PostKind::Notice(notice) => notice.kind == kind && notice.asks.is_some() && post.place == place,
            PostKind::Answer(_) | PostKind::Preview(_) => false,
        };
        let asked = posts.filter(is_it).find(|post| post.state != PostState::Cancelled);
        let buttons = vec![ChatButton::SendWaiting, ChatButton::Cancel];
        let notice = |count, person| {
            let asks = ChatQuestion { person, head: Head::default(), files: None, round: 0, buttons };
            ChatNotice { kind, count, asks: Some(asks), ..ChatNotice::default() }
        };
        match asked {
            Some(post) => {
                let PostKind::Notice(before) = &post.kind else { return Ok(()) };
                // The person of the first one decides about all.
                let person = before.asks.as_ref().and_then(|asks| asks.person.clone());
                let notice = notice(before.count.saturating_add(1), person);
                self.reword(loaded, post, notice, None, now)
            }
            None => self.plan_notice(loaded, place, notice(1, person), None, None, now).map(drop),
        }
    }
}

/// Whether an answer is held back: its first part is to be sent, and nothing makes it due.
fn is_held(post: &Post) -> bool {
    matches!(post.kind, PostKind::Answer(_))
        && post.task() == Some(PostTask::Send)
        && post.part.0 == 0
        && post.due.is_none()
}
