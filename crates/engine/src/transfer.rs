//! Exports, imports, backups, and the check of the store.
//!
//! An import is kept in memory until its end and then stored as one step, so that a crash or an invalid line leaves nothing of
//! it. Must never read or write a file: lines come and go as text.

mod chat_messages;
mod import_lines;
mod import_staging;
mod import_stream;
mod readable;

use retake_core::{BackupInfo, CheckMode, Checked, ConversationId, Head, Receipt, Remedy, RequestId, Time};
use std::path::{Path, PathBuf};

use futures::future::BoxFuture;

use retake_store::{ExportPlace, FullImport, Import, StoreError, encode_export_header, encode_exported};
use retake_tools::destination;

use crate::Engine;
use crate::error::{EngineError, Kind, Result};

pub use import_lines::{mended, whole_pairs};
pub(crate) use import_staging::StagedImports;
use import_staging::{StagedImport, Start};
pub use import_stream::Inflow;

/// The formats of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// JSON Lines: a header, then a line per entry.
    Jsonl,
    /// Markdown, for people.
    Markdown,
    /// Plain text, for people.
    Text,
    /// The log and operations of the whole tree of forks, lossless in both directions.
    Full,
}

/// A part of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportChunk {
    /// The text to write.
    pub text: String,
    /// The cursor for the next part; `None` at the end.
    pub cursor: Option<String>,
    /// The entries so far, and the total; in a full export, rows.
    pub progress: (u64, u64),
}

/// A day in milliseconds.
const A_DAY: i64 = 24 * 60 * 60 * 1000;

impl Engine {
    /// A part of an export. All parts show the state at the first one.
    pub fn export<'a>(
        &'a self,
        conversation: ConversationId,
        format: ExportFormat,
        cursor: Option<&'a str>,
    ) -> BoxFuture<'a, Result<ExportChunk>> {
        Box::pin(async move {
            if format == ExportFormat::Full {
                let piece = self.store().export_full(conversation, cursor.map(str::to_owned)).await;
                let piece = piece.map_err(|error| match (error, cursor) {
                    (StoreError::BadExport(_), Some(cursor)) => bad_cursor(cursor),
                    (error, _) => error.into(),
                })?;
                return Ok(ExportChunk { text: piece.text, cursor: piece.cursor, progress: piece.progress });
            }
            let from = cursor.map(place).transpose()?;
            let excerpt = self.store().export(conversation, from).await?;
            let mut text = String::new();
            if from.is_none() {
                text.push_str(&match format {
                    ExportFormat::Markdown => readable::markdown_title(&excerpt.about),
                    ExportFormat::Text => readable::text_title(&excerpt.about),
                    _ => encode_export_header(&excerpt.about, self.now(), excerpt.total) + "\n",
                });
            }
            for entry in &excerpt.entries {
                text.push_str(&match format {
                    ExportFormat::Markdown => readable::markdown(entry),
                    ExportFormat::Text => readable::text(entry),
                    _ => encode_exported(entry) + "\n",
                });
            }
            let ExportPlace { head, done } = excerpt.place;
            // A part without entries ends the export, so that a cursor can never loop.
            let more = done < excerpt.total && !excerpt.entries.is_empty();
            let cursor = more.then(|| format!("{head}:{done}"));
            Ok(ExportChunk { text, cursor, progress: (done, excerpt.total) })
        })
    }

    /// Begins an import; the receipt contains its id. Nothing is stored yet. `lines_before` lines of the file come before its own;
    /// errors use the file's line numbers.
    pub fn import_start(
        &self,
        title: Option<String>,
        folder: Option<String>,
        lines_before: u64,
        request: Option<RequestId>,
    ) -> Receipt {
        let id = self.new_conversation_id();
        let id = self.importing.begin(id, Start { title, folder, lines_before, request });
        Receipt {
            conversation: id,
            head: Head::default(),
            revision: retake_core::Revision(0),
            ops: Vec::new(),
            entries: Vec::new(),
            unchanged: false,
            taken_back: Default::default(),
            brought_back: Default::default(),
            lifted: Vec::new(),
            composer: None,
        }
    }

    /// The next lines of an import; `first` is the number of the first one, from 0. An invalid line ends it.
    pub fn import_lines(&self, import: ConversationId, first: u64, lines: &[String]) -> Result<()> {
        self.importing.lines(import, first, lines, || self.new_entry_id())
    }

    /// Ends an import: the conversation exists and is durable. A full export keeps its ids.
    pub fn import_end(&self, import: ConversationId) -> BoxFuture<'_, Result<Receipt>> {
        Box::pin(async move {
            if let Some(receipt) = self.importing.ended(import) {
                return Ok(receipt);
            }
            let user = self.parts().user.clone();
            let (start, staged) = self.importing.end(import, || self.new_entry_id(), &user, self.now())?;
            let stored = match staged {
                StagedImport::Full(mut full) => {
                    // The newest conversation of a folder is found by its time. Another machine's clock may be ahead, but only up
                    // to a limit.
                    let latest = Time(self.now().0.saturating_add(A_DAY));
                    full.conversations.iter_mut().for_each(|it| it.changed = it.changed.min(latest));
                    if start.title.is_some() {
                        let message = "can't give a title to a full export: it is restored exactly as it was";
                        return Err(EngineError::usage(message).with("what", "full_export_title"));
                    }
                    works_elsewhere(&full, start.folder.as_deref())?;
                    self.store().restore_full(full, start.request).await
                }
                StagedImport::Conversation(new) => {
                    let import = Import {
                        id: import,
                        title: start.title.or(new.title),
                        folder: start.folder.or(new.folder),
                        created: new.created,
                        entries: new.entries,
                        by: self.by(start.request),
                    };
                    self.store().import(import).await
                }
            };
            let receipt = stored?;
            self.importing.remember(import, &receipt);
            Ok(receipt)
        })
    }

    /// Copies the whole store while it is in use; never overwrites a file.
    pub async fn backup(&self, to: Option<PathBuf>) -> Result<BackupInfo> {
        if let Some(relative) = to.as_ref().filter(|path| path.is_relative()) {
            let message = format!("can't write a backup to {}: the path is not absolute", relative.display());
            return Err(EngineError::usage(message)
                .with("what", "relative_path")
                .with("path", relative.as_path()));
        }
        if let Some((name, what)) = to.as_deref().and_then(no_file) {
            let to = to.as_deref().unwrap_or(Path::new("")).display();
            let message = format!("can't write a backup to {to}: it is {what}");
            return Err(EngineError::new(Kind::Refused, "no_file", message)
                .with("path", to.to_string())
                .with("what", name)
                .remedies([Remedy::Backup]));
        }
        let named = to.is_some();
        // The copy is made at the target of a link; a broken link counts as an existing file.
        let to = to.map(|to| destination::behind_links(&to).unwrap_or(to));
        let copied = self.store().backup(to, self.now()).await;
        copied.map_err(|error| match named && can_not_be(&error) {
            true => EngineError { kind: Kind::Refused, code: "no_place", ..error.into() },
            false => error.into(),
        })
    }

    /// Checks the whole store.
    pub fn doctor(&self, care: CheckMode) -> BoxFuture<'_, Result<Checked>> {
        Box::pin(async move {
            let mut checked = self.store().check(care).await?;
            self.doctor_files(care, &mut checked).await?;
            Ok(checked)
        })
    }
}

