//! The integration tests of this crate, as one program.

mod apply;
mod objects;
