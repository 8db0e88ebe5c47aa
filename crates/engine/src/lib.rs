//! The owner of truth: runs turns with models, and owns the clock and the randomness.
//!
//! It never listens on a socket and never touches the terminal.

pub mod clock;
pub mod ids;
pub mod model;
pub mod secret;
pub mod settings;
