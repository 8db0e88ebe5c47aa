//! What is kept of files, and for how long: captures for a time, what calls and operations did as long as there is room, names
//! and current files always. A collection runs when nobody is at work; what an undo or a rewind may still need goes only when
//! somebody has agreed to it, after having been told which.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use retake_core::{ContentHash, ConversationId, DeltaNo, EntryId, Time};
use retake_store::{Claim, Claimant};
use retake_worktree::{PackObjects, Survey};

use super::blocking;
use super::erase::is_kept;
use crate::clock::Clock;
use crate::engine::Engine;
use crate::error::Result;

/// How long nobody must have been at work before a collection begins by itself.
const IDLE: Duration = Duration::from_secs(60);
/// After so many captures there may be something to collect.
const CAPTURES: u64 = 256;

/// How long and how much is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keep {
    /// Captures without a name are kept so long.
    pub retention: Duration,
    /// All versions of files together may take so many bytes.
    pub quota: u64,
}

impl Default for Keep {
    fn default() -> Self {
        Self { retention: Duration::from_secs(30 * 24 * 3600), quota: 10_240_000_000 }
    }
}

/// What a collection may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prune {
    /// Nothing: it only says what it would take.
    #[default]
    Look,
    /// What nothing needs, and captures that are old or beyond the quota.
    Unneeded,
    /// Also what rewinds need, the oldest first, as far as the quota asks for it.
    ToQuota,
}

/// What a collection took, or would take.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Captures.
    pub captures: u64,
    /// Versions of files.
    pub objects: u64,
    /// Bytes; before it is done, about.
    pub freed: u64,
    /// Bytes that all versions take afterwards; before it is done, about.
    pub size: u64,
    /// Bytes that they may take.
    pub quota: u64,
    /// Calls whose files can't go back any more, at least not all. Without [`Prune::ToQuota`] they stay, and the quota is
    /// exceeded.
    pub let_go: Vec<LetGo>,
    /// Versions that are needed and can't be read; what lies beside them stays.
    pub damaged: u64,
}

/// Calls of a conversation that are let go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LetGo {
    /// The conversation.
    pub conversation: ConversationId,
    /// The results of the calls, first first.
    pub calls: Vec<EntryId>,
}

/// What is to go, and what is needed without it.
struct Cut {
    /// Captures before this.
    captures: Time,
    /// What calls and operations did before this; nothing, where all of it stays.
    calls: Option<Time>,
    live: HashSet<ContentHash>,
    survey: Survey,
}

impl Engine {
    /// Collects what is not needed, or says what that would be.
    pub async fn prune(&self, how: Prune) -> Result<Pruned> {
        let quota = self.files.config()?.keep.quota;
        let Some(pack) = self.files.objects_if_any().await? else {
            return Ok(Pruned { quota, ..Pruned::default() });
        };
        let quiet = self.files.quiet().await;
        // From here on everything that is put or found stays.
        let guard = pack.guard();
        let claims = self.store().claims().await?;
        let cut = self.cut(&pack, &claims).await?;
        let mut pruned = Pruned {
            captures: self.store().old_captures(cut.captures).await?,
            objects: cut.survey.objects,
            freed: cut.survey.unneeded,
            size: cut.survey.size.saturating_sub(cut.survey.unneeded),
            quota,
            let_go: self.let_go(&claims, cut.calls).await?,
            damaged: 0,
        };
        let mut cut = cut;
        if how == Prune::Unneeded && cut.calls.take().is_some() {
            // Nobody has agreed to it: they stay.
            cut = self.cut_at(&pack, &claims, cut.captures, None).await?;
        }
        if how == Prune::Look {
            return Ok(pruned);
        }
        pruned.captures = self.store().forget_captures(cut.captures).await?;
        if let Some(since) = cut.calls {
            self.store().keep_since(since).await?;
        }
        drop(quiet);
        self.files.captures.store(0, Ordering::Relaxed);
        let before = pack.size()?;
        pruned.objects = cut.survey.objects;
        let (collecting, live) = (Arc::clone(&pack), cut.live);
        let stop = Arc::new(AtomicBool::new(false));
        let _until_then = StopOnDrop(Arc::clone(&stop));
        let collected = blocking(move || {
            collecting.collect_until(&stop, &guard, &|object| live.contains(object), &mut |_, _| ())
        });
        pruned.damaged = collected.await??.damaged.len() as u64;
        pruned.size = pack.size()?;
        pruned.freed = before.saturating_sub(pruned.size);
        Ok(pruned)
    }

