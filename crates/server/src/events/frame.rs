//! An event as it goes to all who follow: written as JSON once, however many there are.

use std::sync::OnceLock;

use axum::body::Bytes;
use retake_wire::{Event, Told};

/// An event.
#[derive(Debug)]
pub(crate) struct Frame {
    /// The revisions that it leads from and to, where it is about what is stored.
    pub(super) step: Option<(u64, u64)>,
    /// How often something had been erased when it began to be read.
    pub(super) age: u64,
    told: Told,
    bytes: OnceLock<Bytes>,
}

impl Frame {
    /// About what is stored.
    pub(super) fn step(age: u64, (from, to): (u64, u64), event: Event) -> Self {
        Self { step: Some((from, to)), ..Self::new(age, Some(to.to_string()), event) }
    }

    /// With an id that means something to its sender.
    pub(super) fn named(age: u64, id: String, event: Event) -> Self {
        Self::new(age, Some(id), event)
    }

    /// About what is not stored.
    pub(super) fn passing(age: u64, event: Event) -> Self {
        Self::new(age, None, event)
    }

    fn new(age: u64, id: Option<String>, event: Event) -> Self {
        Self { step: None, age, told: Told { id, event }, bytes: OnceLock::new() }
    }

    /// The event.
    pub(crate) fn told(&self) -> &Told {
        &self.told
    }

    /// The event as server-sent events have it. JSON has no line breaks, so that it is one line.
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
