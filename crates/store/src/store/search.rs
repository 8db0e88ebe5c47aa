//! Search through the path's spans: a rewind never causes new indexing.
//!
//! A backend streams matching rows in the requested order; each is checked in the state of a conversation that
//! contains it, until enough are found. Must never show, as a hit or as its context, what the state omits.

use std::sync::Arc;

use retake_core::{Conversation, Hit, Hits, Include, Part, Pos, SearchRequest, Visibility};

use super::Store;
use super::family::Family;
use super::load::Loaded;
use super::read::{called, line, line_of};
use crate::error::{Result, StoreError};
use crate::query::{Query, Snippet};
use crate::rows::{LogNo, Rows};

/// The approximate length of the text around a match, in characters.
const SNIPPET_CHARS: usize = 160;

impl Store {
    /// Full-text search.
    pub async fn search(&self, request: SearchRequest) -> Result<Hits> {
        let only = match request.conversation {
            Some(id) => Some(self.now(id).await?),
            None => None,
        };
        self.read(move |rows| search(rows, &request, only)).await
    }
}

/// Runs a search. `only` is the requested conversation in its current state.
pub(super) fn search(rows: &dyn Rows, request: &SearchRequest, only: Option<Arc<Loaded>>) -> Result<Hits> {
    let (query, understood) = Query::parse(&request.query);
    if query.any.is_empty() || query.only_excludes {
        return Err(StoreError::EmptyQuery { excludes: query.only_excludes });
    }
    let within = only.as_ref().map(|loaded| ranges(loaded, request.include)).transpose()?;
    let only_log = only.as_ref().map(|loaded| loaded.row.log);
    let mut family = match only {
        Some(loaded) => Family::with(rows, loaded),
        None => Family::new(rows),
    };
    let mut found = Vec::new();
    let mut skip = request.offset;
    let wanted = request.limit + 1;
    rows.search(&query, request, within.as_deref(), &mut |key| {
        let hit = match only_log {
            None => family.home(key, request.include)?,
            Some(log) => {
                let searched = family.meet(log)?;
                let pos = searched.loaded.pos(key);
                let visibility = pos.map(|pos| (log, pos, searched.visibility(pos)));
                visibility.filter(|(_, _, visibility)| Conversation::searchable(*visibility, request.include))
            }
        };
        match hit {
            Some(_) if skip > 0 => skip -= 1,
            Some(hit) => found.push(hit),
            None => {}
        }
        Ok(found.len() < wanted)
    })?;
    let more = found.len() > request.limit;
    found.truncate(request.limit);
    let shown = |parts: &[Part]| query.snippet_of(parts, SNIPPET_CHARS, request.calls);
    let hits = found.into_iter().map(|(log, pos, visibility)| hit(&mut family, &shown, log, pos, visibility));
    Ok(Hits { hits: hits.collect::<Result<_>>()?, more, understood })
}

/// The rows that a conversation can show: its spans, or for an audit all its rows.
fn ranges(loaded: &Loaded, include: Include) -> Result<Vec<(LogNo, u64, u64)>> {
    let tree = &loaded.conversation.tree;
    let path = if include.rewound { tree.base().clone() } else { loaded.conversation.path() };
    let mut ranges = Vec::new();
    for span in path.spans() {
        ranges.push((loaded.key(span.first())?.log, span.from, span.to));
    }
    if include.rewound && tree.last() > 0 {
        ranges.push((loaded.row.log, 1, tree.last()));
    }
    Ok(ranges)
}

/// A hit with its snippet and its neighbours in the same projection.
fn hit(
    family: &mut Family<'_>,
    shown: &dyn Fn(&[Part]) -> Snippet,
    log: LogNo,
    pos: Pos,
    visibility: Visibility,
) -> Result<Hit> {
    let rows = family.rows;
    let searched = family.meet(log)?;
    if searched.title.is_none() {
        searched.title = Some(called(rows, &searched.loaded)?);
    }
    let loaded = Arc::clone(&searched.loaded);
    let title = searched.title.clone().unwrap_or_default();
    let entry = rows.entry(loaded.key(pos)?)?;
    let snippet = shown(&entry.parts);
    let conversation = &loaded.conversation;
    let reading = match visibility {
        Visibility::OnPath(_) => conversation.visible(&searched.path),
        Visibility::Rewound => {
            let branch = conversation.tree.path(Some(conversation.tree.latest_leaf(pos)));
            conversation.visible(&branch)
        }
    };
    let before = reading.before(pos);
    let after = reading.behind(Some(pos)).first();
    let context = |pos: Option<Pos>| pos.map(|pos| line(rows, &loaded, pos)).transpose();
    Ok(Hit {
        conversation: loaded.row.id,
        title,
        line: line_of(pos, entry),
        visibility,
        snippet: snippet.text,
        marks: snippet.marks,
        before: context(before)?,
        after: context(after)?,
    })
}
