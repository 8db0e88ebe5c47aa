//! Deletes posts: what is decided without a call, what is deleted together, and what became of it. Must never delete a post for which
//! no call can succeed, and never report a post before all of its messages are settled.

use std::collections::{HashMap, HashSet, VecDeque};

use retake_wire::chat::{Deletion, Place, PostOutcome, StayCause};

use super::super::owner::NotDone;
use super::super::{Context, RuntimeError, guarded, millis};
use super::send::MARGIN_MS;
use crate::adapter::{Deleted, Probe};
use crate::capabilities::{Capabilities, DeletionWindow};
use crate::deletion::{OwnPost, batches};
use crate::failure::{Failure, Refused};
use crate::rate::Purpose;

/// How long the result of a probe counts.
pub(super) const PROBED_MS: i64 = 10 * 60_000;

/// How long a failed probe counts.
const NOT_PROBED_MS: i64 = 60_000;

/// A message to delete, and its post.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) id: String,
    pub(super) post: String,
    /// Whether the platform was asked, and said that it did not delete it.
    pub(super) untouched: bool,
}

/// What became of a message. A post has the last one of its messages, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fate {
    Gone,
    Emptied,
    Asked,
    Stays(StayCause),
    /// Not yet: the platform has deleted nothing.
    Later(i64),
    /// The answer of the platform was lost.
    Lost,
}

/// What became of a call.
pub(super) enum Result {
    /// The same for all of its messages.
    All(Fate),
    /// Each one needs a call of its own.
    Split {
        /// Whether the platform refused the call for all of them.
        refused: bool,
    },
    NotPermitted,
    Wait(Failure),
    /// These posts are wanted again. No call was made.
    Wanted(Vec<String>),
}

/// What to do next in a place.
pub(super) enum Next {
    Nothing,
    Probe(Purpose),
    Call(Vec<Target>, Purpose),
}

/// Reports for the owner.
pub(super) type Reports = Vec<(String, PostOutcome)>;

/// A post to delete.
#[derive(Debug)]
pub(super) struct Deleting {
    pub(super) place: Place,
    pub(super) ids: Vec<String>,
    pub(super) sent_ms: i64,
    pub(super) deadline_ms: Option<i64>,
    pub(super) attempts: u32,
    pub(super) taken_ms: i64,
}

/// The posts to delete. Those of a place are deleted in the order in which the owner named them, one call after the other.
#[derive(Default)]
pub(super) struct Deletions {
    lanes: HashMap<Place, Lane>,
    /// What the last probe of a chat said, and until when it counts.
    probes: HashMap<String, (Probe, i64)>,
    posts: HashMap<String, Open>,
}

#[derive(Default)]
struct Lane {
    waiting: Vec<String>,
    calls: VecDeque<Vec<Target>>,
    is_busy: bool,
}

struct Open {
    deleting: Deleting,
    left: usize,
    fate: Fate,
    /// Whether one of its messages is gone.
    is_partly_gone: bool,
}

impl Open {
    /// One of its messages has this fate.
    fn meets(&mut self, fate: Fate) {
        self.is_partly_gone |= matches!(fate, Fate::Gone | Fate::Emptied | Fate::Asked);
        self.fate = self.fate.max(fate);
    }

    fn outcome(&self) -> PostOutcome {
        match self.fate {
            Fate::Gone => PostOutcome::Deleted { how: Deletion::Gone },
            Fate::Emptied => PostOutcome::Deleted { how: Deletion::Emptied },
            Fate::Asked => PostOutcome::Deleted { how: Deletion::Asked },
            Fate::Stays(why) => stays(why),
            // It is not as it was.
            Fate::Later(_) if self.is_partly_gone => PostOutcome::Lost,
            Fate::Later(at_ms) => PostOutcome::Later { at_ms },
            Fate::Lost => PostOutcome::Lost,
        }
    }
}

