//! Where conversations are kept: entries and operations, append only, and what finds them.
//!
//! Decisions are core's; a backend keeps rows; between them stands one writer that makes whatever is queued
//! durable as one transaction. No row is ever changed or removed, `Erase` aside.

mod agent;
#[cfg(feature = "conformance")]
pub mod conformance;
mod error;
mod files;
mod keeper;
mod lock;
mod memory;
mod port;
mod private;
pub mod query;
mod reading;
mod record;
pub mod rows;
mod sqlite;
mod store;
mod stream;

pub use agent::{AgentStore, RunsStepped};
pub use error::{Result, StoreError};
pub use files::{
    CallsSeen, Claim, Claimant, DeltaLayers, ErasureSum, FileStore, FilesHalf, GitTaken, IntentRow,
    NewCapture, NewDelta, OpenCall, Owned, Wanted, WantedFiles,
};
pub use keeper::{Follower, Keeper, digest};
pub use memory::{Memory, MemoryRows};
pub use port::{
    About, Excerpt, ExportPlace, Exported, Findings, FullConversation, FullEffect, FullImport, FullPiece,
    Import, ImportEntry, Said, Upkeep,
};
pub use reading::{AheadOf, Outlook, Snapshot};
pub use record::{
    EXPORT_FORMAT, EXPORT_VERSION, ExportHeader, FULL_FORMAT, FULL_VERSION, FullLine, decode_export_header,
    decode_exported, decode_full, encode_export_header, encode_exported,
};
pub use rows::Backend;
#[cfg(feature = "conformance")]
pub use sqlite::Work;
pub use sqlite::{Opened, Sqlite, SqliteRows};
pub use store::Store;
pub use stream::StreamRow;
