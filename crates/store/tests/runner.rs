//! The store's tests, one binary.

mod backends;
