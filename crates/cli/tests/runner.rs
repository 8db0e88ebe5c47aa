//! The tests of the command line: one binary.

mod clients;
mod live;
mod term;
