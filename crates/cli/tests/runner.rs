//! The tests of the command line: one binary.

mod faces;
mod live;
mod term;
