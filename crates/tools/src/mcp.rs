//! MCP servers as tools: their file, their processes and connections, and what they offer, bounded and cleaned.
//!
//! Nothing that a server says is trusted. A server must never make anything hang, grow without bound or act on a terminal.
//! It must never be started from a project's file before a person approved it. The protocol itself is `rmcp`'s, and `rmcp` is named
//! nowhere but here.

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
mod process;
mod result;
mod server;
mod servers;
mod stdio;
mod text;
mod tool;

pub use allowed::Allowed;
pub use config::{Config, ConfigError, ConfigFault, Entry, Origin, Way};
pub use expand::Variables;
pub use failure::{Failure, FailureKind};
pub use file::{add, remove};
pub use names::beginning;
pub use servers::{Deps, McpServers, News, ServerShown, State, ToolShown, broken};
