//! The ledger of effects: names, classes and digests. Must never contain the arguments of a call.

use retake_core::{ConversationId, Effect, EffectState, EntryId, StartedCall, Time};
use rusqlite::{Connection, params};
use uuid::Uuid;

use super::super::cells::{Cells, Sql, all, at_most, first, int, of, run};
use super::super::rows::SqliteRows;
use crate::error::Result;
use crate::record::{Decoded, decode_effect_class, decode_effect_state, encode_effect_state};
use crate::rows::{EffectRows, Fingerprint, Key, LogNo};

/// The digest of an erased call: a real one could confirm a guess of the content.
const ERASED: Fingerprint = [0; 16];

macro_rules! select {
    ($index:literal, $rest:literal) => {
        concat!(
            "SELECT effect.log, effect.seq, effect.call, conversation.id, entry.id, effect.tool, effect.class, ",
            "effect.print, effect.began, effect.state FROM effect ",
            $index,
            " LEFT JOIN conversation ON conversation.log = effect.log ",
            "LEFT JOIN entry ON entry.key = effect.log << 32 | effect.seq ",
            $rest
        )
    };
}

const IN: Sql = (
    "read effects",
    select!(
        "",
        "WHERE effect.root = (SELECT root FROM conversation WHERE log = ?1) AND effect.log = ?1
         AND effect.seq BETWEEN ?2 AND ?3 AND effect.class IN ('compensable', 'external')
         ORDER BY effect.seq DESC, effect.no DESC LIMIT ?4"
    ),
);
const LEDGER: Sql = (
    "read the ledger",
    select!(
        "",
        "WHERE effect.root = (SELECT root FROM conversation WHERE log = ?1) AND effect.log = ?1
         AND effect.seq BETWEEN ?2 AND ?3 ORDER BY effect.seq, effect.no"
    ),
);
const BEGUN: Sql = (
    "read what was begun",
    "SELECT seq, tool, class FROM effect
     WHERE root = (SELECT root FROM conversation WHERE log = ?1) AND log = ?1 AND seq BETWEEN ?2 AND ?3
     ORDER BY seq, no",
);
const LIKE: Sql = (
    "look for an equal call",
    select!(
        "INDEXED BY effect_print",
        "WHERE effect.root = ?1 AND effect.print = ?2 AND (effect.log, effect.seq) < (?3, ?4)
         AND effect.class IN ('compensable', 'external')
         ORDER BY effect.log DESC, effect.seq DESC, effect.no DESC LIMIT 1"
    ),
);
const ONE: Sql = ("look a call up", "SELECT began, state FROM effect WHERE call = ?");

/// The statements that read effects, for the test that none of them scans a table.
#[cfg(test)]
pub(super) const READS: &[Sql] = &[IN, LEDGER, BEGUN, LIKE, ONE];

fn read(cells: &mut Cells<'_>) -> Decoded<(Key, Effect)> {
    let key = Key { log: LogNo(cells.next()?), seq: cells.count()? };
    Ok((
        key,
        Effect {
            call: cells.next()?,
            conversation: ConversationId::new(Uuid::from_bytes(cells.next()?)),
            entry: EntryId::new(Uuid::from_bytes(cells.next()?)),
            tool: cells.next()?,
            class: decode_effect_class(&cells.next::<String>()?)?,
            print: cells.next()?,
            began: Time(cells.next()?),
            state: decode_effect_state(&cells.next::<String>()?)?,
        },
    ))
}

/// Overwrites the ledger's tools and digests for the calls of an entry. Those of a subagent's entry are at the answer that
/// started it: their names begin with the entry's id.
pub(in crate::sqlite) fn erase(db: &Connection, key: Key, id: EntryId) -> Result<()> {
    let sql = (
        "erase an effect",
        "UPDATE effect SET print = ?3, tool = ''
         WHERE root = (SELECT root FROM conversation WHERE log = ?1) AND log = ?1 AND seq = ?2",
    );
    run(db, sql, params![key.log.0, int(key.seq), ERASED])?;
    let sql = ("erase an effect", "UPDATE effect SET print = ?3, tool = '' WHERE call >= ?1 AND call < ?2");
    // A full stop follows the hyphen.
    run(db, sql, params![format!("{id}-"), format!("{id}."), ERASED]).map(drop)
}

impl EffectRows for SqliteRows {
    fn insert_effect(&mut self, root: LogNo, key: Key, effect: &Effect) -> Result<()> {
        let sql = (
            "write a call down",
            "INSERT INTO effect SELECT ?1, ?2, ?3, coalesce(max(no), 0) + 1, ?4, ?5, ?6, ?7, ?8, ?9
             FROM effect WHERE root = ?1 AND log = ?2 AND seq = ?3",
        );
        let state = encode_effect_state(effect.state);
        let (class, print, began) = (effect.class.name(), effect.print, effect.began.0);
        let values =
            params![root.0, key.log.0, int(key.seq), effect.call, effect.tool, class, print, began, state];
        run(&self.db, sql, values).map(drop)
    }

    fn set_effect(&mut self, call: &str, state: EffectState) -> Result<Option<LogNo>> {
        let sql = ("say what came of a call", "UPDATE effect SET state = ?2 WHERE call = ?1 RETURNING log");
        let values = params![call, encode_effect_state(state)];
        first(&self.db, sql, values, || format!("call {call}"), |cells| cells.next().map(LogNo))
    }

    fn effect_began(&self, call: &str) -> Result<Option<(Time, EffectState)>> {
        let read =
            |cells: &mut Cells<'_>| Ok((Time(cells.next()?), decode_effect_state(&cells.next::<String>()?)?));
        first(&self.db, ONE, [call], || format!("call {call}"), read)
    }

    fn effects_in(&self, log: LogNo, from: u64, to: u64, limit: usize) -> Result<Vec<Effect>> {
        all(&self.db, IN, [log.0, int(from), int(to), at_most(limit)], of("an effect", log), |cells| {
            read(cells).map(|(_, effect)| effect)
        })
    }

    fn ledger(&self, log: LogNo, from: u64, to: u64) -> Result<Vec<(u64, Effect)>> {
        let read = |cells: &mut Cells<'_>| read(cells).map(|(key, effect)| (key.seq, effect));
        all(&self.db, LEDGER, [log.0, int(from), int(to)], of("an effect", log), read)
    }

    fn begun(&self, log: LogNo, from: u64, to: u64) -> Result<Vec<(u64, StartedCall)>> {
        all(&self.db, BEGUN, [log.0, int(from), int(to)], of("an effect", log), |cells| {
            let (seq, tool) = (cells.count()?, cells.next()?);
            Ok((seq, StartedCall { tool, class: decode_effect_class(&cells.next::<String>()?)? }))
        })
    }

    fn effect_like(&self, root: LogNo, print: [u8; 16], before: Key) -> Result<Option<(Key, Effect)>> {
        let name = || format!("an effect in the tree of conversation number {}", root.0);
        first(&self.db, LIKE, params![root.0, print, before.log.0, int(before.seq)], name, read)
    }
}
