//! The terminal layer in a real pseudo-terminal, driven by keys and judged by its screen.

mod pty;

mod confirm;
mod editor;
mod output;
mod pick;
