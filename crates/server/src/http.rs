//! The owner over sockets: every request of `wire` at its place in the table, the same on each socket. Must never do anything that
//! a `Client` in the same process can't.

mod ask;
mod body;
mod example;
mod explain;
mod json;
mod line;
mod link;
mod listen;
mod openapi;
mod port;
mod problem;
mod said;
mod serve;
mod shape;
mod socket;
mod stream;
mod token;

pub use openapi::document as openapi;
pub use serve::{Served, Serving, serve};
pub use socket::{reachable, socket_of};
pub use token::token_of;
