//! The ledger of effects along the path: effects that stay after a rewind, and calls that are about to be
//! repeated.

use retake_core::{Action, ChangeKind, ConversationId, Digest, Effect, EffectState, Fence, Path};

use crate::error::{Result, StoreError};
use crate::rows::{Fingerprint, Key, LogNo, Rows};
use crate::store::Context;
use crate::store::decide::{decide, locate, undecided};
use crate::store::load::Loaded;

impl Context {
    pub(super) fn begin_effect(&mut self, effect: &Effect, of: Vec<(ConversationId, Fence)>) -> Result<()> {
        for (working, fence) in of {
            let working = self.load(working)?;
            self.admit(&working, Some(fence))?;
        }
        let loaded = self.load(effect.conversation)?;
        let key = loaded.key(locate(&*self.rows, &loaded, effect.entry)?)?;
        if self.rows.effect_began(&effect.call)?.is_some() {
            return Err(StoreError::CallBegun(effect.call.clone()));
        }
        self.touched(effect.conversation, ChangeKind::Effect);
        self.rows.insert_effect(loaded.row.root, key, effect)
    }

    pub(in crate::store) fn end_effect(&mut self, call: &str, state: EffectState) -> Result<()> {
        match self.rows.set_effect(call, state)? {
            Some(log) => self.touched_log(log, ChangeKind::Effect),
            None => Err(StoreError::UnknownCall(call.to_owned())),
        }
    }
}

/// Those on the visible path, newest first.
pub(super) fn effects(rows: &dyn Rows, loaded: &Loaded, limit: usize) -> Result<Vec<Effect>> {
    along(rows, loaded, &loaded.conversation.scheduling(), limit)
}

/// Those that an action would take off the visible path.
pub(super) fn taken_back(rows: &dyn Rows, loaded: &Loaded, action: Action) -> Result<Path> {
    let commit = decide(rows, loaded, &undecided(action))?;
    Ok(loaded.conversation.plan(&loaded.records(rows), &commit)?.gone)
}

/// Those along a path, newest first.
pub(in crate::store) fn along(
    rows: &dyn Rows,
    loaded: &Loaded,
    path: &Path,
    limit: usize,
) -> Result<Vec<Effect>> {
    let mut found = Vec::new();
    for span in path.spans().iter().rev() {
        let log = loaded.key(span.last())?.log;
        found.extend(rows.effects_in(log, span.from, span.to, limit - found.len())?);
        if found.len() >= limit {
            break;
        }
    }
    Ok(found)
}

/// The last one of an equal call that is not on the visible path, whichever version recorded it.
pub(super) fn again(rows: &dyn Rows, loaded: &Loaded, digest: Digest) -> Result<Option<Effect>> {
    let current = again_by(rows, loaded, digest.current)?;
    let before = digest.before.map_or(Ok(None), |before| again_by(rows, loaded, before))?;
    Ok(current.into_iter().chain(before).max_by_key(|effect| effect.began))
}

/// The same for one digest. Reads one row in each visible span, and one in each log.
fn again_by(rows: &dyn Rows, loaded: &Loaded, print: Fingerprint) -> Result<Option<Effect>> {
    let path = loaded.conversation.scheduling();
    let shown = |key: Key| {
        let pos = loaded.pos(key)?;
        let at = path.spans().partition_point(|span| span.last() < pos);
        path.spans().get(at).filter(|span| span.contains(pos))
    };
    let mut last: Option<Effect> = None;
    let mut before = Key { log: LogNo(i64::MAX), seq: 0 };
    while let Some((key, effect)) = rows.effect_like(loaded.row.root, print, before)? {
        let Some(span) = shown(key) else {
            last = last.filter(|last| last.began >= effect.began).or(Some(effect));
            before = Key { seq: 0, ..key };
            continue;
        };
        before = Key { seq: span.from, ..key };
    }
    Ok(last)
}
