//! The events of runs, for the client that started one and for the subscribers of the conversation. A run must never wait for a
//! subscriber: a slow one misses pieces of the output of calls, or is dropped and reads a new snapshot.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use futures::stream::BoxStream;
use retake_core::ConversationId;
use tokio::sync::{broadcast, mpsc, watch};

use super::event::{CallShown, PendingApproval, Question, RunEvent};
use crate::Engine;

/// The most events that a subscriber may lag behind. Subscribers are within the owner and fast; memory for all of these events is
/// allocated at once.
const BEHIND: usize = 256;

/// The most events that may wait for the client that started a run, before pieces of output are left out.
const PENDING: usize = 1024;

/// The most bytes of a call's output that a later subscriber gets.
const OUTPUT_BYTES: usize = 16 * 1024;

/// The most bytes of an answer that it gets: more than any model writes, less than a command may print.
const ANSWER_BYTES: usize = 1024 * 1024;

/// The events so far of the run at work, for a client that subscribes in the middle of it.
#[derive(Clone, Debug, Default)]
pub struct RunNow {
    /// The model that answers; `None` while no run is at work.
    pub model: Option<String>,
    /// The text of the answer that is not stored yet.
    pub text: String,
    /// Its reasoning.
    pub reasoning: String,
    /// The running calls, with the end of their output.
    pub calls: Vec<(CallShown, String)>,
    /// The calls that wait for an approval.
    pub asks: Vec<PendingApproval>,
    /// The questions of tools.
    pub questions: Vec<Question>,
}

impl RunNow {
    /// Applies an event.
    pub fn heard(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Started(_, model, _) => *self = Self { model: Some(model.clone()), ..Self::default() },
            RunEvent::Text(text) => append(&mut self.text, text, ANSWER_BYTES),
            RunEvent::Reasoning(text) => append(&mut self.reasoning, text, ANSWER_BYTES),
            RunEvent::Answered(_) => {
                self.text.clear();
                self.reasoning.clear();
            }
            RunEvent::Asks(asks) => self.asks.push(asks.clone()),
            RunEvent::Question(question) => self.questions.push(question.clone()),
            RunEvent::Settled(id) => {
                self.asks.retain(|asks| asks.id != *id);
                self.questions.retain(|question| question.id != *id);
            }
            RunEvent::Calling(call) => self.calls.push((call.clone(), String::new())),
            RunEvent::Printed(call, text) => {
                if let Some((_, printed)) = self.calls.iter_mut().find(|(shown, _)| shown.call == *call) {
                    append(printed, text, OUTPUT_BYTES);
                }
            }
            RunEvent::Called(called) => {
                self.calls.retain(|(shown, _)| shown.call != called.call);
                self.asks.retain(|asks| asks.call.call != called.call);
            }
            RunEvent::Ended(_) => *self = Self::default(),
            RunEvent::Queued | RunEvent::Notice(_) | RunEvent::Joined(_) => {}
        }
    }
}

/// Appends to a text, and keeps only its end.
fn append(text: &mut String, more: &str, kept: usize) {
    text.push_str(more);
    if text.len() > 2 * kept {
        let from = text.ceil_char_boundary(text.len() - kept);
        text.drain(..from);
    }
}

/// The events of a conversation's runs.
pub(crate) struct Feed {
    now: Mutex<RunNow>,
    told: broadcast::Sender<Arc<RunEvent>>,
}

impl Feed {
    pub(crate) fn new() -> Self {
        Self { now: Mutex::default(), told: broadcast::channel(BEHIND).0 }
    }

    /// Sends an event to all subscribers.
    pub(crate) fn tell(&self, event: &RunEvent) {
        // Under one lock, so that a new subscriber gets each event once: in the events so far, or after them.
        let mut now = locked(&self.now);
        now.heard(event);
        // There may be no subscriber.
        drop(self.told.send(Arc::new(event.clone())));
    }

    /// Whether there is no subscriber and no run.
    pub(crate) fn is_idle(&self) -> bool {
        self.told.receiver_count() == 0 && locked(&self.now).model.is_none()
    }
}

impl Engine {
    /// Subscribes to the runs of a conversation: returns the events so far of the run at work, and a subscription.
    pub fn follow_runs(&self, conversation: ConversationId) -> (RunNow, RunSubscription) {
        let session = self.session(conversation);
        let now = locked(&session.feed.now);
        (now.clone(), RunSubscription(session.feed.told.subscribe()))
    }
}

/// A subscription to the runs of a conversation.
pub struct RunSubscription(broadcast::Receiver<Arc<RunEvent>>);

impl RunSubscription {
    /// Waits for the next event; `None` for a subscriber that lags too far behind.
    pub async fn next(&mut self) -> Option<Arc<RunEvent>> {
        self.0.recv().await.ok()
    }
}

