//! Every state and transition, and random interleavings of clients, workers, crashes, rewinds and outdated
//! writers.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::path::{Path, Span};

fn words(text: &str) -> Words {
    let parts = vec![Part::text(text)];
    Words { parts, author: String::new(), request: None, wording: None, time: Time(0), chat: None }
}

fn answer() -> NewRun {
    NewRun { words: None, steer: Steer::Queue, seen: None, model: None }
}

fn say(text: &str, steer: Steer) -> NewRun {
    NewRun { words: Some(words(text)), steer, ..answer() }
}

fn tail(seq: u64) -> Tail {
    Tail { entry: Some(Pos::new(0, seq)), alternatives: 1, mark: Mark::Normal }
}

/// Makes steps in a conversation that ends with entry 1, by owner 1.
fn steps(inputs: impl IntoIterator<Item = RunInput>) -> Result<Stepped, RunRefusal> {
    let mut at = Stepped::default();
    for input in inputs {
        at = on(&at.runs, tail(1), 1, input)?;
    }
    Ok(at)
}

fn on(runs: &Runs, tail: Tail, owner: u64, input: RunInput) -> Result<Stepped, RunRefusal> {
    let last = tail.entry.map_or(0, |pos| pos.seq);
    let on_path = move |pos: Pos| pos.seq <= last;
    runs.step(input, &RunGround { tail, owner, on_path: &on_path, mark: &|_| Mark::Normal })
}

fn told(stepped: &Stepped) -> Vec<String> {
    let over = stepped
        .over
        .iter()
        .map(|run| format!("{} {} {}", run.no.0, run.state.name(), run.error.as_deref().unwrap_or("-")));
    let effects = stepped.effects.iter().map(|effect| match effect {
        RunEffect::Say(words) => format!("say {}", crate::joined_text(&words.parts)),
        RunEffect::Start(no, fence) => format!("start {} with {}", no.0, fence.0),
        RunEffect::Stop(fence) => format!("stop {}", fence.0),
    });
    over.chain(effects).collect()
}

const T: Time = Time(1000);
const LATER: Time = Time(1000 + STALE_AFTER_MS + 1);
const F1: Fence = Fence(1);

fn asked() -> RunInput {
    RunInput::Enqueue(answer(), T)
}

fn said(text: &str, steer: Steer) -> RunInput {
    RunInput::Enqueue(say(text, steer), T)
}

fn check(inputs: Vec<RunInput>, expected: &[&str]) {
    assert_eq!(told(&steps(inputs).expect("not refused")), expected);
}

fn refused(inputs: Vec<RunInput>, why: RunRefusal) {
    assert_eq!(steps(inputs), Err(why));
}

#[test]
fn states_have_stored_names_and_two_are_not_final() {
    let names = ["queued", "running", "succeeded", "failed", "canceled", "skipped"];
    for (&state, name) in RunState::ALL.iter().zip(names) {
        assert_eq!((state.name(), RunState::from_name(name)), (name, Some(state)));
        assert_eq!(state.is_over(), !matches!(name, "queued" | "running"));
    }
    assert_eq!(RunState::ALL.len(), names.len());
}

#[test]
fn a_run_is_claimed_lives_and_ends_once() {
    let claim = RunInput::Claim(T);
    let end = |how| RunInput::End(F1, how, T);
    check(vec![asked()], &[]);
    check(vec![asked(), claim.clone()], &["start 1 with 1"]);
    check(vec![asked(), claim.clone(), RunInput::Beat(F1, T)], &[]);
    check(vec![asked(), claim.clone(), end(RunEnding::Succeeded)], &["1 succeeded -"]);
    check(vec![asked(), claim.clone(), end(RunEnding::Failed("timeout".into()))], &["1 failed timeout"]);
    check(vec![asked(), claim.clone(), end(RunEnding::Canceled)], &["1 canceled stopped"]);
    refused(vec![claim.clone()], RunRefusal::NothingQueued);
    refused(vec![asked(), asked()], RunRefusal::Waiting);
    refused(vec![asked(), claim.clone(), asked(), claim.clone()], RunRefusal::Running);
    refused(vec![RunInput::Cancel(T)], RunRefusal::NothingRuns);
    refused(vec![RunInput::Unqueue(T)], RunRefusal::NothingQueued);
    for input in [RunInput::Beat(Fence(2), T), RunInput::Join(Fence(2), T), end(RunEnding::Canceled)] {
        refused(vec![asked(), claim.clone(), end(RunEnding::Succeeded), input], RunRefusal::Fenced);
    }
    check(vec![asked(), RunInput::Unqueue(T)], &["1 canceled unqueued"]);
}

