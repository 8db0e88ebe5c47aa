//! The store's tests, one binary.

mod backends;
mod kit;
mod model;
