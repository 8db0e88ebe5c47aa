//! The session of each conversation: its transient state, in one place. Commands go one at a time through the machine of core
//! ([`retake_core::Session`]), which decides; a session carries out what follows, and never waits while it does.
//!
//! A session begins with its first use and is forgotten once it is at rest and nobody has it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use retake_core::{
    Access, By, ConversationId, RequestId, Served, SessionAnswer as Answer, SessionCommand as Command,
    Ticket, Until,
};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};

use crate::Engine;
use crate::error::{EngineError, Kind, Result};
use crate::run::{Decision, Events, Feed, Inbox, RunEvent};

/// A caller whose words wait for a run: the request of the words, and its stream of events.
pub(crate) type Listener = (RequestId, Events);

/// Where the answer of a person goes.
enum Asked {
    /// Whether a call may run.
    Approval(mpsc::UnboundedSender<Inbox>),
    /// What a tool wants to know.
    Question(oneshot::Sender<String>),
}

/// The transient state of one conversation.
pub(crate) struct Session {
    of: ConversationId,
    /// What its runs say.
    pub(crate) feed: Arc<Feed>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    machine: retake_core::Session,
    waiting: HashMap<Ticket, oneshot::Sender<()>>,
    asked: HashMap<String, Asked>,
    listeners: Vec<Listener>,
}

impl State {
    /// Lets the machine decide, and wakes the callers that it names. Whether somebody has to look for a run that waits.
    fn handle(&mut self, command: Command) -> (Answer, bool) {
        let handled = self.machine.handle(command);
        for ticket in handled.wake {
            if let Some(waiting) = self.waiting.remove(&ticket) {
                // A caller that has gone gives its ticket back.
                waiting.send(()).ok();
            }
        }
        (handled.answer, handled.look)
    }
}

impl Session {
    fn new(of: ConversationId) -> Self {
        Self { of, feed: Arc::new(Feed::new()), state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn handle(&self, command: Command) -> Answer {
        self.state().handle(command).0
    }

    fn is_at_rest(&self) -> bool {
        let state = self.state();
        state.machine.is_at_rest() && state.listeners.is_empty() && self.feed.is_idle()
    }

    /// Gives a command. Where its answer is a wait, the receiver hears when it is over; both happen in one step.
    fn begin(&self, command: Command) -> (Option<Ticket>, Option<oneshot::Receiver<()>>) {
        let mut state = self.state();
        match state.handle(command).0 {
            Answer::Waits(ticket) => {
                let (sender, receiver) = oneshot::channel();
                state.waiting.insert(ticket, sender);
                (Some(ticket), Some(receiver))
            }
            Answer::Got(ticket) => (Some(ticket), None),
            Answer::Done | Answer::No | Answer::Request(_) => (None, None),
        }
    }

    async fn wait(&self, until: Until) {
        let (ticket, over) = self.begin(Command::Wait(until));
        let Some((ticket, over)) = ticket.zip(over) else { return };
        let _waiting = Waiting { session: self, ticket };
        // The sender stays in the session until the wait is over.
        drop(over.await);
    }

    async fn access(self: &Arc<Self>, access: Access) -> Accessing {
        let (ticket, over) = self.begin(Command::Access(access));
        let ticket = ticket.expect("BUG: a session answers a request for access with a ticket");
        // Held before it is granted, so that a caller that goes away in between gives it up.
        let accessing = Accessing { session: Arc::clone(self), ticket };
        if let Some(over) = over {
            drop(over.await);
        }
        accessing
    }

    /// A person is asked. The first answer counts.
    fn ask(&self, id: &str, asked: Asked) {
        let mut state = self.state();
        state.handle(Command::Ask(id.to_owned()));
        state.asked.insert(id.to_owned(), asked);
    }

    /// Nobody has to answer any more. Where the answer would have gone, if nobody has answered yet.
    fn settle(&self, id: &str, is: impl Fn(&Asked) -> bool) -> Option<Asked> {
        let mut state = self.state();
        if !state.asked.get(id).is_some_and(is) {
            return None;
        }
        state.handle(Command::Settle(id.to_owned()));
        state.asked.remove(id)
    }

    /// Tells the subscribers that an answer was taken; an error where it came too late.
    fn settled(&self, id: &str, is_sent: bool) -> Result<()> {
        if !is_sent {
            return Err(EngineError::new(Kind::NotFound, "not_asked", "nobody asks that any more")
                .hint("somebody else has answered, or the run was stopped"));
        }
        self.feed.tell(&RunEvent::Settled(id.to_owned()));
        Ok(())
    }

    /// Waits until a question has been answered or withdrawn.
    pub(crate) async fn until_settled(&self, id: &str) {
        self.wait(Until::Settled(id.to_owned())).await;
    }

    /// Asks whether a call may run.
    pub(crate) fn ask_approval(&self, id: &str, inbox: mpsc::UnboundedSender<Inbox>) {
        self.ask(id, Asked::Approval(inbox));
    }

    /// Withdraws that.
    pub(crate) fn withdraw_approval(&self, id: &str) {
        self.settle(id, |asked| matches!(asked, Asked::Approval(_)));
    }

    /// Asks a question of a tool; the answer, and what withdraws it when it is dropped.
    pub(crate) fn ask_question(self: &Arc<Self>, id: String) -> (OpenQuestion, oneshot::Receiver<String>) {
        let (sender, receiver) = oneshot::channel();
        self.ask(&id, Asked::Question(sender));
        (OpenQuestion { session: Arc::clone(self), id }, receiver)
    }

    /// The callers whose words wait, to be looked at or changed.
    pub(crate) fn listeners<T>(&self, look: impl FnOnce(&mut Vec<Listener>) -> T) -> T {
        look(&mut self.state().listeners)
    }
}

/// A caller that waits; dropped, it does not.
struct Waiting<'a> {
    session: &'a Session,
    ticket: Ticket,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut state = self.session.state();
        state.waiting.remove(&self.ticket);
        state.handle(Command::GiveUp(self.ticket));
    }
}

