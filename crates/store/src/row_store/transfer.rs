//! What goes out: exports in pieces that are all of one state, and the care of the whole store.
//!
//! A piece is as large as a reply may be, never as large as a conversation. An export reads the export
//! projection and nothing else; only a full export, which has a request of its own, holds what a state omits.

mod full;
mod import;
mod restored;

use retake_core::{Checked, Copied, Entry, ListRequest, Part, Path, Pos, Source, Span};
use std::path::Path as FilePath;

use super::load::{Loaded, load};
use super::read::shown;
use crate::error::{Result, StoreError};
use crate::rows::Rows;
use crate::transfer::{About, Excerpt, ExportPlace, Exported, Findings, Upkeep};

pub(super) use full::full_piece;
#[cfg(test)]
pub(crate) use import::arguments as import_arguments;

/// A piece ends behind the entry that reaches so many bytes of content.
const PIECE_BYTES: usize = 1 << 20;

/// A piece has at most so many entries.
const PIECE_ENTRIES: u64 = 512;

/// Entries that are read at a time.
const STEP: u64 = 16;

/// A piece of the export projection, behind the first `done` entries.
pub(super) fn excerpt<R: Rows>(rows: &R, loaded: &Loaded, done: u64) -> Result<Excerpt> {
    let pieces = loaded.conversation.export();
    let whole = Path::from_spans(pieces.iter().map(|piece| piece.span));
    let mut rest = skipped(&whole, done);
    let (mut entries, mut bytes) = (Vec::new(), 0);
    while bytes < PIECE_BYTES && (entries.len() as u64) < PIECE_ENTRIES && !rest.is_empty() {
        let left = skipped(&rest, STEP);
        let step = rest.without(left.spans().iter().copied());
        for shown in shown(rows, loaded, &step)? {
            let exported = exported(rows, loaded, shown)?;
            bytes += size(&exported);
            entries.push(exported);
        }
        rest = left;
    }
    let place = ExportPlace { head: loaded.conversation.head, done: done + entries.len() as u64 };
    Ok(Excerpt { about: about(rows, loaded)?, place, total: whole.len(), entries })
}

/// A path without its first entries.
fn skipped(path: &Path, count: u64) -> Path {
    let mut left = count;
    let spans = path.spans().iter().filter_map(|span| {
        let skip = left.min(span.len());
        left -= skip;
        (skip < span.len()).then(|| Span::new(span.depth, span.from + skip, span.to))
    });
    Path::from_spans(spans)
}

fn about<R: Rows>(rows: &R, loaded: &Loaded) -> Result<About> {
    let row = &loaded.row;
    let parent = row.parent.map(|parent| rows.log(parent.log).map(|log| (log.id, parent.head)));
    Ok(About {
        id: row.id,
        title: loaded.conversation.state.title().map(str::to_owned),
        created: row.created,
        folder: row.folder.clone(),
        head: loaded.conversation.head,
        parent: parent.transpose()?,
    })
}

/// An entry with its alternatives: those that were there at the head, whatever was said later.
fn exported<R: Rows>(rows: &R, loaded: &Loaded, mut shown: retake_core::ShownEntry) -> Result<Exported> {
    let Some(_) = shown.alternative else {
        return Ok(Exported { shown, alternatives: Vec::new() });
    };
    let conversation = &loaded.conversation;
    let own = conversation.tree.depth();
    let there = |pos: &Pos| pos.depth < own || pos.seq <= conversation.head.seq.0;
    let mut siblings = conversation.alternatives(&loaded.records(rows), shown.pos)?;
    siblings.retain(there);
    let mut alternatives: Vec<(Pos, Entry)> = Vec::new();
    for pos in siblings {
        match rows.entry(loaded.key(pos)?) {
            Ok(entry) => alternatives.push((pos, entry)),
            // What can't be read is no answer to choose; the check of the store tells of it.
            Err(StoreError::Damaged { .. }) => {}
            Err(other) => return Err(other),
        }
    }
    let at = alternatives.iter().position(|(pos, _)| *pos == shown.pos);
    shown.alternative = at.filter(|_| alternatives.len() > 1).map(|at| (at + 1, alternatives.len()));
    let alternatives = match shown.alternative {
        Some(_) => alternatives.into_iter().map(|(_, entry)| entry).collect(),
        None => Vec::new(),
    };
    Ok(Exported { shown, alternatives })
}

/// About how large an entry is in an export.
fn size(exported: &Exported) -> usize {
    let parts = |entry: &Entry| entry.parts.iter().map(part_bytes).sum::<usize>();
    let own = exported.shown.entry.as_ref().map_or(0, parts);
    own + exported.alternatives.iter().map(parts).sum::<usize>()
}

fn part_bytes(part: &Part) -> usize {
    let source = |source: &Source| match source {
        Source::Inline(bytes) => bytes.len(),
        Source::Link(link) => link.len(),
    };
    match part {
        Part::Text(text) | Part::Reasoning { text, .. } => text.len(),
        Part::Image { source: from, .. } | Part::File { source: from, .. } => source(from),
        Part::ToolCall { arguments, .. } => arguments.len(),
        Part::ToolResult { content, .. } => content.len(),
        Part::Facts(facts) => facts.iter().map(|fact| fact.key.len() + fact.value.len()).sum(),
        Part::Erased => 0,
    }
}

/// Writes a copy.
pub(super) fn copied<R: Upkeep>(rows: &R, to: Option<&FilePath>, now: retake_core::Time) -> Result<Copied> {
    let path = rows.copy_to(to, now)?;
    let bytes = std::fs::metadata(&path).map_err(crate::lock::io("look at", &path))?.len();
    Ok(Copied { path, bytes })
}

/// Looks at every conversation: what the backend finds, and whether each can be loaded.
pub(super) fn look_through<R: Upkeep>(rows: &R) -> Result<Checked> {
    let Findings { problems, details } = rows.problems()?;
    let mut checked = Checked { problems, details, ..Checked::default() };
    let mut request = ListRequest { limit: 256, ..ListRequest::default() };
    loop {
        let page = match rows.conversations(&request) {
            Ok(page) => page,
            // A list that can't be read is what a check is there to tell of.
            Err(error @ (StoreError::Damaged { .. } | StoreError::Database { .. })) => {
                checked.problems.push(format!("the list of conversations can't be read on: {error}"));
                return Ok(checked);
            }
            Err(other) => return Err(other),
        };
        let Some(last) = page.last() else {
            return Ok(checked);
        };
        request.before = Some(last.id);
        for row in page {
            checked.conversations += 1;
            checked.entries += row.now.head.seq.0;
            let id = row.id;
            if let Err(error) = load(rows, row) {
                checked.problems.push(format!("conversation {id} can't be opened: {error}"));
            }
        }
    }
}

/// What was found, and is no longer there after the mending.
pub(super) fn mended(found: Checked, after: Checked) -> Checked {
    let gone = found.problems.iter().any(|problem| !after.problems.contains(problem));
    let mended = if gone {
        vec!["the indexes of words and of facts were made anew from the messages".to_owned()]
    } else {
        Vec::new()
    };
    Checked { mended, ..after }
}
