//! The session of each conversation: its transient state, in one place. Commands go one at a time through the machine of core
//! ([`retake_core::Session`]), which decides; a session carries out the effects and must never wait meanwhile.
//!
//! A session begins at its first use and is removed when it is idle and unused.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use retake_core::{
    Access, AnsweredRequest, ChangeOrigin, ConversationId, RequestId, SessionAnswer as Answer,
    SessionCommand as Command, Ticket, WaitCondition,
};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};

use crate::Engine;
use crate::error::{EngineError, Kind, Result};
use crate::run::{Decision, Events, Feed, Inbox, RunEvent};

/// A client whose message waits for a run: the request of the message, and its stream of events.
pub(crate) type Listener = (RequestId, Events);

/// The destination of a person's answer.
enum AnswerDestination {
    /// The decision on a call.
    Approval(mpsc::UnboundedSender<Inbox>),
    /// The answer to a tool's question.
    Question(oneshot::Sender<String>),
}

/// The transient state of one conversation.
pub(crate) struct Session {
    of: ConversationId,
    /// The events of its runs.
    pub(crate) feed: Arc<Feed>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    machine: retake_core::Session,
    waiting: HashMap<Ticket, oneshot::Sender<()>>,
    asked: HashMap<String, AnswerDestination>,
    listeners: Vec<Listener>,
}

impl State {
    /// Sends a command to the machine, and wakes the callers that it names. Also returns whether a waiting run must be looked up.
    fn handle(&mut self, command: Command) -> (Answer, bool) {
        let handled = self.machine.handle(command);
        for ticket in handled.wake {
            if let Some(waiting) = self.waiting.remove(&ticket) {
                // A caller that has gone returns its ticket.
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

    /// Sends a command. If its answer is a wait, the receiver is notified at the end; both happen in one step.
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

    async fn wait(&self, until: WaitCondition) {
        let (ticket, over) = self.begin(Command::Wait(until));
        let Some((ticket, over)) = ticket.zip(over) else { return };
        let _waiting = Waiting { session: self, ticket };
        // The sender stays in the session until the wait is over.
        drop(over.await);
    }

    async fn access(self: &Arc<Self>, access: Access) -> SessionAccess {
        let (ticket, over) = self.begin(Command::Access(access));
        let ticket = ticket.expect("BUG: a session answers a request for access with a ticket");
        // Created before access is granted, so that a caller that goes away in between releases it.
        let accessing = SessionAccess { session: Arc::clone(self), ticket };
        if let Some(over) = over {
            drop(over.await);
        }
        accessing
    }

    /// Registers a request for a person. The first answer counts.
    fn ask(&self, id: &str, asked: AnswerDestination) {
        let mut state = self.state();
        state.handle(Command::Ask(id.to_owned()));
        state.asked.insert(id.to_owned(), asked);
    }

    /// Closes a request. Returns the destination of its answer, if nobody has answered yet.
    fn settle(&self, id: &str, is: impl Fn(&AnswerDestination) -> bool) -> Option<AnswerDestination> {
        let mut state = self.state();
        if !state.asked.get(id).is_some_and(is) {
            return None;
        }
        state.handle(Command::Settle(id.to_owned()));
        state.asked.remove(id)
    }

    /// Tells the subscribers that an answer was accepted; an error if it came too late.
    fn settled(&self, id: &str, is_sent: bool) -> Result<()> {
        if !is_sent {
            return Err(EngineError::new(Kind::NotFound, "not_asked", "this question is no longer open"));
        }
        self.feed.tell(&RunEvent::Settled(id.to_owned()));
        Ok(())
    }

    /// Waits until a question has been answered or withdrawn.
    pub(crate) async fn until_settled(&self, id: &str) {
        self.wait(WaitCondition::Settled(id.to_owned())).await;
    }

    /// Requests an approval for a call.
    pub(crate) fn ask_approval(&self, id: &str, inbox: mpsc::UnboundedSender<Inbox>) {
        self.ask(id, AnswerDestination::Approval(inbox));
    }

    /// Withdraws an approval request.
    pub(crate) fn withdraw_approval(&self, id: &str) {
        self.settle(id, |asked| matches!(asked, AnswerDestination::Approval(_)));
    }

    /// Registers a tool's question; returns the answer's receiver, and a guard that withdraws the question when it is dropped.
    pub(crate) fn ask_question(self: &Arc<Self>, id: String) -> (OpenQuestion, oneshot::Receiver<String>) {
        let (sender, receiver) = oneshot::channel();
        self.ask(&id, AnswerDestination::Question(sender));
        (OpenQuestion { session: Arc::clone(self), id }, receiver)
    }

    /// Reads or changes the list of clients whose messages wait.
    pub(crate) fn listeners<T>(&self, look: impl FnOnce(&mut Vec<Listener>) -> T) -> T {
        look(&mut self.state().listeners)
    }
}

/// A caller that waits, until this is dropped.
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

/// Access to a conversation, or a place in the queue for it.
#[must_use = "access is held only while this lives"]
pub(crate) struct SessionAccess {
    session: Arc<Session>,
    ticket: Ticket,
}

impl Drop for SessionAccess {
    fn drop(&mut self) {
        let mut state = self.session.state();
        state.waiting.remove(&self.ticket);
        state.handle(Command::EndAccess(self.ticket));
    }
}

/// A question that waits for a person's answer.
#[must_use = "the question is asked only while this lives"]
pub(crate) struct OpenQuestion {
    session: Arc<Session>,
    id: String,
}

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        self.session.settle(&self.id, |asked| matches!(asked, AnswerDestination::Question(_)));
    }
}

/// A plan of files that is being carried out in a conversation: its subscribers get no events until its end.
#[must_use = "the plan is open only while this lives"]
pub(crate) struct OpenPlan(Arc<Session>);

impl Drop for OpenPlan {
    fn drop(&mut self) {
        self.0.handle(Command::ClosePlan);
    }
}

/// While this lives, nobody appends to the conversation, and nothing else can claim it.
#[must_use = "others are kept out only while this lives"]
pub(crate) struct ExclusiveClaim {
    _access: SessionAccess,
    _claim: Claim,
}

/// The only claim of a conversation: for a run, or for a step with files.
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

