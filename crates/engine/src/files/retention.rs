//! What is kept of files, and for how long: captures for a time, what calls and operations did as long as there is room, names
//! and current files always. A collection runs when nobody is at work; what an undo or a rewind may still need goes only when
//! somebody has agreed to it, after having been told which.

mod weigh;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures::future::BoxFuture;

use retake_core::{ContentHash, ConversationId, DeltaId, EntryId, Time};
use retake_store::{Claim, Claimant};
use retake_worktree::{Manifest, PackObjects, WorktreeError};
use tracing::{Instrument as _, info_span};
use weigh::Weighing;

use super::at_work::Alone;
use super::blocking;
use super::erase::is_kept;
use crate::Engine;
use crate::clock::Clock;
use crate::error::Result;
use crate::log::LogFailure as _;

/// How long nobody must have been at work before a collection begins by itself.
const IDLE: Duration = Duration::from_secs(60);
/// After so many captures there may be something to collect.
const CAPTURES: u64 = 256;

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
    pub let_go: Vec<Released>,
    /// Versions that are needed and can't be read; what lies beside them stays.
    pub damaged: u64,
}

/// Calls of a conversation that are let go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Released {
    /// The conversation.
    pub conversation: ConversationId,
    /// The results of the calls, first first.
    pub calls: Vec<EntryId>,
}

impl Engine {
    /// Collects what is not needed, or says what that would be.
    pub fn prune(&self, how: Prune) -> BoxFuture<'_, Result<Pruned>> {
        self.prune_in(None, how)
    }

    /// The same for a caller that may keep others from work already.
    fn prune_in(&self, alone: Option<Alone>, how: Prune) -> BoxFuture<'_, Result<Pruned>> {
        Box::pin(async move {
            let quota = self.files.config()?.keep.quota;
            let Some(pack) = self.files.objects_if_any().await? else {
                return Ok(Pruned { quota, ..Pruned::default() });
            };
            let quiet = match alone {
                Some(alone) => alone,
                None => self.files.quiet().await,
            };
            // From here on everything that is put or found stays.
            let guard = pack.guard();
            let weighing = self.weighing(&pack).await?;
            let (claims, (unneeded, to_quota)) = blocking(move || {
                let cuts = weighing.cuts();
                (weighing.claims, cuts)
            })
            .await
            .and_then(|(claims, cuts)| Ok((claims, cuts?)))?;
            let let_go = self.let_go(&claims, to_quota.as_ref().and_then(|cut| cut.calls)).await?;
            let cut = if how == Prune::ToQuota { to_quota.unwrap_or(unneeded) } else { unneeded };
            let mut pruned = Pruned {
                captures: self.store().old_captures(cut.captures).await?,
                objects: cut.survey.objects,
                freed: cut.survey.unneeded,
                size: cut.size(),
                quota,
                let_go,
                damaged: 0,
            };
            if how == Prune::Look {
                return Ok(pruned);
            }
            self.store().forget_captures(cut.captures).await?;
            if let Some(since) = cut.calls {
                self.store().keep_since(since).await?;
            }
            drop(quiet);
            self.files.captures.store(0, Ordering::Relaxed);
            let stop = Arc::new(AtomicBool::new(false));
            let _until_then = StopOnDrop(Arc::clone(&stop));
            let (collecting, live) = (Arc::clone(&pack), cut.live);
            let collected = blocking(move || {
                collecting.collect_until(&stop, &guard, &|object| live.contains(object), &mut |_, _| ())
            });
            pruned.damaged = collected.await??.damaged.len() as u64;
            pruned.size = pack.size()?;
            pruned.freed = cut.survey.size.saturating_sub(pruned.size);
            Ok(pruned)
        })
    }

    /// All that decides on what is needed. Nobody may be at work.
    async fn weighing(&self, pack: &Arc<PackObjects>) -> Result<Weighing> {
        let keep = self.files.config()?.keep;
        let retention = i64::try_from(keep.retention.as_millis()).unwrap_or(i64::MAX);
        let mut always = self.current().await?;
        always.extend(self.underway().await?);
        // Not this one's to take: an erasure overwrites them.
        always.extend(self.store().erased_objects().await?);
        always.extend(self.at_checkpoints(pack).await?);
        Ok(Weighing {
            pack: Arc::clone(pack),
            claims: self.store().claims().await?,
            always,
            old: Time(self.now().0.saturating_sub(retention)),
            since: self.store().kept_since().await?,
            quota: keep.quota,
        })
    }

    /// What was there at all checkpoints: names are kept for good.
    async fn at_checkpoints(&self, pack: &Arc<PackObjects>) -> Result<Vec<ContentHash>> {
        let manifests = self.store().manifests().await?;
        let pack = Arc::clone(pack);
        blocking(move || {
            let mut objects = Vec::new();
            for name in manifests {
                match Manifest::read(&*pack, name) {
                    Ok(manifest) => objects.extend(manifest.objects),
                    // What is gone needs nothing more.
                    Err(WorktreeError::Missing(_)) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            Ok(objects)
        })
        .await?
    }

    /// The calls whose changes are not kept, when those before a time are not.
    async fn let_go(&self, claims: &[Claim], before: Option<Time>) -> Result<Vec<Released>> {
        let since = self.store().kept_since().await?;
        let mut going: BTreeMap<ConversationId, BTreeSet<DeltaId>> = BTreeMap::new();
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
            let calls = lines.filter(|(line, _)| deltas.contains(&line.id)).map(|(_, entry)| entry).collect();
            let_go.push(Released { conversation, calls });
        }
        Ok(let_go)
    }

    /// Collects by itself from time to time, as long as the engine lives.
    pub fn collect_in_background(self: &Arc<Self>) {
        let (engine, clock) = (Arc::downgrade(self), Arc::clone(&self.parts().clock));
        let span = info_span!(parent: None, "background", operation = "collect");
        tokio::spawn(collect_in_background(engine, clock).instrument(span));
    }

    /// What lets it collect, where nobody is at work, no call is open, and there may be something to collect.
    fn may_collect(&self) -> Option<Alone> {
        let due = self.files.captures.load(Ordering::Relaxed) >= CAPTURES;
        let alone = if due { self.files.at_work.try_alone() } else { None };
        alone.filter(|_| self.files.is_idle())
    }
}

/// Nobody waits any more: a program that ends must not go on collecting.
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

async fn collect_in_background(engine: Weak<Engine>, clock: Arc<dyn Clock>) {
    // Once after the start: what an earlier owner left is due.
    if let Some(engine) = engine.upgrade() {
        engine.files.captures.store(CAPTURES, Ordering::Relaxed);
    }
    loop {
        clock.sleep(IDLE).await;
        let Some(engine) = engine.upgrade() else { return };
        if let Some(alone) = engine.may_collect() {
            // What can't be collected now is collected later; `workspace prune` and `doctor` say why it can't.
            engine
                .prune_in(Some(alone), Prune::Unneeded)
                .await
                .or_log("versions of files that nothing needs stay");
            engine.forget_output().await.or_log("old output of commands stays");
        }
    }
}