/// Access to say something in a conversation, or a place in the queue for it.
#[must_use = "access is held only while this lives"]
pub(crate) struct Accessing {
    session: Arc<Session>,
    ticket: Ticket,
}

impl Drop for Accessing {
    fn drop(&mut self) {
        let mut state = self.session.state();
        state.waiting.remove(&self.ticket);
        state.handle(Command::EndAccess(self.ticket));
    }
}

/// A question that a person is asked.
#[must_use = "the question is asked only while this lives"]
pub(crate) struct OpenQuestion {
    session: Arc<Session>,
    id: String,
}

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        self.session.settle(&self.id, |asked| matches!(asked, Asked::Question(_)));
    }
}

/// A plan of files that is being carried out in a conversation: its subscribers get no events meanwhile.
#[must_use = "the plan is open only while this lives"]
pub(crate) struct OpenPlan(Arc<Session>);

impl Drop for OpenPlan {
    fn drop(&mut self) {
        self.0.handle(Command::ClosePlan);
    }
}

/// Nobody says anything in a conversation while this lives, and nothing else has claimed it.
#[must_use = "others are kept out only while this lives"]
pub(crate) struct ExclusiveClaim {
    _access: Accessing,
    _claim: Claim,
}

/// The one claim of a conversation: of a run, or of a step with files.
#[must_use = "a conversation is claimed only while this lives"]
pub(crate) struct Claim {
    engine: Arc<Engine>,
    session: Arc<Session>,
    ticket: Ticket,
}

impl Claim {
    /// The conversation.
    pub(crate) fn conversation(&self) -> ConversationId {
        self.session.of
    }

    /// A run is at work here that answers these requests; or what was is over.
    pub(crate) fn serves(&self, requests: Option<Vec<Served>>) {
        self.session.handle(Command::Serve(self.ticket, requests));
    }

    /// Another run is at work from here on: a request to stop the one before is over with it.
    pub(crate) fn hand_on(&self) {
        self.session.handle(Command::HandOn(self.ticket));
    }

    /// Begins to look for a run that waits. Whether it may be taken up.
    pub(crate) fn begin_look(&self) -> bool {
        self.session.handle(Command::BeginLook(self.ticket)) == Answer::Done
    }

