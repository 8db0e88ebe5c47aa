//! The integration tests of the tools, as one program.

mod fetch;
mod files;
mod jobs;
mod sandbox;
mod shell;
mod stage;
mod talk;
