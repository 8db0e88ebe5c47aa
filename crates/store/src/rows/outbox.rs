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
    /// Rows that are due, the earliest first.
    fn outbox_due(&self, now: Time, limit: usize) -> Result<Vec<(OutboxKey, OutboxItem)>>;
    /// When the next row is due.
    fn outbox_next(&self) -> Result<Option<Time>>;
    /// Rows that are due some time, and deliveries that were passed over, in the order of their keys.
    fn outbox_open(&self, limit: usize) -> Result<Vec<(OutboxKey, OutboxItem)>>;
    /// The last number of a delivery that was passed over.
    fn outbox_last(&self, log: LogNo, destination: &str) -> Result<u64>;
    /// Records the head at the end of a run.
    fn set_run_end(&mut self, home: &ConversationRow, run: RunNo, head: Head) -> Result<()>;
    /// Runs with such a record after a number, at most `limit`.
    fn run_ends(&self, log: LogNo, after: RunNo, limit: usize) -> Result<Vec<(RunNo, Head)>>;
}
