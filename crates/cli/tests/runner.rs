//! The integration tests of the command line, as one binary.

mod term;
