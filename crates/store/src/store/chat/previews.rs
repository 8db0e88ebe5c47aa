//! Previews: posts that show an answer while it is written. Their text is not stored. Must never leave one in a chat whose answer is
//! there, and never show one before an earlier post of its place.

use retake_core::{
    ChatPlace, ConversationId, Entry, Post, PostKey, PostKind, PostState, PostTask, Seq, Time,
};

use super::arrived;
use crate::error::Result;
use crate::store::load::Loaded;
use crate::store::{Context, Store};

/// So many of the newest posts are looked at for one that is still to be sent.
const SEARCHED: usize = 32;

/// What became of the wish for a preview.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlannedPreview {
    /// It is to be sent.
    Planned(PostKey),
    /// An earlier post is still to be sent. Ask again.
    NotNow,
    /// The turn came from elsewhere, or has a preview.
    Never,
}

impl Store {
    /// Plans a preview of the answer to the last turn, if that came from this place.
    pub async fn plan_preview(
        &self,
        of: ConversationId,
        place: ChatPlace,
        now: Time,
    ) -> Result<PlannedPreview> {
        self.write(move |context| {
            let loaded = context.load(of)?;
            let targets = loaded.conversation.targets(&loaded.records(&*context.rows), None, 1)?;
            let Some(target) = targets.into_iter().next() else { return Ok(PlannedPreview::Never) };
            let turn = loaded.key(target.meta.pos)?;
            let origin = arrived(&*context.rows, &loaded, &context.rows.entry(turn)?)?;
            let Some(origin) = origin.filter(|origin| origin.place == place && turn.log == loaded.row.log)
            else {
                return Ok(PlannedPreview::Never);
            };
            let last = context.rows.last_posts(turn.log, SEARCHED)?;
            let mut here = last.into_iter().filter(|post| post.place == place);
            let is_of_turn = |post: &Post| post.kind == PostKind::Preview(Seq(turn.seq));
            match here.find(|post| is_waiting(post) || (is_of_turn(post) && post.is_shown_live())) {
                Some(post) if is_of_turn(&post) => return Ok(PlannedPreview::Never),
                Some(_) => return Ok(PlannedPreview::NotNow),
                None => {}
            }
            let reply_to = context.replies_to(&place, origin.message)?;
            let kind = PostKind::Preview(Seq(turn.seq));
            let no = context.rows.insert_post(&loaded.row, Post::planned(place, kind, reply_to, now))?;
            Ok(PlannedPreview::Planned(PostKey { log: turn.log, no }))
        })
        .await
    }

    /// A preview is to be changed, or looked at, at this time; unless it is an answer by now.
    pub async fn preview_due(&self, key: PostKey, due: Time) -> Result<()> {
        self.change_preview(key, move |post| post.due_at(due)).await
    }

    /// There will be no answer for a preview: it is deleted. Nothing happens if it is an answer by now.
    pub async fn end_preview(&self, key: PostKey, now: Time) -> Result<()> {
        self.change_preview(key, move |post| post.ended(now)).await
    }

    async fn change_preview(
        &self,
        key: PostKey,
        change: impl FnOnce(Post) -> Post + Send + 'static,
    ) -> Result<()> {
        self.write(move |context| {
            let Some(post) = context.rows.post(key)?.filter(Post::is_shown_live) else { return Ok(()) };
            // One that is gone, or could not be sent, stays as it is.
            match post.task() {
                Some(_) => {
                    let row = context.rows.log(key.log)?;
                    context.rows.set_post(&row, &change(post))
                }
                None => Ok(()),
            }
        })
        .await
    }
}

/// Whether a post is still to be sent.
fn is_waiting(post: &Post) -> bool {
    let is_open = match post.state {
        PostState::Planned | PostState::Sending => true,
        // Its text is still to be replaced, or it is looked for: further parts follow.
        PostState::Sent | PostState::Lost => post.due.is_some() && !post.may_be_gone(),
        _ => false,
    };
    matches!(post.kind, PostKind::Answer(_)) && !post.is_imported() && is_open
}

impl Context {
    /// The message that an answer in a place replies to: where several people write, that of its author.
    fn replies_to(&self, place: &ChatPlace, message: String) -> Result<Option<String>> {
        let binding = self.rows.chat_binding(place)?;
        Ok(binding.is_some_and(|binding| binding.is_shared).then_some(message))
    }

    /// Plans the post of a new answer. If its turn has a preview, that becomes its first post.
    pub(super) fn plan_answer(&mut self, after: &Loaded, entry: &Entry, now: Time) -> Result<()> {
        let Some(origin) = arrived(&*self.rows, after, entry)? else { return Ok(()) };
        let place = self.place_now(origin.place.clone())?;
        let answer = Seq(entry.meta.pos.seq);
        if let Some(turn) = entry.meta.turn
            && after.key(turn)?.log == after.row.log
        {
            let posts = self.rows.posts_of_entries(after.row.log, Seq(turn.seq), Seq(turn.seq))?;
            let is_open = |post: &Post| {
                post.is_shown_live()
                    && post.place == place
                    && post.task().is_some_and(|task| task != PostTask::Delete)
            };
            if let Some(preview) = posts.into_iter().find(is_open) {
                return self.rows.set_post(&after.row, &preview.completed(answer, now));
            }
        }
        // A message has another id in a chat that has moved.
        let reply_to = match place == origin.place {
            true => self.replies_to(&place, origin.message)?,
            false => None,
        };
        let post = Post::planned(place, PostKind::Answer(answer), reply_to, now);
        self.rows.insert_post(&after.row, post).map(drop)
    }

    /// A post whose text could not be replaced by its answer is no post of it any more: the answer is sent as a new one. When that is
    /// over, the old one is deleted.
    pub(super) fn replace_preview(
        &mut self,
        loaded: &Loaded,
        (before, after): (&Post, &Post),
        now: Time,
    ) -> Result<()> {
        let (PostKind::Answer(_), PostKind::Preview(entry)) = (&before.kind, &after.kind) else {
            return Ok(());
        };
        let (place, reply_to) = (after.place.clone(), after.reply_to.clone());
        let post = Post::planned(place, PostKind::Answer(*entry), reply_to, now);
        // The further parts may be planned already.
        self.rows.insert_post(&loaded.row, Post { part: (0, after.part.1), ..post }).map(drop)
    }

    /// Deletes the replaced previews of an answer, once nothing of it is to be sent any more.
    pub(super) fn remove_replaced(&mut self, loaded: &Loaded, answer: Seq, now: Time) -> Result<()> {
        let posts = self.rows.posts_of_entries(loaded.row.log, answer, answer)?;
        let is_replaced =
            |post: &Post| matches!(post.kind, PostKind::Preview(_)) && post.state == PostState::Sent;
        if !posts.iter().any(is_replaced) {
            return Ok(());
        }
        let is_open = |post: &Post| {
            matches!(post.kind, PostKind::Answer(_))
                && (matches!(post.state, PostState::Planned | PostState::Sending)
                    || (post.state == PostState::Lost && post.due.is_some()))
        };
        if posts.iter().any(is_open) {
            return Ok(());
        }
        for post in posts.into_iter().filter(is_replaced) {
            self.rows.set_post(&loaded.row, &post.removed(now))?;
        }
        Ok(())
    }
}
