//! The tests of what all fakes share: one binary.

mod harness;
