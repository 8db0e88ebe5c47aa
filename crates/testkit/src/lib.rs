//! For tests only: a model that the test speaks for, and an engine in memory to try it on. The scenario language
//! for stores is `retake_store::conformance::Stage`. Nothing here is ever part of the program.

mod puppet;
mod table;

pub use puppet::{Only, Puppet, Said, done, failure, text};
pub use table::{Table, ask, ended, start, start_in, start_with};
