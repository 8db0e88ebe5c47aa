//! Core's tests with records in memory, one binary.

mod files;
mod kit;
mod model;
