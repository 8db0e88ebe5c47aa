//! The store of conversations: entries and operations, append-only, and the indexes that find them.
//!
//! Core makes decisions; a backend stores rows; between them one writer makes all queued commits durable as
//! one transaction. Rows are never changed or removed, except by `Erase`.

#[cfg(feature = "conformance")]
pub mod conformance;
pub mod digest;
mod error;
mod files;
mod lock;
mod memory;
mod outbox;
mod private;
pub mod query;
mod reading;
mod record;
pub mod rows;
mod sqlite;
mod store;
mod stream;
mod transfer;
mod untyped;

pub use digest::digest;
pub use error::{Result, StoreError};
pub use files::{
    CallsSeen, CapturedCallChanges, Claim, Claimant, DeltaLayers, ErasureSum, FilesHalf, GitTaken, IntentRow,
    NeededFiles, NewCapture, NewDelta, OpenCall, WantedFiles,
};
pub use memory::{Memory, MemoryRows};
pub use outbox::{Destination, OutboxLine, OwedDelivery, Wants};
pub use reading::{ActionContext, ActionContextRequest, Snapshot};
pub use record::{
    EXPORT_FORMAT, EXPORT_VERSION, ExportHeader, FULL_FORMAT, FULL_VERSION, FullLine, decode_export_header,
    decode_exported, decode_full, encode_export_header, encode_exported,
};
pub use rows::{Backend, OutboxKey};
#[cfg(feature = "conformance")]
pub use sqlite::Work;
pub use sqlite::{Opened, Sqlite, SqliteRows};
pub use store::{PlannedPreview, RunsStepped, Store, Subscriber};
pub use stream::StreamRow;
pub use transfer::{
    About, Excerpt, ExportPlace, Exported, Findings, FullBeside, FullConversation, FullEffect, FullImport,
    FullParent, FullPiece, Import, ImportEntry, ImportMessage, Upkeep,
};
