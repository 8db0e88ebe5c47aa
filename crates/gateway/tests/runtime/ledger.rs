//! A small owner, written from the specification: arrivals, holds, and a ledger of posts with leases. Must never use code of the real
//! one.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use futures::stream::BoxStream;
use retake_gateway::Clock;
use retake_wire::chat::*;
use retake_wire::{
    Client, Follow, NumberedEvent, Problem, ProblemCode, ProblemKind, Reply, Request, Run, RunEvent,
};
use tokio::sync::Notify;

use super::kit::{Log, TestClock};

const LEASE_MS: i64 = 60_000;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum State {
    Planned,
    Sending,
    Unknown,
    Sent,
    Cancelled,
    Gone(Deletion),
    Stays(StayCause),
    Failed(PostFailure),
}

#[derive(Clone, Debug)]
pub(crate) struct Post {
    pub(crate) id: String,
    pub(crate) place: Place,
    pub(crate) content: PostContent,
    pub(crate) part: u32,
    pub(crate) state: State,
    pub(crate) is_wanted: bool,
    pub(crate) edit: Option<PostContent>,
    pub(crate) ids: Vec<String>,
    pub(crate) sent_ms: i64,
    pub(crate) deadline_ms: Option<i64>,
    pub(crate) lost: Option<LostAttempt>,
    pub(crate) due_ms: i64,
    leased_ms: i64,
    attempts: u32,
    began: Option<(i64, String)>,
    /// How many parts a gateway says that its message has.
    pub(crate) told_parts: u32,
}

#[derive(Default)]
pub(crate) struct Book {
    pub(crate) holder: Option<(String, i64)>,
    pub(crate) cursor: Option<String>,
    pub(crate) holds: BTreeMap<String, i64>,
    pub(crate) places: Vec<BoundPlace>,
    /// What was stored, once each.
    pub(crate) stored: Vec<Arrive>,
    /// The requests for work.
    takes: u64,
    /// Every request for an arrival.
    pub(crate) arrivals: usize,
    pub(crate) known: HashMap<String, Arrival>,
    pub(crate) posts: Vec<Post>,
    /// The owner is away.
    pub(crate) is_away: bool,
    /// The first post is taken back as soon as its edit is leased.
    pub(crate) unwant_when_leased: bool,
    /// All parts of a place are given at once. Their order is that of the ledger.
    pub(crate) gives_all: bool,
    /// Names of events that the owner refuses if they have parts.
    pub(crate) refuses_parts: HashSet<String>,
}

type Outcome = dyn Fn(&Arrive) -> Arrival + Send + Sync;

pub(crate) struct Ledger {
    book: Mutex<Book>,
    changed: Notify,
    clock: TestClock,
    log: Log,
    outcome: Mutex<Arc<Outcome>>,
}

impl Ledger {
    pub(crate) fn new(clock: TestClock, log: Log) -> Self {
        let said = |_: &Arrive| Arrival::Said { conversation: "c".into() };
        let outcome: Arc<Outcome> = Arc::new(said);
        Self { book: Mutex::default(), changed: Notify::new(), clock, log, outcome: Mutex::new(outcome) }
    }

