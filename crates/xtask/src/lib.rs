//! The project's checks: the tidy checks, the map from spec cases to tests, and the commands of `cargo xtask`. For
//! development only: no other crate may depend on it. It must never change a source file; the only file that it
//! makes is the README's picture.

mod checkout;
mod checks;
mod commands;
mod count;
mod finding;
mod lex;
mod manifest;
mod modules;
mod mutants;
mod picture;
mod source;
mod specs;
mod suite;
mod tidy;
mod tools;

pub use checkout::Checkout;
pub use commands::run;
pub use count::count;
pub use finding::Finding;
pub use specs::{CaseMap, case_map, report};
pub use tidy::{cycles, language, tidy};

use std::path::{Path, PathBuf};

/// The root of the checkout that this crate was built in.
///
/// # Panics
/// Never: the crate is two folders below the root.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .expect("BUG: crates/xtask lies two folders below the root")
        .to_path_buf()
}
