//! The integration tests of the server, as one program: everything through a `Client`, as a face has it.

mod agent;
mod care;
mod catch_up;
mod drafts;
mod erased;
mod events;
mod heads;
mod held;
mod hidden;
mod history;
mod http;
mod listed;
mod mcp;
mod names;
mod openapi;
mod owner;
mod pages;
mod plans;
mod port;
mod requests;
mod search;
mod stalled;
mod streams;
mod together;
mod whose;
mod world;