    pub(crate) fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().expect("no panic before")
    }

    pub(crate) fn answer_with(&self, outcome: impl Fn(&Arrive) -> Arrival + Send + Sync + 'static) {
        *self.outcome.lock().expect("no panic before") = Arc::new(outcome);
    }

    pub(crate) fn wake(&self) {
        self.changed.notify_waiters();
    }

    /// Plans the first part of a post.
    pub(crate) fn plan(&self, id: &str, place: &Place, content: PostContent) {
        self.book().posts.push(new_post(id, place, content, 0));
        self.wake();
    }

    /// Adds a post that was sent.
    pub(crate) fn add_sent(&self, id: &str, place: &Place, ids: &[&str], sent_ms: i64) {
        let mut post = new_post(id, place, markdown("sent"), 0);
        post.ids = ids.iter().map(|id| (*id).to_owned()).collect();
        (post.state, post.sent_ms) = (State::Sent, sent_ms);
        self.book().posts.push(post);
    }

    /// Takes posts back.
    pub(crate) fn unwant(&self, is_meant: impl Fn(&Post) -> bool) {
        for post in self.book().posts.iter_mut().filter(|post| is_meant(post)) {
            post.is_wanted = false;
            if post.state == State::Planned {
                post.state = State::Cancelled;
            }
        }
        self.wake();
    }

    pub(crate) fn post(&self, id: &str) -> Post {
        self.book().posts.iter().find(|post| post.id == id).unwrap_or_else(|| panic!("no post {id}")).clone()
    }

    pub(crate) fn states(&self) -> Vec<State> {
        self.book().posts.iter().map(|post| post.state.clone()).collect()
    }

    fn renew(&self, account: &str, holder: &str) -> Result<MutexGuard<'_, Book>, Problem> {
        assert_eq!(account, "a");
        let now = self.clock.now_ms();
        let mut book = self.book();
        if book.is_away {
            return Err(problem(ProblemCode::OwnerAway, ProblemKind::Storage));
        }
        match &book.holder {
            Some((other, until)) if other != holder && *until > now => {
                let mut held = problem("account_held".to_owned().into(), ProblemKind::Refused);
                held.fields.insert("holder".into(), other.clone().into());
                return Err(held);
            }
            _ => book.holder = Some((holder.to_owned(), now + LEASE_MS)),
        }
        Ok(book)
    }

    fn arrive(&self, arrive: Arrive) -> Result<Reply, Problem> {
        let outcome = Arc::clone(&self.outcome.lock().expect("no panic before"));
        let mut book = self.renew(&arrive.account, &arrive.holder)?;
        book.arrivals += 1;
        if let Some(outcome) = book.known.get(&arrive.transport_key) {
            return Ok(Reply::Arrived(Arrived { outcome: outcome.clone(), again: true }));
        }
        if book.refuses_parts.contains(&arrive.transport_key) && arrive.parts.len() > 1 {
            return Err(problem(ProblemCode::TooLarge, ProblemKind::Usage));
        }
        let outcome = outcome(&arrive);
        let also = arrive.also.iter().map(|it| it.transport_key.clone());
        for key in also.chain([arrive.transport_key.clone()]) {
            assert!(book.known.insert(key, outcome.clone()).is_none(), "an event is stored twice");
        }
        self.log.add(format!("stored {}", arrive.transport_key));
        book.stored.push(arrive);
        Ok(Reply::Arrived(Arrived { outcome, again: false }))
    }

    async fn take(&self, take: GatewayTake) -> Result<Reply, Problem> {
        let until = self.clock.now_ms() + i64::try_from(take.wait_ms).expect("small");
        let most = take.most.unwrap_or(20) as usize;
        // A later request ends an earlier one.
        let number = {
            let mut book = self.book();
            book.takes += 1;
            book.takes
        };
        self.changed.notify_waiters();
        loop {
            let changed = self.changed.notified();
            let now = self.clock.now_ms();
            let (work, next) = {
                let mut book = self.renew(&take.account, &take.holder)?;
                if book.takes != number {
                    return Ok(Reply::GatewayWork(GatewayWork::default()));
                }
                (lease(&mut book, now, most), next_due(&book, now))
            };
            if !work.is_empty() || now >= until {
                return Ok(Reply::GatewayWork(GatewayWork { work }));
            }
            let wait = next.unwrap_or(until).min(until).max(now + 1) - now;
            let wait = Duration::from_millis(wait.unsigned_abs());
            tokio::select! { () = changed => {}, () = tokio::time::sleep(wait) => {} }
        }
    }

    fn settle(&self, settle: GatewaySettle) -> Result<Reply, Problem> {
        let now = self.clock.now_ms();
        let mut book = self.renew(&settle.account, &settle.holder)?;
        let Some(at) = book.posts.iter().position(|post| post.id == settle.post) else {
            return Err(problem("unknown_post".to_owned().into(), ProblemKind::NotFound));
        };
        let post = &mut book.posts[at];
        let is_wanted = post.is_wanted;
        if !matches!(settle.result, PostOutcome::Sending { .. } | PostOutcome::Deleting { .. }) {
            post.leased_ms = i64::MIN;
        }
        match settle.result {
            // Of an edit.
            PostOutcome::Sending { parts, .. } if post.state == State::Sent => post.told_parts = parts,
            PostOutcome::Sending { parts, digest, .. } => {
                post.told_parts = parts;
                if is_wanted {
                    let began =
                        post.lost.as_ref().filter(|it| it.digest == digest).map_or(now, |it| it.began_ms);
                    (post.state, post.began) = (State::Sending, Some((began, digest)));
                    add_parts(&mut book, at, parts);
                } else if post.state == State::Planned {
                    post.state = State::Cancelled;
                }
            }
            PostOutcome::Sent { ids, sent_ms, deadline_ms, deletable } => {
                (post.state, post.ids, post.sent_ms, post.deadline_ms) =
                    (State::Sent, ids, sent_ms, deadline_ms);
                if !deletable && !is_wanted {
                    post.state = State::Stays(StayCause::NoWay);
                }
            }
            // Nobody knows whether it is gone: it is tried again.
            PostOutcome::Lost if post.state == State::Sent => {
                post.due_ms = now + 1000;
                post.attempts += 1;
            }
            PostOutcome::Lost => lose(post),
            PostOutcome::Later { at_ms } => {
                if post.state == State::Sending {
                    post.state = if post.lost.is_some() { State::Unknown } else { State::Planned };
                    if !is_wanted && post.lost.is_none() {
                        post.state = State::Cancelled;
                    }
                }
                post.due_ms = at_ms;
                post.attempts += 1;
            }
            PostOutcome::Failed { why } if post.state == State::Sent => {
                post.edit = None;
                self.log.add(format!("edit failed {why:?}"));
            }
            PostOutcome::Failed { why } => post.state = State::Failed(why),
            PostOutcome::Edited { ids, .. } => {
                post.edit = None;
                post.ids.extend(ids);
            }
            PostOutcome::Deleting { .. } => {}
            PostOutcome::Deleted { how } => post.state = State::Gone(how),
            PostOutcome::Stays { why } => post.state = State::Stays(why),
        }
        drop(book);
        self.wake();
        Ok(Reply::GatewaySettled(GatewaySettled { is_wanted }))
    }
}

