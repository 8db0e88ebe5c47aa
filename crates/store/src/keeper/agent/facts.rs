//! Facts: the last one of a key on the visible path counts. One seek for each span at most, never a walk.

use std::collections::BTreeMap;

use retake_core::{Fact, Pos};

use crate::error::Result;
use crate::keeper::load::Loaded;
use crate::rows::Rows;

/// The last fact of a key; nothing, where it was taken away.
pub(super) fn fact<R: Rows>(rows: &R, loaded: &Loaded, key: &str) -> Result<Option<String>> {
    let path = loaded.conversation.scheduling();
    let mut spans = path.spans().iter().rev().peekable();
    while let Some(span) = spans.next() {
        let found = rows.fact_before(loaded.key(span.last())?.log, key, span.to)?;
        let seq = found.as_ref().map_or(0, |(seq, _)| *seq);
        if let Some((_, value)) = found.filter(|_| seq >= span.from) {
            return Ok(Some(value).filter(|value| !value.is_empty()));
        }
        // Nothing is between the one found and this span.
        while spans.next_if(|next| next.depth == span.depth && next.from > seq).is_some() {}
    }
    Ok(None)
}

/// The last fact of each key that begins so, without those taken away.
pub(super) fn facts<R: Rows>(rows: &R, loaded: &Loaded, prefix: &str) -> Result<Vec<Fact>> {
    let path = loaded.conversation.scheduling();
    let mut last = BTreeMap::new();
    for (depth, log) in (0..).zip(loaded.lineage.iter()) {
        for (seq, fact) in rows.facts_like(*log, prefix)? {
            if path.contains(Pos::new(depth, seq)) {
                last.insert(fact.key, fact.value);
            }
        }
    }
    Ok(last
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(key, value)| Fact { key, value })
        .collect())
}
