//! The draft of a tab, and the owner's version of it. Must never replace the owner's draft before it is known.

use retake_wire::Part;

use crate::ui::composer::Composer;

/// A draft is stored when nothing was typed for this long.
const REST_MS: i64 = 600;

/// A draft as the owner stores it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Stored {
    pub(super) parts: Vec<Part>,
    /// The entry that the draft is to replace.
    pub(super) edits: Option<String>,
    /// Drafts that were moved aside.
    pub(super) aside: Vec<Vec<Part>>,
}

/// The draft of a tab.
#[derive(Debug, Default)]
pub(super) struct LocalDraft {
    /// When the draft was last edited since it was stored.
    pub(super) typed_ms: Option<i64>,
    /// The owner's version.
    pub(super) stored: Stored,
    /// The entry that the draft replaces, chosen before this program started.
    pub(super) edits: Option<String>,
    /// Another conversation is being opened and gets the input now. This is the composer of the one still shown.
    pub(super) opening: Option<Composer>,
    /// The owner's draft was taken over.
    pub(super) is_known: bool,
    /// The owner refused to send its draft.
    pub(super) is_refused: bool,
}

impl LocalDraft {
    /// The person typed.
    pub(super) fn typed(&mut self, now_ms: i64) {
        self.typed_ms = Some(now_ms);
    }

    /// Whether nothing was typed for a moment since the last change.
    pub(super) fn is_due(&self, now_ms: i64) -> bool {
        self.typed_ms.is_some_and(|typed| now_ms - typed >= REST_MS)
    }
}
