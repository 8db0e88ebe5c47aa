//! The integration tests of the tools, as one program.

mod after_edit;
mod described;
mod fetch;
mod files;
mod hold;
mod jobs;
mod mcp;
mod reading;
mod repairing;
mod sandbox;
mod shell;
mod shell_line;
mod stage;
mod talk;
