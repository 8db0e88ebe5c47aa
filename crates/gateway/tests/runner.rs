//! The integration tests of the gateway: one binary.

mod matrix;
mod discord;
mod node;
mod recorder;
mod slack;
mod telegram;
