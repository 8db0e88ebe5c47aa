//! The owner of truth: runs turns with models, and owns the clock and the randomness.
//!
//! It never listens on a socket and never touches the terminal.

mod agent;
pub mod clock;
mod completion;
mod confinement;
mod engine;
mod error;
mod files;
mod history;
pub mod ids;
pub mod mcp;
pub mod model;
mod names;
mod open;
mod process;
pub mod prompt;
mod read;
mod run;
pub mod secret;
pub mod settings;
mod steps;
mod transfer;

pub use agent::{
    AgentConfig, Audience, CommandEnvironment, JobAtWork, JobPrinted, JobShown, PermissionChange, Present,
    SettledRules, Todo, TodoState, Used,
};
pub use confinement::Confinement;
pub use engine::{Engine, Parts};
pub use error::{EngineError, Kind, Result};
pub use files::{
    AppliedFiles, AsOf, Asked, Below, ByCalls, Called, DeltaOrigin, Doing, EffectShown, Effects, ErasePlan,
    ErasedRows, Exec, FileOptions, FilesConfig, FilesStatus, FolderDone, FolderPlan, FolderShown,
    FolderStatus, Job, Keep, Named, ObjectsErased, PathShown, PlannedDeltas, PlannedFiles, Prune, Pruned,
    Released, Restore, Running, Scope, ShownDiff, Uncaptured, headed_in, named_in, put_back, shown_in,
};
pub use history::Prompts;
pub use open::OpenRequest;
pub use process::{OutputFile, make_private, supervise};
pub use read::Subscription;
pub use run::{
    Asks, CallEnded, CallShown, Decision, Ended, Outcome, Permit, Question, RunEvent, RunNow, RunRequest,
    RunSubscription, Start,
};
pub use transfer::{ExportChunk, ExportFormat, Inflow, mended, whole_pairs};

pub use steps::{Done, RefusedStep, WholeReceipt};

/// The tool that runs commands, by the name that models use.
pub const SHELL: &str = retake_tools::SHELL;

/// The digest of a request's arguments, by which the store recognises the same request when it comes again.
pub fn request_digest(
    kind: &str,
    arguments: &(impl serde::Serialize + std::fmt::Debug),
) -> retake_core::Digest {
    retake_store::digest::of_request(kind, arguments)
}

/// A digest of the words of a request, which tells it from another one with the same id.
pub fn digest(words: &str) -> [u8; 16] {
    retake_store::digest(words)
}
