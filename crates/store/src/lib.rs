//! Where conversations are kept: entries and operations, append only, and what finds them.
//!
//! Decisions are core's; a backend keeps rows; between them stands one writer that makes whatever is queued
//! durable as one transaction. No row is ever changed or removed, `Erase` aside.

mod error;
mod query;
mod request;
mod rows;

pub use error::{Result, StoreError};
