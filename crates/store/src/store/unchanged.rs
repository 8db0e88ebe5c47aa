//! Receipts of requests that changed nothing. The log has no row for them, so they are stored in notes: a retry must not make a
//! change that the first attempt did not need. Must never contain a digest of erased content.

use retake_core::{Digest, EntryId, Head, Receipt, RequestId, Revision};

use super::Context;
use super::erase::holds;
use super::load::Loaded;
use super::write::{empty_plan, receipt_of, same_arguments};
use crate::error::{Result, StoreError};
use crate::rows::{Fingerprint, LogNo};

/// The prefix of the notes of a tree of forks.
fn of_root(root: LogNo) -> String {
    format!("unchanged {} ", root.0)
}

fn by_request(loaded: &Loaded, request: &RequestId) -> String {
    format!("{}{} {request}", of_root(loaded.row.root), loaded.row.log.0)
}

impl Context {
    /// Notes a request without changes, if it can be repeated. Returns the receipt.
    pub(super) fn note_unchanged(
        &mut self,
        loaded: &Loaded,
        request: Option<&RequestId>,
        print: Fingerprint,
        receipt: Receipt,
    ) -> Result<Receipt> {
        if let Some(request) = request {
            let entry = receipt.entries.first().map(ToString::to_string).unwrap_or_default();
            let text = format!("{} {} {entry}", receipt.head, receipt.revision.0);
            let note = [&print, text.as_bytes()].concat();
            self.rows.set_note(&by_request(loaded, request), Some(&note))?;
        }
        Ok(receipt)
    }

    /// The receipt of a request without changes.
    pub(super) fn unchanged_before(
        &self,
        loaded: &Loaded,
        request: &RequestId,
        print: Option<Digest>,
    ) -> Result<Option<Receipt>> {
        let name = by_request(loaded, request);
        let Some(note) = self.rows.note(&name)? else { return Ok(None) };
        let damaged =
            || StoreError::Damaged { row: format!("the note {name}"), why: "it can't be read".into() };
        let (recorded, head, revision, entry) = read(&note).ok_or_else(damaged)?;
        same_arguments(request, Some(recorded), print)?;
        let receipt = receipt_of(loaded, retake_core::Commit::default(), &empty_plan(loaded), None);
        Ok(Some(Receipt { head, revision, entries: entry.into_iter().collect(), ..receipt }))
    }

    /// Removes the notes of requests whose id contains a text; returns their number.
    pub(super) fn erase_unchanged(&mut self, root: LogNo, text: &str) -> Result<usize> {
        let mut dropped = 0;
        for (name, _) in self.rows.notes(&of_root(root))? {
            if name.rsplit(' ').next().is_some_and(|request| holds(request, text)) {
                self.rows.set_note(&name, None)?;
                dropped += 1;
            }
        }
        Ok(dropped)
    }

    /// After an erasure in this tree of forks, removes all digests. Then the id alone counts.
    pub(super) fn forget_unchanged(&mut self, root: LogNo) -> Result<()> {
        for (name, note) in self.rows.notes(&of_root(root))? {
            let print = Fingerprint::default();
            let rest = note.get(print.len()..).unwrap_or_default();
            self.rows.set_note(&name, Some(&[&print, rest].concat()))?;
        }
        Ok(())
    }
}

fn read(note: &[u8]) -> Option<(Fingerprint, Head, Revision, Option<EntryId>)> {
    let (print, text) = note.split_first_chunk()?;
    let mut words = std::str::from_utf8(text).ok()?.split(' ');
    let (head, revision, entry) = (words.next()?, words.next()?, words.next()?);
    let entry = match entry {
        "" => None,
        id => Some(id.parse().ok()?),
    };
    Some((*print, head.parse().ok()?, Revision(revision.parse().ok()?), entry))
}