    /// Waits until somebody asks the run to stop. Each request is noticed once.
    pub(crate) async fn stopped(&self) {
        while self.session.handle(Command::TakeStop(self.ticket)) != Answer::Done {
            self.session.wait(Until::Stopped(self.ticket)).await;
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let (_, look) = self.session.state().handle(Command::Release(self.ticket));
        if look && let Ok(runtime) = Handle::try_current() {
            let (engine, conversation) = (Arc::clone(&self.engine), self.session.of);
            let span = tracing::info_span!(parent: None, "background", operation = "next_run", %conversation);
            let work = async move { engine.next_run(conversation).await };
            runtime.spawn(tracing::Instrument::instrument(work, span));
        }
    }
}

/// While this lives, what waits in a conversation goes on waiting.
#[must_use = "what waits goes on waiting only while this lives"]
pub(crate) struct Halting {
    session: Arc<Session>,
    ticket: Ticket,
}

impl Drop for Halting {
    fn drop(&mut self) {
        self.session.handle(Command::EndHalt(self.ticket));
    }
}

/// All sessions that somebody has or that have something to remember.
#[derive(Default)]
pub(crate) struct Sessions(Mutex<Table>);

#[derive(Default)]
struct Table {
    all: HashMap<ConversationId, Arc<Session>>,
    /// With so many, those at rest are forgotten.
    full: usize,
}

/// So many sessions at rest are no reason to look for them.
const FEW: usize = 64;

impl Sessions {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The session of a conversation; begun, if there is none.
    fn get(&self, of: ConversationId) -> Arc<Session> {
        let mut table = self.table();
        if table.all.len() > table.full.max(FEW) {
            table.all.retain(|_, session| Arc::strong_count(session) > 1 || !session.is_at_rest());
            table.full = 2 * table.all.len();
        }
        Arc::clone(table.all.entry(of).or_insert_with(|| Arc::new(Session::new(of))))
    }

    /// What a session says, where there is one.
    fn look<T>(&self, of: ConversationId, look: impl FnOnce(&retake_core::Session) -> T) -> Option<T> {
        let session = self.table().all.get(&of).map(Arc::clone)?;
        let state = session.state();
        Some(look(&state.machine))
    }
}

impl Engine {
    /// The session of a conversation.
    pub(crate) fn session(&self, of: ConversationId) -> Arc<Session> {
        self.sessions.get(of)
    }

    /// Whether a run, or a step with files, has claimed a conversation.
    pub fn is_running(&self, of: ConversationId) -> bool {
        self.sessions.look(of, retake_core::Session::is_claimed).unwrap_or(false)
    }

    /// The conversations in which something runs.
    pub fn running(&self) -> Vec<ConversationId> {
        let all: Vec<Arc<Session>> = self.sessions.table().all.values().map(Arc::clone).collect();
        let claimed = all.into_iter().filter(|session| session.state().machine.is_claimed());
        claimed.map(|session| session.of).collect()
    }

    /// Asks the run of a conversation to stop. Whether there was one.
    pub fn cancel(&self, of: ConversationId) -> bool {
        self.session(of).handle(Command::Stop) == Answer::Done
    }

    /// Claims a conversation for a run.
    pub(crate) fn claim(self: &Arc<Self>, of: ConversationId) -> Result<Claim> {
        self.claim_by(of, Command::Claim).ok_or_else(EngineError::running)
    }

    /// Claims a conversation to look for a run that waits. Where something else has claimed it, that looks at its end.
    pub(crate) fn claim_to_look(self: &Arc<Self>, of: ConversationId) -> Option<Claim> {
        self.claim_by(of, Command::Look)
    }

    fn claim_by(self: &Arc<Self>, of: ConversationId, command: Command) -> Option<Claim> {
        let session = self.session(of);
        match session.handle(command) {
            Answer::Got(ticket) => Some(Claim { engine: Arc::clone(self), session, ticket }),
            _ => None,
        }
    }

    /// Claims a conversation and waits until nobody says anything in it.
    pub(crate) async fn claim_exclusively(self: &Arc<Self>, of: ConversationId) -> Result<ExclusiveClaim> {
        let claim = self.claim(of)?;
        Ok(ExclusiveClaim { _access: self.exclusive(of).await, _claim: claim })
    }

