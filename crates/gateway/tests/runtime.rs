//! The runtime between a scripted platform and a scripted owner, with a paused clock. The numbers are those of the cases in
//! `docs/spec/gateways.md`.

mod arriving;
mod deleting;
pub(crate) mod kit;
mod ledger;
mod logs;
mod lost;
mod people;
pub(crate) mod platform;
mod previews;
mod random;
mod sending;
