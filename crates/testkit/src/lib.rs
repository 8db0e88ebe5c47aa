//! For tests only: models controlled by a test, the parts of its engine, an engine in memory, and tests that run again with other rights. The
//! scenario language for stores is `retake_store::conformance::Stage`. Must never be part of the program.

pub mod again;
#[cfg(feature = "engine")]
mod desk;
#[cfg(feature = "engine")]
mod puppet;
#[cfg(feature = "engine")]
mod script;
#[cfg(feature = "engine")]
mod table;
#[cfg(feature = "engine")]
mod tasks;

#[cfg(feature = "engine")]
pub use desk::{agent_config, conversation, files_config, memory_store, next_seed, sqlite_store};
#[cfg(feature = "engine")]
pub use puppet::{ModelOutput, Puppet, done, failure, text};
#[cfg(feature = "engine")]
pub use script::{Script, SingleModelCatalogue, calls, words};
#[cfg(feature = "engine")]
pub use table::{Table, ask, ended, parts, start, start_in, start_with};
#[cfg(feature = "engine")]
pub use tasks::Tasks;