    /// Waits until nobody says anything in a conversation, and keeps everybody from it while it lives.
    pub(crate) async fn exclusive(&self, of: ConversationId) -> Accessing {
        self.session(of).access(Access::Exclusive).await
    }

    /// Waits until nobody has exclusive access.
    pub(crate) async fn shared(&self, of: ConversationId) -> Accessing {
        self.session(of).access(Access::Shared).await
    }

    /// The request of this id that the run at work answers.
    pub(crate) fn serving(&self, of: ConversationId, request: &RequestId) -> Option<Served> {
        self.sessions.look(of, |session| session.serving(request).cloned())?
    }

    /// The last request that the run at work answers.
    pub(crate) fn served_last(&self, of: ConversationId) -> Option<RequestId> {
        self.sessions.look(of, |session| session.served()?.last()?.by.request.clone())?
    }

    /// Whether a run is at work that serves requests.
    pub(crate) fn is_at_work(&self, of: ConversationId) -> bool {
        self.sessions.look(of, |session| session.served().is_some()).unwrap_or(false)
    }

    /// Waits until a conversation is not claimed, or a run is at work there.
    pub(crate) async fn until_known(&self, of: ConversationId) {
        self.session(of).wait(Until::Known).await;
    }

    /// Waits until a conversation is not claimed.
    pub(crate) async fn until_idle(&self, of: ConversationId) {
        self.session(of).wait(Until::Idle).await;
    }

    /// Nothing that waits is taken up while this lives.
    pub(crate) fn halting(&self, of: ConversationId) -> Halting {
        let session = self.session(of);
        match session.handle(Command::Halt) {
            Answer::Got(ticket) => Halting { session, ticket },
            answer => unreachable!("BUG: a session answers a halt with {answer:?}"),
        }
    }

    /// What a run takes back when it is ended is what this request asks for.
    pub(crate) fn halted_for(&self, of: ConversationId, by: By) {
        self.session(of).handle(Command::HaltFor(by));
    }

    /// The request whose work it is to take back what a run has begun with.
    pub(crate) fn take_halt_request(&self, of: ConversationId) -> Option<By> {
        match self.session(of).handle(Command::TakeHaltRequest) {
            Answer::Request(by) => by,
            _ => None,
        }
    }

    /// A plan of files is being carried out in a conversation while this lives.
    pub(crate) fn open_plan(&self, of: ConversationId) -> OpenPlan {
        let session = self.session(of);
        session.handle(Command::OpenPlan);
        OpenPlan(session)
    }

    /// Whether a plan of files is being carried out in a conversation. What is read before this says no has nothing of it that is not
    /// done.
    pub fn has_open_plan(&self, of: ConversationId) -> bool {
        self.sessions.look(of, retake_core::Session::has_open_plan).unwrap_or(false)
    }

    /// Waits until no plan of files is being carried out in a conversation.
    pub async fn plans_closed(&self, of: ConversationId) {
        if self.has_open_plan(of) {
            self.session(of).wait(Until::PlansClosed).await;
        }
    }

    /// Says whether a call may run that waits for approval. The first answer counts.
    pub fn decide(&self, of: ConversationId, id: &str, decision: Decision) -> Result<()> {
        let session = self.session(of);
        let is_sent = match session.settle(id, |asked| matches!(asked, Asked::Approval(_))) {
            Some(Asked::Approval(inbox)) => inbox.send(Inbox::Decided(id.to_owned(), decision)).is_ok(),
            _ => false,
        };
        session.settled(id, is_sent)
    }

    /// Answers a question of a tool. The first answer counts.
    pub fn respond(&self, of: ConversationId, id: &str, answer: String) -> Result<()> {
        let session = self.session(of);
        let is_sent = match session.settle(id, |asked| matches!(asked, Asked::Question(_))) {
            Some(Asked::Question(sender)) => sender.send(answer).is_ok(),
            _ => false,
        };
        session.settled(id, is_sent)
    }
}

#[cfg(test)]
mod tests;
