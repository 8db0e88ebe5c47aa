//! Rows of the outbox, in memory.

use retake_core::{Head, OutboxItem, RunNo, Time, Told};
use rpds::RedBlackTreeMapSync;

use super::MemoryRows;
use crate::error::Result;
use crate::rows::{ConversationRow, LogNo, OutboxKey, OutboxRows};

/// All rows of the outbox, and the heads at the ends of runs.
#[derive(Clone, Debug, Default)]
pub(super) struct Outbox {
    items: RedBlackTreeMapSync<OutboxKey, OutboxItem>,
    ends: RedBlackTreeMapSync<(LogNo, RunNo), Head>,
}

fn rows<'a>(found: impl Iterator<Item = (&'a OutboxKey, &'a OutboxItem)>) -> Vec<(OutboxKey, OutboxItem)> {
    found.map(|(key, item)| (key.clone(), item.clone())).collect()
}

impl OutboxRows for MemoryRows {
    fn outbox_item(&self, key: &OutboxKey) -> Result<Option<OutboxItem>> {
        Ok(self.data.outbox.items.get(key).cloned())
    }

    fn set_outbox_item(
        &mut self,
        home: &ConversationRow,
        destination: &str,
        item: &OutboxItem,
    ) -> Result<()> {
        let key = OutboxKey { log: home.log, destination: destination.to_owned(), no: item.no };
        self.data.outbox.items.insert_mut(key, item.clone());
        Ok(())
    }

    fn remove_outbox_item(&mut self, key: &OutboxKey) -> Result<()> {
        self.data.outbox.items.remove_mut(key);
        Ok(())
    }

    fn owe(&mut self, home: &ConversationRow, destination: &str, told: Told, due: Time) -> Result<()> {
        let key = OutboxKey { log: home.log, destination: destination.to_owned(), no: 0 };
        let item = self.data.outbox.items.get(&key).cloned();
        let mut item = item.unwrap_or_else(|| OutboxItem { told, ..OutboxItem::default() });
        if item.due.is_none() {
            item.due = Some(due);
            self.data.outbox.items.insert_mut(key, item);
        }
        Ok(())
    }

    fn outbox_due(&self, destination: &str, now: Time, limit: usize) -> Result<Vec<OutboxKey>> {
        let items = self.data.outbox.items.iter().filter(|(key, _)| key.destination == destination);
        let mut due = rows(items.filter(|(_, item)| item.due.is_some_and(|due| due <= now)));
        due.sort_by_key(|(_, item)| item.due);
        Ok(due.into_iter().take(limit).map(|(key, _)| key).collect())
    }

    fn postpone(&mut self, key: &OutboxKey, due: Time, why: &str) -> Result<()> {
        if let Some(item) = self.data.outbox.items.get_mut(key) {
            (item.due, item.why) = (Some(due), Some(why.to_owned()));
        }
        Ok(())
    }

    fn outbox_next(&self, after: Time) -> Result<Option<Time>> {
        Ok(self.data.outbox.items.values().filter_map(|item| item.due).filter(|due| *due > after).min())
    }

    fn outbox_open(&self, limit: usize) -> Result<Vec<Result<(OutboxKey, OutboxItem)>>> {
        let items = self.data.outbox.items.iter();
        let open = rows(items.filter(|(key, item)| item.due.is_some() || key.no > 0).take(limit));
        Ok(open.into_iter().map(Ok).collect())
    }

    fn outbox_aside(&self, log: LogNo, destination: &str) -> Result<usize> {
        let key = |no| OutboxKey { log, destination: destination.to_owned(), no };
        let items = self.data.outbox.items.range(key(1)..=key(u64::MAX));
        Ok(items.filter(|(_, item)| item.due.is_some()).count())
    }

    fn outbox_last(&self, log: LogNo, destination: &str) -> Result<u64> {
        let key = |no| OutboxKey { log, destination: destination.to_owned(), no };
        let last = self.data.outbox.items.range(key(0)..=key(u64::MAX)).next_back();
        Ok(last.map_or(0, |(key, _)| key.no))
    }

    fn set_run_end(&mut self, home: &ConversationRow, run: RunNo, head: Head) -> Result<()> {
        self.data.outbox.ends.insert_mut((home.log, run), head);
        Ok(())
    }

    fn last_run_end(&self, log: LogNo) -> Result<Option<RunNo>> {
        let ends = self.data.outbox.ends.range((log, RunNo(0))..=(log, RunNo(u64::MAX)));
        Ok(ends.map(|((_, run), _)| *run).next_back())
    }

    fn run_ends(&self, log: LogNo, after: RunNo, limit: usize) -> Result<Vec<(RunNo, Head)>> {
        let from = (log, RunNo(after.0 + 1));
        let ends = self.data.outbox.ends.range(from..=(log, RunNo(u64::MAX))).take(limit);
        Ok(ends.map(|((_, run), head)| (*run, *head)).collect())
    }
}
