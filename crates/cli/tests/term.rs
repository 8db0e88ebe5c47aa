//! The terminal layer in a real pseudo-terminal, driven by keys and checked by its screen.

pub(crate) mod pty;

mod confirm;
mod editor;
mod output;
mod pick;
