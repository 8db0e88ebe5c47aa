//! Ids, authors and refusals for tests. Ids and times count up: no clock, no randomness.

use std::sync::atomic::{AtomicU64, Ordering};

use retake_core::{ChangeOrigin, Time};
use retake_store::StoreError;

/// The time of every test.
pub(crate) const NOW: Time = Time(1_700_000_000_000);

/// A new id.
pub(crate) fn new_id() -> uuid::Uuid {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    uuid::Uuid::from_u128(0x0194_0000_0000_7000_8000_0000_0000_0000 + u128::from(next))
}

/// The author of requests.
pub(crate) fn by() -> ChangeOrigin {
    ChangeOrigin { author: "ann".into(), time: NOW, ..ChangeOrigin::default() }
}

/// The code of a refusal.
pub(crate) fn word(error: &StoreError) -> String {
    match error {
        StoreError::UnknownEntry { .. } | StoreError::ForeignEntry { .. } => "unknown".into(),
        StoreError::Refused(refusal) => refusal.code().into(),
        other => other.to_string(),
    }
}
