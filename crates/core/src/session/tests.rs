//! A session compared with the rules of its waits: which access is granted to whom, and that nobody waits for a
//! true condition.

use proptest::prelude::*;

use super::*;

fn by(number: u8) -> ChangeOrigin {
    ChangeOrigin { author: number.to_string(), ..ChangeOrigin::default() }
}

fn got(answer: &SessionAnswer) -> Option<Ticket> {
    match answer {
        SessionAnswer::Got(ticket) => Some(*ticket),
        _ => None,
    }
}

#[test]
fn a_conversation_is_claimed_once() {
    let mut session = Session::default();
    let claim = got(&session.handle(SessionCommand::Claim).answer).expect("claimed");
    assert_eq!(session.handle(SessionCommand::Claim).answer, SessionAnswer::No);
    let release = session.handle(SessionCommand::Release(claim));
    assert!(!release.look && release.answer == SessionAnswer::Done);
    assert_eq!(session.handle(SessionCommand::Release(claim)).answer, SessionAnswer::No, "once");
    assert!(session.is_at_rest());
}

#[test]
fn a_look_at_a_claimed_conversation_is_made_up_for_when_the_claim_ends() {
    let mut session = Session::default();
    let claim = got(&session.handle(SessionCommand::Claim).answer).expect("claimed");
    assert_eq!(session.handle(SessionCommand::Look).answer, SessionAnswer::No);
    assert!(session.handle(SessionCommand::Release(claim)).look);
    let claim = got(&session.handle(SessionCommand::Look).answer).expect("claimed");
    assert_eq!(session.handle(SessionCommand::BeginLook(claim)).answer, SessionAnswer::Done);
    assert!(!session.handle(SessionCommand::Release(claim)).look, "it has looked itself");
}

#[test]
fn a_request_to_stop_is_noticed_once_and_not_by_the_next_run() {
    let mut session = Session::default();
    let claim = got(&session.handle(SessionCommand::Claim).answer).expect("claimed");
    let SessionAnswer::Waits(waits) =
        session.handle(SessionCommand::Wait(WaitCondition::Stopped(claim))).answer
    else {
        panic!("nobody has asked")
    };
    assert_eq!(session.handle(SessionCommand::Stop).wake, [waits]);
    assert_eq!(session.handle(SessionCommand::TakeStop(claim)).answer, SessionAnswer::Done);
    assert_eq!(session.handle(SessionCommand::TakeStop(claim)).answer, SessionAnswer::No);
    session.handle(SessionCommand::Stop).wake.clear();
    session.handle(SessionCommand::HandOn(claim)).wake.clear();
    assert_eq!(session.handle(SessionCommand::TakeStop(claim)).answer, SessionAnswer::No);
}

#[test]
fn a_halt_hands_its_request_to_the_run_that_stops() {
    let mut session = Session::default();
    let halt = got(&session.handle(SessionCommand::Halt).answer).expect("halted");
    assert_eq!(session.handle(SessionCommand::TakeHaltRequest).answer, SessionAnswer::Request(None));
    assert_eq!(session.handle(SessionCommand::HaltFor(by(7))).answer, SessionAnswer::Done);
    assert_eq!(session.handle(SessionCommand::TakeHaltRequest).answer, SessionAnswer::Request(Some(by(7))));
    assert_eq!(session.handle(SessionCommand::TakeHaltRequest).answer, SessionAnswer::Request(None));
    let claim = got(&session.handle(SessionCommand::Claim).answer).expect("claimed");
    assert_eq!(session.handle(SessionCommand::BeginLook(claim)).answer, SessionAnswer::No, "it is halted");
    assert_eq!(session.handle(SessionCommand::EndHalt(halt)).answer, SessionAnswer::Done);
    assert_eq!(session.handle(SessionCommand::BeginLook(claim)).answer, SessionAnswer::Done);
}

#[test]
fn the_first_answer_to_a_question_counts() {
    let mut session = Session::default();
    let id = || "call-1".to_owned();
    assert_eq!(session.handle(SessionCommand::Ask(id())).answer, SessionAnswer::Done);
    let SessionAnswer::Waits(waits) =
        session.handle(SessionCommand::Wait(WaitCondition::Settled(id()))).answer
    else {
        panic!("nobody has answered")
    };
    let first = session.handle(SessionCommand::Settle(id()));
    assert_eq!((first.answer, first.wake), (SessionAnswer::Done, vec![waits]));
    assert_eq!(session.handle(SessionCommand::Settle(id())).answer, SessionAnswer::No);
}

/// The state of a random walk: its tickets by kind.
#[derive(Default)]
struct Walk {
    session: Session,
    claims: Vec<Ticket>,
    held: Vec<(Ticket, Access)>,
    queued: Vec<(Ticket, Access)>,
    waiting: Vec<(Ticket, WaitCondition)>,
}

