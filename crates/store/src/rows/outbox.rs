//! The interface for rows of the outbox: what each destination knows of each conversation.

use retake_core::{Head, OutboxItem, RunNo, Time, Told};

use super::{ConversationRow, LogNo};
use crate::error::Result;

/// The name of a row of the outbox: a conversation, a destination, and 0 or the number of a delivery that was passed over.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OutboxKey {
    /// The conversation.
    pub log: LogNo,
    /// The destination.
    pub destination: String,
    /// 0, or the number of the delivery.
    pub no: u64,
}

/// Rows of the outbox, within one transaction.
pub trait OutboxRows {
    /// A row.
    fn outbox_item(&self, key: &OutboxKey) -> Result<Option<OutboxItem>>;
    /// Adds or overwrites a row.
    fn set_outbox_item(&mut self, home: &ConversationRow, destination: &str, item: &OutboxItem)
    -> Result<()>;
    /// Removes a row.
    fn remove_outbox_item(&mut self, key: &OutboxKey) -> Result<()>;
    /// Makes the row of a destination due, unless it is already. A new one knows `told`.
    fn owe(&mut self, home: &ConversationRow, destination: &str, told: Told, due: Time) -> Result<()>;
    /// The rows of a destination that are due, the earliest first. Their contents are not read.
    fn outbox_due(&self, destination: &str, now: Time, limit: usize) -> Result<Vec<OutboxKey>>;
    /// Sets when a row is due, and why not before, whether the row can be read or not.
    fn postpone(&mut self, key: &OutboxKey, due: Time, why: &str) -> Result<()>;
    /// When the next row is due after this time.
    fn outbox_next(&self, after: Time) -> Result<Option<Time>>;
    /// Rows that are due some time, and deliveries that were passed over, in the order of their keys. One that cannot be read is
    /// an error in its place.
    fn outbox_open(&self, limit: usize) -> Result<Vec<Result<(OutboxKey, OutboxItem)>>>;
    /// How many deliveries are set aside: they have a number and are due some time.
    fn outbox_aside(&self, log: LogNo, destination: &str) -> Result<usize>;
    /// The last number of a delivery that was set aside or passed over.
    fn outbox_last(&self, log: LogNo, destination: &str) -> Result<u64>;
    /// Records the head at the end of a run.
    fn set_run_end(&mut self, home: &ConversationRow, run: RunNo, head: Head) -> Result<()>;
    /// The last run with such a record.
    fn last_run_end(&self, log: LogNo) -> Result<Option<RunNo>>;
    /// Runs with such a record after a number, at most `limit`.
    fn run_ends(&self, log: LogNo, after: RunNo, limit: usize) -> Result<Vec<(RunNo, Head)>>;
}
