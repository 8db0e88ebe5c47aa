//! The owner over sockets: every request of `wire` at its place in the table, the same on each socket. Must never do anything that
//! a `Client` in the same process can't.

mod bad_request;
mod body;
mod example;
mod json;
mod links;
mod listen;
mod openapi;
mod parse;
mod parts;
mod problem;
mod serve;
mod shape;
mod slow_readers;
mod socket;
mod stream;
mod token;
mod transfer;

pub use openapi::document as openapi;
pub use serve::{Served, Serving, serve};
pub use socket::{reachable, socket_of};
pub use token::token_of;
