//! The file tools on real folders: what they do, what they refuse, and what hostile names and files can't make them do.
#![expect(clippy::unwrap_used, reason = "what fails in a helper fails the test that called it")]

mod editing;
mod finding;
mod hostile;
mod models;
mod patching;
mod reading;
mod stage;
mod writing;
