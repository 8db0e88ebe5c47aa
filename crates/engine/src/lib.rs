//! The owner of truth: runs turns with models, and owns the clock and the randomness.
//!
//! It never listens on a socket and never touches the terminal.

mod agent;
pub mod clock;
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
mod port;
mod process;
pub mod prompt;
mod read;
mod run;
pub mod secret;
pub mod settings;
mod steps;
mod unbroken;

pub use agent::{
    AgentConfig, Audience, CommandEnvironment, JobAtWork, JobPrinted, JobShown, PermissionChange, Present,
    SettledRules, Todo, TodoState, Used,
};
pub use confinement::Confinement;
pub use engine::{Engine, Parts};
pub use error::{EngineError, Kind, Result};
pub use files::{
    Asked, Below, ByCalls, Called, DeltaOrigin, Doing, EffectShown, Effects, ErasePlan, ErasedRows, Exec,
    FilesApplied, FilesConfig, FilesPlanned, FilesStatus, FilesWish, FolderDone, FolderPlan, FolderShown,
    FolderStatus, Job, Keep, LetGo, Moment, Named, ObjectsErased, PathShown, PlannedDeltas, Prune, Pruned,
    Restore, Running, Scope, ShownDiff, Unseen, headed_in, named_in, put_back, shown_in,
};
pub use history::Prompts;
pub use open::OpenRequest;
pub use port::{ExportChunk, ExportFormat, Inflow, mended, whole_pairs};
pub use process::{OutputFile, make_private, supervise};
pub use read::Subscription;
pub use run::{
    Asks, CallEnded, CallShown, Decision, Ended, Following, Outcome, Permit, Question, RunEvent, RunNow,
    RunRequest, Start,
};

pub use steps::{Done, RefusedStep, WholeReceipt};

/// The tool that runs commands, by the name that models use.
pub const SHELL: &str = retake_tools::SHELL;

/// A digest of the words of a request, which tells it from another one with the same id.
pub fn digest(words: &str) -> [u8; 16] {
    retake_store::digest(words)
}