#[test]
fn a_stop_is_asked_for_once_and_heard_with_each_sign_of_life() {
    let stop = [asked(), RunInput::Claim(T), RunInput::Cancel(Time(5)), RunInput::Cancel(Time(9))];
    let stepped = steps(stop.clone()).unwrap();
    assert_eq!(stepped.runs.running.unwrap().cancel, Some(Time(5)), "the first to ask counts");
    check(stop.into_iter().chain([RunInput::Beat(F1, T)]).collect(), &["stop 1"]);
}

#[test]
fn a_claimed_run_is_alive_from_its_claim_on() {
    let claimed = on(&steps([asked()]).unwrap().runs, tail(1), 7, RunInput::Claim(LATER)).unwrap().runs;
    let run = claimed.running.clone().expect("it runs");
    assert_eq!((run.tail, run.beat, run.created, run.owner, run.fence), (tail(1), LATER, T, 7, F1));
    let waits = on(&claimed, tail(1), 8, asked()).unwrap().runs;
    let at = |ms| on(&waits, tail(1), 8, RunInput::Claim(Time(LATER.0 + ms)));
    assert_eq!(at(STALE_AFTER_MS).map(drop), Err(RunRefusal::Running));
    assert_eq!(told(&at(STALE_AFTER_MS + 1).unwrap())[0], "1 failed stale_running_run");
    assert_eq!(STALE_AFTER_MS, 600_000, "ten minutes");
}

#[test]
fn words_stand_on_what_their_author_saw() {
    let seen = || NewRun { seen: Some(Pos::new(0, 1)), ..say("a", Steer::Queue) };
    let enqueue = |runs: &Runs| on(runs, tail(2), 1, RunInput::Enqueue(seen(), T)).unwrap().runs;
    // Even if an answer to the current path was requested before.
    for queued in [enqueue(&Runs::default()), enqueue(&steps([asked()]).unwrap().runs)] {
        let stepped = on(&queued, tail(1), 1, RunInput::Claim(T)).unwrap();
        assert_eq!(told(&stepped), ["say a", "start 1 with 1"], "what was said since was taken back");
    }
}

/// Waiting messages are listed as a whole, so their number is limited.
#[test]
fn trial_17_number_of_waiting_messages_is_limited() {
    let say = |number: usize| RunInput::Enqueue(say(&number.to_string(), Steer::Queue), T);
    let full: Vec<_> = [asked(), RunInput::Claim(T)].into_iter().chain((0..MOST_WORDS).map(say)).collect();
    let stepped = steps(full.clone()).unwrap();
    assert_eq!(stepped.runs.queued.map(|run| run.words.len()), Some(MOST_WORDS));
    refused(full.into_iter().chain([say(MOST_WORDS)]).collect(), RunRefusal::TooManyWords);
}

#[test]
fn messages_wait_join_or_interrupt_a_run() {
    let running = || vec![asked(), RunInput::Claim(T)];
    let then = |more: Vec<RunInput>| running().into_iter().chain(more).collect::<Vec<_>>();
    check(then(vec![said("a", Steer::Queue)]), &[]);
    check(then(vec![said("a", Steer::Queue), RunInput::Join(F1, T)]), &[]);
    check(
        then(vec![said("a", Steer::Join), said("b", Steer::Join), RunInput::Join(F1, T)]),
        &["2 succeeded joined", "say a", "say b"],
    );
    check(then(vec![said("a", Steer::Interrupt)]), &["stop 1"]);
    let end = RunInput::End(F1, RunEnding::Canceled, T);
    let both = vec![said("a", Steer::Queue), said("b", Steer::Interrupt), end, RunInput::Claim(T)];
    check(then(both), &["say a", "say b", "start 2 with 2"]);
    // With nothing to join or to interrupt, they begin a run.
    for &steer in Steer::ALL {
        check(vec![said("a", steer), RunInput::Claim(T)], &["say a", "start 1 with 1"]);
        assert_eq!(Steer::from_name(steer.name()), Some(steer));
    }
}