fn add_parts(book: &mut Book, at: usize, parts: u32) {
    let post = book.posts[at].clone();
    let is_known = book.posts.iter().any(|it| it.id == format!("{}/1", post.id));
    if post.part == 0 && !is_known {
        let rest = (1..parts)
            .map(|part| new_post(&format!("{}/{part}", post.id), &post.place, post.content.clone(), part));
        let rest: Vec<Post> = rest.collect();
        book.posts.splice(at + 1..at + 1, rest);
    }
}

fn lose(post: &mut Post) {
    let times = post.lost.as_ref().map_or(0, |it| it.times) + 1;
    let (began_ms, digest) = post.began.clone().expect("it was sending");
    post.lost = Some(LostAttempt { began_ms, digest, times });
    post.state = State::Unknown;
}

/// Leases what is due. A post of a place waits for those before it.
fn lease(book: &mut Book, now: i64, most: usize) -> Vec<PostWork> {
    let mut work = Vec::new();
    let mut busy: HashSet<Place> = HashSet::new();
    let (gives_all, unwants) = (book.gives_all, book.unwant_when_leased);
    for post in &mut book.posts {
        if post.state == State::Sending && post.leased_ms <= now {
            lose(post);
        }
        let is_open = matches!(post.state, State::Planned | State::Sending | State::Unknown);
        let is_first = gives_all || !is_open || busy.insert(post.place.clone());
        if !is_first || post.due_ms > now || post.leased_ms > now || work.len() == most {
            continue;
        }
        let action = match &post.state {
            State::Planned | State::Unknown => PostAction::Send {
                content: post.content.clone(),
                part: post.part,
                reply_to: None,
                lost: post.lost.clone(),
            },
            State::Sent if !post.is_wanted => PostAction::Delete {
                ids: post.ids.clone(),
                sent_ms: post.sent_ms,
                deadline_ms: post.deadline_ms,
            },
            State::Sent => match &post.edit {
                Some(content) => PostAction::Edit { content: content.clone(), ids: post.ids.clone() },
                None => continue,
            },
            _ => continue,
        };
        post.leased_ms = now + LEASE_MS;
        if matches!(action, PostAction::Edit { .. }) && unwants {
            post.is_wanted = false;
        }
        let (post_id, place, attempts) = (post.id.clone(), post.place.clone(), post.attempts);
        let content = post.edit.as_ref().unwrap_or(&post.content);
        let kind = match content {
            PostContent::Preview { .. } => PostKind::Preview,
            _ => PostKind::Answer,
        };
        work.push(PostWork { post: post_id, kind, place, action, attempts });
    }
    work
}

