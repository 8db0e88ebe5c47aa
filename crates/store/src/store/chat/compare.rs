//! Which posts are wanted follows from the path. After each step, the posts of the entries that it took away or brought back are
//! compared with it. Must never read posts that the step does not concern.

use std::collections::BTreeSet;

use retake_core::{
    Change, ChatNotice, ChatNoticeKind, ChatPlace, ConversationId, Difference, Head, OpNo, Operation, Path,
    PlacePosts, Post, PostKind, PostState, Principal, Reason, Seq, Span, Time, difference, step_posts,
};

use super::POSTS;
use crate::error::Result;
use crate::rows::{OutboxKey, Rows};
use crate::store::load::{Loaded, load_at};
use crate::store::reads::around;
use crate::store::{Context, Store};

/// The most conversations whose posts are compared in one transaction.
const AT_ONCE: usize = 32;

/// The most operations of a conversation that are looked at in one transaction.
const OPS_AT_ONCE: u64 = 256;

impl Store {
    /// Compares the posts of conversations that have changed with their paths. Returns whether there may be more.
    pub async fn compare_posts(&self, now: Time) -> Result<bool> {
        self.write(move |context| {
            let due = context.rows.outbox_due(POSTS, now, AT_ONCE)?;
            let mut more = due.len() == AT_ONCE;
            for key in &due {
                let row = context.rows.log(key.log)?;
                let key = OutboxKey { log: key.log, destination: POSTS.to_owned(), no: 0 };
                let Some(mut item) = context.rows.outbox_item(&key)? else { continue };
                let loaded = context.load(row.id)?;
                let head = loaded.conversation.head.op;
                let last = OpNo(item.told.head.op.0.saturating_add(OPS_AT_ONCE)).min(head);
                context.compare(&loaded, item.told.head.op.next(), last, now)?;
                match last == head {
                    true => context.rows.remove_outbox_item(&key)?,
                    false => {
                        item.told.head.op = last;
                        context.rows.set_outbox_item(&loaded.row, POSTS, &item)?;
                        more = true;
                    }
                }
            }
            Ok(more)
        })
        .await
    }

    /// What a step would do to posts, by the entries that it takes from the timeline and those that it brings there.
    pub async fn posts_between(
        &self,
        of: ConversationId,
        (gone, came): (Path, Path),
        now: Time,
    ) -> Result<Vec<PlacePosts>> {
        self.with(of, move |rows, loaded| between(rows, loaded, (&gone, &came), None, now)).await
    }

    /// What became of the posts of these operations, by what is in the chats now.
    pub async fn posts_changed(
        &self,
        of: ConversationId,
        first: OpNo,
        to: Head,
        now: Time,
    ) -> Result<Vec<PlacePosts>> {
        self.with(of, move |rows, loaded| {
            if !rows.has_posts(loaded.row.log)? {
                return Ok(Vec::new());
            }
            let [before, after] = around(rows, loaded, first, to)?;
            let change = difference(&before.conversation, &after.conversation);
            between(rows, loaded, (&change.gone, &change.came), Some(first), now)
        })
        .await
    }
}

fn between(
    rows: &dyn Rows,
    loaded: &Loaded,
    (gone, came): (&Path, &Path),
    made: Option<OpNo>,
    now: Time,
) -> Result<Vec<PlacePosts>> {
    Ok(step_posts(posts_along(rows, loaded, gone)?, posts_along(rows, loaded, came)?, made, now))
}

/// The posts of these entries. Those of a parent belong to the parent.
pub(super) fn posts_along(rows: &dyn Rows, loaded: &Loaded, part: &Path) -> Result<Vec<Post>> {
    let posts = part.spans().iter().map(|span| posts_in(rows, loaded, *span));
    let mut posts = posts.collect::<Result<Vec<_>>>()?.concat();
    // No step concerns those of another store.
    posts.retain(|post| !post.is_imported());
    Ok(posts)
}

/// The posts of the entries of a span.
pub(in crate::store) fn posts_in(rows: &dyn Rows, loaded: &Loaded, span: Span) -> Result<Vec<Post>> {
    match span.depth == loaded.conversation.tree.depth() {
        true => rows.posts_of_entries(loaded.row.log, Seq(span.from), Seq(span.to)),
        false => Ok(Vec::new()),
    }
}

