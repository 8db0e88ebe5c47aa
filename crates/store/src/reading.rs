//! What only the engine asks a store for: a committed conversation to read from, and all that is to be known before an action.

use std::sync::Arc;

use retake_core::{Action, Conversation, Effect, Fact, Run, Time, Unanswered};

/// A conversation at a head, for reading. Cheap to clone; it does not change.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Its rows' places; the store's own business.
    pub(crate) loaded: Arc<crate::store::Loaded>,
}

impl Snapshot {
    /// What core knows of it.
    pub fn conversation(&self) -> &Conversation {
        &self.loaded.conversation
    }

    /// Its folder.
    pub fn folder(&self) -> Option<&str> {
        self.loaded.row.folder.as_deref()
    }

    /// When it was made.
    pub fn created(&self) -> Time {
        self.loaded.row.created
    }
}

/// The facts that the engine needs before an action.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ActionContextRequest {
    /// The action; without one nothing is taken off the path.
    pub action: Option<Action>,
    /// The facts on the path are asked for whose keys begin so.
    pub facts: String,
    /// A key of facts: all values that entries leaving the path ever made known of it.
    pub said: String,
}

/// What is to be known before an action is done, all of one state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActionContext {
    /// The calls that it takes off the path and that nothing takes back, newest first.
    pub effects: Vec<Effect>,
    /// Whether there are changes of files that may come or go with it ([`crate::Store::has_changes`]).
    pub changes: bool,
    /// The newest runs: one that runs or waits is among them.
    pub runs: Vec<Run>,
    /// The facts on the path that were asked for; nothing, where there are none off it either, so that no step brings one.
    pub facts: Option<Vec<Fact>>,
    /// What the entries that it takes off the path have made known of the key that was asked for, newest first.
    pub said: Vec<String>,
    /// Calls without a result that it takes off the path, those of the newest turn first.
    pub unanswered: Vec<Unanswered>,
}
