//! Rows for turns with tools, in memory.

use retake_core::{
    ConversationId, Effect, EffectState, Entry, Fence, MemoryId, Permission, REMEMBERED, Run, RunNo,
    RunState, Runs, StartedCall, Time,
};
use rpds::RedBlackTreeMapSync;

use super::MemoryRows;
use super::data::misplaced;
use crate::error::Result;
use crate::rows::{ConversationRow, EffectRows, FactRows, Key, LogNo, RunRows, facts_of, outlives};

/// All rows for turns with tools.
#[derive(Clone, Debug, Default)]
pub(super) struct Agent {
    facts: RedBlackTreeMapSync<(LogNo, String, u64), String>,
    /// By log, entry, and their order in it.
    effects: RedBlackTreeMapSync<(LogNo, u64, u64), Effect>,
    runs: RedBlackTreeMapSync<(LogNo, RunNo), Run>,
    permissions: RedBlackTreeMapSync<LogNo, Permission>,
}

impl Agent {
    /// Adds the facts of an entry.
    pub(super) fn said(&mut self, key: Key, entry: &Entry) {
        for fact in facts_of(&entry.parts) {
            self.facts.insert_mut((key.log, fact.key.clone(), key.seq), fact.value.clone());
        }
    }

    /// Removes the facts of an erased entry.
    pub(super) fn erased(&mut self, key: Key, entry: &Entry) {
        for fact in facts_of(&entry.parts) {
            self.facts.remove_mut(&(key.log, fact.key.clone(), key.seq));
        }
        let of = |no| (key.log, key.seq, no);
        let own = self.effects.range(of(0)..=of(u64::MAX));
        // Those of a subagent's entry are at the answer that started it.
        let name = format!("{}-", entry.meta.id);
        let of_subagent = self.effects.iter().filter(|(_, effect)| effect.call.starts_with(&name));
        let effects: Vec<_> = own.chain(of_subagent).map(|(at, _)| *at).collect();
        for at in effects {
            if let Some(effect) = self.effects.get_mut(&at) {
                effect.print = [0; 16];
                effect.tool.clear();
            }
        }
    }
}

impl Agent {
    fn runs(&self, log: LogNo) -> impl DoubleEndedIterator<Item = &Run> {
        self.runs.range((log, RunNo(0))..=(log, RunNo(u64::MAX))).map(|(_, run)| run)
    }
}

impl FactRows for MemoryRows {
    fn fact_before(&self, log: LogNo, key: &str, seq: u64) -> Result<Option<(u64, String)>> {
        let of = |seq| (log, key.to_owned(), seq);
        let last = self.data.agent.facts.range(of(0)..=of(seq)).next_back();
        Ok(last.map(|((.., seq), value)| (*seq, value.clone())))
    }

    fn fact_key(&self, log: LogNo, from: &str) -> Result<Option<String>> {
        let next = self.data.agent.facts.range((log, from.to_owned(), 0)..).next();
        Ok(next.filter(|((of, ..), _)| *of == log).map(|((_, key, _), _)| key.clone()))
    }

    fn memory(&self, id: Option<&MemoryId>) -> Result<Vec<(Key, String, String)>> {
        let wanted = |key: &str| match id {
            Some(id) => MemoryId::in_key(key, REMEMBERED).as_ref() == Some(id),
            None => key.starts_with(REMEMBERED),
        };
        let facts = self.data.agent.facts.iter().filter(|((_, key, _), _)| wanted(key));
        let row = |((log, key, seq), value): (&(LogNo, String, u64), &String)| {
            (Key { log: *log, seq: *seq }, key.clone(), value.clone())
        };
        let mut rows: Vec<_> = facts.map(row).collect();
        rows.sort_by(|one, other| (&one.1, one.0).cmp(&(&other.1, other.0)));
        Ok(rows)
    }
}

impl EffectRows for MemoryRows {
    fn insert_effect(&mut self, _root: LogNo, key: Key, effect: &Effect) -> Result<()> {
        let of = |no| (key.log, key.seq, no);
        let effects = &mut self.data.agent.effects;
        let last = effects.range(of(0)..=of(u64::MAX)).next_back().map_or(0, |((.., no), _)| *no);
        effects.insert_mut(of(last + 1), effect.clone());
        Ok(())
    }