impl Deletions {
    /// Takes a post. Says what became of it, if that needs no call.
    pub(super) fn add(
        &mut self,
        post: String,
        mut deleting: Deleting,
        capabilities: &Capabilities,
        now: i64,
    ) -> Option<PostOutcome> {
        match capabilities.deletes {
            DeletionWindow::Never => return Some(stays(StayCause::NoWay)),
            DeletionWindow::Hard(window) => {
                let computed = deleting.sent_ms.saturating_add(millis(window)) - MARGIN_MS;
                deleting.deadline_ms = Some(deleting.deadline_ms.unwrap_or(computed));
                if deleting.deadline_ms.is_some_and(|deadline| deadline < now) {
                    return Some(stays(StayCause::TooOld));
                }
            }
            // The server decides, or there is no limit: there is one attempt at any time.
            DeletionWindow::Policy | DeletionWindow::Always => deleting.deadline_ms = None,
        }
        let mut known = HashSet::new();
        deleting.ids.retain(|id| known.insert(id.clone()));
        if deleting.ids.is_empty() {
            return Some(stays(StayCause::NoWay));
        }
        self.lanes.entry(deleting.place.clone()).or_default().waiting.push(post.clone());
        let left = deleting.ids.len();
        self.posts.insert(post, Open { deleting, left, fate: Fate::Gone, is_partly_gone: false });
        None
    }

    /// What a probe found in a chat.
    pub(super) fn probed(&mut self, chat: &str, found: Option<Probe>, now: i64) {
        let (found, lasts) = found.map_or((Probe::Unknown, NOT_PROBED_MS), |found| (found, PROBED_MS));
        self.probes.insert(chat.to_owned(), (found, now.saturating_add(lasts)));
    }

    pub(super) fn forget_probe(&mut self, chat: &str) {
        self.probes.remove(chat);
    }

    /// Whether several messages may be deleted at once.
    pub(super) fn may_batch(&self, chat: &str) -> bool {
        matches!(self.probes.get(chat), Some((Probe::Yes { bulk: true }, _)))
    }

    /// The places where something is to be deleted.
    pub(super) fn places(&self) -> Vec<Place> {
        self.lanes.keys().cloned().collect()
    }

    /// The call or the probe of a place is over.
    pub(super) fn free(&mut self, place: &Place) {
        if let Some(lane) = self.lanes.get_mut(place) {
            lane.is_busy = false;
        }
    }

    /// Makes calls of these messages, before all others of the place.
    pub(super) fn split(&mut self, place: &Place, targets: Vec<Target>) {
        let lane = self.lanes.entry(place.clone()).or_default();
        for target in targets.into_iter().rev() {
            lane.calls.push_front(vec![target]);
        }
    }

    /// What to do next in a place. The place is busy with it until [`Deletions::free`].
    pub(super) fn next(&mut self, place: &Place, capabilities: &Capabilities, now: i64) -> (Next, Reports) {
        let mut reports = Vec::new();
        let Some(lane) = self.lanes.get_mut(place).filter(|lane| !lane.is_busy) else {
            return (Next::Nothing, reports);
        };
        if lane.calls.is_empty() && !lane.waiting.is_empty() {
            let probe =
                self.probes.get(&place.chat).filter(|(_, until)| *until > now).map(|(found, _)| *found);
            let Some(probe) = probe else {
                lane.is_busy = true;
                let ids: Vec<&String> = lane.waiting.iter().collect();
                return (Next::Probe(purpose(&self.posts, ids.into_iter())), reports);
            };
            let waiting = std::mem::take(&mut lane.waiting);
            if probe == Probe::NotPermitted {
                self.lanes.remove(place);
                return (Next::Nothing, self.end(&waiting, Fate::Stays(StayCause::NotPermitted)));
            }
            lane.calls = planned(&self.posts, &waiting, capabilities, probe, now);
        }
        while let Some(call) = self.lanes.get_mut(place).and_then(|lane| lane.calls.pop_front()) {
            let (late, mut call): (Vec<Target>, Vec<Target>) =
                call.into_iter().partition(|target| self.is_late(&target.post, now));
            reports.extend(self.settle(&late, Fate::Stays(StayCause::TooOld)));
            call.retain(|target| self.posts.contains_key(&target.post));
            if !call.is_empty() {
                if let Some(lane) = self.lanes.get_mut(place) {
                    lane.is_busy = true;
                }
                let purpose = purpose(&self.posts, call.iter().map(|target| &target.post));
                return (Next::Call(call, purpose), reports);
            }
        }
        if self.lanes.get(place).is_some_and(|lane| lane.waiting.is_empty()) {
            self.lanes.remove(place);
        }
        (Next::Nothing, reports)
    }

