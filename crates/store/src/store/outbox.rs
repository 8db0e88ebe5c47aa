//! The outbox: what each destination is owed, in order, and the outcome of each attempt to deliver it.
//!
//! A row becomes due in the transaction of the change. What is owed is computed by a reader, claimed in a short transaction, and
//! settled in another one. A claim that a crash left is delivered again, with the same id.

mod delivery;

use retake_core::{
    Attempt, Commit, DeliveryEvent, DeliveryOrder, DeliveryTerms, Head, OpNo, OutboxItem, Run, RunNo, Time,
    Told,
};

use super::chat::POSTS;
use super::load::Loaded;
use super::{Context, Store};
use crate::error::{Result, StoreError};
use crate::outbox::{Destination, OutboxLine, OwedDelivery, Wants};
use crate::rows::OutboxKey;

/// When a row of a destination is due that is not configured any more.
const NEVER: Time = Time(i64::MAX);

/// The most deliveries that are kept after they were passed over, of one destination and conversation.
const PASSED_MAX: u64 = 100;

/// The most deliveries of a conversation that wait beside its row for a destination. Those after them wait in their order.
const ASIDE_MAX: usize = 16;

impl Store {
    /// Sets the destinations, at the start of an owner. A new one gets what happens from now on. What another one is owed waits
    /// until it is set again.
    pub async fn set_destinations(&self, destinations: Vec<Destination>, now: Time) -> Result<()> {
        self.write(move |context| {
            for row in context.rows.outbox_open(usize::MAX)? {
                let Some((key, mut item)) = readable(row)? else { continue };
                if key.destination == POSTS {
                    continue;
                }
                let known = destinations.iter().any(|destination| destination.name == key.destination);
                let due = match item.due {
                    None => continue,
                    Some(_) if !known => NEVER,
                    Some(NEVER) => now,
                    // The worker that had claimed it ended with an earlier owner.
                    Some(due) if item.is_at_work() => due.min(now),
                    Some(due) => due,
                };
                if item.due.replace(due) != Some(due) {
                    let home = context.rows.log(key.log)?;
                    context.rows.set_outbox_item(&home, &key.destination, &item)?;
                }
            }
            context.destinations = destinations;
            Ok(())
        })
        .await
    }

    /// When something is due next, after this time.
    pub async fn next_due(&self, after: Time) -> Result<Option<Time>> {
        self.read(move |rows| Ok(rows.outbox_next(after)?.filter(|due| *due != NEVER))).await
    }

    /// Rows of a destination that are due now, the earliest first.
    pub async fn due(&self, destination: String, now: Time, limit: usize) -> Result<Vec<OutboxKey>> {
        self.read(move |rows| rows.outbox_due(&destination, now, limit)).await
    }

    /// Sets when a row is due that cannot be delivered now, and why.
    pub async fn postpone_owed(&self, key: OutboxKey, due: Time, why: &'static str) -> Result<()> {
        self.write(move |context| context.rows.postpone(&key, due, why)).await
    }

    /// The next delivery of a row that the destination wants. `None`: there is none now, which is stored.
    pub async fn owed_delivery(&self, key: OutboxKey, wants: Wants) -> Result<Option<OwedDelivery>> {
        let reader = (key.clone(), wants);
        let found = self.read(move |rows| delivery::next(rows, &reader.0, &reader.1)).await?;
        match found {
            delivery::Next::Delivery(delivery) => Ok(Some(*delivery)),
            delivery::Next::Gone => Ok(None),
            delivery::Next::Nothing { seen, ops, told } => {
                self.write(move |context| context.rest(&key, &seen, ops, told)).await.map(|()| None)
            }
        }
    }

    /// Claims a delivery before it is delivered. `false`: something has changed since it was read.
    pub async fn claim_delivery(&self, owed: OwedDelivery, now: Time, lease: Time) -> Result<bool> {
        self.write(move |context| {
            let Some((home, item)) = context.unchanged_row(&owed.key, &owed.seen, owed.ops)? else {
                return Ok(false);
            };
            let item = OutboxItem { told: owed.told, ..item }.claimed(owed.claim, now, lease);
            context.rows.set_outbox_item(&home.row, &owed.key.destination, &item)?;
            Ok(true)
        })
        .await
    }

    /// Stores the result of an attempt at the claimed delivery.
    pub async fn settle_delivery(
        &self,
        key: OutboxKey,
        attempt: Attempt,
        now: Time,
        terms: DeliveryTerms,
    ) -> Result<()> {
        self.write(move |context| context.settle_row(&key, attempt, now, terms)).await
    }