#[test]
fn waiting_messages_are_stored_as_they_were_prepared() {
    let waits = [asked(), RunInput::Claim(T), said("a", Steer::Join)];
    let then = |more: Vec<RunInput>| waits.clone().into_iter().chain(more).collect::<Vec<_>>();
    let ready = |waiting: Vec<Words>| RunInput::Ready(waiting, vec![words("a with b")], T);
    let a = || vec![words("a")];
    let joins = RunInput::Join(F1, T);
    check(then(vec![ready(a()), joins]), &["2 succeeded joined", "say a with b"]);
    let end = RunInput::End(F1, RunEnding::Succeeded, T);
    let over = then(vec![end, ready(a()), RunInput::Claim(T)]);
    check(over, &["1 succeeded -", "say a with b", "start 2 with 2"][1..]);
    refused(then(vec![said("b", Steer::Join), ready(a())]), RunRefusal::OtherWords);
    refused(then(vec![RunInput::Unqueue(T), ready(a())]), RunRefusal::OtherWords);
    refused(vec![ready(a())], RunRefusal::OtherWords);
}

/// A message of a chat, which no message comes before that its author saw.
fn of_chat(text: &str) -> Words {
    let origin = crate::chat::ChatOrigin {
        place: crate::chat::ChatPlace::default(),
        message: text.to_owned(),
        person: "ann".to_owned(),
        joined: Vec::new(),
    };
    let arrival = crate::chat::ChatArrival { origin, keys: Vec::new(), also: Vec::new(), content: [0; 16] };
    Words { chat: Some(std::sync::Arc::new(arrival)), ..words(text) }
}

#[test]
fn waiting_messages_are_withdrawn_one_by_one_and_the_others_wait_on() {
    let waits = [said("a", Steer::Queue), said("b", Steer::Queue)];
    let then = |more: Vec<RunInput>| waits.clone().into_iter().chain(more).collect::<Vec<_>>();
    let withdraw = |texts: &[&str]| RunInput::Withdraw(texts.iter().map(|text| words(text)).collect(), T);
    let stepped = steps(then(vec![withdraw(&["a"])])).unwrap();
    let kept = stepped.runs.queued.unwrap();
    assert_eq!(
        (kept.no, kept.words, stepped.over[0].words.clone()),
        (RunNo(2), vec![words("b")], vec![words("a")])
    );
    check(then(vec![withdraw(&["a"]), RunInput::Claim(T)]), &["say b", "start 2 with 1"]);
    check(then(vec![withdraw(&["b", "a"])]), &["1 canceled unqueued"]);
    refused(then(vec![withdraw(&["c"])]), RunRefusal::OtherWords);
    refused(vec![withdraw(&[])], RunRefusal::NothingQueued);
}

#[test]
fn messages_of_chats_wait_on_when_that_of_a_client_lost_what_it_answers() {
    let say = |words, seen| RunInput::Enqueue(NewRun { words: Some(words), seen, ..answer() }, T);
    let queued = [say(words("a"), Some(Pos::new(0, 2))), say(of_chat("b"), None)];
    let mut runs = Runs::default();
    for input in queued {
        runs = on(&runs, tail(2), 1, input).unwrap().runs;
    }
    let was = Path::from_spans([Span { depth: 0, from: 1, to: 2 }]);
    for lost in [RunInput::Moved(was, T), RunInput::Claim(T)] {
        let stepped = on(&runs, tail(1), 1, lost).unwrap();
        assert_eq!(stepped.over[0].words, [words("a")]);
        let waits = stepped.runs.queued.into_iter().flat_map(|run| run.words);
        let said = stepped.effects.into_iter().filter_map(|effect| match effect {
            RunEffect::Say(words) => Some(words),
            _ => None,
        });
        assert_eq!(waits.chain(said).collect::<Vec<_>>(), [of_chat("b")]);
    }
}