    /// Records what became of messages. Returns the posts that are settled by it.
    pub(super) fn settle(&mut self, targets: &[Target], fate: Fate) -> Reports {
        let mut reports = Vec::new();
        for target in targets {
            let Some(open) = self.posts.get_mut(&target.post) else { continue };
            open.left = open.left.saturating_sub(1);
            open.meets(fate);
            if open.left == 0 {
                reports.push((target.post.clone(), open.outcome()));
                self.posts.remove(&target.post);
            }
        }
        reports
    }

    /// These posts stay: the owner knows it.
    pub(super) fn keep(&mut self, posts: &[String]) {
        for post in posts {
            self.posts.remove(post);
        }
    }

    /// Gives posts back to the owner: those of a place that no call is being made for and that were taken before a time.
    pub(super) fn give_back(
        &mut self,
        place: &Place,
        taken_before: i64,
        running: &[Target],
        at: i64,
    ) -> Reports {
        let is_meant = |post: &str, open: &Open| {
            open.deleting.place == *place
                && open.deleting.taken_ms < taken_before
                && running.iter().all(|target| target.post != post)
        };
        let posts = self.posts.iter().filter(|(post, open)| is_meant(post, open));
        let posts: Vec<String> = posts.map(|(post, _)| post.clone()).collect();
        if let Some(lane) = self.lanes.get_mut(place) {
            lane.waiting.retain(|post| !posts.contains(post));
        }
        // Their calls are left out when their turn comes.
        self.end(&posts, Fate::Later(at))
    }

    /// The time at which the first post of each place was taken.
    pub(super) fn first_taken(&self) -> Option<i64> {
        self.posts.values().map(|open| open.deleting.taken_ms).min()
    }

    /// Whether a message is still to be deleted for its post.
    pub(super) fn is_open(&self, target: &Target) -> bool {
        self.posts.contains_key(&target.post)
    }

    pub(super) fn attempts(&self, targets: &[Target]) -> u32 {
        let of = targets.iter().filter_map(|target| self.posts.get(&target.post));
        of.map(|open| open.deleting.attempts).max().unwrap_or_default()
    }

    fn end(&mut self, posts: &[String], fate: Fate) -> Reports {
        posts
            .iter()
            .filter_map(|post| {
                let mut open = self.posts.remove(post)?;
                open.meets(fate);
                Some((post.clone(), open.outcome()))
            })
            .collect()
    }

    fn is_late(&self, post: &str, now: i64) -> bool {
        self.posts.get(post).and_then(|open| open.deleting.deadline_ms).is_some_and(|deadline| deadline < now)
    }
}

/// The calls for posts. Where nothing is deleted together, the owner's order is kept: it names replies before their parents.
fn planned(
    posts: &HashMap<String, Open>,
    waiting: &[String],
    capabilities: &Capabilities,
    probe: Probe,
    now: i64,
) -> VecDeque<Vec<Target>> {
    let targets =
        waiting.iter().filter_map(|post| Some((post, posts.get(post)?))).flat_map(|(post, open)| {
            open.deleting.ids.iter().map(move |id| {
                (Target { id: id.clone(), post: post.clone(), untouched: false }, open.deleting.sent_ms)
            })
        });
    let targets: Vec<(Target, i64)> = targets.collect();
    let is_bulk = capabilities.bulk.is_some() && probe == (Probe::Yes { bulk: true });
    if !is_bulk {
        return targets.into_iter().map(|(target, _)| vec![target]).collect();
    }
    let own: Vec<OwnPost> = targets
        .iter()
        .map(|(target, sent_ms)| OwnPost { id: target.id.clone(), sent_ms: *sent_ms })
        .collect();
    let mut by_id: HashMap<String, Vec<Target>> = HashMap::new();
    for (target, _) in targets {
        by_id.entry(target.id.clone()).or_default().push(target);
    }
    batches(capabilities, probe, &own, now)
        .into_iter()
        .map(|call| call.into_iter().filter_map(|id| by_id.remove(&id)).flatten().collect())
        .collect()
}

