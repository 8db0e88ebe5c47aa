//! Facts: the last one of a key on the visible path counts. Only seeks, at most one for each span, never a scan.

use std::collections::BTreeSet;

use retake_core::{Fact, Path};

use crate::error::Result;
use crate::rows::Rows;
use crate::store::load::Loaded;

/// The last fact of a key; `None` if it was removed.
pub(super) fn fact(rows: &dyn Rows, loaded: &Loaded, key: &str) -> Result<Option<String>> {
    fact_on(rows, loaded, &loaded.conversation.scheduling(), key)
}

fn fact_on(rows: &dyn Rows, loaded: &Loaded, path: &Path, key: &str) -> Result<Option<String>> {
    let mut spans = path.spans().iter().rev().peekable();
    while let Some(span) = spans.next() {
        let found = rows.fact_before(loaded.key(span.last())?.log, key, span.to)?;
        let seq = found.as_ref().map_or(0, |(seq, _)| *seq);
        if let Some((_, value)) = found.filter(|_| seq >= span.from) {
            return Ok(Some(value).filter(|value| !value.is_empty()));
        }
        // Nothing is between the found one and this span.
        while spans.next_if(|next| next.depth == span.depth && next.from > seq).is_some() {}
    }
    Ok(None)
}

/// The facts of a key along a path, newest first: a seek for each.
pub(super) fn along(rows: &dyn Rows, loaded: &Loaded, path: &Path, key: &str) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for span in path.spans().iter().rev() {
        let (log, mut to) = (loaded.key(span.last())?.log, span.to);
        while let Some((seq, value)) = rows.fact_before(log, key, to)?.filter(|(seq, _)| *seq >= span.from) {
            found.push(value);
            // Entries are numbered from 1.
            to = seq - 1;
        }
    }
    Ok(found)
}

/// The last fact of each key with this prefix, without removed ones. However often a fact was set, it takes one seek for
/// its key and one for its value.
pub(super) fn facts(rows: &dyn Rows, loaded: &Loaded, prefix: &str) -> Result<Vec<Fact>> {
    Ok(facts_if_any(rows, loaded, prefix)?.unwrap_or_default())
}

/// The same of entries that no summary covers: what the model still has in its own words.
pub(super) fn unfolded_facts(rows: &dyn Rows, loaded: &Loaded, prefix: &str) -> Result<Vec<Fact>> {
    let pieces = loaded.conversation.timeline().into_iter();
    let covered = pieces.filter(|piece| piece.fold.is_some()).map(|piece| piece.span);
    let path = loaded.conversation.scheduling().without(covered);
    Ok(facts_on(rows, loaded, &path, prefix)?.unwrap_or_default())
}

/// The facts of the visible path; `None` if no entry of these logs has ever set one.
pub(super) fn facts_if_any(rows: &dyn Rows, loaded: &Loaded, prefix: &str) -> Result<Option<Vec<Fact>>> {
    facts_on(rows, loaded, &loaded.conversation.scheduling(), prefix)
}

fn facts_on(rows: &dyn Rows, loaded: &Loaded, path: &Path, prefix: &str) -> Result<Option<Vec<Fact>>> {
    let mut keys = BTreeSet::new();
    for log in loaded.lineage.iter() {
        let mut from = prefix.to_owned();
        while let Some(key) = rows.fact_key(*log, &from)?.filter(|key| key.starts_with(prefix)) {
            // No text is between these two.
            from = format!("{key}\0");
            keys.insert(key);
        }
    }
    if keys.is_empty() {
        return Ok(None);
    }
    let last = |key: String| Ok(fact_on(rows, loaded, path, &key)?.map(|value| Fact { key, value }));
    keys.into_iter().filter_map(|key| last(key).transpose()).collect::<Result<_>>().map(Some)
}
