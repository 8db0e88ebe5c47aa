//! For tests only: a model controlled by the test, an engine in memory, and tests that run again with other rights. The
//! scenario language for stores is `retake_store::conformance::Stage`. Must never be part of the program.

pub mod again;
#[cfg(feature = "engine")]
mod puppet;
#[cfg(feature = "engine")]
mod table;

#[cfg(feature = "engine")]
pub use puppet::{Only, Puppet, Said, done, failure, text};
#[cfg(feature = "engine")]
pub use table::{Table, ask, ended, start, start_in, start_with};
