//! Core's tests over records in memory, one binary.

mod kit;
mod model;
