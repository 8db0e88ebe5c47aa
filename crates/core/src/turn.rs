//! A turn, as a state machine: the model answers, its calls run or are refused, the model is asked again, until it requests no
//! more calls. It only decides; the engine carries the effects out and reports the results.
//!
//! Calls begin in the order in which they were requested. Independent calls run in parallel; any other one waits for all before
//! it, and all after it wait for it. The intent of a call is determined when it is next, because earlier calls may change it.
//! Approval is requested for one call at a time.
//!
//! A call that was made several times in a row, always with the same result, is not run again: see [`repeats`].

mod repeats;

use self::repeats::Repeats;
use crate::permission::Ruling;

pub use repeats::SAME_RESULTS;

/// The digest of a call or of its result.
pub type CallPrint = [u8; 16];

/// A requested call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallAsked {
    /// Its id.
    pub id: String,
    /// Whether it may run in parallel with others of this kind.
    pub beside: bool,
    /// The digest of tool and arguments. `None` for a call that may be repeated without limit, such as one that looks whether
    /// something has ended.
    pub print: Option<CallPrint>,
}

/// An input for a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnInput {
    /// It begins.
    Begin,
    /// An answer is stored, with these calls.
    Answered(Vec<CallAsked>),
    /// The model gave no complete answer; its part is stored.
    Broken,
    /// The call's intent is known, with this ruling.
    Settled(String, Ruling),
    /// A person allows the call.
    Allowed(String),
    /// A person denies it.
    Denied(String),
    /// The call's result is stored. Its digest is `None` if it is not known, or if the call changed files.
    Ended(String, Option<CallPrint>),
    /// A person's message became part of the turn: what was tried before may be tried again.
    Joined,
    /// Somebody stops it.
    Stop,
    /// Its fence is no longer valid: a rewind, or another owner. Nothing more is stored.
    Fenced,
}

/// An effect to carry out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnEffect {
    /// Call the model, with the messages that arrived meanwhile.
    AskModel,
    /// Determine the call's intent.
    Look(String),
    /// Request an approval for the call.
    RequestApproval(String),
    /// Withdraw the approval request of the call.
    DropApproval(String),
    /// Run the call.
    Run(String),
    /// Store a result that says the call did not run.
    Refuse(String),
    /// The same, because the call repeats the one before it, and its result would be the same.
    RefuseRepeat(String),
    /// End the calls that run. Each still ends with a result.
    StopCalls,
    /// The turn is over.
    Over(TurnEnd),
}

/// How a turn ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnEnd {
    /// The model finished.
    Done,
    /// It was stopped.
    Stopped,
    /// The model failed, or its answer was cut.
    Broken,
    /// The limit of model calls is reached.
    Limit,
    /// The model keeps repeating a call that was refused as a repeat.
    Repeats,
    /// Its fence is no longer valid.
    Fenced,
}

/// The state of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// It waits for earlier calls.
    Waits,
    /// Its intent is being determined.
    Looked,
    /// It waits for an approval.
    Asked,
    /// It runs.
    Runs,
    /// It is being refused.
    Refused,
    /// Its result is stored.
    Over,
}

/// A turn at work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    calls: Vec<(CallAsked, At)>,
    repeats: Repeats,
    asking: bool,
    stopping: bool,
    over: Option<TurnEnd>,
    left: u32,
}

impl Turn {
    /// A turn with this limit of model calls.
    pub fn new(limit: u32) -> Self {
        Self {
            calls: Vec::new(),
            repeats: Repeats::default(),
            asking: false,
            stopping: false,
            over: None,
            left: limit,
        }
    }

    /// Its end, once it is over.
    pub fn is_over(&self) -> Option<TurnEnd> {
        self.over
    }

