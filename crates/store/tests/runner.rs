//! The store's tests, one binary.

mod backends;
mod files;
