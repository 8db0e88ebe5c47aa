//! What the backend must do on disk. What a store does in general is tested by the conformance suite.

mod kit;
mod rows;

use super::SqliteRows;
