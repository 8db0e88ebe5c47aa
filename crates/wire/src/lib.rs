//! What faces and owner say to each other. Knows no store, no engine, no terminal: only shapes.
//!
//! Everything a face does is a [`Request`] or a [`Run`] to a [`Client`]; no verb is written twice.

mod client;
mod content;
pub mod reply;
pub mod request;

pub use client::{Client, Problem, ProblemKind};
pub use content::{Part, Role, Usage};
pub use reply::{Reply, RunEvent};
pub use request::{Action, Request, Run, RunStart};