fn purpose<'a>(posts: &HashMap<String, Open>, of: impl Iterator<Item = &'a String>) -> Purpose {
    let open: Vec<&Deleting> = of.filter_map(|post| Some(&posts.get(post)?.deleting)).collect();
    let deadline_ms = open.iter().filter_map(|it| it.deadline_ms).min();
    let sent_ms = open.iter().map(|it| it.sent_ms).max().unwrap_or_default();
    Purpose::Deletion { deadline_ms, sent_ms }
}

fn stays(why: StayCause) -> PostOutcome {
    PostOutcome::Stays { why }
}

/// The posts among these that are wanted again: a step may have brought them back since the work was taken.
async fn wanted(context: &Context, targets: &[Target]) -> std::result::Result<Vec<String>, RuntimeError> {
    let mut posts: Vec<(&String, bool)> =
        targets.iter().map(|target| (&target.post, target.untouched)).collect();
    posts.dedup_by_key(|(post, _)| *post);
    let mut wanted = Vec::new();
    for (post, untouched) in posts {
        match context.owner.settle(post, PostOutcome::Deleting { untouched }).await {
            Ok(true) => wanted.push(post.clone()),
            Ok(false) => {}
            Err(NotDone::End(error)) => return Err(error),
            // Nobody says that it may be deleted.
            Err(NotDone::Refused(code)) => {
                tracing::warn!(code = code.as_str(), "the owner does not say whether a post is wanted");
                wanted.push(post.clone());
            }
        }
    }
    Ok(wanted)
}

/// Deletes messages by one call.
pub(super) async fn call(
    context: &Context,
    place: &Place,
    targets: &[Target],
    attempts: u32,
) -> std::result::Result<Result, RuntimeError> {
    let kept = wanted(context, targets).await?;
    if !kept.is_empty() {
        return Ok(Result::Wanted(kept));
    }
    let adapter = &*context.adapter;
    let mut ids: Vec<String> = targets.iter().map(|target| target.id.clone()).collect();
    ids.dedup();
    let is_batch = ids.len() > 1;
    let deleted = match ids.as_slice() {
        [id] => guarded(adapter.delete(place, id)).await,
        ids => guarded(adapter.delete_many(place, ids)).await.map(|()| Deleted::Gone),
    };
    Ok(match deleted {
        Ok(Deleted::Gone | Deleted::AlreadyGone) => Result::All(Fate::Gone),
        Ok(Deleted::Emptied) => Result::All(Fate::Emptied),
        Ok(Deleted::Asked) => Result::All(Fate::Asked),
        Err(Failure::Refused(Refused::NotPermitted)) => Result::NotPermitted,
        // One of them was missing: it may have been deleted before.
        Err(Failure::NotFound) if is_batch => Result::Split { refused: false },
        Err(Failure::Refused(_)) if is_batch => Result::Split { refused: true },
        Err(Failure::NotFound) => Result::All(Fate::Gone),
        Err(Failure::Refused(why)) => Result::All(Fate::Stays(match why {
            Refused::TooOld => StayCause::TooOld,
            Refused::ClosedThread => StayCause::ClosedThread,
            _ => StayCause::GaveUp,
        })),
        Err(Failure::BadToken) => return Err(RuntimeError::BadToken),
        Err(failure @ Failure::Wait { .. }) => Result::Wait(failure),
        Err(Failure::Unknown | Failure::Unreadable) => Result::All(Fate::Lost),
        Err(_) => Result::All(Fate::Later(context.next_try(attempts))),
    })
}