#[test]
fn a_run_that_waits_is_skipped_when_what_it_answers_is_another() {
    let queued = steps([asked()]).unwrap().runs;
    let others = [
        tail(2),
        Tail { alternatives: 2, ..tail(1) },
        Tail { mark: Mark::Excluded, ..tail(1) },
        Tail::default(),
    ];
    for other in others {
        let stepped = on(&queued, other, 1, RunInput::Claim(T)).unwrap();
        assert_eq!(told(&stepped), ["1 skipped expected_last_message_mismatch"], "{other:?}");
    }
    // A message only needs the entry that its author saw.
    let seen = NewRun { seen: Some(Pos::new(0, 2)), ..say("a", Steer::Queue) };
    let queued = on(&Runs::default(), tail(2), 1, RunInput::Enqueue(seen, T)).unwrap().runs;
    assert_eq!(told(&on(&queued, tail(9), 1, RunInput::Claim(T)).unwrap()), ["say a", "start 1 with 1"]);
    let skipped = on(&queued, tail(1), 1, RunInput::Claim(T)).unwrap();
    assert_eq!(told(&skipped), ["1 skipped seen_message_taken_back"]);
    assert_eq!(skipped.over[0].words, [words("a")], "no prompt is lost");
}

#[test]
fn a_waiting_run_expects_the_words_of_the_active_run() {
    let runs = steps([asked(), RunInput::Claim(T), asked()]).unwrap().runs;
    let ended = on(&runs, tail(3), 1, RunInput::End(F1, RunEnding::Succeeded, T)).unwrap().runs;
    assert_eq!(told(&on(&ended, tail(3), 1, RunInput::Claim(T)).unwrap()), ["start 2 with 2"]);
}

#[test]
fn a_dead_run_is_taken_over_with_a_new_fence() {
    let runs = steps([asked(), RunInput::Claim(T), said("a", Steer::Queue)]).unwrap().runs;
    assert_eq!(on(&runs, tail(1), 1, RunInput::Claim(T)), Err(RunRefusal::Running));
    let over = on(&runs, tail(1), 1, RunInput::Claim(LATER)).unwrap();
    assert_eq!(told(&over), ["1 failed stale_running_run", "stop 1", "say a", "start 2 with 2"]);
    assert_eq!(on(&over.runs, tail(1), 1, RunInput::Beat(F1, LATER)), Err(RunRefusal::Fenced));
    assert!(told(&on(&runs, tail(1), 1, RunInput::Lost(T)).unwrap()).is_empty(), "its owner is here");
    let lost = on(&runs, tail(1), 2, RunInput::Lost(T)).unwrap();
    assert_eq!(told(&lost), ["1 failed owner_lost"]);
    assert_eq!(told(&on(&lost.runs, tail(1), 2, RunInput::Claim(T)).unwrap()), ["say a", "start 2 with 2"]);
}

#[test]
fn a_step_back_stops_what_runs_and_what_stands_on_what_is_gone() {
    let seen = NewRun { seen: Some(Pos::new(0, 5)), ..say("a", Steer::Queue) };
    let runs = steps([asked(), RunInput::Claim(T)]).unwrap().runs;
    let runs = on(&runs, tail(5), 1, RunInput::Enqueue(seen, T)).unwrap().runs;
    let was = |last| Path::from_spans([Span::new(0, 1, last)]);
    let back = on(&runs, tail(5), 1, RunInput::Moved(was(6), T)).expect("a move is never refused");
    assert_eq!(told(&back), ["1 canceled rewound", "stop 1"]);
    // What it answers was gone already: the next run says so to its author.
    let back = on(&runs, tail(3), 1, RunInput::Moved(was(4), T)).expect("a move is never refused");
    assert_eq!(told(&back), ["1 canceled rewound", "stop 1"]);
    let back = on(&runs, tail(4), 1, RunInput::Moved(was(5), T)).expect("a move is never refused");
    assert_eq!(told(&back), ["1 canceled rewound", "2 canceled rewound", "stop 1"]);
    assert_eq!(back.over[1].words, [words("a")]);
}

