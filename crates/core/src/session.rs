//! The decisions of one conversation's session: claims, waits, and open questions.
//!
//! A pure machine. It takes one command at a time and answers at once; the effects are in the answer as data. A waiting caller
//! has a [`Ticket`]; the machine names the tickets to wake in the same step that makes their condition true, so that no wake-up
//! can be lost.

use std::collections::{BTreeSet, VecDeque};

use crate::{ChangeOrigin, Receipt, RequestId};

/// Names a claim, an access, a halt or a waiting caller. Unique within a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(u64);

/// A request that the run at work answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnsweredRequest {
    /// The request, and its author.
    pub by: ChangeOrigin,
    /// The receipt of the run's beginning.
    pub began: Option<Receipt>,
}

/// How a caller accesses the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Together with other callers with shared access.
    Shared,
    /// Alone.
    Exclusive,
}

/// The condition that a caller waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WaitCondition {
    /// The conversation is not claimed.
    Idle,
    /// It is not claimed, or the requests of the claim are known.
    Known,
    /// No plan of files is being carried out.
    PlansClosed,
    /// The run with this claim was asked to stop.
    Stopped(Ticket),
    /// The question with this id has been answered or withdrawn.
    Settled(String),
}

/// A command to a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionCommand {
    /// Claim the conversation for a run or for a step of files.
    Claim,
    /// The claim is at work for these requests; `None` when it serves none any more.
    Serve(Ticket, Option<Vec<AnsweredRequest>>),
    /// Another run continues with the claim: a stop request was for the one before.
    HandOn(Ticket),
    /// Release the claim.
    Release(Ticket),
    /// Ask the run at work to stop.
    Stop,
    /// The run with this claim has received its stop request.
    TakeStop(Ticket),
    /// Start no waiting run until the halt ends.
    Halt,
    /// End a halt.
    EndHalt(Ticket),
    /// The run's compensation at its stop belongs to this request.
    HaltFor(ChangeOrigin),
    /// Take the request of a halt.
    TakeHaltRequest,
    /// Look for a waiting run: claim the conversation, or let the present claim look when it ends.
    Look,
    /// The claim looks for a waiting run now.
    BeginLook(Ticket),
    /// Get access to append entries.
    Access(Access),
    /// Release an access, or stop waiting for it.
    EndAccess(Ticket),
    /// Wait for a condition.
    Wait(WaitCondition),
    /// Stop waiting.
    GiveUp(Ticket),
    /// A plan of files is being carried out.
    OpenPlan,
    /// It is done.
    ClosePlan,
    /// Open a question for a person with this id.
    Ask(String),
    /// Answer or withdraw the question with this id.
    Settle(String),
}

/// The answer to a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionAnswer {
    /// Done, or the condition is already true.
    Done,
    /// Refused or without effect: the conversation is claimed, nothing runs, or the question is no longer open.
    No,
    /// Done, with this ticket.
    Got(Ticket),
    /// The caller waits until this ticket is woken.
    Waits(Ticket),
    /// The requested request.
    Request(Option<ChangeOrigin>),
}

/// The result of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use = "who is to be woken is in it"]
pub struct CommandResult {
    /// The answer.
    pub answer: SessionAnswer,
    /// Callers whose condition became true, in this order.
    pub wake: Vec<Ticket>,
    /// Whether a waiting run must be looked up, because the ended claim prevented that.
    pub look: bool,
}

#[derive(Debug)]
struct Claim {
    ticket: Ticket,
    serves: Option<Vec<AnsweredRequest>>,
    stop: bool,
}

/// The transient state of one conversation.
#[derive(Debug, Default)]
pub struct Session {
    last: u64,
    claim: Option<Claim>,
    halts: Vec<(Ticket, Option<ChangeOrigin>)>,
    /// Whether a waiting run was looked up since the claim last did.
    looked: bool,
    holders: Vec<(Ticket, Access)>,
    queue: VecDeque<(Ticket, Access)>,
    waiting: Vec<(Ticket, WaitCondition)>,
    plans: usize,
    questions: BTreeSet<String>,
}

