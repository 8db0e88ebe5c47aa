//! What the outbox's callers give and get: destinations, owed deliveries, rows of the list.

use retake_core::{Claim, ConversationId, Delivery, DeliveryEvent, OpNo, OutboxItem, Told};

use crate::rows::OutboxKey;

/// Where deliveries go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    /// Its name. What it knows is kept by this name.
    pub name: String,
    /// It gets deliveries of conversations in this folder and below it; without one, of all.
    pub folder: Option<String>,
}

impl Destination {
    /// Whether it gets deliveries of a conversation in this folder.
    pub fn covers(&self, folder: Option<&str>) -> bool {
        let Some(own) = &self.folder else { return true };
        folder
            .and_then(|folder| folder.strip_prefix(own.as_str()))
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || own.ends_with('/'))
    }
}

/// What a destination wants to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wants {
    /// The events.
    pub events: Vec<DeliveryEvent>,
    /// Whether it gets the texts of messages.
    pub texts: bool,
}

/// A row of the outbox, with its conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxLine {
    /// Its name.
    pub key: OutboxKey,
    /// The conversation.
    pub conversation: ConversationId,
    /// The row.
    pub item: OutboxItem,
    /// Messages and operations that the destination does not know.
    pub behind: u64,
}

/// A delivery that is owed, from one state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwedDelivery {
    /// Its row.
    pub key: OutboxKey,
    /// The delivery.
    pub delivery: Delivery,
    /// The row that was read.
    pub(crate) seen: OutboxItem,
    /// The last operation then.
    pub(crate) ops: OpNo,
    /// What the destination knows before it.
    pub(crate) told: Told,
    /// What it is.
    pub(crate) claim: Claim,
}
