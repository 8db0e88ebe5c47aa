//! The parts of the binary `retake`: arguments, verbs for scripts, the line conversation, and how things look. Must never hold logic of
//! conversations: those belong to the engine, and everything here is a request to a [`retake_wire::Client`].
//!
//! [`run`] is the whole program without its surroundings: the owner of the data, the terminal and the clock come in as [`Owner`] and
//! [`ui::Ui`].

pub mod app;
mod args;
mod asked;
mod attach;
mod chat;
mod config;
mod context;
mod error;
mod gone;
mod knock;
mod own;
mod owner;
mod run;
mod start;
mod talk;
pub mod term;
mod terminal;
mod told;
pub mod ui;
mod verbs;
mod watched;
mod world;

pub use args::examples::examples;
pub use owner::{Ending, Opened, Owner, Places, Reached, Setting, Standing};
pub use run::{Surroundings, run};
pub use terminal::Terminal;
