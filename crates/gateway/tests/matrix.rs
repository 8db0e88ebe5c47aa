//! The adapter for Matrix, against a real server: Synapse, as a separate process. Its licence (AGPL) forbids nothing of that, but it must
//! never be linked.

mod arriving;
mod failing;
mod files;
mod odd;
pub(crate) mod people;
mod rooms;
mod sending;
mod taking_back;
