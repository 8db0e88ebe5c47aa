//! Exports in pieces of one state, and the upkeep of the whole store.
//!
//! A piece fits into a reply, however long the conversation is. An export reads the export projection and nothing else; only a
//! full export, with a request of its own, contains what a state omits.

mod chats;
mod full;
mod import;
mod restored;

use retake_core::{
    BackupInfo, CheckMode, Checked, ConversationId, Entry, Finding, ListRequest, Part, Path, Pos, Receipt,
    Repair, RequestId, Span, Time,
};
use std::path::{Path as FilePath, PathBuf};

use super::Store;
use super::load::{Loaded, load};
use super::read::shown;
use crate::error::{Result, StoreError};
use crate::rows::Rows;
use crate::transfer::{About, Excerpt, ExportPlace, Exported, Findings, FullImport, FullPiece, Import};

use full::full_piece;
#[cfg(test)]
pub(crate) use import::arguments as import_arguments;

/// A piece ends after the entry that reaches this many bytes of content.
const PIECE_BYTES: usize = 1 << 20;

/// The most entries in a piece.
const PIECE_ENTRIES: u64 = 512;

/// How many entries are read at a time.
const STEP: u64 = 16;

impl Store {
    /// A piece of an export after the previous one; the first one fixes the state for all.
    pub async fn export(&self, conversation: ConversationId, from: Option<ExportPlace>) -> Result<Excerpt> {
        self.with_at(conversation, from.map(|from| from.head), move |rows, loaded| {
            excerpt(rows, loaded, from.map_or(0, |from| from.done))
        })
        .await
    }

    /// A piece of a full export of the whole tree of forks, from the previous one's cursor.
    pub async fn export_full(
        &self,
        conversation: ConversationId,
        cursor: Option<String>,
    ) -> Result<FullPiece> {
        self.with(conversation, move |rows, loaded| full_piece(rows, loaded.row.root, cursor.as_deref()))
            .await
    }

    /// Creates a conversation from imported entries, as one step. A repeated request gets the current receipt.
    pub async fn import(&self, import: Import) -> Result<Receipt> {
        self.write(|context| context.import(import)).await
    }

    /// Restores a tree of forks exactly, as one step; the receipt is the root's. A repeated request gets the same receipt.
    pub async fn restore_full(&self, import: FullImport, request: Option<RequestId>) -> Result<Receipt> {
        self.write(|context| context.restore_full(import, request)).await
    }

    /// Writes a consistent copy of the whole store while it is in use. The file must not exist yet; without a name, it is a
    /// dated one beside the store.
    pub async fn backup(&self, to: Option<PathBuf>, now: Time) -> Result<BackupInfo> {
        self.read(move |rows| copied(rows, to.as_deref(), now)).await
    }

    /// Checks the whole store.
    pub async fn check(&self, care: CheckMode) -> Result<Checked> {
        let found = self.read(look_through).await?;
        if care == CheckMode::Look || found.problems.is_empty() {
            return Ok(found);
        }
        self.write(|context| context.rows.mend()).await?;
        let after = self.read(look_through).await?;
        Ok(mended(found, after))
    }
}

/// A piece of the export projection, after the first `done` entries.
fn excerpt(rows: &dyn Rows, loaded: &Loaded, done: u64) -> Result<Excerpt> {
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

fn about(rows: &dyn Rows, loaded: &Loaded) -> Result<About> {
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

/// An entry with its alternatives at the head; later ones are left out.
fn exported(rows: &dyn Rows, loaded: &Loaded, mut shown: retake_core::ShownEntry) -> Result<Exported> {
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
            // An unreadable entry is left out of the alternatives; the check of the store reports it.
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

/// The approximate size of an entry in an export.
fn size(exported: &Exported) -> usize {
    let parts = |entry: &Entry| entry.parts.iter().map(Part::bytes).sum::<usize>();
    let own = exported.shown.entry.as_ref().map_or(0, parts);
    own + exported.alternatives.iter().map(parts).sum::<usize>()
}

/// Writes a copy.
fn copied(rows: &dyn Rows, to: Option<&FilePath>, now: Time) -> Result<BackupInfo> {
    let path = rows.copy_to(to, now)?;
    let bytes = std::fs::metadata(&path).map_err(crate::lock::io("look at", &path))?.len();
    Ok(BackupInfo { path, bytes })
}

/// Checks every conversation: the backend's problems, and whether each can be loaded.
fn look_through(rows: &dyn Rows) -> Result<Checked> {
    let Findings { problems, details } = rows.problems()?;
    let mut checked = Checked { problems, details, ..Checked::default() };
    let mut request = ListRequest { limit: 256, ..ListRequest::default() };
    loop {
        let page = match rows.conversations(&request) {
            Ok(page) => page,
            // A list that cannot be read is reported by the check.
            Err(error @ (StoreError::Damaged { .. } | StoreError::Database { .. })) => {
                checked.problems.push(Finding::unreadable(error));
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
                let detail = error.to_string();
                checked.problems.push(Finding::Unreadable { conversation: Some(id), detail });
            }
        }
    }
}

/// The problems that were found, and that a repair has fixed.
fn mended(found: Checked, after: Checked) -> Checked {
    let gone = found.problems.iter().any(|problem| !after.problems.contains(problem));
    Checked { mended: gone.then_some(Repair::Indexes).into_iter().collect(), ..after }
}