#[test]
fn hiding_what_is_answered_stops_the_answer() {
    let runs = steps([asked(), RunInput::Claim(T)]).unwrap().runs;
    let marked = |mark: Mark| {
        let ground = RunGround { tail: tail(1), owner: 1, on_path: &|_| true, mark: &|_| mark };
        told(&runs.step(RunInput::Marked(T), &ground).unwrap())
    };
    assert!(marked(Mark::Excluded).is_empty());
    assert_eq!(marked(Mark::Hidden), ["1 canceled message_hidden", "stop 1"]);
    assert_eq!(marked(Mark::Dropped), ["1 canceled message_hidden", "stop 1"]);
}

/// A possible action, with numbers that the world interprets.
#[derive(Clone, Debug)]
enum Act {
    Say(Steer, bool),
    Ask,
    Claim,
    Join(u64),
    Beat(u64),
    End(u64),
    Write(u64),
    Cancel,
    Unqueue,
    Crash,
    Wait,
    Back(u64),
    Hide,
}

fn act() -> impl Strategy<Value = Act> {
    let steer = prop::sample::select(Steer::ALL.to_vec());
    prop_oneof![
        3 => (steer, any::<bool>()).prop_map(|(steer, seen)| Act::Say(steer, seen)),
        2 => Just(Act::Ask),
        4 => Just(Act::Claim),
        2 => (0u64..3).prop_map(Act::Join),
        1 => (0u64..3).prop_map(Act::Beat),
        3 => (0u64..3).prop_map(Act::End),
        4 => (0u64..3).prop_map(Act::Write),
        1 => Just(Act::Cancel),
        1 => Just(Act::Unqueue),
        1 => Just(Act::Crash),
        1 => Just(Act::Wait),
        1 => (0u64..4).prop_map(Act::Back),
        1 => Just(Act::Hide),
    ]
}

/// A conversation as the machine sees it, with its invariants.
#[derive(Default)]
struct World {
    runs: Runs,
    /// Entries on the path, as unique numbers.
    path: Vec<u64>,
    entries: u64,
    hidden: BTreeSet<u64>,
    owner: u64,
    now: i64,
    asked: u64,
    said: BTreeSet<String>,
    kept: BTreeSet<String>,
    highest: Fence,
}

impl World {
    fn tail(&self) -> Tail {
        let entry = self.path.iter().rev().find(|entry| !self.hidden.contains(entry));
        Tail { entry: entry.map(|seq| Pos::new(0, *seq)), alternatives: 1, mark: Mark::Normal }
    }

    fn speak(&mut self) {
        self.entries += 1;
        self.path.push(self.entries);
    }

    /// The fence of a writer: sometimes of an outdated one.
    fn fence(&self, age: u64) -> Fence {
        Fence(self.runs.fence.0.saturating_sub(age))
    }

    fn step(&mut self, input: RunInput) -> Result<(), RunRefusal> {
        let (path, hidden) = (self.path.clone(), self.hidden.clone());
        let on_path = |pos: Pos| path.contains(&pos.seq);
        let mark = |pos: Pos| if hidden.contains(&pos.seq) { Mark::Hidden } else { Mark::Normal };
        let ground = RunGround { tail: self.tail(), owner: self.owner, on_path: &on_path, mark: &mark };
        let stepped = self.runs.step(input, &ground)?;
        for run in &stepped.over {
            assert!(run.state.is_over() && run.ended.is_some(), "{run:?}");
            self.kept.extend(run.words.iter().map(|words| crate::joined_text(&words.parts)));
        }
        for effect in &stepped.effects {
            match effect {
                RunEffect::Say(words) => {
                    assert!(self.said.insert(crate::joined_text(&words.parts)), "said twice");
                    self.speak();
                }
                RunEffect::Start(_, fence) => {
                    assert!(*fence > self.highest, "a fence comes once");
                    self.highest = *fence;
                }
                RunEffect::Stop(_) => {}
            }
        }
        self.runs = stepped.runs;
        if let Some(run) = &mut self.runs.running {
            run.tail = Tail { entry: self.path.last().map(|seq| Pos::new(0, *seq)), ..run.tail };
        }
        Ok(())
    }

