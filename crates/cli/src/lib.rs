//! The parts of the binary `retake` that are worth testing apart from it. Must never hold logic of conversations: those belong to
//! the engine.

pub mod term;
