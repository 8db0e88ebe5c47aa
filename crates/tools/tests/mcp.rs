//! MCP servers: real ones by others, and small ones that misbehave. Must never reach another machine, except to install the real
//! one once.

mod config;
mod held;
mod hostile;
mod http;
mod real;
mod world;