    fn act(&mut self, act: &Act) {
        self.now += 1;
        let now = Time(self.now);
        let before = self.runs.clone();
        let outcome = match act {
            Act::Say(steer, seen) => {
                self.asked += 1;
                let seen = self.tail().entry.filter(|_| *seen);
                let new = NewRun { seen, ..say(&format!("w{}", self.asked), *steer) };
                self.step(RunInput::Enqueue(new, now))
            }
            Act::Ask => self.step(RunInput::Enqueue(answer(), now)),
            Act::Claim => self.step(RunInput::Claim(now)),
            Act::Join(age) => self.step(RunInput::Join(self.fence(*age), now)),
            Act::Beat(age) => self.step(RunInput::Beat(self.fence(*age), now)),
            Act::End(age) => self.step(RunInput::End(self.fence(*age), RunEnding::Succeeded, now)),
            Act::Write(age) => {
                let fence = self.fence(*age);
                if self.runs.running.as_ref().is_some_and(|run| run.fence == fence) {
                    self.speak();
                }
                Ok(())
            }
            Act::Cancel => self.step(RunInput::Cancel(now)),
            Act::Unqueue => self.step(RunInput::Unqueue(now)),
            Act::Crash => {
                self.owner += 1;
                self.step(RunInput::Lost(now))
            }
            Act::Wait => {
                self.now += STALE_AFTER_MS;
                Ok(())
            }
            Act::Back(steps) => {
                let was = Path::from_spans(self.path.iter().map(|seq| Span::one(Pos::new(0, *seq))));
                let keep = self.path.len().saturating_sub(usize::try_from(*steps).unwrap());
                self.path.truncate(keep);
                self.step(RunInput::Moved(was, now))
            }
            Act::Hide => {
                self.hidden.extend(self.path.last());
                self.step(RunInput::Marked(now))
            }
        };
        if outcome.is_err() {
            assert_eq!(self.runs, before, "a refusal changes nothing");
        }
    }

    fn holds(&self) {
        if let (Some(running), Some(queued)) = (&self.runs.running, &self.runs.queued) {
            assert_ne!(running.no, queued.no);
        }
        assert!(self.runs.running.iter().all(|run| run.state == RunState::Running && run.words.is_empty()));
        assert!(self.runs.queued.iter().all(|run| run.state == RunState::Queued));
        let waiting = self.runs.queued.iter().flat_map(|run| &run.words);
        let waiting: BTreeSet<String> = waiting.map(|words| crate::joined_text(&words.parts)).collect();
        let all: BTreeSet<String> = (1..=self.asked).map(|no| format!("w{no}")).collect();
        let found: BTreeSet<String> = waiting.union(&self.said).chain(&self.kept).cloned().collect();
        assert_eq!(found, all, "a prompt is lost");
        assert!(self.kept.is_disjoint(&self.said), "said, and kept as not said");
    }

    /// Any state can be brought to an end: nothing is stuck.
    fn comes_to_an_end(&mut self) {
        for _ in 0..2 {
            if let Some(running) = &self.runs.running {
                let end = RunInput::End(running.fence, RunEnding::Succeeded, Time(self.now));
                self.step(end).expect("the running run ends with its own fence");
            }
            if self.runs.queued.is_some() {
                self.step(RunInput::Claim(Time(self.now)))
                    .expect("with nothing running, who waits is claimed");
            }
        }
        assert_eq!((&self.runs.running, &self.runs.queued), (&None, &None));
    }
}

proptest! {
    #[test]
    fn never_two_no_lost_prompt_no_write_after_a_fence_no_stuck_state(
        acts in prop::collection::vec(act(), 0..60),
    ) {
        let mut world = World::default();
        world.speak();
        for act in &acts {
            world.act(act);
            world.holds();
        }
        world.comes_to_an_end();
        world.holds();
    }
}