impl Session {
    /// Carries out a command.
    pub fn handle(&mut self, command: SessionCommand) -> CommandResult {
        let (mut wake, mut look) = (Vec::new(), false);
        let answer = match command {
            SessionCommand::Claim => self.claim(),
            SessionCommand::Look => {
                self.looked = true;
                self.claim()
            }
            SessionCommand::BeginLook(ticket) => {
                self.looked &= !self.has_claim(ticket);
                if self.halts.is_empty() { SessionAnswer::Done } else { SessionAnswer::No }
            }
            SessionCommand::Release(ticket) if self.has_claim(ticket) => {
                self.claim = None;
                look = std::mem::take(&mut self.looked);
                SessionAnswer::Done
            }
            SessionCommand::Serve(..)
            | SessionCommand::HandOn(_)
            | SessionCommand::Release(_)
            | SessionCommand::Stop
            | SessionCommand::TakeStop(_) => self.of_claim(command),
            SessionCommand::Halt => {
                let ticket = self.ticket();
                self.halts.push((ticket, None));
                SessionAnswer::Got(ticket)
            }
            SessionCommand::EndHalt(ticket) => {
                self.halts.retain(|(halt, _)| *halt != ticket);
                SessionAnswer::Done
            }
            SessionCommand::HaltFor(by) => {
                self.halts.last_mut().into_iter().for_each(|(_, asked)| *asked = Some(by.clone()));
                SessionAnswer::Done
            }
            SessionCommand::TakeHaltRequest => {
                SessionAnswer::Request(self.halts.iter_mut().find_map(|(_, by)| by.take()))
            }
            SessionCommand::Access(access) => {
                let ticket = self.ticket();
                self.queue.push_back((ticket, access));
                match self.grant().contains(&ticket) {
                    true => SessionAnswer::Got(ticket),
                    false => SessionAnswer::Waits(ticket),
                }
            }
            SessionCommand::EndAccess(ticket) => {
                self.holders.retain(|(held, _)| *held != ticket);
                self.queue.retain(|(waits, _)| *waits != ticket);
                wake = self.grant();
                SessionAnswer::Done
            }
            SessionCommand::Wait(until) if self.is_so(&until) => SessionAnswer::Done,
            SessionCommand::Wait(until) => {
                let ticket = self.ticket();
                self.waiting.push((ticket, until));
                SessionAnswer::Waits(ticket)
            }
            SessionCommand::GiveUp(ticket) => {
                self.waiting.retain(|(waits, _)| *waits != ticket);
                SessionAnswer::Done
            }
            SessionCommand::OpenPlan => {
                self.plans += 1;
                SessionAnswer::Done
            }
            SessionCommand::ClosePlan => {
                self.plans = self.plans.saturating_sub(1);
                SessionAnswer::Done
            }
            SessionCommand::Ask(id) => yes(self.questions.insert(id)),
            SessionCommand::Settle(id) => yes(self.questions.remove(&id)),
        };
        wake.extend(self.no_longer_waiting());
        CommandResult { answer, wake, look }
    }

    /// Commands for the current claim; for an ended one they have no effect.
    fn of_claim(&mut self, command: SessionCommand) -> SessionAnswer {
        let Some(claim) = &mut self.claim else { return SessionAnswer::No };
        match command {
            SessionCommand::Serve(ticket, serves) if claim.ticket == ticket => claim.serves = serves,
            SessionCommand::HandOn(ticket) if claim.ticket == ticket => claim.stop = false,
            SessionCommand::Stop => claim.stop = true,
            SessionCommand::TakeStop(ticket) if claim.ticket == ticket && claim.stop => claim.stop = false,
            _ => return SessionAnswer::No,
        }
        SessionAnswer::Done
    }

    fn ticket(&mut self) -> Ticket {
        self.last += 1;
        Ticket(self.last)
    }

    fn claim(&mut self) -> SessionAnswer {
        if self.claim.is_some() {
            return SessionAnswer::No;
        }
        let ticket = self.ticket();
        self.claim = Some(Claim { ticket, serves: None, stop: false });
        SessionAnswer::Got(ticket)
    }

    fn has_claim(&self, ticket: Ticket) -> bool {
        self.claim.as_ref().is_some_and(|claim| claim.ticket == ticket)
    }

    /// Grants access in the order of requests, as far as possible now. Returns the granted tickets.
    fn grant(&mut self) -> Vec<Ticket> {
        let mut granted = Vec::new();
        while let Some((ticket, access)) = self.queue.front().copied() {
            let is_free = match access {
                Access::Shared => self.holders.iter().all(|(_, held)| *held == Access::Shared),
                Access::Exclusive => self.holders.is_empty(),
            };
            if !is_free {
                break;
            }
            self.queue.pop_front();
            self.holders.push((ticket, access));
            granted.push(ticket);
        }
        granted
    }

    fn is_so(&self, until: &WaitCondition) -> bool {
        match until {
            WaitCondition::Idle => self.claim.is_none(),
            WaitCondition::Known => self.claim.as_ref().is_none_or(|claim| claim.serves.is_some()),
            WaitCondition::PlansClosed => self.plans == 0,
            // Nobody stops a run that is over.
            WaitCondition::Stopped(ticket) => {
                self.claim.as_ref().is_some_and(|claim| claim.ticket == *ticket && claim.stop)
            }
            WaitCondition::Settled(id) => !self.questions.contains(id),
        }
    }

    /// Callers whose condition is true now; they are removed.
    fn no_longer_waiting(&mut self) -> Vec<Ticket> {
        let waiting = std::mem::take(&mut self.waiting);
        let (over, still): (Vec<_>, Vec<_>) = waiting.into_iter().partition(|(_, until)| self.is_so(until));
        self.waiting = still;
        over.into_iter().map(|(ticket, _)| ticket).collect()
    }

    /// Whether the conversation is claimed.
    pub fn is_claimed(&self) -> bool {
        self.claim.is_some()
    }

    /// The requests that the run at work answers; `None` while no run is at work.
    pub fn served(&self) -> Option<&[AnsweredRequest]> {
        self.claim.as_ref()?.serves.as_deref()
    }

    /// The request with this id that the run at work answers.
    pub fn serving(&self, request: &RequestId) -> Option<&AnsweredRequest> {
        self.served()?.iter().find(|served| served.by.request.as_ref() == Some(request))
    }

    /// Whether a plan of files is being carried out.
    pub fn has_open_plan(&self) -> bool {
        self.plans > 0
    }

    /// Whether there is nothing to remember: a new session would be equal.
    pub fn is_at_rest(&self) -> bool {
        self.claim.is_none()
            && self.halts.is_empty()
            && !self.looked
            && self.holders.is_empty()
            && self.queue.is_empty()
            && self.waiting.is_empty()
            && self.plans == 0
            && self.questions.is_empty()
    }
}

fn yes(is: bool) -> SessionAnswer {
    if is { SessionAnswer::Done } else { SessionAnswer::No }
}

#[cfg(test)]
mod tests;