    /// What waits, and what was passed over.
    pub async fn outbox(&self, limit: usize) -> Result<Vec<OutboxLine>> {
        self.read(move |rows| {
            let open = rows.outbox_open(limit)?.into_iter().map(readable);
            let open = open.filter(|row| !matches!(row, Ok(Some((key, _))) if key.destination == POSTS));
            open.filter_map(Result::transpose)
                .map(|row| {
                    let (key, item) = row?;
                    let row = rows.log(key.log)?;
                    let end = item.claim.filter(|_| key.no > 0).map(|claim| claim.until);
                    let until = end.unwrap_or_else(|| place(row.now.head));
                    let behind = (until.head.op.0.saturating_sub(item.told.head.op.0))
                        + until.said.0.saturating_sub(item.told.said.0);
                    Ok(OutboxLine { key, conversation: row.id, item, behind })
                })
                .collect()
        })
        .await
    }

    /// Whether each of these rows waits or was passed over.
    pub async fn open_rows(&self, keys: Vec<OutboxKey>) -> Result<Vec<bool>> {
        self.read(move |rows| {
            let is_open = |key: &OutboxKey| match readable(rows.outbox_item(key))? {
                // A damaged row can be dropped.
                None => Ok(true),
                Some(item) => Ok(item.is_some_and(|item| key.no > 0 || item.due.is_some())),
            };
            keys.iter().map(is_open).collect()
        })
        .await
    }

    /// Makes rows of set destinations due at once, as if they had not been tried; without keys, all. Returns their number.
    pub async fn retry_owed(&self, keys: Option<Vec<OutboxKey>>, now: Time) -> Result<usize> {
        self.write(move |context| {
            let mut changed = 0;
            for key in context.open_keys(keys)? {
                let is_set = context.destinations.iter().any(|it| it.name == key.destination);
                let Some(Some(item)) = readable(context.rows.outbox_item(&key))?.filter(|_| is_set) else {
                    continue;
                };
                let item = OutboxItem { due: Some(now), attempts: 0, since: None, failure: None, ..item };
                let home = context.rows.log(key.log)?;
                context.rows.set_outbox_item(&home, &key.destination, &item)?;
                changed += 1;
            }
            Ok(changed)
        })
        .await
    }

    /// Gives up what rows owe; without keys, all. Returns their number.
    pub async fn drop_owed(&self, keys: Option<Vec<OutboxKey>>) -> Result<usize> {
        self.write(move |context| {
            let mut changed = 0;
            for key in context.open_keys(keys)? {
                let home = context.rows.log(key.log)?;
                if key.no > 0 {
                    context.rows.remove_outbox_item(&key)?;
                } else {
                    let run = context.rows.last_run_end(key.log)?.unwrap_or_default();
                    let told = Told { run, ..place(home.now.head) };
                    let item = OutboxItem { told, ..OutboxItem::default() };
                    context.rows.set_outbox_item(&home, &key.destination, &item)?;
                }
                changed += 1;
            }
            Ok(changed)
        })
        .await
    }
}

/// A damaged row of the outbox must keep nobody from work: the check of the store reports it.
fn readable<T>(read: Result<T>) -> Result<Option<T>> {
    match read {
        Err(StoreError::Damaged { .. }) => {
            tracing::warn!("a row of the outbox cannot be read");
            Ok(None)
        }
        read => read.map(Some),
    }
}

/// What a destination knows that knows everything up to a head.
fn place(head: Head) -> Told {
    Told { head, said: head.seq, run: RunNo(0) }
}

impl Context {
    /// Notes in the transaction of a commit that destinations are owed something. `before`: the conversation before it.
    pub(super) fn owe_commit(&mut self, before: &Loaded, commit: &Commit, now: Time) -> Result<()> {
        let tells = |op: &retake_core::Operation| DeliveryEvent::of(op.reason).is_some();
        match commit.entries.is_empty() && !commit.ops.iter().any(tells) {
            true => Ok(()),
            false => self.owe(before, now),
        }
    }

    /// The same for the ends of runs.
    pub(super) fn owe_ends(&mut self, loaded: &Loaded, over: &[Run], now: Time) -> Result<()> {
        if over.is_empty() {
            return Ok(());
        }
        self.owe(loaded, now)?;
        let head = loaded.conversation.head;
        over.iter().try_for_each(|run| self.rows.set_run_end(&loaded.row, run.no, head))
    }

