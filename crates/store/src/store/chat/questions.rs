//! Questions in chats: notices with buttons. A question is a post like any other notice; an answer replaces its words. Must never store
//! a text.

use retake_core::{
    ChatButton, ChatNotice, ChatNoticeKind, ChatPlace, ConversationId, Difference, EntryId, Head, OpNo, Path,
    Post, PostKey, PostKind, PostState, Time, difference, missing_parts,
};

use super::compare::posts_along;
use crate::error::Result;
use crate::rows::Rows;
use crate::store::decide::locate;
use crate::store::load::Loaded;
use crate::store::read::line;
use crate::store::reads::around;
use crate::store::{Context, Store};

/// How many of the newest posts of a conversation are searched for a question.
pub(super) const SEARCHED: usize = 100;

impl Store {
    /// A post, with its conversation.
    pub async fn post(&self, key: PostKey) -> Result<Option<(ConversationId, Post)>> {
        self.read(move |rows| match rows.post(key)? {
            Some(post) => Ok(Some((rows.log(key.log)?.id, post))),
            None => Ok(None),
        })
        .await
    }

    /// The newest question in a place that this person may answer, and those that an owner may answer if `is_owner`.
    pub async fn last_question(
        &self,
        of: ConversationId,
        place: ChatPlace,
        person: String,
        is_owner: bool,
    ) -> Result<Option<PostKey>> {
        self.with(of, move |rows, loaded| {
            let log = loaded.row.log;
            let posts = rows.last_posts(log, SEARCHED)?.into_iter();
            // What is not in the chat cannot be answered.
            let may_be_shown =
                |state| matches!(state, PostState::Sent | PostState::Sending | PostState::Lost);
            let mut shown = posts.filter(|post| post.place == place && may_be_shown(post.state));
            let asked = shown.find(|post| match &post.kind {
                PostKind::Notice(ChatNotice { asks: Some(asks), .. }) => {
                    asks.person.as_ref().map_or(is_owner, |asked| *asked == person)
                }
                _ => false,
            });
            Ok(asked.map(|post| PostKey { log, no: post.no }))
        })
        .await
    }

    /// Counts a message that was missed, in the notice of its place that says how many.
    pub async fn count_missed(&self, of: ConversationId, place: ChatPlace, now: Time) -> Result<()> {
        self.write(move |context| {
            let loaded = context.load(of)?;
            let kind = ChatNoticeKind::Missed;
            let posts = context.rows.last_posts(loaded.row.log, SEARCHED)?.into_iter();
            // What was said since, ends the count.
            let last = posts.filter(|post| post.place == place).take(1);
            let counted = last.into_iter().find_map(|post| match &post.kind {
                PostKind::Notice(notice) if notice.kind == kind => Some((notice.count, post)),
                _ => None,
            });
            match counted {
                Some((count, post)) => {
                    let notice = ChatNotice { kind, count: count.saturating_add(1), ..ChatNotice::default() };
                    context.reword(&loaded, post, notice, None, now)
                }
                None => {
                    let notice = ChatNotice { kind, count: 1, ..ChatNotice::default() };
                    context.plan_notice(&loaded, place, notice, None, None, now).map(drop)
                }
            }
        })
        .await
    }

    /// Replaces the words of a question by the answer to it. `op`: the operation whose posts the new words count.
    pub async fn answer_question(
        &self,
        key: PostKey,
        notice: ChatNotice,
        op: Option<OpNo>,
        now: Time,
    ) -> Result<()> {
        self.write(move |context| {
            let Some(post) = context.rows.post(key)? else { return Ok(()) };
            let id = context.rows.log(key.log)?.id;
            let loaded = context.load(id)?;
            // A comparison may have planned a notice of the same step. One is enough.
            let other = match op {
                Some(op) => context.step_notice(&loaded, &post.place, op)?,
                None => None,
            };
            match other {
                Some(other) if other.state == PostState::Planned => {
                    let never = Post { state: PostState::Cancelled, due: None, op: None, ..other };
                    context.rows.set_post(&loaded.row, &never)?;
                }
                Some(other) if other.no != post.no => {
                    return context.rows.set_post(&loaded.row, &closed(post, now));
                }
                _ => {}
            }
            context.reword(&loaded, post, notice, op, now)
        })
        .await
    }

    /// Deletes a question from its chat: nobody can answer it any more.
    pub async fn remove_question(&self, key: PostKey, now: Time) -> Result<()> {
        self.write(move |context| {
            let Some(post) = context.rows.post(key)? else { return Ok(()) };
            let row = context.rows.log(key.log)?;
            context.rows.set_post(&row, &closed(post, now))
        })
        .await
    }

    /// Posts again what operations brought back and is gone from a place. Returns how many posts were gone.
    pub async fn post_again(
        &self,
        of: ConversationId,
        place: ChatPlace,
        (first, to): (OpNo, Head),
        now: Time,
    ) -> Result<u32> {
        self.write(move |context| {
            let loaded = context.load(of)?;
            let [before, after] = around(&*context.rows, &loaded, first, to)?;
            let Difference { came, .. } = difference(&before.conversation, &after.conversation);
            context.post_gone(&loaded, &came, &place, now)
        })
        .await
    }

