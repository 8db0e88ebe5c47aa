//! The adapter of Discord against the fake one, over real connections, and the fake against a common client.

mod client;
mod deleting;
mod errors;
mod files;
mod receiving;
mod sending;
mod sessions;
pub(crate) mod world;
