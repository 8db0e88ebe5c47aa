//! The integration tests of this crate, as one program.

mod apply;
mod diffs;
mod hunks;
mod merges;
mod objects;
mod texts;