/// The receiving end of the stream for the client that started a run.
struct OwnFeedReceiver {
    receiver: mpsc::UnboundedReceiver<RunEvent>,
    pending: Arc<watch::Sender<usize>>,
}

impl Drop for OwnFeedReceiver {
    fn drop(&mut self) {
        // Nothing waits for a client that is gone.
        self.pending.send_replace(0);
    }
}

/// The stream of a client that started a run.
#[derive(Clone)]
struct OwnFeed {
    sender: mpsc::UnboundedSender<RunEvent>,
    pending: Arc<watch::Sender<usize>>,
}

/// The listeners of a run. It keeps no stream open.
pub(crate) struct Listening {
    own: Vec<mpsc::WeakUnboundedSender<RunEvent>>,
    feed: Option<Weak<Feed>>,
}

impl Listening {
    /// Whether there is no listener.
    pub(crate) fn is_alone(&self) -> bool {
        let feed = self.feed.as_ref().and_then(Weak::upgrade);
        self.own.iter().all(|own| own.upgrade().is_none_or(|sender| sender.is_closed()))
            && feed.is_none_or(|feed| feed.told.receiver_count() == 0)
    }
}

/// The destination of a run's events: the client that started it, with each of its repeated requests, and all subscribers. There
/// may be no listener.
#[derive(Clone)]
pub(crate) struct Events {
    own: Vec<OwnFeed>,
    feed: Option<Arc<Feed>>,
}

impl Events {
    /// A stream for the client that starts a run.
    pub(crate) fn stream() -> (Self, BoxStream<'static, RunEvent>) {
        let (sender, receiver) = mpsc::unbounded_channel();
        let pending = Arc::new(watch::Sender::new(0));
        let events = Self { own: vec![OwnFeed { sender, pending: Arc::clone(&pending) }], feed: None };
        let taking = OwnFeedReceiver { receiver, pending };
        let next = |mut taking: OwnFeedReceiver| async move {
            let event = taking.receiver.recv().await?;
            taking.pending.send_modify(|pending| *pending -= 1);
            Some((event, taking))
        };
        (events, Box::pin(futures::stream::unfold(taking, next)))
    }

    /// Events without a listener.
    pub(super) fn none() -> Self {
        Self { own: Vec::new(), feed: None }
    }

    /// Events for all of these; `None` if there are none.
    pub(super) fn together(all: Vec<Self>) -> Option<Self> {
        all.into_iter().reduce(|mut first, mut next| {
            first.own.append(&mut next.own);
            first
        })
    }

    /// Adds the subscribers of a feed.
    pub(crate) fn on(self, feed: Arc<Feed>) -> Self {
        Self { feed: Some(feed), ..self }
    }

    /// Whether there is no listener that could answer.
    pub(super) fn is_alone(&self) -> bool {
        self.own.iter().all(|own| own.sender.is_closed())
            && self.feed.as_ref().is_none_or(|feed| feed.told.receiver_count() == 0)
    }

    /// The listeners, to check later whether they are still there.
    pub(super) fn listening(&self) -> Listening {
        Listening {
            own: self.own.iter().map(|own| own.sender.downgrade()).collect(),
            feed: self.feed.as_ref().map(Arc::downgrade),
        }
    }

    /// Whether it is the same stream.
    pub(super) fn is_of(&self, other: &Self) -> bool {
        let has = |own: &OwnFeed| other.own.iter().any(|other| Arc::ptr_eq(&own.pending, &other.pending));
        self.own.iter().any(has)
    }

    /// Sends an event to every listener.
    pub(crate) fn send(&self, event: RunEvent) {
        self.tell(&event);
        self.answer(event);
    }

    /// Waits until the client that started the run has received most of its events: for a command that only this client sees.
    pub(crate) async fn taken(&self) {
        for own in &self.own {
            let mut pending = own.pending.subscribe();
            // The sender belongs to `self`, so it is not dropped.
            drop(pending.wait_for(|pending| *pending < PENDING).await);
        }
    }

    /// Waits until the clients that started the run are gone.
    pub(super) async fn gone(&self) {
        for own in &self.own {
            own.sender.closed().await;
        }
    }

    /// Sends an event to the subscribers.
    pub(super) fn tell(&self, event: &RunEvent) {
        if let Some(feed) = &self.feed {
            feed.tell(event);
        }
    }

    /// Sends an event to the client that started the run.
    pub(super) fn answer(&self, event: RunEvent) {
        for own in &self.own {
            let is_late = *own.pending.borrow() >= PENDING;
            if is_late && matches!(event, RunEvent::Printed(..)) {
                // All output is on disk; waiting for a slow reader would delay the call or fill the memory.
                continue;
            }
            own.pending.send_modify(|pending| *pending += 1);
            // The run continues without a listener: only what it stores counts.
            drop(own.sender.send(event.clone()));
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
