//! A turn, as a state machine: the model answers, its calls run or are refused, the model is asked again, until it requests
//! no more calls. Decides only; the engine carries the effects out and says what came of them.
//!
//! Calls begin in the order in which they were requested. Calls that do not disturb each other run in parallel; any other one
//! waits for all before it, and all behind it wait for it. What a call is about to do is checked when it is next, as those
//! before it may have changed that. Approval is requested for one call at a time.

use crate::permission::Ruling;

/// A call that an answer asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallAsked {
    /// Its id.
    pub id: String,
    /// Whether it may run beside others that may.
    pub beside: bool,
}

/// What happens to a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnInput {
    /// It begins.
    Begin,
    /// An answer is stored, with these calls.
    Answered(Vec<CallAsked>),
    /// The model gave no whole answer; what there is of it is stored.
    Broken,
    /// What the call is about to do was looked at: whether it may run.
    Settled(String, Ruling),
    /// A person says that the call may run.
    Allowed(String),
    /// A person says that it may not.
    Denied(String),
    /// The call's result is stored.
    Ended(String),
    /// Somebody asks it to stop.
    Stop,
    /// It may not write any more: a step back, or another owner. Nothing more is stored.
    Fenced,
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnEffect {
    /// Ask the model, with what has been said meanwhile.
    AskModel,
    /// Look at what the call is about to do.
    Look(String),
    /// Ask a person whether the call may run.
    RequestApproval(String),
    /// Nobody needs to say any more whether the call may run.
    DropApproval(String),
    /// Run the call.
    Run(String),
    /// Store a result that says that the call was not run.
    Refuse(String),
    /// End the calls that run. Each still ends with a result.
    StopCalls,
    /// It is over.
    Over(TurnEnd),
}

/// How a turn ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnEnd {
    /// The model is done.
    Done,
    /// It was stopped.
    Stopped,
    /// The model failed, or was cut.
    Broken,
    /// The model would have been asked more often than it may be.
    Limit,
    /// It may not write any more.
    Fenced,
}

/// Where a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// Its turn has not come.
    Waits,
    /// It is being looked at.
    Looked,
    /// A person is asked.
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
    asking: bool,
    stopping: bool,
    over: Option<TurnEnd>,
    left: u32,
}

impl Turn {
    /// A turn in which the model is asked so often at most.
    pub fn new(limit: u32) -> Self {
        Self { calls: Vec::new(), asking: false, stopping: false, over: None, left: limit }
    }

    /// How it ended, once it has.
    pub fn is_over(&self) -> Option<TurnEnd> {
        self.over
    }

    /// Takes a step. What does not fit where the turn is, such as the answer to a question that is no longer asked, does nothing.
    #[must_use = "the effects are to be carried out"]
    pub fn step(&mut self, input: TurnInput) -> Vec<TurnEffect> {
        if self.over.is_some() {
            return Vec::new();
        }
        match input {
            TurnInput::Begin => self.ask(),
            TurnInput::Answered(calls) => {
                self.asking = false;
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
            TurnInput::Ended(id) => {
                if self.put(&id, At::Runs, At::Over) || self.put(&id, At::Refused, At::Over) {
                    return self.go_on();
                }
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

    /// Moves a call on. Whether it was there.
    fn put(&mut self, id: &str, from: At, to: At) -> bool {
        let call = self.calls.iter_mut().find(|(call, at)| call.id == id && *at == from);
        call.map(|(_, at)| *at = to).is_some()
    }

    fn settled(&mut self, id: String, ruling: Ruling) -> Vec<TurnEffect> {
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

    /// A call begins; others may begin beside it.
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

    /// Begins what may begin now; when nothing is left, goes on or ends.
    fn go_on(&mut self) -> Vec<TurnEffect> {
        if self.asking {
            return Vec::new();
        }
        if self.calls.iter().all(|(_, at)| *at == At::Over) {
            return if self.stopping { self.end(TurnEnd::Stopped) } else { self.ask() };
        }
        let mut effects = Vec::new();
        // Whether all before are over, and whether all that are not run beside others.
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

    /// Ends what runs, and withdraws approval requests.
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

    /// Calls as `a` (allowed), `a&` (allowed, beside others), `a?` (to be asked), `a!` (denied): all are looked at at once.
    fn calls(text: &str) -> Vec<CallAsked> {
        let call = |word: &str| CallAsked {
            id: word.trim_end_matches(['&', '?', '!']).to_owned(),
            beside: word.contains('&'),
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
            TurnEffect::StopCalls => "stop".to_owned(),
            TurnEffect::Over(end) => format!("{end:?}"),
        };
        effects.iter().map(tell).collect::<Vec<_>>().join(" ")
    }

    fn input(word: &str) -> TurnInput {
        match word.split_at(1) {
            ("+", id) => TurnInput::Allowed(id.into()),
            ("-", id) => TurnInput::Denied(id.into()),
            (".", id) => TurnInput::Ended(id.into()),
            _ if word == "stop" => TurnInput::Stop,
            _ if word == "fenced" => TurnInput::Fenced,
            _ => TurnInput::Broken,
        }
    }

    /// Takes a step, and settles what is to be looked at as the calls say.
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

    /// After the first answer with these calls: each input, and what is to be done then.
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
        assert_eq!(step(&mut turn, "a", TurnInput::Ended("a".into())), "Limit");
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
        /// Whatever comes in whatever order, every call gets one result at most and the turn comes to an end.
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
                    // A result comes only of what runs or is refused.
                    _ if effects.contains(&TurnEffect::Run(id.clone())) => TurnInput::Ended(id),
                    _ => TurnInput::Allowed(id),
                };
                effects.extend(turn.step(wild));
            }
            // Then all that is looked at is settled, all that is asked is answered, and all that runs ends.
            for _ in 0..=2 * calls.len() {
                for (no, call) in calls.iter().enumerate() {
                    effects.extend(turn.step(TurnInput::Settled(call.id.clone(), ruling(no))));
                    effects.extend(turn.step(TurnInput::Allowed(call.id.clone())));
                    effects.extend(turn.step(TurnInput::Ended(call.id.clone())));
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
