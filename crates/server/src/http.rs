//! Serves the owner over sockets: every request of `wire` at its path in the table, the same on each socket. Must never do
//! anything that a `Client` in the same process cannot.

mod bad_request;
mod body;
mod json;
mod listen;
mod parse;
mod problem;
mod serve;
mod shapes;
mod slow_readers;
mod socket;
mod stream;
mod token;
mod transfer;

pub use serve::{ListeningOwner, Serving, serve};
pub use shapes::OPENAPI;
pub use socket::{reachable, socket_of};
pub use token::token_of;
