//! The parts of the binary `retake`: arguments, verbs for scripts, the line conversation, and how output looks. Must never hold logic of
//! conversations: that belongs to the engine, and everything here is a request to a [`retake_wire::Client`].
//!
//! [`run`] is the whole program without its environment: the owner of the data, the terminal and the clock come in as [`Owner`] and
//! [`ui::Ui`].

mod accounts;
pub mod app;
mod approvals;
mod args;
mod attach;
mod chat;
mod command_files;
mod connection;
mod context;
mod error;
mod fullscreen;
mod gateways;
mod host;
mod log;
mod owner;
mod owner_process;
mod owner_start;
mod process_end;
mod run;
mod run_view;
mod settings_file;
mod shutdown;
pub mod term;
mod terminal;
pub mod ui;
mod undelivered;
mod verbs;

pub use args::examples;
pub use owner::{Ending, FoundOwner, Opened, Owner, Paths, ServedAccounts, Serving, Setting};
pub use run::{Environment, run};
pub use terminal::Terminal;