    /// Makes a step. An input that does not match the state, such as a decision on a withdrawn approval request, does nothing.
    #[must_use = "the effects are to be carried out"]
    pub fn step(&mut self, input: TurnInput) -> Vec<TurnEffect> {
        if self.over.is_some() {
            return Vec::new();
        }
        match input {
            TurnInput::Begin => self.ask(),
            TurnInput::Answered(calls) => {
                self.asking = false;
                self.repeats.answered(&calls);
                self.calls = calls.into_iter().map(|call| (call, At::Waits)).collect();
                match (self.calls.is_empty(), self.stopping) {
                    (true, false) => self.end(TurnEnd::Done),
                    _ => self.go_on(),
                }
            }
            TurnInput::Broken => {
                self.asking = false;
                self.end(if self.stopping { TurnEnd::Stopped } else { TurnEnd::Broken })
            }
            TurnInput::Settled(id, ruling) => self.settled(id, ruling),
            TurnInput::Allowed(id) if self.put(&id, At::Asked, At::Runs) => self.begun(id),
            TurnInput::Denied(id) if self.put(&id, At::Asked, At::Refused) => vec![TurnEffect::Refuse(id)],
            TurnInput::Allowed(_) | TurnInput::Denied(_) => Vec::new(),
            TurnInput::Ended(id, result) => {
                self.repeats.ended(self.number(&id), result);
                if self.put(&id, At::Runs, At::Over) || self.put(&id, At::Refused, At::Over) {
                    return self.go_on();
                }
                Vec::new()
            }
            TurnInput::Joined => {
                self.repeats = Repeats::default();
                Vec::new()
            }
            TurnInput::Stop => self.stop(),
            TurnInput::Fenced => {
                let mut effects = self.let_go();
                effects.extend(self.end(TurnEnd::Fenced));
                effects
            }
        }
    }

    /// Moves a call to another state. Returns whether it was in the first one.
    fn put(&mut self, id: &str, from: At, to: At) -> bool {
        let call = self.calls.iter_mut().find(|(call, at)| call.id == id && *at == from);
        call.map(|(_, at)| *at = to).is_some()
    }

    /// The number of a call in its answer.
    fn number(&self, id: &str) -> Option<usize> {
        self.calls.iter().position(|(call, _)| call.id == id)
    }

    fn settled(&mut self, id: String, ruling: Ruling) -> Vec<TurnEffect> {
        if self.repeats.is_one(self.number(&id)) && self.put(&id, At::Looked, At::Refused) {
            self.repeats.refused(self.number(&id));
            return vec![TurnEffect::RefuseRepeat(id)];
        }
        let to = match ruling {
            Ruling::Allow => At::Runs,
            Ruling::Ask => At::Asked,
            Ruling::Deny => At::Refused,
        };
        if !self.put(&id, At::Looked, to) {
            return Vec::new();
        }
        match ruling {
            Ruling::Allow => self.begun(id),
            Ruling::Ask => vec![TurnEffect::RequestApproval(id)],
            Ruling::Deny => vec![TurnEffect::Refuse(id)],
        }
    }

    /// Begins a call; others may begin in parallel.
    fn begun(&mut self, id: String) -> Vec<TurnEffect> {
        let mut effects = vec![TurnEffect::Run(id)];
        effects.extend(self.go_on());
        effects
    }

    fn ask(&mut self) -> Vec<TurnEffect> {
        if self.left == 0 {
            return self.end(TurnEnd::Limit);
        }
        self.left -= 1;
        self.asking = true;
        vec![TurnEffect::AskModel]
    }

    fn end(&mut self, how: TurnEnd) -> Vec<TurnEffect> {
        self.over = Some(how);
        vec![TurnEffect::Over(how)]
    }

    /// Begins the calls that may begin now; if none is left, continues or ends.
    fn go_on(&mut self) -> Vec<TurnEffect> {
        if self.asking {
            return Vec::new();
        }
        if self.calls.iter().all(|(_, at)| *at == At::Over) {
            return match (self.stopping, self.repeats.are_too_many()) {
                (true, _) => self.end(TurnEnd::Stopped),
                (false, true) => self.end(TurnEnd::Repeats),
                (false, false) => self.ask(),
            };
        }
        let mut effects = Vec::new();
        // Whether all earlier calls are over; and whether those that are not over all run in parallel.
        let (mut clear, mut beside) = (true, true);
        for (call, at) in &mut self.calls {
            if *at == At::Waits && self.stopping {
                *at = At::Refused;
                effects.push(TurnEffect::Refuse(call.id.clone()));
            } else if *at == At::Waits && (clear || (beside && call.beside)) {
                *at = At::Looked;
                effects.push(TurnEffect::Look(call.id.clone()));
            }
            clear &= *at == At::Over;
            beside &= matches!(at, At::Over | At::Refused) || (*at == At::Runs && call.beside);
        }
        effects
    }

