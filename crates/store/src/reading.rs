//! Reads for the engine: a committed conversation, and the information that it needs before an action.

use std::sync::Arc;

use retake_core::{Action, Conversation, Effect, Fact, Run, Time, Unanswered};

/// A conversation at a head, for reading. Cheap to clone and never changed.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The places of its rows, for the store.
    pub(crate) loaded: Arc<crate::store::Loaded>,
}

impl Snapshot {
    /// Its state in core.
    pub fn conversation(&self) -> &Conversation {
        &self.loaded.conversation
    }

    /// Its folder.
    pub fn folder(&self) -> Option<&str> {
        self.loaded.row.folder.as_deref()
    }

    /// When it was created.
    pub fn created(&self) -> Time {
        self.loaded.row.created
    }
}

/// The request for the information that the engine needs before an action.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActionContextRequest {
    /// The action; without one nothing leaves the path.
    pub action: Option<Action>,
    /// The prefix of the requested facts on the path.
    pub facts: String,
    /// A key of facts: all its values in entries that leave the path.
    pub said: String,
}

/// The information that the engine needs before an action, from one state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionContext {
    /// The calls that leave the path and whose effects stay, newest first.
    pub effects: Vec<Effect>,
    /// Whether files may change with it ([`crate::Store::has_changes`]).
    pub changes: bool,
    /// The newest runs; they include the running and the waiting run.
    pub runs: Vec<Run>,
    /// The requested facts on the path; `None` if there are none off the path either, so that no step can bring one.
    pub facts: Option<Vec<Fact>>,
    /// The values of the requested key in entries that leave the path, newest first.
    pub said: Vec<String>,
    /// Calls without a result that leave the path, those of the newest turn first.
    pub unanswered: Vec<Unanswered>,
}
