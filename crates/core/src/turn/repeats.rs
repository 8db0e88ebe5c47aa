//! Identical calls in a row. A call that was made several times in a row, always with the same result, is a repeat: it does not
//! run. A turn whose answers end with a repeat again and again is over. Must never count a call whose result is not known.
//!
//! The calls count in the order in which the model requests them. Another call in between, a changed result or a person's message
//! begins a new count.

use super::{CallAsked, CallPrint};

/// The number of equal results in a row after which the same call is not run again.
pub const SAME_RESULTS: u32 = 3;

/// The number of answers in a row that may end with a repeat.
const MOST_ANSWERS: u32 = 3;

/// The last call and its result, and how often they came in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Streak {
    call: Option<(CallPrint, CallPrint)>,
    same: u32,
}

/// What is known of a call of the last answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Made {
    print: Option<CallPrint>,
    result: Option<CallPrint>,
    is_repeat: bool,
}

/// The repeats of a turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Repeats {
    /// Before the calls of the last answer.
    before: Streak,
    /// The calls of the last answer.
    calls: Vec<Made>,
    /// The number of earlier answers in a row that ended with a repeat.
    answers: u32,
}

impl Repeats {
    /// An answer with these calls follows.
    pub(super) fn answered(&mut self, calls: &[CallAsked]) {
        (self.before, self.answers) = (self.streak(self.calls.len()), self.answers_now());
        let made = |call: &CallAsked| Made { print: call.print, result: None, is_repeat: false };
        self.calls = calls.iter().map(made).collect();
    }

    /// The call with this number has this result.
    pub(super) fn ended(&mut self, number: Option<usize>, result: Option<CallPrint>) {
        if let Some(made) = number.and_then(|number| self.calls.get_mut(number)) {
            made.result = result;
        }
    }

    /// The call with this number is refused as a repeat.
    pub(super) fn refused(&mut self, number: Option<usize>) {
        if let Some(made) = number.and_then(|number| self.calls.get_mut(number)) {
            made.is_repeat = true;
        }
    }

    /// Whether the call with this number is a repeat.
    pub(super) fn is_one(&self, number: Option<usize>) -> bool {
        let Some((number, made)) = number.and_then(|number| Some((number, self.calls.get(number)?))) else {
            return false;
        };
        let Streak { call, same } = self.streak(number);
        same >= SAME_RESULTS && call.is_some_and(|(print, _)| made.print == Some(print))
    }

    /// Whether too many answers in a row end with a repeat, the last one included.
    pub(super) fn are_too_many(&self) -> bool {
        self.answers_now() >= MOST_ANSWERS
    }

    fn answers_now(&self) -> u32 {
        if self.calls.last().is_some_and(|made| made.is_repeat) { self.answers + 1 } else { 0 }
    }

