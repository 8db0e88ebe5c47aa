//! An event for all subscribers: serialised as JSON once, however many there are.

use std::sync::OnceLock;

use axum::body::Bytes;
use retake_wire::{Event, NumberedEvent};

/// An event.
#[derive(Debug)]
pub(crate) struct Frame {
    /// The revisions before and after it, if it is about stored data.
    pub(super) step: Option<(u64, u64)>,
    /// The number of erasures before it was read.
    pub(super) age: u64,
    told: NumberedEvent,
    bytes: OnceLock<Bytes>,
}

impl Frame {
    /// An event about stored data.
    pub(super) fn step(age: u64, (from, to): (u64, u64), event: Event) -> Self {
        Self { step: Some((from, to)), ..Self::new(age, Some(to.to_string()), event) }
    }

    /// An event with an id that its sender understands.
    pub(super) fn named(age: u64, id: String, event: Event) -> Self {
        Self::new(age, Some(id), event)
    }

    /// An event about data that is not stored.
    pub(super) fn passing(age: u64, event: Event) -> Self {
        Self::new(age, None, event)
    }

    fn new(age: u64, id: Option<String>, event: Event) -> Self {
        Self { step: None, age, told: NumberedEvent { id, event }, bytes: OnceLock::new() }
    }

    /// The event.
    pub(crate) fn told(&self) -> &NumberedEvent {
        &self.told
    }

    /// The event in the form of server-sent events. JSON has no line breaks, so it is one line.
    pub(crate) fn bytes(&self) -> Bytes {
        let write = || {
            let json = serde_json::to_string(&self.told.event);
            let json = json.expect("BUG: what the wire says has string keys and finite numbers");
            let id = self.told.id.as_ref().map(|id| format!("id: {id}\n")).unwrap_or_default();
            Bytes::from(format!("{id}data: {json}\n\n"))
        };
        self.bytes.get_or_init(write).clone()
    }
}
