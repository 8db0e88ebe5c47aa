//! For tests only: a model that the test speaks for, an engine in memory to try it on, and a test that runs again with other
//! rights. The scenario language for stores is `retake_store::conformance::Stage`. Nothing here is ever part of the program.

pub mod again;
#[cfg(feature = "engine")]
mod puppet;
#[cfg(feature = "engine")]
mod table;

#[cfg(feature = "engine")]
pub use puppet::{Only, Puppet, Said, done, failure, text};
#[cfg(feature = "engine")]
pub use table::{Table, ask, ended, start, start_in, start_with};
