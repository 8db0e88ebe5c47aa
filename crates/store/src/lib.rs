//! Where conversations are kept: entries and operations, append only, and what finds them.
//!
//! Decisions are core's; a backend keeps rows; between them stands one writer that makes whatever is queued
//! durable as one transaction. No row is ever changed or removed, `Erase` aside.

#[cfg(feature = "conformance")]
pub mod conformance;
mod error;
mod keeper;
mod memory;
mod query;
mod reading;
mod request;
mod rows;
mod store;

pub use error::{Result, StoreError};
pub use keeper::Keeper;
pub use memory::{Memory, MemoryRows};
pub use reading::{
    Alternative, Branch, Changes, Hit, Hits, Line, OpLine, OpPage, OpRange, Page, PageRequest, Planned,
    Reading, Shown, Snapshot, Summary, TargetLine,
};
pub use request::{
    Action, Apply, By, ListRequest, NewConversation, NewFork, Receipt, SayRequest, SearchRequest, Sort,
    StreamRow,
};
pub use rows::{Backend, Rows, Transactions};
pub use store::Store;