/// A full export names the folder of each conversation, where its commands would run. The person who imports it must have chosen
/// that folder.
fn works_elsewhere(full: &FullImport, named: Option<&str>) -> Result<()> {
    let folders = full.conversations.iter().filter_map(|it| it.folder.as_deref());
    let other = named.and_then(|named| folders.into_iter().find(|folder| *folder != named));
    let Some(folder) = other else { return Ok(()) };
    let message = format!("can't import: its conversations work in the folder {folder}, not in this one");
    let error = EngineError::new(Kind::Refused, "other_folder", message).with("what", "import");
    Err(error.with("path", folder).remedies([Remedy::KeepFolder]))
}

/// The kind of thing at this path, if it is not a file and not missing: its name for programs and for people.
fn no_file(to: &Path) -> Option<(&'static str, &'static str)> {
    let there = std::fs::metadata(to).ok().filter(|there| !there.is_file())?;
    Some(if there.is_dir() { ("folder", "a folder") } else { ("device", "a pipe or a device") })
}

/// Whether the path cannot be a file, as opposed to a failure of the disk.
fn can_not_be(error: &StoreError) -> bool {
    use std::io::ErrorKind;
    const PLACES: [ErrorKind; 6] = [
        ErrorKind::NotFound,
        ErrorKind::PermissionDenied,
        ErrorKind::NotADirectory,
        ErrorKind::IsADirectory,
        ErrorKind::InvalidFilename,
        ErrorKind::ReadOnlyFilesystem,
    ];
    matches!(error, StoreError::Io { source, .. } if PLACES.contains(&source.kind()))
}

/// Parses a cursor of `export`.
fn place(cursor: &str) -> Result<ExportPlace> {
    let read = || {
        let (head, done) = cursor.split_once(':')?;
        Some(ExportPlace { head: head.parse().ok()?, done: done.parse().ok()? })
    };
    read().ok_or_else(|| bad_cursor(cursor))
}

fn bad_cursor(cursor: &str) -> EngineError {
    EngineError::new(Kind::NotFound, "bad_cursor", format!("“{cursor}” is not a cursor of an export"))
        .with("what", "export")
        .with("cursor", cursor)
}
