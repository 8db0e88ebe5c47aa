//! The integration tests of the tools, as one program.

mod files;
