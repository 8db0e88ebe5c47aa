//! What commands can do to others, with real attempts: as root and as a plain user, with namespaces and without. A machine with a
//! kernel feature that does not confine fails, and so does one without it that tests every change.

mod git;
mod hidden;
mod later;
pub(crate) mod memory;
mod modes;
mod output;
mod processes;
mod replaced;
mod sockets;
pub(crate) mod stand;
mod terminals;
