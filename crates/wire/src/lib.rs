//! What faces and owner say to each other. Knows no store, no engine, no terminal: only shapes.
//!
//! Everything a face does is a [`Request`] or a [`Run`] to a [`Client`]; no verb is written twice.

mod client;
mod content;
pub mod reply;
pub mod request;
mod run;

pub use client::{Client, Problem, ProblemKind};
pub use content::{Part, Role, Usage};
pub use reply::Reply;
pub use request::{Action, Request};
pub use run::{Ended, Outcome, Run, RunEvent, RunStart};
