//! The requests that restored trees of forks. The restored rows have the requests of their origin, so these are stored in notes.
//! Must never contain a digest of erased content.

use retake_core::{ConversationId, Digest, Head, Receipt, RequestId, Revision};

use crate::error::{Result, StoreError};
use crate::rows::Fingerprint;
use crate::store::Context;
use crate::store::write::{said, same_arguments};

/// The name of the note for a request's restore: the root, its head and its revision then.
fn by_request(request: &RequestId) -> String {
    format!("restored_by {request}")
}

/// The name of the note with the digest of a restored tree of forks, by its root.
fn digest_of(root: ConversationId) -> String {
    format!("restored_from {root}")
}

impl Context {
    /// Notes a request's restore.
    pub(super) fn note_restored(
        &mut self,
        request: &RequestId,
        print: Fingerprint,
        receipt: &Receipt,
    ) -> Result<()> {
        let Receipt { conversation, head, revision, .. } = receipt;
        let note = format!("{conversation} {head} {}", revision.0);
        self.rows.set_note(&by_request(request), Some(note.as_bytes()))?;
        self.rows.set_note(&digest_of(*conversation), Some(&print))
    }

    /// The receipt of this request's restore.
    pub(super) fn restored_before(&mut self, request: &RequestId, print: Digest) -> Result<Option<Receipt>> {
        let name = by_request(request);
        let Some(note) = self.rows.note(&name)? else { return Ok(None) };
        let damaged =
            || StoreError::Damaged { row: format!("the note {name}"), why: "it can't be read".into() };
        let (root, head, revision) = read(&note).ok_or_else(damaged)?;
        let recorded = self.rows.note(&digest_of(root))?.unwrap_or_default();
        let recorded = Fingerprint::try_from(&*recorded).unwrap_or_default();
        same_arguments(request, Some(recorded), Some(print))?;
        let loaded = self.load(root)?;
        Ok(Some(Receipt { head, revision, ..said(&loaded, None) }))
    }

    /// Whether this request has restored something.
    pub(in crate::store) fn has_restored(&self, request: &RequestId) -> Result<bool> {
        Ok(self.rows.note(&by_request(request))?.is_some())
    }

    /// Removes the digest after an erasure in this tree of forks.
    pub(in crate::store) fn forget_restored(&mut self, root: ConversationId) -> Result<()> {
        self.rows.set_note(&digest_of(root), None)
    }
}

fn read(note: &[u8]) -> Option<(ConversationId, Head, Revision)> {
    let mut words = std::str::from_utf8(note).ok()?.split(' ');
    let (root, head, revision) = (words.next()?, words.next()?, words.next()?);
    Some((root.parse().ok()?, head.parse().ok()?, Revision(revision.parse().ok()?)))
}
