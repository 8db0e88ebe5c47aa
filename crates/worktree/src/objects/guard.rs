//! Protects objects that a capture is about to name from a collection.

use std::sync::{Arc, Mutex};

use retake_core::ContentHash;

use super::{Names, locked};

/// Objects that were stored or found since the oldest guard was taken.
#[derive(Default)]
pub(super) struct GuardedObjects {
    guards: usize,
    names: Names,
}

impl GuardedObjects {
    /// Remembers an object, if there is a guard.
    pub(super) fn touch(&mut self, name: &ContentHash) {
        if self.guards > 0 {
            self.names.insert(*name);
        }
    }

    /// Whether it was touched.
    pub(super) fn has(&self, name: &ContentHash) -> bool {
        self.names.contains(name)
    }
}

/// While it lives, no collection removes objects that were stored, or found by `contains`, since it was
/// made.
#[must_use = "dropped at once it guards nothing"]
pub struct Guard(Arc<Mutex<GuardedObjects>>);

impl Guard {
    pub(super) fn new(kept: &Arc<Mutex<GuardedObjects>>) -> Self {
        locked(kept).guards += 1;
        Self(Arc::clone(kept))
    }

    /// Whether it belongs to this pack.
    pub(super) fn is_of(&self, kept: &Arc<Mutex<GuardedObjects>>) -> bool {
        Arc::ptr_eq(&self.0, kept)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let mut kept = locked(&self.0);
        kept.guards -= 1;
        if kept.guards == 0 {
            kept.names = Names::default();
        }
    }
}

impl std::fmt::Debug for Guard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Guard")
    }
}
