//! The store work of a turn with tools must not depend on the number of earlier turns, except for the prompt, which is as long
//! as it is. Counted, like everything here.

use std::sync::atomic::Ordering;

use retake_core::{
    Effect, EffectClass, EffectState, Fact, Fence, NewRun, RunEffect, RunEnding, RunInput, Steer, ToolOutcome,
};

use super::*;

/// The short conversation.
const SHORT: u64 = 1000;
/// Files that the agent reads repeatedly.
const FILES: u64 = 20;
/// The distance of calls with an effect. A power of ten, like the lengths.
const EFFECT_EVERY: u64 = 100;

/// Statements, rows, steps, pages written and commits.
type Cost = [u64; 5];

/// Every fifth entry records that a file was read, and the shell's directory.
fn working(seq: u64) -> SayRequest {
    let read = Fact::new(format!("read//work/{}", seq / 5 % FILES), format!("version {seq}"));
    let facts = Part::Facts(vec![read, Fact::new("cwd", format!("src/{}", seq % 7))]);
    let said = say(seq);
    let parts = said.parts.into_iter().chain(seq.is_multiple_of(5).then_some(facts)).collect();
    SayRequest { parts, ..said }
}

/// An irreversible call: number 0 is the turn's own, number 1 a different one each time, number 2 always the same.
fn effect(entry: u64, number: u64) -> Effect {
    let print = if number == 2 { 0 } else { u128::from(entry) << 64 | u128::from(number) };
    Effect {
        call: format!("call-{entry}-{number}"),
        conversation: conversation(),
        entry: entry_id(entry),
        tool: "mail".into(),
        class: EffectClass::External,
        print: print.to_be_bytes(),
        began: NOW,
        state: EffectState::Begun,
    }
}

fn asks() -> RunInput {
    RunInput::Enqueue(NewRun { words: None, steer: Steer::Queue, seen: None, model: None }, NOW)
}

impl Stage {
    /// A conversation of turns with tools, with the facts, the ledger and the runs of its length.
    async fn of_turns(entries: u64) -> Self {
        let stage = Self::with(entries, working).await;
        let mut written = JoinSet::new();
        for entry in (1..=entries).filter(|entry| entry.is_multiple_of(EFFECT_EVERY)) {
            let store = Arc::clone(&stage.store);
            let number = 1 + entry / EFFECT_EVERY % 2;
            written.spawn(async move { store.begin_effect(effect(entry, number), Vec::new()).await });
        }
        while let Some(written) = written.join_next().await {
            written.expect("no panic").expect("written down");
        }
        let runs = (0..entries / EFFECT_EVERY).flat_map(|number| {
            [asks(), RunInput::Claim(NOW), RunInput::End(Fence(number + 1), RunEnding::Succeeded, NOW)]
        });
        stage.store.step_runs(conversation(), runs.collect()).await.expect("run");
        stage
    }

    fn counts(&self) -> Cost {
        let [statements, rows, steps] = self.work.counts();
        [statements, rows, steps, self.pages_written(), self.commits.load(Ordering::Relaxed)]
    }

    /// Does one step of a turn.
    async fn turn(&mut self, step: &str, fence: &mut Fence) {
        let (store, id) = (Arc::clone(&self.store), conversation());
        match step {
            "begin" => {
                let stepped = store.step_runs(id, vec![asks(), RunInput::Claim(NOW)]).await.expect("begun");
                let started = stepped.effects.iter().find_map(|effect| match effect {
                    RunEffect::Start(_, fence) => Some(*fence),
                    _ => None,
                });
                *fence = started.expect("it runs");
            }
            "fact" => {
                let cwd = store.fact(id, "cwd".into()).await.expect("looked up");
                assert!(cwd.is_some_and(|cwd| cwd.starts_with("src/")));
                assert_eq!(store.fact(id, "todo".into()).await.expect("looked up"), None);
            }
            "facts" => {
                let read = store.facts(id, "read/".into()).await.expect("looked up");
                assert_eq!(read.len() as u64, FILES);
            }
            "again" => {
                for number in [0, 2] {
                    let again = store.effect_again(id, effect(self.entries, number).print.into()).await;
                    assert_eq!(again.expect("looked up"), None, "what was done often is on the path");
                }
            }
            "effect" => store.begin_effect(effect(self.entries, 0), Vec::new()).await.expect("written down"),
            "effects" => {
                let known = store.effects(id, 5).await.expect("the ledger");
                assert_eq!((known.len(), &known[0].call), (5, &effect(self.entries, 0).call));
            }
            "result" => {
                let call = effect(self.entries, 0).call;
                self.entries += 1;
                let result =
                    Part::ToolResult { call: "c".into(), content: "sent".into(), outcome: ToolOutcome::Ok };
                let ends = Some((call, EffectState::Done));
                let say = SayRequest { role: Role::Tool, parts: vec![result], ends, ..say(self.entries) };
                store.say(id, SayRequest { fence: Some(*fence), ..say }).await.expect("said");
            }
            _ => {
                let end = RunInput::End(*fence, RunEnding::Succeeded, NOW);
                store.step_runs(id, vec![RunInput::Beat(*fence, NOW), end]).await.expect("ended");
            }
        }
    }

    /// The cost of each step of a turn that is not the first one after the start.
    async fn turn_costs(&mut self) -> Vec<(&'static str, Cost)> {
        let mut costs = Vec::new();
        let mut fence = Fence(0);
        for _ in 0..2 {
            costs.clear();
            for step in ["begin", "fact", "facts", "again", "effect", "effects", "result", "end"] {
                let before = self.counts();
                self.turn(step, &mut fence).await;
                let after = self.counts();
                costs.push((step, std::array::from_fn(|at| after[at] - before[at])));
            }
        }
        costs
    }
}

#[tokio::test]
async fn a_turn_costs_the_same_in_a_long_conversation() {
    let mut short = Stage::of_turns(SHORT).await;
    let mut long = Stage::of_turns(long()).await;
    for ((step, few), (_, many)) in short.turn_costs().await.into_iter().zip(long.turn_costs().await) {
        let [statements, rows, steps, pages, commits] = few;
        assert_eq!(many[..2], [statements, rows], "{step}: statements and rows, {few:?} and {many:?}");
        assert!(many[2] <= steps + steps / 10, "{step}: steps, {few:?} and {many:?}");
        assert!(many[3] <= pages + 3, "{step}: pages written, {few:?} and {many:?}");
        assert_eq!(many[4], commits, "{step}: commits, {few:?} and {many:?}");
        let writes = ["begin", "effect", "result", "end"].contains(&step);
        assert_eq!(commits, u64::from(writes), "{step}: {few:?}");
        assert!(rows < 100 && pages < 20, "{step}: {few:?}");
    }
}
