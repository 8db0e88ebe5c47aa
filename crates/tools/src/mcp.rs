//! MCP servers as tools: their files, their processes and connections, and their tools, with limits and cleaned.
//!
//! Servers are untrusted. A server must never block anything, use unlimited memory or control a terminal. It must never be
//! started from a project's file before a person approved it. The library `rmcp` implements the protocol, and is used only here.

mod allowed;
mod approval;
mod config;
mod expand;
mod failure;
mod file;
mod http;
mod link;
mod listed;
mod names;
mod result;
mod server;
mod servers;
mod stdio;
pub(crate) mod text;
mod tool;

pub use allowed::{Allowed, entry_digest};
pub use config::{Config, ConfigError, ConfigFault, Entry, Origin, ServerTransport};
pub use expand::Variables;
pub use failure::{Failure, FailureKind};
pub use file::{add, remove};
pub use names::beginning;
pub use servers::{Deps, McpServers, ServerNotice, ServerShown, State, ToolShown, broken};