    fn set_effect(&mut self, call: &str, state: EffectState) -> Result<Option<LogNo>> {
        let effects = &mut self.data.agent.effects;
        let named = effects.iter().find(|(_, effect)| effect.call == call).map(|(at, _)| *at);
        if let Some(effect) = named.and_then(|at| effects.get_mut(&at)) {
            effect.state = state;
        }
        Ok(named.map(|(log, ..)| log))
    }

    fn effect_began(&self, call: &str) -> Result<Option<(Time, EffectState)>> {
        let found = self.data.agent.effects.values().find(|effect| effect.call == call);
        Ok(found.map(|effect| (effect.began, effect.state)))
    }

    fn effects_in(&self, log: LogNo, from: u64, to: u64, limit: usize) -> Result<Vec<Effect>> {
        let effects = self.data.agent.effects.range((log, from, 0)..=(log, to, u64::MAX)).rev();
        let lasting = effects.map(|(_, effect)| effect).filter(|effect| outlives(effect.class));
        Ok(lasting.take(limit).cloned().collect())
    }

    fn ledger(&self, log: LogNo, from: u64, to: u64) -> Result<Vec<(u64, Effect)>> {
        let effects = self.data.agent.effects.range((log, from, 0)..=(log, to, u64::MAX));
        Ok(effects.map(|((_, seq, _), effect)| (*seq, effect.clone())).collect())
    }

    fn begun(&self, log: LogNo, from: u64, to: u64) -> Result<Vec<(u64, StartedCall)>> {
        let effects = self.data.agent.effects.range((log, from, 0)..=(log, to, u64::MAX));
        let begun = |effect: &Effect| StartedCall { tool: effect.tool.clone(), class: effect.class };
        Ok(effects.map(|((_, seq, _), effect)| (*seq, begun(effect))).collect())
    }

    fn effect_like(&self, root: LogNo, print: [u8; 16], before: Key) -> Result<Option<(Key, Effect)>> {
        for ((log, seq, _), effect) in self.data.agent.effects.iter().rev() {
            let equal = effect.print == print && outlives(effect.class);
            if equal && (*log, *seq) < (before.log, before.seq) && self.data.log(*log)?.row.root == root {
                return Ok(Some((Key { log: *log, seq: *seq }, effect.clone())));
            }
        }
        Ok(None)
    }
}

impl RunRows for MemoryRows {
    fn live_runs_of(&self, log: LogNo) -> Result<Runs> {
        let runs = || self.data.agent.runs(log);
        let one = |state| runs().find(|run| run.state == state).cloned();
        Ok(Runs {
            running: one(RunState::Running),
            queued: one(RunState::Queued),
            last: runs().next_back().map_or(RunNo(0), |run| run.no),
            fence: runs().map(|run| run.fence).max().unwrap_or(Fence(0)),
        })
    }

    fn set_run(&mut self, home: &ConversationRow, run: &Run) -> Result<()> {
        let clashes = |other: &Run| {
            let both_live = other.state == run.state && !run.state.is_over();
            other.no != run.no && (both_live || (other.fence == run.fence && run.fence > Fence(0)))
        };
        if self.data.agent.runs(home.log).any(clashes) {
            return Err(misplaced(format!("run {} of conversation {}", run.no.0, home.log.0)));
        }
        self.data.agent.runs.insert_mut((home.log, run.no), run.clone());
        Ok(())
    }

    fn runs_of(&self, log: LogNo, limit: usize) -> Result<Vec<Run>> {
        Ok(self.data.agent.runs(log).rev().take(limit).cloned().collect())
    }

    fn runs_in(&self, log: LogNo, from: RunNo, to: RunNo) -> Result<Vec<Run>> {
        let runs = self.data.agent.runs(log).skip_while(|run| run.no < from);
        Ok(runs.take_while(|run| run.no <= to).cloned().collect())
    }

    fn live_runs(&self) -> Result<Vec<(ConversationId, Run)>> {
        let live = self.data.agent.runs.iter().filter(|(_, run)| !run.state.is_over());
        live.map(|((log, _), run)| Ok((self.data.log(*log)?.row.id, run.clone()))).collect()
    }

    fn permission(&self, log: LogNo) -> Result<Option<Permission>> {
        Ok(self.data.agent.permissions.get(&log).cloned())
    }

    fn set_permission(&mut self, home: &ConversationRow, permission: &Permission) -> Result<()> {
        self.data.agent.permissions.insert_mut(home.log, permission.clone());
        Ok(())
    }
}
