//! The integration tests of this crate, as one program.
#![expect(clippy::unwrap_used, reason = "what fails in a helper fails the test that called it")]

mod apply;
mod capture;
mod diffs;
mod hunks;
mod merges;
mod objects;
mod statuses;
mod texts;