impl Walk {
    fn command(&mut self, kind: u8, pick: usize) -> Option<SessionCommand> {
        let claim = self.claims.get(pick % self.claims.len().max(1)).copied();
        Some(match kind % 16 {
            0 => SessionCommand::Claim,
            1 => SessionCommand::Serve(claim?, Some(Vec::new())),
            2 => SessionCommand::Serve(claim?, None),
            3 => SessionCommand::Release(claim?),
            4 => SessionCommand::Stop,
            5 => SessionCommand::TakeStop(claim?),
            6 => SessionCommand::Access(Access::Shared),
            7 => SessionCommand::Access(Access::Exclusive),
            8 => {
                let all: Vec<_> = self.held.iter().chain(&self.queued).collect();
                SessionCommand::EndAccess(all.get(pick % all.len().max(1))?.0)
            }
            9 => SessionCommand::OpenPlan,
            10 if self.session.plans > 0 => SessionCommand::ClosePlan,
            11 => SessionCommand::GiveUp(self.waiting.get(pick % self.waiting.len().max(1))?.0),
            12 => SessionCommand::Ask(pick.to_string()),
            13 => SessionCommand::Settle(pick.to_string()),
            14 => SessionCommand::Look,
            15 => SessionCommand::Wait(match pick % 5 {
                0 => WaitCondition::Idle,
                1 => WaitCondition::Known,
                2 => WaitCondition::PlansClosed,
                3 => WaitCondition::Stopped(claim?),
                _ => WaitCondition::Settled(pick.to_string()),
            }),
            _ => return None,
        })
    }

    fn step(&mut self, command: SessionCommand) {
        let CommandResult { answer, wake, .. } = self.session.handle(command.clone());
        match (&command, &answer) {
            (SessionCommand::Claim | SessionCommand::Look, SessionAnswer::Got(ticket)) => {
                self.claims.push(*ticket);
            }
            (SessionCommand::Access(access), SessionAnswer::Got(ticket)) => {
                self.held.push((*ticket, *access));
            }
            (SessionCommand::Access(access), SessionAnswer::Waits(ticket)) => {
                self.queued.push((*ticket, *access));
            }
            (SessionCommand::Wait(until), SessionAnswer::Waits(ticket)) => {
                self.waiting.push((*ticket, until.clone()));
            }
            (SessionCommand::EndAccess(ticket), _) => {
                self.held.retain(|(held, _)| held != ticket);
                self.queued.retain(|(queued, _)| queued != ticket);
            }
            (SessionCommand::GiveUp(ticket), _) => self.waiting.retain(|(waits, _)| waits != ticket),
            _ => {}
        }
        for woken in wake {
            if let Some(at) = self.queued.iter().position(|(queued, _)| *queued == woken) {
                // Access is granted in the order of requests.
                assert_eq!(at, 0, "{command:?} let {woken:?} overtake");
                self.held.push(self.queued.remove(at));
            } else {
                let at = self.waiting.iter().position(|(waits, _)| *waits == woken);
                let (_, until) = self.waiting.remove(at.expect("who is woken has waited"));
                assert!(self.session.is_so(&until), "{command:?} woke for {until:?}");
            }
        }
    }

    fn check(&self) {
        let alone = self.held.iter().any(|(_, access)| *access == Access::Exclusive);
        assert!(!alone || self.held.len() == 1, "somebody is beside exclusive access");
        for (ticket, until) in &self.waiting {
            assert!(!self.session.is_so(until), "{ticket:?} waits for {until:?}, which is so");
        }
        let first = self.queued.first().map(|(_, access)| *access);
        let could = match first {
            Some(Access::Shared) => !alone,
            Some(Access::Exclusive) => self.held.is_empty(),
            None => false,
        };
        assert!(!could, "the first of the queue could have access");
    }
}

/// The command that ends the effect of another one.
type End = fn(Ticket) -> SessionCommand;

