//! Rows for turns with tools.

pub(super) mod effects;
pub(super) mod facts;
mod runs;

use retake_core::{ConversationId, Effect, EffectState, Permission, Run, RunNo, Runs, StartedCall, Time};
use rusqlite::params;

use super::cells::{Sql, first, run};
use super::rows::SqliteRows;
use crate::error::Result;
use crate::record::{decode_permission, encode_permission};
use crate::rows::{AgentRows, ConversationRow, Key, LogNo};

const PERMISSION: Sql = (
    "read what is permitted",
    "SELECT permission FROM permission
     WHERE root = (SELECT root FROM conversation WHERE log = ?1) AND log = ?1",
);

/// Every statement that reads rows of one conversation, for the test that none of them scans.
#[cfg(test)]
pub(super) const READS: &[&[Sql]] = &[facts::READS, effects::READS, runs::READS, &[PERMISSION]];

impl AgentRows for SqliteRows {
    fn fact_before(&self, log: LogNo, key: &str, seq: u64) -> Result<Option<(u64, String)>> {
        facts::before(&self.db, log, key, seq)
    }

    fn fact_key(&self, log: LogNo, from: &str) -> Result<Option<String>> {
        facts::key(&self.db, log, from)
    }

    fn insert_effect(&mut self, root: LogNo, key: Key, effect: &Effect) -> Result<()> {
        effects::insert(&self.db, root, key, effect)
    }

    fn set_effect(&mut self, call: &str, state: EffectState) -> Result<Option<LogNo>> {
        effects::set(&self.db, call, state)
    }

    fn effect_began(&self, call: &str) -> Result<Option<(Time, EffectState)>> {
        effects::began(&self.db, call)
    }

    fn effects_in(&self, log: LogNo, from: u64, to: u64, limit: usize) -> Result<Vec<Effect>> {
        effects::within(&self.db, log, from, to, limit)
    }

    fn ledger(&self, log: LogNo, from: u64, to: u64) -> Result<Vec<(u64, Effect)>> {
        effects::all_within(&self.db, log, from, to)
    }

    fn begun(&self, log: LogNo, from: u64, to: u64) -> Result<Vec<(u64, StartedCall)>> {
        effects::begun(&self.db, log, from, to)
    }

    fn effect_like(&self, root: LogNo, print: [u8; 16], before: Key) -> Result<Option<(Key, Effect)>> {
        effects::like(&self.db, root, print, before)
    }

    fn live_runs_of(&self, log: LogNo) -> Result<Runs> {
        runs::live(&self.db, log)
    }

    fn set_run(&mut self, home: &ConversationRow, run: &Run) -> Result<()> {
        runs::set(&self.db, home, run)
    }

    fn runs_of(&self, log: LogNo, limit: usize) -> Result<Vec<Run>> {
        runs::newest(&self.db, log, limit)
    }

    fn runs_in(&self, log: LogNo, from: RunNo, to: RunNo) -> Result<Vec<Run>> {
        runs::between(&self.db, log, from, to)
    }

    fn live_runs(&self) -> Result<Vec<(ConversationId, Run)>> {
        runs::all_live(&self.db)
    }

    fn permission(&self, log: LogNo) -> Result<Option<Permission>> {
        let name = || format!("what is permitted in conversation number {}", log.0);
        first(&self.db, PERMISSION, [log.0], name, |cells| decode_permission(&cells.next::<String>()?))
    }

    fn set_permission(&mut self, home: &ConversationRow, permission: &Permission) -> Result<()> {
        let sql = ("settle what is permitted", "REPLACE INTO permission VALUES (?, ?, ?)");
        run(&self.db, sql, params![home.root.0, home.log.0, encode_permission(permission)]).map(drop)
    }
}