    fn stop(&mut self) -> Vec<TurnEffect> {
        if std::mem::replace(&mut self.stopping, true) {
            return Vec::new();
        }
        let mut effects = self.let_go();
        effects.extend(self.go_on());
        effects
    }

    /// Stops running calls, and withdraws approval requests.
    fn let_go(&mut self) -> Vec<TurnEffect> {
        let mut effects = Vec::new();
        for (call, at) in &mut self.calls {
            if *at == At::Asked {
                *at = At::Waits;
                effects.push(TurnEffect::DropApproval(call.id.clone()));
            }
        }
        let runs = self.calls.iter().any(|(_, at)| *at == At::Runs);
        effects.extend(runs.then_some(TurnEffect::StopCalls));
        effects
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Calls as `a` (allowed), `a&` (allowed, in parallel), `a?` (needs an approval), `a!` (denied): all intents are determined
    /// at once.
    fn calls(text: &str) -> Vec<CallAsked> {
        let call = |word: &str| CallAsked {
            id: word.trim_end_matches(['&', '?', '!']).to_owned(),
            beside: word.contains('&'),
            print: None,
        };
        text.split_whitespace().map(call).collect()
    }

    fn told(effects: &[TurnEffect]) -> String {
        let tell = |effect: &TurnEffect| match effect {
            TurnEffect::AskModel => "model".to_owned(),
            TurnEffect::Look(id) => format!("look {id}"),
            TurnEffect::RequestApproval(id) => format!("{id}?"),
            TurnEffect::DropApproval(id) => format!("{id}."),
            TurnEffect::Run(id) => id.clone(),
            TurnEffect::Refuse(id) => format!("{id}!"),
            TurnEffect::RefuseRepeat(id) => format!("{id} again!"),
            TurnEffect::StopCalls => "stop".to_owned(),
            TurnEffect::Over(end) => format!("{end:?}"),
        };
        effects.iter().map(tell).collect::<Vec<_>>().join(" ")
    }

    fn input(word: &str) -> TurnInput {
        match word.split_at(1) {
            ("+", id) => TurnInput::Allowed(id.into()),
            ("-", id) => TurnInput::Denied(id.into()),
            (".", id) => TurnInput::Ended(id.into(), None),
            _ if word == "stop" => TurnInput::Stop,
            _ if word == "fenced" => TurnInput::Fenced,
            _ => TurnInput::Broken,
        }
    }

    /// Makes a step, and rules on the calls according to their names.
    fn step(turn: &mut Turn, asked: &str, input: TurnInput) -> String {
        let mut done = Vec::new();
        let mut todo = std::collections::VecDeque::from(turn.step(input));
        while let Some(effect) = todo.pop_front() {
            let TurnEffect::Look(id) = effect else {
                done.push(effect);
                continue;
            };
            let word = asked.split_whitespace().find(|word| word.trim_end_matches(['&', '?', '!']) == id);
            let ruling = match word.expect("it was asked for") {
                word if word.contains('?') => Ruling::Ask,
                word if word.contains('!') => Ruling::Deny,
                _ => Ruling::Allow,
            };
            todo.extend(turn.step(TurnInput::Settled(id, ruling)));
        }
        told(&done)
    }

    /// After the first answer with these calls: each input, and the expected effects.
    fn check(asked: &str, first: &str, then: &[(&str, &str)]) {
        let mut turn = Turn::new(2);
        assert_eq!(told(&turn.step(TurnInput::Begin)), "model");
        assert_eq!(step(&mut turn, asked, TurnInput::Answered(calls(asked))), first, "{asked}");
        for (word, effects) in then {
            assert_eq!(step(&mut turn, asked, input(word)), *effects, "{asked}: {word}");
        }
    }

    #[test]
    fn the_model_is_asked_until_it_asks_for_nothing() {
        check("", "Done", &[]);
        check("a", "a", &[(".a", "model"), ("broken", "Broken"), (".a", "")]);
        let mut turn = Turn::new(1);
        assert_eq!(told(&turn.step(TurnInput::Begin)), "model");
        assert_eq!(step(&mut turn, "a", TurnInput::Answered(calls("a"))), "a");
        assert_eq!(step(&mut turn, "a", TurnInput::Ended("a".into(), None)), "Limit");
        assert_eq!(turn.is_over(), Some(TurnEnd::Limit));
    }

    #[test]
    fn calls_run_in_order_and_the_harmless_ones_together() {
        check("a b", "a", &[(".a", "b"), (".b", "model")]);
        check("a& b& c d& e&", "a b", &[(".b", ""), (".a", "c"), (".c", "d e"), (".e", ""), (".d", "model")]);
        check("a& b c&", "a", &[(".a", "b"), (".b", "c")]);
    }

    #[test]
    fn approvals_are_requested_one_at_a_time() {
        check("a? b?", "a?", &[("+b", ""), ("+a", "a"), (".a", "b?"), ("-b", "b!"), (".b", "model")]);
        check("a& b?& c&", "a b?", &[(".a", ""), ("+b", "b c"), (".c", ""), (".b", "model")]);
        check("a! b", "a!", &[(".a", "b")]);
        check("a! b&", "a!", &[(".a", "b"), (".b", "model")]);
    }

    #[test]
    fn stop_cancels_calls_and_waits_for_their_results() {
        check(
            "a b c?",
            "a",
            &[("stop", "stop b! c!"), ("stop", ""), (".b", ""), (".c", ""), (".a", "Stopped")],
        );
        check("a?", "a?", &[("stop", "a. a!"), ("+a", ""), (".a", "Stopped")]);
        let mut turn = Turn::new(9);
        assert_eq!(told(&turn.step(TurnInput::Begin)), "model");
        assert_eq!(told(&turn.step(TurnInput::Stop)), "", "whoever asks the model stops it");
        assert_eq!(told(&turn.step(TurnInput::Broken)), "Stopped");
    }

    #[test]
    fn turn_that_lost_its_fence_waits_for_nothing() {
        check("a b?", "a", &[("fenced", "stop Fenced"), (".a", "")]);
        check("a?", "a?", &[("fenced", "a. Fenced")]);
    }

    proptest! {
        /// For any inputs in any order, every call gets at most one result and the turn ends.
        #[test]
        fn every_turn_ends_and_every_call_is_settled_once(
            asked in prop::collection::vec((0u8..3, any::<bool>()), 0..6),
            order in prop::collection::vec((0u8..5, 0usize..6), 0..40),
            stop_at in prop::option::of(0usize..40),
        ) {
            let ruling = |no: usize| [Ruling::Allow, Ruling::Ask, Ruling::Deny][usize::from(asked[no].0)];
            let calls: Vec<CallAsked> = asked.iter().enumerate().map(|(no, (_, beside))| CallAsked {
                id: no.to_string(),
                beside: *beside,
                print: None,
            }).collect();
            let mut turn = Turn::new(1);
            let mut effects = turn.step(TurnInput::Begin);
            effects.extend(turn.step(TurnInput::Answered(calls.clone())));
            for (at, (what, no)) in order.into_iter().enumerate() {
                let id = no.to_string();
                let wild = match what {
                    _ if stop_at == Some(at) => TurnInput::Stop,
                    0 => TurnInput::Allowed(id),
                    1 => TurnInput::Denied(id),
                    2 if no < calls.len() => TurnInput::Settled(id, ruling(no)),
                    // Only a running or refused call gets a result.
                    _ if effects.contains(&TurnEffect::Run(id.clone())) => TurnInput::Ended(id, None),
                    _ => TurnInput::Allowed(id),
                };
                effects.extend(turn.step(wild));
            }
            // Then each intent is ruled on, each approval request is decided, and each running call ends.
            for _ in 0..=2 * calls.len() {
                for (no, call) in calls.iter().enumerate() {
                    effects.extend(turn.step(TurnInput::Settled(call.id.clone(), ruling(no))));
                    effects.extend(turn.step(TurnInput::Allowed(call.id.clone())));
                    effects.extend(turn.step(TurnInput::Ended(call.id.clone(), None)));
                }
            }
            prop_assert!(turn.is_over().is_some(), "{turn:?}");
            for (no, call) in calls.iter().enumerate() {
                let settled = |effect: &&TurnEffect| {
                    matches!(effect, TurnEffect::Run(id) | TurnEffect::Refuse(id) if *id == call.id)
                };
                prop_assert_eq!(effects.iter().filter(settled).count(), 1, "{}", call.id);
                prop_assert!(ruling(no) != Ruling::Deny || !effects.contains(&TurnEffect::Run(call.id.clone())));
            }
            prop_assert_eq!(effects.iter().filter(|effect| matches!(effect, TurnEffect::Over(_))).count(), 1);
        }
    }
}