    /// The streak before the call with this number.
    fn streak(&self, number: usize) -> Streak {
        self.calls.iter().take(number).fold(self.before, |streak, made| match (made.print, made.result) {
            _ if made.is_repeat => streak,
            (Some(print), Some(result)) if streak.call == Some((print, result)) => {
                Streak { same: streak.same + 1, ..streak }
            }
            (Some(print), Some(result)) => Streak { call: Some((print, result)), same: 1 },
            _ => Streak::default(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::super::{Turn, TurnEffect, TurnEnd, TurnInput};
    use super::*;
    use crate::permission::Ruling;

    /// Runs answers of one call each: the call's number and the result that it would have. Returns `runs`, `refused` or `end` for
    /// each, until the end.
    fn run(answers: &[(u8, u8)]) -> Vec<&'static str> {
        let mut turn = Turn::new(1_000);
        let mut told = Vec::new();
        let mut effects = turn.step(TurnInput::Begin);
        for (no, (call, result)) in answers.iter().enumerate() {
            assert_eq!(effects, [TurnEffect::AskModel]);
            let id = no.to_string();
            let print = (*call > 0).then_some([*call; 16]);
            let asked = CallAsked { id: id.clone(), beside: false, print };
            assert_eq!(turn.step(TurnInput::Answered(vec![asked])), [TurnEffect::Look(id.clone())]);
            let settled = turn.step(TurnInput::Settled(id.clone(), Ruling::Allow));
            told.push(if settled == [TurnEffect::Run(id.clone())] { "runs" } else { "refused" });
            assert!(settled.len() == 1 && settled[0] != TurnEffect::Refuse(id.clone()), "{settled:?}");
            effects = turn.step(TurnInput::Ended(id, (*result > 0).then_some([*result; 16])));
            if effects == [TurnEffect::Over(TurnEnd::Repeats)] {
                told.push("end");
                return told;
            }
        }
        told
    }

    #[test]
    fn the_fourth_identical_call_is_refused_and_the_third_refusal_ends_the_turn() {
        let expected = ["runs", "runs", "runs", "refused", "refused", "refused", "end"];
        assert_eq!(run(&[(1, 1); 9]), expected);
        // A changed result, a result that is not known, and a call that may be repeated are no repeats.
        for answers in [[(1, 1), (1, 2)], [(1, 0), (1, 0)], [(0, 1), (0, 1)], [(1, 1), (2, 1)]] {
            assert_eq!(run(&answers.repeat(8)), ["runs"; 16], "{answers:?}");
        }
    }

    /// Answers the turn with parallel calls of one digest and one result, and ends each in its order. Returns which ran, then
    /// whether the model is asked again.
    fn answer(turn: &mut Turn, ids: &[&str]) -> (Vec<String>, bool) {
        let asked = |id: &&str| CallAsked { id: (*id).to_owned(), beside: true, print: Some([7; 16]) };
        let mut todo = VecDeque::from(turn.step(TurnInput::Answered(ids.iter().map(asked).collect())));
        let (mut ran, mut open) = (Vec::new(), VecDeque::new());
        loop {
            let effect = match todo.pop_front() {
                Some(effect) => effect,
                // All that may begin has begun.
                None => {
                    let id = open.pop_front().expect("a call to end");
                    todo.extend(turn.step(TurnInput::Ended(id, Some([1; 16]))));
                    continue;
                }
            };
            match effect {
                TurnEffect::Look(id) => todo.extend(turn.step(TurnInput::Settled(id, Ruling::Allow))),
                TurnEffect::Run(id) => {
                    ran.push(id.clone());
                    open.push_back(id);
                }
                TurnEffect::RefuseRepeat(id) => open.push_back(id),
                last => return (ran, last == TurnEffect::AskModel),
            }
        }
    }

    #[test]
    fn refusals_in_one_answer_count_once_and_a_message_of_the_person_allows_the_call_again() {
        let mut turn = Turn::new(9);
        assert_eq!(turn.step(TurnInput::Begin), [TurnEffect::AskModel]);
        // In parallel no result is known yet.
        let ids = ["a", "b", "c", "d"];
        assert_eq!(answer(&mut turn, &ids), (ids.map(str::to_owned).to_vec(), true));
        assert_eq!(answer(&mut turn, &ids), (Vec::new(), true));
        assert_eq!(answer(&mut turn, &ids), (Vec::new(), true));
        assert_eq!(turn.step(TurnInput::Joined), []);
        assert_eq!(answer(&mut turn, &["e"]), (vec!["e".to_owned()], true));
    }

    proptest! {
        /// The model: the list of what ran and its results, read backwards.
        #[test]
        fn exactly_the_calls_that_follow_three_equal_ones_are_refused(
            answers in prop::collection::vec((0u8..3, prop_oneof![1 => Just(0u8), 6 => Just(1u8), 1 => Just(2u8)]), 0..40),
        ) {
            let (mut ran, mut expected, mut refused) = (Vec::new(), Vec::new(), 0);
            for (call, result) in answers.iter().copied() {
                let same = |(number, answer): &(usize, &(u8, u8))| {
                    *number < 3 && answer.0 == call && call > 0 && answer.1 > 0
                };
                let last: Vec<_> = ran.iter().rev().enumerate().take_while(same).map(|(_, answer)| answer.1).collect();
                if last.len() == 3 && last.iter().all(|result| *result == last[0]) {
                    expected.push("refused");
                    refused += 1;
                } else {
                    expected.push("runs");
                    refused = 0;
                    ran.push((call, result));
                }
                if refused == 3 {
                    expected.push("end");
                    break;
                }
            }
            prop_assert_eq!(run(&answers), expected);
        }
    }
}
