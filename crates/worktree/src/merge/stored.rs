//! Merges and diffs of stored objects, by hash. It changes no object; merged texts are stored as new ones.

use std::sync::Arc;

use retake_core::{ContentHash, DiffHunks, FilePath, MergeBytes, NoSuchHunks, Record};

use super::hunks::Hunks;
use super::lines::MAX_TEXT;
use super::three::{merge_texts, merge_texts_over, text_beside};
use super::unified::{Diff, Side, unified};
use crate::error::{Result, WorktreeError};
use crate::objects::Objects;

/// Merges objects for the pure plans of core. An object that cannot be read or stored makes the merge `None`, like a
/// conflict, and gives no hunks. So a caller must check the error before it uses a plan.
pub struct StoredMerges {
    objects: Arc<dyn Objects>,
    error: Option<WorktreeError>,
}

impl StoredMerges {
    /// Merges of this store's objects.
    pub fn new(objects: Arc<dyn Objects>) -> Self {
        Self { objects, error: None }
    }

    /// The first error since the last call.
    #[must_use = "a plan made over an error shows false conflicts"]
    pub fn take_error(&mut self) -> Option<WorktreeError> {
        self.error.take()
    }

    fn merged(&self, versions: [ContentHash; 3]) -> Result<Option<(ContentHash, u64)>> {
        let [base, ours, theirs] = versions.map(|hash| self.objects.get(&hash));
        let Some(merged) = merge_texts(&base?, &ours?, &theirs?) else { return Ok(None) };
        Ok(Some((self.objects.put(&merged)?, merged.len() as u64)))
    }

    fn merged_over(
        &self,
        base: ContentHash,
        ours: ContentHash,
        theirs: Option<ContentHash>,
    ) -> Result<Option<(ContentHash, u64)>> {
        let [base, ours] = [base, ours].map(|hash| self.objects.get(&hash));
        let theirs = theirs.map(|hash| self.objects.get(&hash)).transpose()?;
        let theirs: &[u8] = theirs.as_ref().map_or(&[], |bytes| &bytes[..]);
        let Some(merged) = merge_texts_over(&base?, &ours?, theirs) else { return Ok(None) };
        Ok(Some((self.objects.put(&merged)?, merged.len() as u64)))
    }

    fn theirs_beside(&self, versions: [ContentHash; 3]) -> Result<Option<(ContentHash, u64)>> {
        let [base, ours, theirs] = versions.map(|hash| self.objects.get(&hash));
        let Some(text) = text_beside(&base?, &ours?, &theirs?) else { return Ok(None) };
        Ok(Some((self.objects.put(&text)?, text.len() as u64)))
    }

    fn parted(
        &self,
        versions: [ContentHash; 2],
        hunks: &[u32],
    ) -> Result<std::result::Result<(ContentHash, u64), NoSuchHunks>> {
        let [before, after] = versions.map(|hash| self.objects.get(&hash));
        let (before, after) = (before?, after?);
        let Some(all) = Hunks::between(&before, &after) else { return Ok(Err(NoSuchHunks::NoText)) };
        let numbers: Vec<usize> = hunks.iter().map(|number| *number as usize).collect();
        let Some(part) = all.only(&numbers) else {
            // There are fewer than lines, which are limited.
            return Ok(Err(NoSuchHunks::Only(u32::try_from(all.list().len()).unwrap_or(u32::MAX))));
        };
        Ok(Ok((self.objects.put(&part)?, part.len() as u64)))
    }
}

impl MergeBytes for StoredMerges {
    fn merge(
        &mut self,
        base: ContentHash,
        ours: ContentHash,
        theirs: ContentHash,
    ) -> Option<(ContentHash, u64)> {
        self.merged([base, ours, theirs]).unwrap_or_else(|error| {
            self.error.get_or_insert(error);
            None
        })
    }

    fn over(
        &mut self,
        base: ContentHash,
        ours: ContentHash,
        theirs: Option<ContentHash>,
    ) -> Option<(ContentHash, u64)> {
        self.merged_over(base, ours, theirs).unwrap_or_else(|error| {
            self.error.get_or_insert(error);
            None
        })
    }

    fn beside(
        &mut self,
        base: ContentHash,
        ours: ContentHash,
        theirs: ContentHash,
    ) -> Option<(ContentHash, u64)> {
        self.theirs_beside([base, ours, theirs]).unwrap_or_else(|error| {
            self.error.get_or_insert(error);
            None
        })
    }

    fn part(
        &mut self,
        before: ContentHash,
        after: ContentHash,
        hunks: &[u32],
    ) -> std::result::Result<(ContentHash, u64), NoSuchHunks> {
        self.parted([before, after], hunks).unwrap_or_else(|error| {
            self.error.get_or_insert(error);
            Err(NoSuchHunks::NoText)
        })
    }
}

/// The diff of two versions of a path, with their bytes from a store. Bytes that are too large to compare are not
/// read.
pub fn diff(
    objects: &dyn Objects,
    before: (&FilePath, Option<&Record>),
    after: (&FilePath, Option<&Record>),
    shown: &DiffHunks,
) -> Result<Diff> {
    let differ = before.1.and_then(Record::hash) != after.1.and_then(Record::hash);
    let small = |record: Option<&Record>| match record {
        Some(Record::File { len, .. }) => *len <= MAX_TEXT as u64,
        _ => true,
    };
    let read = differ && small(before.1) && small(after.1);
    let bytes = |record: Option<&Record>| match record {
        Some(Record::File { hash, .. }) if read => objects.get(hash).map(Some),
        _ => Ok(None),
    };
    let (old, new) = (bytes(before.1)?, bytes(after.1)?);
    Ok(unified(
        Side { path: before.0, record: before.1, bytes: old.as_deref() },
        Side { path: after.0, record: after.1, bytes: new.as_deref() },
        shown,
    ))
}