    /// Work of subagents is owed to nobody: what counts of it is in the result of their call.
    fn owe(&mut self, before: &Loaded, now: Time) -> Result<()> {
        if before.row.caller.is_some() {
            return Ok(());
        }
        let folder = before.row.folder.as_deref();
        let covering = self.destinations.iter().filter(|destination| destination.covers(folder));
        let names: Vec<String> = covering.map(|destination| destination.name.clone()).collect();
        for destination in names {
            let key = OutboxKey { log: before.row.log, destination, no: 0 };
            let Some(item) = readable(self.rows.outbox_item(&key))? else { continue };
            let told = match item {
                Some(item) if item.due.is_some() => continue,
                Some(item) => item.told,
                None => {
                    let run = readable(self.rows.last_run_end(before.row.log))?.flatten().unwrap_or_default();
                    Told { run, ..place(before.conversation.head) }
                }
            };
            self.rows.owe(&before.row, &key.destination, told, now)?;
        }
        Ok(())
    }

    /// A row, if it and the operations are as they were read. New messages do no harm: they come later.
    fn unchanged_row(
        &mut self,
        key: &OutboxKey,
        seen: &OutboxItem,
        ops: OpNo,
    ) -> Result<Option<(std::sync::Arc<Loaded>, OutboxItem)>> {
        let Some(item) = self.rows.outbox_item(key)?.filter(|item| item == seen) else { return Ok(None) };
        let id = self.rows.log(key.log)?.id;
        let loaded = self.load(id)?;
        let fits = item.claim.is_some() || loaded.conversation.head.op == ops;
        Ok(fits.then_some((loaded, item)))
    }

    /// Stores that a destination knows everything, unless there is more by now.
    fn rest(&mut self, key: &OutboxKey, seen: &OutboxItem, ops: OpNo, told: Told) -> Result<()> {
        let Some((loaded, item)) = self.unchanged_row(key, seen, ops)? else { return Ok(()) };
        let more = self.is_behind(&loaded, told)?;
        let due = item.due.filter(|_| more);
        self.rows.set_outbox_item(&loaded.row, &key.destination, &OutboxItem { told, due, ..item })
    }

    fn is_behind(&self, loaded: &Loaded, told: Told) -> Result<bool> {
        let head = loaded.conversation.head;
        Ok(told.head != head
            || told.said < head.seq
            || !self.rows.run_ends(loaded.row.log, told.run, 1)?.is_empty())
    }

    fn settle_row(
        &mut self,
        key: &OutboxKey,
        attempt: Attempt,
        now: Time,
        mut terms: DeliveryTerms,
    ) -> Result<()> {
        let Some(item) = self.rows.outbox_item(key)?.filter(|item| item.claim.is_some()) else {
            return Ok(());
        };
        let id = self.rows.log(key.log)?.id;
        let loaded = self.load(id)?;
        let more = self.is_behind(&loaded, item.claim.map_or(item.told, |claim| claim.until))?;
        if self.rows.outbox_aside(key.log, &key.destination)? >= ASIDE_MAX {
            terms.order = DeliveryOrder::Strict;
        }
        let (kept, passed) = item.after(attempt, now, terms, more);
        match kept {
            Some(item) => self.rows.set_outbox_item(&loaded.row, &key.destination, &item)?,
            None => self.rows.remove_outbox_item(key)?,
        }
        if let Some(passed) = passed {
            let no = self.rows.outbox_last(key.log, &key.destination)? + 1;
            self.rows.set_outbox_item(&loaded.row, &key.destination, &OutboxItem { no, ..passed })?;
            if let Some(no) = no.checked_sub(PASSED_MAX).filter(|no| *no > 0) {
                let oldest = OutboxKey { no, ..key.clone() };
                if readable(self.rows.outbox_item(&oldest))?.flatten().is_some_and(|item| item.due.is_none())
                {
                    self.rows.remove_outbox_item(&oldest)?;
                }
            }
        }
        Ok(())
    }

    /// The named rows that wait or were passed over; without names, all of them.
    fn open_keys(&self, keys: Option<Vec<OutboxKey>>) -> Result<Vec<OutboxKey>> {
        let Some(keys) = keys else {
            let rows = self.rows.outbox_open(usize::MAX)?.into_iter().map(readable);
            return rows.filter_map(Result::transpose).map(|row| Ok(row?.0)).collect();
        };
        let mut open = Vec::new();
        for key in keys {
            let item = readable(self.rows.outbox_item(&key))?;
            let waits = |item: OutboxItem| key.no > 0 || item.due.is_some();
            if item.is_none_or(|item| item.is_some_and(waits)) && !open.contains(&key) {
                open.push(key);
            }
        }
        Ok(open)
    }
}
