//! The store's tests, one binary.

mod backends;
mod chats;
mod crash;
mod erasing;
mod files;
mod kit;
mod large_steps;
mod model;
mod outbox;
mod runs;
mod scale;
