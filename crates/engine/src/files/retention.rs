//! How long files are stored: captures for a time, changes of calls and operations while there is room, checkpoints and
//! current files always. A collection runs when the engine is idle. Versions that an undo or a rewind may still need are
//! removed only after a person agreed to the list of them.

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
use weigh::RetentionInput;

use super::at_work::ExclusiveGuard;
use super::blocking;
use super::erase::is_kept;
use crate::Engine;
use crate::clock::Clock;
use crate::error::Result;
use crate::log::LogFailure as _;

/// How long the engine must be idle before a collection begins by itself.
const IDLE: Duration = Duration::from_secs(60);
/// The number of captures after which a collection is worthwhile.
const CAPTURES: u64 = 256;

/// What a collection may remove.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prune {
    /// Nothing: it only reports.
    #[default]
    Look,
    /// Versions that nothing needs, and captures that are old or beyond the quota.
    Unneeded,
    /// Also versions that rewinds need, the oldest first, until the quota is met.
    ToQuota,
}

/// What a collection removed, or would remove.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// The number of captures.
    pub captures: u64,
    /// The number of file versions.
    pub objects: u64,
    /// Bytes; an estimate before the collection.
    pub freed: u64,
    /// Bytes of all remaining versions; an estimate before the collection.
    pub size: u64,
    /// The quota in bytes.
    pub quota: u64,
    /// Calls whose files can no longer be reverted, at least not all. Without [`Prune::ToQuota`] they stay, and the quota
    /// is exceeded.
    pub let_go: Vec<Released>,
    /// Versions that are needed and cannot be read; the objects beside them stay.
    pub damaged: u64,
}

/// Calls of a conversation that lose their stored changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Released {
    /// The conversation.
    pub conversation: ConversationId,
    /// The results of the calls, oldest first.
    pub calls: Vec<EntryId>,
}

impl Engine {
    /// Removes what is not needed, or reports what that would be.
    pub fn prune(&self, how: Prune) -> BoxFuture<'_, Result<Pruned>> {
        self.prune_in(None, how)
    }

    /// The same, for a caller that may already have exclusive access.
    fn prune_in(&self, alone: Option<ExclusiveGuard>, how: Prune) -> BoxFuture<'_, Result<Pruned>> {
        Box::pin(async move {
            let quota = self.files.config()?.keep.quota;
            let Some(pack) = self.files.objects_if_any().await? else {
                return Ok(Pruned { quota, ..Pruned::default() });
            };
            let quiet = match alone {
                Some(alone) => alone,
                None => self.files.quiet().await,
            };
            // From here on, everything that is stored or found stays.
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

    /// Collects the input for the decision what is needed. Needs exclusive access.
    async fn weighing(&self, pack: &Arc<PackObjects>) -> Result<RetentionInput> {
        let keep = self.files.config()?.keep;
        let retention = i64::try_from(keep.retention.as_millis()).unwrap_or(i64::MAX);
        let mut always = self.current().await?;
        always.extend(self.underway().await?);
        // An erasure overwrites these; the collection must leave them.
        always.extend(self.store().erased_objects().await?);
        always.extend(self.at_checkpoints(pack).await?);
        Ok(RetentionInput {
            pack: Arc::clone(pack),
            claims: self.store().claims().await?,
            always,
            old: Time(self.now().0.saturating_sub(retention)),
            since: self.store().kept_since().await?,
            quota: keep.quota,
        })
    }

    /// The manifests of all checkpoints: they are kept for ever.
    async fn at_checkpoints(&self, pack: &Arc<PackObjects>) -> Result<Vec<ContentHash>> {
        let manifests = self.store().manifests().await?;
        let pack = Arc::clone(pack);
        blocking(move || {
            let mut objects = Vec::new();
            for name in manifests {
                match Manifest::read(&*pack, name) {
                    Ok(manifest) => objects.extend(manifest.objects),
                    // A missing one needs nothing more.
                    Err(WorktreeError::Missing(_)) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            Ok(objects)
        })
        .await?
    }

    /// The calls that lose their stored changes when those before a time are removed.
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

    /// Starts collections in the background, as long as the engine lives.
    pub fn collect_in_background(self: &Arc<Self>) {
        let (engine, clock) = (Arc::downgrade(self), Arc::clone(&self.parts().clock));
        let span = info_span!(parent: None, "background", operation = "collect");
        tokio::spawn(collect_in_background(engine, clock).instrument(span));
    }

    /// Exclusive access for a collection, if the engine is idle, no call is open, and a collection is worthwhile.
    fn may_collect(&self) -> Option<ExclusiveGuard> {
        let due = self.files.captures.load(Ordering::Relaxed) >= CAPTURES;
        let alone = if due { self.files.at_work.try_alone() } else { None };
        alone.filter(|_| self.files.is_idle())
    }
}

/// Stops a collection that nobody waits for any more: a program that ends must not continue to collect.
struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

async fn collect_in_background(engine: Weak<Engine>, clock: Arc<dyn Clock>) {
    // Once after the start, because an earlier owner may have left something to collect.
    if let Some(engine) = engine.upgrade() {
        engine.files.captures.store(CAPTURES, Ordering::Relaxed);
    }
    loop {
        clock.sleep(IDLE).await;
        let Some(engine) = engine.upgrade() else { return };
        // These are rows of the database only: nobody has to be idle.
        engine.forget_chat_events().await.or_log("old events of chats stay");
        if let Some(alone) = engine.may_collect() {
            // What can't be collected now is collected later; `workspace prune` and `doctor` report the reason.
            engine
                .prune_in(Some(alone), Prune::Unneeded)
                .await
                .or_log("versions of files that nothing needs stay");
            engine.forget_output().await.or_log("old output of commands stays");
        }
    }
}
