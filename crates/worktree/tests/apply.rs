//! Apply: a plan's changes on disk, completely or not at all (spec `rewind.md`, *Apply*, cases 22
//! to 30).

mod atomic;
mod crash;
mod hostile;
pub(crate) mod kit;
mod limits;
mod model;
mod scale;