    /// Sets the requests that the run at work answers; `None` if it is over.
    pub(crate) fn serves(&self, requests: Option<Vec<AnsweredRequest>>) {
        self.session.handle(Command::Serve(self.ticket, requests));
    }

    /// Another run continues with this claim: a request to stop the earlier one ends.
    pub(crate) fn hand_on(&self) {
        self.session.handle(Command::HandOn(self.ticket));
    }

    /// Begins to look for a waiting run. Returns whether it may be started.
    pub(crate) fn begin_look(&self) -> bool {
        self.session.handle(Command::BeginLook(self.ticket)) == Answer::Done
    }

    /// Waits until the run is asked to stop. Each request is delivered once.
    pub(crate) async fn stopped(&self) {
        while self.session.handle(Command::TakeStop(self.ticket)) != Answer::Done {
            self.session.wait(WaitCondition::Stopped(self.ticket)).await;
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

/// While this lives, waiting runs are not started.
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

/// All sessions that are in use or not idle.
#[derive(Default)]
pub(crate) struct Sessions(Mutex<Table>);

#[derive(Default)]
struct Table {
    all: HashMap<ConversationId, Arc<Session>>,
    /// The number of sessions at which idle ones are removed.
    full: usize,
}

/// Up to this number, idle sessions are not removed.
const FEW: usize = 64;

impl Sessions {
    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The session of a conversation; a new one if there is none.
    fn get(&self, of: ConversationId) -> Arc<Session> {
        let mut table = self.table();
        if table.all.len() > table.full.max(FEW) {
            table.all.retain(|_, session| Arc::strong_count(session) > 1 || !session.is_at_rest());
            table.full = 2 * table.all.len();
        }
        Arc::clone(table.all.entry(of).or_insert_with(|| Arc::new(Session::new(of))))
    }

    /// Reads a session, if there is one.
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

    /// The conversations with a claim.
    pub fn running(&self) -> Vec<ConversationId> {
        let all: Vec<Arc<Session>> = self.sessions.table().all.values().map(Arc::clone).collect();
        let claimed = all.into_iter().filter(|session| session.state().machine.is_claimed());
        claimed.map(|session| session.of).collect()
    }

    /// Asks the run of a conversation to stop. Returns whether there was one.
    pub fn cancel(&self, of: ConversationId) -> bool {
        self.session(of).handle(Command::Stop) == Answer::Done
    }

    /// Claims a conversation for a run.
    pub(crate) fn claim(self: &Arc<Self>, of: ConversationId) -> Result<Claim> {
        let refused = || if self.is_closed() { EngineError::leaving() } else { EngineError::running() };
        self.claim_by(of, Command::Claim).ok_or_else(refused)
    }

    /// Claims a conversation to look for a waiting run. If it is already claimed, the holder looks at its end.
    pub(crate) fn claim_to_look(self: &Arc<Self>, of: ConversationId) -> Option<Claim> {
        self.claim_by(of, Command::Look)
    }

    fn claim_by(self: &Arc<Self>, of: ConversationId, command: Command) -> Option<Claim> {
        if self.is_closed() {
            return None;
        }
        let session = self.session(of);
        let claim = match session.handle(command) {
            Answer::Got(ticket) => Claim { engine: Arc::clone(self), session, ticket },
            _ => return None,
        };
        // Who closes the engine looks for claims after that: one of the two sees the other.
        (!self.is_closed()).then_some(claim)
    }

    /// Claims a conversation exclusively, after waiting until nobody appends to it.
    pub(crate) async fn claim_exclusively(self: &Arc<Self>, of: ConversationId) -> Result<ExclusiveClaim> {
        let claim = self.claim(of)?;
        Ok(ExclusiveClaim { _access: self.exclusive(of).await, _claim: claim })
    }

    /// Waits for exclusive access to a conversation: nobody appends to it while this lives.
    pub(crate) async fn exclusive(&self, of: ConversationId) -> SessionAccess {
        self.session(of).access(Access::Exclusive).await
    }

    /// Waits until nobody has exclusive access.
    pub(crate) async fn shared(&self, of: ConversationId) -> SessionAccess {
        self.session(of).access(Access::Shared).await
    }

    /// The request with this id that the run at work answers.
    pub(crate) fn serving(&self, of: ConversationId, request: &RequestId) -> Option<AnsweredRequest> {
        self.sessions.look(of, |session| session.serving(request).cloned())?
    }

    /// The last request that the run at work answers.
    pub(crate) fn served_last(&self, of: ConversationId) -> Option<RequestId> {
        self.sessions.look(of, |session| session.served()?.last()?.by.request.clone())?
    }

    /// Whether a run is at work that answers requests.
    pub(crate) fn is_at_work(&self, of: ConversationId) -> bool {
        self.sessions.look(of, |session| session.served().is_some()).unwrap_or(false)
    }

    /// Waits until a conversation is not claimed, or a run is at work there.
    pub(crate) async fn until_known(&self, of: ConversationId) {
        self.session(of).wait(WaitCondition::Known).await;
    }

    /// Waits until a conversation is not claimed.
    pub(crate) async fn until_idle(&self, of: ConversationId) {
        self.session(of).wait(WaitCondition::Idle).await;
    }

    /// Keeps waiting runs from being started while this lives.
    pub(crate) fn halting(&self, of: ConversationId) -> Halting {
        let session = self.session(of);
        match session.handle(Command::Halt) {
            Answer::Got(ticket) => Halting { session, ticket },
            answer => unreachable!("BUG: a session answers a halt with {answer:?}"),
        }
    }

    /// Records the request for which a run is halted: what the run compensates at its end belongs to this request.
    pub(crate) fn halted_for(&self, of: ConversationId, by: ChangeOrigin) {
        self.session(of).handle(Command::HaltFor(by));
    }

    /// Takes the request for which the run was halted, and which must compensate its beginning.
    pub(crate) fn take_halt_request(&self, of: ConversationId) -> Option<ChangeOrigin> {
        match self.session(of).handle(Command::TakeHaltRequest) {
            Answer::Request(by) => by,
            _ => None,
        }
    }

    /// Begins a plan of files in a conversation, until this is dropped.
    pub(crate) fn open_plan(&self, of: ConversationId) -> OpenPlan {
        let session = self.session(of);
        session.handle(Command::OpenPlan);
        OpenPlan(session)
    }

    /// Whether a plan of files is being carried out in a conversation. State that was read before a `false` contains no
    /// unfinished step.
    pub fn has_open_plan(&self, of: ConversationId) -> bool {
        self.sessions.look(of, retake_core::Session::has_open_plan).unwrap_or(false)
    }

    /// Waits until no plan of files is being carried out in a conversation.
    pub async fn plans_closed(&self, of: ConversationId) {
        if self.has_open_plan(of) {
            self.session(of).wait(WaitCondition::PlansClosed).await;
        }
    }

    /// Decides a call that waits for an approval. The first answer counts.
    pub fn decide(&self, of: ConversationId, id: &str, decision: Decision) -> Result<()> {
        let session = self.session(of);
        let is_sent = match session.settle(id, |asked| matches!(asked, AnswerDestination::Approval(_))) {
            Some(AnswerDestination::Approval(inbox)) => {
                inbox.send(Inbox::Decided(id.to_owned(), decision)).is_ok()
            }
            _ => false,
        };
        session.settled(id, is_sent)
    }

    /// Answers a tool's question. The first answer counts.
    pub fn respond(&self, of: ConversationId, id: &str, answer: String) -> Result<()> {
        let session = self.session(of);
        let is_sent = match session.settle(id, |asked| matches!(asked, AnswerDestination::Question(_))) {
            Some(AnswerDestination::Question(sender)) => sender.send(answer).is_ok(),
            _ => false,
        };
        session.settled(id, is_sent)
    }
}

#[cfg(test)]
mod tests;