impl Context {
    /// Sets what is wanted of the posts that operations concern.
    fn compare(&mut self, loaded: &Loaded, first: OpNo, last: OpNo, now: Time) -> Result<()> {
        if first > last {
            return Ok(());
        }
        let ops = self.rows.ops(loaded.row.log, first, last)?;
        let mut steps = Vec::new();
        for group in ops.chunk_by(is_one_step) {
            let ([first, ..], [.., last]) = (group, group) else { continue };
            if !group.iter().any(|op| matches!(op.change, Change::Move { .. } | Change::Mark(_))) {
                continue;
            }
            let at = |op, seq| load_at(&*self.rows, loaded.row.clone(), Head { op, seq });
            let before = at(OpNo(first.no.0.saturating_sub(1)), first.at)?;
            let after = at(last.no, last.at)?;
            let change = difference(&before.conversation, &after.conversation);
            if self.follow(loaded, last.no, &change, now)? {
                let turns =
                    before.conversation.visible_totals(&before.records(&*self.rows), &change.gone)?.turns;
                steps.push((last, u32::try_from(turns).unwrap_or(u32::MAX).max(1)));
            }
        }
        // A later step may have brought the posts of an earlier one back.
        steps.into_iter().try_for_each(|(op, turns)| self.tell_step(loaded, op, turns, now))
    }

    /// Sets what is wanted of the posts of a step. Returns whether it took one from a chat.
    fn follow(&mut self, loaded: &Loaded, op: OpNo, change: &Difference, now: Time) -> Result<bool> {
        let mut takes = false;
        for (part, is_wanted) in [(&change.gone, false), (&change.came, true)] {
            for before in posts_along(&*self.rows, loaded, part)? {
                let after = before.clone().wanted(is_wanted, op, now);
                if after == before {
                    continue;
                }
                takes |= before.state == PostState::Sent && is_taken(&after);
                self.rows.set_post(&loaded.row, &after)?;
                if let PostKind::Answer(entry) = after.kind {
                    self.next_part(loaded, entry, now)?;
                }
            }
        }
        Ok(takes)
    }

    /// Plans the notices of a step: one in each place where it took posts back.
    fn tell_step(&mut self, loaded: &Loaded, op: &Operation, count: u32, now: Time) -> Result<()> {
        let Some(kind) = notice_of(op.reason) else { return Ok(()) };
        let posts = self.rows.posts_of_op(loaded.row.log, op.no)?;
        let places: BTreeSet<ChatPlace> = posts.into_iter().filter(is_taken).map(|post| post.place).collect();
        for place in places {
            if self.step_notice(loaded, &place, op.no)?.is_none() {
                // The user of this machine has no name in a chat.
                let names =
                    if op.principal == Principal::Local { Vec::new() } else { vec![op.author.clone()] };
                let notice = ChatNotice { kind, count, names, ..ChatNotice::default() };
                self.plan_notice(loaded, place, notice, None, Some(op.no), now)?;
            }
        }
        Ok(())
    }
}

/// Whether a post is in a chat and not wanted there.
fn is_taken(post: &Post) -> bool {
    post.kind.entry().is_some() && matches!(post.state, PostState::Deleting | PostState::Stays(_))
}

/// Whether two operations in a row are steps of one kind by the same person, with no message between them: one notice tells of both.
fn is_one_step(one: &Operation, next: &Operation) -> bool {
    std::mem::discriminant(&one.reason) == std::mem::discriminant(&next.reason)
        && one.principal == next.principal
        && one.author == next.author
        && one.at == next.at
}

/// The notice of a step that was not requested in a chat.
fn notice_of(reason: Reason) -> Option<ChatNoticeKind> {
    Some(match reason {
        Reason::Rewind | Reason::Checkout | Reason::Restore(_) | Reason::Choose => ChatNoticeKind::Rewound,
        Reason::Drop | Reason::Hide => ChatNoticeKind::Dropped,
        Reason::Undo(_) => ChatNoticeKind::Undone,
        Reason::Redo(_) => ChatNoticeKind::Redone,
        Reason::Retry => ChatNoticeKind::Retried,
        Reason::Edit => ChatNoticeKind::Edited,
        _ => return None,
    })
}
