//! MCP servers: real ones that others wrote, and small ones that misbehave. Must never reach another machine, but for installing the
//! real one once.

mod config;
mod held;
mod hostile;
mod http;
mod real;
mod world;