fn next_due(book: &Book, now: i64) -> Option<i64> {
    book.posts.iter().map(|post| post.due_ms.max(post.leased_ms)).filter(|at| *at > now).min()
}

pub(crate) fn markdown(text: &str) -> PostContent {
    PostContent::Markdown { text: text.into(), is_interrupted: false, buttons: Vec::new() }
}

fn new_post(id: &str, place: &Place, content: PostContent, part: u32) -> Post {
    Post {
        id: id.into(),
        place: place.clone(),
        content,
        part,
        state: State::Planned,
        is_wanted: true,
        edit: None,
        ids: Vec::new(),
        sent_ms: 0,
        deadline_ms: None,
        lost: None,
        due_ms: 0,
        leased_ms: i64::MIN,
        attempts: 0,
        began: None,
        told_parts: 0,
    }
}

fn problem(code: ProblemCode, kind: ProblemKind) -> Problem {
    Problem { code, kind, message: "SECRET-PROBLEM".into(), ..Problem::default() }
}

#[async_trait]
impl Client for Ledger {
    async fn call(&self, request: Request) -> Result<Reply, Problem> {
        // A kill may happen before and after the effect.
        tokio::task::yield_now().await;
        let reply = match request {
            Request::GatewayConnect(it) => self.renew(&it.account, &it.holder).map(|book| {
                let holds = book
                    .holds
                    .iter()
                    .map(|(bucket, until)| Hold { bucket: bucket.clone(), until_ms: *until });
                let (cursor, holds, places) = (book.cursor.clone(), holds.collect(), book.places.clone());
                Reply::GatewayConnected(GatewayConnected { cursor, holds, places })
            }),
            Request::Arrive(it) => self.arrive(it),
            Request::GatewayCursor(it) => self.renew(&it.account, &it.holder).map(|mut book| {
                self.log.add(format!("cursor {}", it.cursor));
                book.cursor = Some(it.cursor);
                Reply::Done
            }),
            Request::GatewayTake(it) => self.take(it).await,
            Request::GatewaySettle(it) => self.settle(it),
            Request::GatewayHold(it) => self.renew(&it.account, &it.holder).map(|mut book| {
                let until = book.holds.entry(it.bucket).or_default();
                *until = it.until_ms.max(*until);
                Reply::Done
            }),
            other => panic!("a gateway asked for {other:?}"),
        };
        tokio::task::yield_now().await;
        reply
    }

    async fn run(&self, _: Run) -> Result<BoxStream<'static, RunEvent>, Problem> {
        panic!("a gateway runs no model")
    }

    async fn follow(&self, _: Follow) -> Result<BoxStream<'static, NumberedEvent>, Problem> {
        panic!("a gateway follows no conversation")
    }
}