    /// The people who opened the turns of a part of the path: the platform's ids, and their names.
    pub async fn people_of(&self, of: ConversationId, part: Path) -> Result<Vec<(Option<String>, String)>> {
        self.with(of, move |rows, loaded| {
            let mut people = Vec::new();
            for span in part.spans() {
                let key = loaded.key(span.first())?;
                for meta in rows.metas(key.log, span.from, span.to)?.iter().filter(|meta| meta.opens_turn()) {
                    let entry = rows.entry(crate::rows::Key { seq: meta.pos.seq, ..key })?;
                    let person = (entry.origin.map(|origin| origin.person), entry.author);
                    if !people.contains(&person) {
                        people.push(person);
                    }
                }
            }
            Ok(people)
        })
        .await
    }
}

impl Context {
    pub(super) fn reword(
        &mut self,
        loaded: &Loaded,
        post: Post,
        notice: ChatNotice,
        op: Option<OpNo>,
        now: Time,
    ) -> Result<()> {
        let mut notice = notice;
        if let (PostKind::Notice(ChatNotice { asks: Some(old), .. }), Some(new)) =
            (&post.kind, &mut notice.asks)
        {
            new.round = old.round.saturating_add(1);
        }
        let kind = PostKind::Notice(notice);
        match post.state {
            PostState::Sent => {
                let edited = Post { kind, op, due: Some(now), since: Some(now), is_done: false, ..post };
                self.rows.set_post(&loaded.row, &edited)
            }
            PostState::Planned | PostState::Sending | PostState::Lost => {
                self.rows.set_post(&loaded.row, &Post { kind, op, ..post })
            }
            // It is not in the chat, or goes: the answer is a notice of its own.
            _ => {
                let new = Post { op, ..Post::planned(post.place.clone(), kind, post.reply_to.clone(), now) };
                self.rows.set_post(&loaded.row, &unasked(post))?;
                self.rows.insert_post(&loaded.row, new).map(drop)
            }
        }
    }

    /// The labels of buttons that name a turn: the beginning of its message, in the order of the buttons. Empty if it is not visible, and
    /// if it was written elsewhere: who reads this place need not know it.
    pub(super) fn labels(&mut self, of: ConversationId, post: &Post) -> Result<Vec<String>> {
        let PostKind::Notice(ChatNotice { asks: Some(asks), .. }) = &post.kind else { return Ok(Vec::new()) };
        let loaded = self.load(of)?;
        let label = |button: &ChatButton| match button {
            // A turn that can't be read has no label, and does no harm to other posts.
            ChatButton::Turn(entry) => {
                turn_label(&*self.rows, &loaded, *entry, &post.place).unwrap_or_default()
            }
            _ => String::new(),
        };
        Ok(asks.buttons.iter().map(label).collect())
    }

    /// Plans new posts for the entries on the path of which nothing is in this place any more.
    fn post_gone(&mut self, loaded: &Loaded, came: &Path, place: &ChatPlace, now: Time) -> Result<u32> {
        let now_there = loaded.conversation.scheduling();
        let both =
            Path::from_spans(came.spans().iter().flat_map(|span| now_there.within(*span).spans().to_vec()));
        let posts = posts_along(&*self.rows, loaded, &both)?;
        let is_here = |post: &Post| post.place == *place && matches!(post.kind, PostKind::Answer(_));
        let here: Vec<Post> = posts.into_iter().filter(is_here).collect();
        let mut count = 0;
        for parts in here.chunk_by(|one, next| one.kind == next.kind) {
            let missing = missing_parts(parts);
            if missing == 0 {
                continue;
            }
            count += missing;
            // An answer is posted as a whole: what is left of it goes.
            for left in parts.iter().filter(|post| !matches!(post.state, PostState::Gone(_))) {
                self.rows.set_post(&loaded.row, &left.clone().removed(now))?;
            }
            let first = &parts[0];
            let new = Post::planned(place.clone(), first.kind.clone(), first.reply_to.clone(), now);
            self.rows.insert_post(&loaded.row, new)?;
        }
        Ok(count)
    }
}

/// A question that goes.
fn closed(post: Post, now: Time) -> Post {
    unasked(post).removed(now)
}

/// A question that nobody can answer any more.
fn unasked(mut post: Post) -> Post {
    if let PostKind::Notice(notice) = &mut post.kind {
        notice.asks = None;
    }
    post
}

fn turn_label(rows: &dyn Rows, loaded: &Loaded, entry: EntryId, place: &ChatPlace) -> Result<String> {
    let pos = locate(rows, loaded, entry)?;
    let origin = rows.entry(loaded.key(pos)?)?.origin;
    match loaded.conversation.is_on_path(pos) && origin.is_some_and(|origin| origin.place == *place) {
        true => Ok(line(rows, loaded, pos)?.preview),
        false => Ok(String::new()),
    }
}
