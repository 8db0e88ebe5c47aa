//! What commands can do to others, tried for real: as root and as a plain user, with namespaces and without. A machine that has a
//! feature of the kernel and does not hold fails, and so does one without it that tests every change.

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
