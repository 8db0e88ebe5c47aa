//! The tests of the command line: one binary.

mod faces;
mod term;
