//! The integration tests of the gateway: one binary.

mod discord;
mod joined;
mod matrix;
mod node;
mod recorder;
mod runtime;
mod slack;
mod telegram;
