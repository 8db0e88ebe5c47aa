//! The owner of truth: runs turns with models, and owns the clock and the randomness.
//!
//! It never listens on a socket and never touches the terminal.

mod agent;
pub mod clock;
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
pub mod prompt;
mod run;
pub mod secret;
pub mod settings;
mod unbroken;

pub use agent::{
    AgentConfig, Audience, JobAtWork, JobPrinted, JobShown, PermissionChange, Present, SettledRules, Todo,
    TodoState, Used,
};
pub use engine::{Engine, Parts};
pub use error::{EngineError, Kind, Result};
pub use files::{
    Asked, Below, ByCalls, Called, Doing, EffectShown, Effects, ErasePlan, Exec, FilesApplied, FilesConfig,
    FilesPlanned, FilesStatus, FilesWish, FolderDone, FolderPlan, FolderShown, FolderStatus, Job, Keep,
    LetGo, Moment, Named, ObjectsErased, PathShown, Prune, Pruned, Restore, Running, Scope, Unseen,
    headed_in, named_in, put_back, shown_in,
};
pub use history::Prompts;
pub use open::OpenRequest;
pub use port::{ExportChunk, ExportFormat, Inflow, mended, whole_pairs};
pub use retake_tools::{Surroundings, umask};
pub use run::{
    Asks, CallEnded, CallShown, Decision, Ended, Following, Outcome, Permit, Question, RunEvent, RunNow,
    RunRequest, Start,
};

/// What a model can do.
pub mod tools {
    pub use retake_tools::*;
}

/// What captures and plans of files say.
pub mod worktree {
    pub use retake_worktree::*;
}

/// What the engine's verbs take and give, as the store has it.
pub mod store {
    pub use retake_store::*;
}