    /// What has to go so that everything has room: captures that are old, then younger ones, then what calls did, always the
    /// oldest first.
    async fn cut(&self, pack: &Arc<PackObjects>, claims: &[Claim]) -> Result<Cut> {
        let keep = self.files.config()?.keep;
        let retention = i64::try_from(keep.retention.as_millis()).unwrap_or(i64::MAX);
        let old = Time(self.now().0.saturating_sub(retention));
        let fits = |cut: &Cut| cut.survey.size.saturating_sub(cut.survey.unneeded) <= keep.quota;
        let since = self.store().kept_since().await?;
        let first = self.cut_at(pack, claims, old, since).await?;
        if fits(&first) {
            return Ok(Cut { calls: None, ..first });
        }
        let times = |wanted: &dyn Fn(&Claim) -> bool| {
            let times: BTreeSet<Time> =
                claims.iter().filter(|claim| wanted(claim)).map(|claim| Time(claim.time.0 + 1)).collect();
            times.into_iter().collect::<Vec<_>>()
        };
        let captures = times(&|claim| matches!(claim.by, Claimant::Capture(_)) && claim.time >= old);
        let mut best = first;
        let (mut from, mut to) = (0, captures.len());
        while from < to {
            let at = usize::midpoint(from, to);
            let cut = self.cut_at(pack, claims, captures[at], since).await?;
            (from, to) = if fits(&cut) { (from, at) } else { (at + 1, to) };
            if fits(&cut) || !fits(&best) {
                best = cut;
            }
        }
        if fits(&best) {
            return Ok(Cut { calls: None, ..best });
        }
        let old = best.captures.max(captures.last().copied().unwrap_or(old));
        let calls = times(&|claim| {
            matches!(claim.by, Claimant::Call(..) | Claimant::Op(..)) && is_kept(claim.by, claim.time, since)
        });
        let mut best = self.cut_at(pack, claims, old, since).await?;
        let (mut from, mut to) = (0, calls.len());
        while from < to {
            let at = usize::midpoint(from, to);
            let cut = self.cut_at(pack, claims, old, Some(calls[at])).await?;
            (from, to) = if fits(&cut) { (from, at) } else { (at + 1, to) };
            if fits(&cut) || !fits(&best) {
                best = cut;
            }
        }
        if best.calls == since {
            best.calls = None;
        }
        Ok(best)
    }

    /// What is needed when captures and calls before these times are not.
    async fn cut_at(
        &self,
        pack: &Arc<PackObjects>,
        claims: &[Claim],
        captures: Time,
        calls: Option<Time>,
    ) -> Result<Cut> {
        let calls = calls.max(self.store().kept_since().await?);
        let needed = |claim: &&Claim| match claim.by {
            Claimant::Capture(_) => claim.time >= captures,
            by => is_kept(by, claim.time, calls),
        };
        let mut live: HashSet<ContentHash> = claims.iter().filter(needed).map(|claim| claim.object).collect();
        live.extend(self.current().await?);
        live.extend(self.underway().await?);
        live.extend(self.store().erased_objects().await?);
        let pack = Arc::clone(pack);
        let (live, survey) = blocking(move || {
            let survey = pack.survey(&|object| live.contains(object));
            (live, survey)
        })
        .await?;
        Ok(Cut { captures, calls, live, survey: survey? })
    }

    /// The calls whose changes are not kept, when those before a time are not.
    async fn let_go(&self, claims: &[Claim], before: Option<Time>) -> Result<Vec<LetGo>> {
        let since = self.store().kept_since().await?;
        let mut going: BTreeMap<ConversationId, BTreeSet<DeltaNo>> = BTreeMap::new();
        for claim in claims.iter().filter(|claim| before.is_some_and(|before| claim.time < before)) {
            if let Claimant::Call(conversation, no) = claim.by
                && is_kept(claim.by, claim.time, since)
            {
                going.entry(conversation).or_default().insert(no);
            }
        }
        let mut let_go = Vec::new();
        for (conversation, deltas) in going {
            let lines = self.store().deltas(conversation).await?.into_iter();
            let calls = lines.filter(|(line, _)| deltas.contains(&line.no)).map(|(_, entry)| entry).collect();
            let_go.push(LetGo { conversation, calls });
        }
        Ok(let_go)
    }

    /// Collects by itself from time to time, as long as the engine lives.
    pub(crate) fn keep_house(self: &Arc<Self>) {
        let (engine, clock) = (Arc::downgrade(self), Arc::clone(&self.parts().clock));
        tokio::spawn(keep_house(engine, clock));
    }

    /// Whether nobody is at work, no call is open, and there may be something to collect.
    fn may_collect(&self) -> bool {
        let due = self.files.captures.load(Ordering::Relaxed) >= CAPTURES;
        due && self.files.at_work.try_write().is_ok() && self.files.is_idle()
    }
}

/// Nobody waits any more: a program that ends must not go on collecting.
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

async fn keep_house(engine: Weak<Engine>, clock: Arc<dyn Clock>) {
    // Once after the start: what an earlier owner left is due.
    if let Some(engine) = engine.upgrade() {
        engine.files.captures.store(CAPTURES, Ordering::Relaxed);
    }
    loop {
        clock.sleep(IDLE).await;
        let Some(engine) = engine.upgrade() else { return };
        if engine.may_collect() {
            // What can't be collected now is collected later; `workspace prune` and `doctor` say why it can't.
            drop(engine.prune(Prune::Unneeded).await);
        }
    }
}