/// Everything that a session remembers, one at a time, and the command that ends it.
#[test]
fn a_session_is_at_rest_when_it_has_nothing_to_remember() {
    let pairs: [(SessionCommand, End); 7] = [
        (SessionCommand::Claim, SessionCommand::Release),
        (SessionCommand::Look, SessionCommand::Release),
        (SessionCommand::Halt, SessionCommand::EndHalt),
        (SessionCommand::Access(Access::Shared), SessionCommand::EndAccess),
        (SessionCommand::Access(Access::Exclusive), SessionCommand::EndAccess),
        (SessionCommand::OpenPlan, |_| SessionCommand::ClosePlan),
        (SessionCommand::Ask("q".into()), |_| SessionCommand::Settle("q".into())),
    ];
    for (begin, end) in pairs {
        let mut session = Session::default();
        assert!(session.is_at_rest());
        let what = format!("{begin:?}");
        let ticket = got(&session.handle(begin).answer).unwrap_or(Ticket(0));
        assert!(!session.is_at_rest(), "{what}");
        session.handle(end(ticket)).wake.clear();
        assert!(session.is_at_rest(), "{what}");
    }
    let mut session = Session::default();
    let first = got(&session.handle(SessionCommand::Access(Access::Exclusive)).answer).expect("free");
    let SessionAnswer::Waits(second) = session.handle(SessionCommand::Access(Access::Shared)).answer else {
        panic!("it is held")
    };
    assert_ne!(first, second);
    assert_eq!(session.handle(SessionCommand::EndAccess(first)).wake, [second]);
    session.handle(SessionCommand::EndAccess(second)).wake.clear();
    assert!(session.is_at_rest());
}

#[test]
fn commands_of_a_claim_that_is_over_have_no_effect() {
    let mut session = Session::default();
    let old = got(&session.handle(SessionCommand::Claim).answer).expect("claimed");
    session.handle(SessionCommand::Release(old)).wake.clear();
    let now = got(&session.handle(SessionCommand::Claim).answer).expect("claimed");
    assert!(session.is_claimed() && old != now);
    session.handle(SessionCommand::Stop).wake.clear();
    for command in [
        SessionCommand::Serve(old, Some(Vec::new())),
        SessionCommand::HandOn(old),
        SessionCommand::TakeStop(old),
        SessionCommand::Release(old),
    ] {
        let what = format!("{command:?}");
        assert_eq!(session.handle(command).answer, SessionAnswer::No, "{what}");
    }
    assert_eq!(session.served(), None);
    assert_eq!(session.handle(SessionCommand::Wait(WaitCondition::Stopped(now))).answer, SessionAnswer::Done);
    assert_eq!(session.handle(SessionCommand::HandOn(now)).answer, SessionAnswer::Done);
    assert!(matches!(
        session.handle(SessionCommand::Wait(WaitCondition::Stopped(now))).answer,
        SessionAnswer::Waits(_)
    ));
}

#[test]
fn a_run_says_which_requests_it_serves() {
    let mut session = Session::default();
    let claim = got(&session.handle(SessionCommand::Claim).answer).expect("claimed");
    let SessionAnswer::Waits(waits) = session.handle(SessionCommand::Wait(WaitCondition::Known)).answer
    else {
        panic!("nobody knows yet")
    };
    let request = |text: &str| text.parse::<RequestId>().expect("an id");
    let serves = ["r1", "r2"]
        .map(|id| AnsweredRequest { by: ChangeOrigin { request: Some(request(id)), ..by(1) }, began: None });
    let handled = session.handle(SessionCommand::Serve(claim, Some(serves.to_vec())));
    assert_eq!((handled.answer, handled.wake), (SessionAnswer::Done, vec![waits]));
    assert_eq!(session.served(), Some(&serves[..]));
    assert_eq!(session.serving(&request("r2")), Some(&serves[1]));
    assert_eq!(session.serving(&request("r3")), None);
    session.handle(SessionCommand::Release(claim)).wake.clear();
    assert_eq!((session.served(), session.serving(&request("r2"))), (None, None));
}

#[test]
fn plans_are_counted_until_all_are_closed() {
    let mut session = Session::default();
    for command in [SessionCommand::OpenPlan, SessionCommand::OpenPlan, SessionCommand::ClosePlan] {
        assert_eq!(session.handle(command).answer, SessionAnswer::Done);
        assert!(session.has_open_plan());
    }
    let SessionAnswer::Waits(waits) = session.handle(SessionCommand::Wait(WaitCondition::PlansClosed)).answer
    else {
        panic!("one is open")
    };
    assert_eq!(session.handle(SessionCommand::ClosePlan).wake, [waits]);
    assert!(!session.has_open_plan() && !session.is_claimed());
    assert_eq!(session.handle(SessionCommand::Wait(WaitCondition::PlansClosed)).answer, SessionAnswer::Done);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// In no order of commands does a caller wait for a condition that is true already, and none is woken for a
    /// false one.
    #[test]
    fn no_wake_up_is_lost_in_any_order_of_commands(
        steps in prop::collection::vec((any::<u8>(), 0..6_usize), 1..80)
    ) {
        let mut walk = Walk::default();
        for (kind, pick) in steps {
            if let Some(command) = walk.command(kind, pick) {
                walk.step(command);
                walk.check();
            }
        }
    }
}
