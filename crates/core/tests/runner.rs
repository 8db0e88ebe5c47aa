//! Core's tests over records in memory, one binary.

mod files;
mod kit;
mod model;
