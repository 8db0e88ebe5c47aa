//! The errors of the engine: a kind, a message, values and remedies as separate fields. Clients make the hint of these.

mod fields;

use std::error::Error;
use std::sync::Arc;

use retake_core::{BadHunks, Field, Head, Refusal, Remedy, RunRefusal};
use retake_store::StoreError;
use retake_worktree::WorktreeError;

use crate::model::{ModelError, ModelErrorKind};
use crate::notice::Notice;
use crate::settings::SettingsError;

/// The result of the engine's work.
pub type Result<T, E = EngineError> = std::result::Result<T, E>;

/// What kind of failure it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The request is invalid.
    Usage,
    /// Something that it names does not exist.
    NotFound,
    /// Not possible in the current state.
    Refused,
    /// The author of the request saw an older state.
    Stale,
    /// The model or its provider failed.
    Model,
    /// The store or the machine failed.
    Storage,
}

/// A failure. Nothing has changed, unless the message says so.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct EngineError {
    /// Its kind.
    pub kind: Kind,
    /// A stable word for programs.
    pub code: &'static str,
    /// What was attempted, on what, and why it failed.
    pub message: String,
    /// The values of its code, by name.
    pub fields: Vec<(&'static str, Field)>,
    /// What helps, in the order of the hint.
    pub remedies: Vec<Remedy>,
    /// Other events of the request that are reported nowhere else.
    pub notices: Vec<Notice>,
    /// The current head, for a stale request.
    pub head: Option<Head>,
    /// The cause.
    #[source]
    pub cause: Option<Arc<dyn Error + Send + Sync>>,
}

impl EngineError {
    /// An error without a cause.
    pub fn new(kind: Kind, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            kind,
            code,
            message: message.into(),
            fields: Vec::new(),
            remedies: Vec::new(),
            notices: Vec::new(),
            head: None,
            cause: None,
        }
    }

    /// Sets the remedies, in the order in which the hint for its code names them.
    #[must_use]
    pub fn remedies(self, remedies: impl Into<Vec<Remedy>>) -> Self {
        Self { remedies: remedies.into(), ..self }
    }

    /// Adds a value of its code.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<Field>) -> Self {
        self.fields.push((name, value.into()));
        self
    }

    /// Adds notices that are reported nowhere else.
    #[must_use]
    pub(crate) fn also(mut self, notices: impl IntoIterator<Item = Notice>) -> Self {
        self.notices.extend(notices);
        self
    }

    /// The cause, for a sentence that already says what was attempted; without a cause, the
    /// message.
    pub(crate) fn why(&self) -> String {
        self.cause.as_ref().map_or_else(|| self.message.clone(), ToString::to_string)
    }

    /// The cause in a form for logs. None if there is none, or if only its text is known.
    pub fn for_log(&self) -> Option<String> {
        let cause = self.cause.as_deref()?;
        if let Some(Cause { for_log, .. }) = cause.downcast_ref() {
            return for_log.clone();
        }
        let system = cause.downcast_ref::<std::io::Error>()?;
        system.raw_os_error().map(|_| system.to_string())
    }

    /// A refusal of core.
    pub fn refused(refusal: &Refusal) -> Self {
        refused(refusal)
    }

    /// No conversation has this id.
    pub fn unknown_conversation(name: &str) -> Self {
        StoreError::UnknownConversation(name.to_owned()).into()
    }

    /// An invalid request.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Kind::Usage, "usage", message)
    }

    /// A request that is refused while a model answers.
    pub(crate) fn running() -> Self {
        Self::new(Kind::Refused, "run_active", "a model is answering in this conversation")
            .remedies([Remedy::Stop, Remedy::EndJobs])
    }

    /// A request that needs a run or a step while the owner ends: the next owner can do it. Nothing is stored.
    pub(crate) fn leaving() -> Self {
        Self::new(Kind::Refused, "owner_leaving", "the owner of the conversations is about to end")
    }

    /// Whether the owner ends, and the request can be repeated at the next one.
    pub(crate) fn is_leaving(&self) -> bool {
        self.code == "owner_leaving"
    }

    /// A model that cannot be called at all. Nothing is stored yet, so this is not [`Kind::Model`].
    pub(crate) fn no_model(error: &ModelError) -> Self {
        let kind = match error.kind() {
            ModelErrorKind::UnknownModel => Kind::NotFound,
            _ => Kind::Usage,
        };
        Self { kind, code: "no_model", ..Self::model(error) }
    }

    /// Whether a model has refused a prompt because it is longer than its context.
    pub(crate) fn is_too_long(&self) -> bool {
        self.code == "model" && self.fields.contains(&("what", ModelErrorKind::ContextTooLong.name().into()))
    }

    /// A failed call of a model.
    pub fn model(error: &ModelError) -> Self {
        // The name of its kind contains no text from the provider.
        let for_log = Some(format!("{:?}", error.kind()));
        let text = error.source().map(ToString::to_string);
        let cause = text.map(|text| Cause { text, for_log }.shared());
        let (remedies, fields) = (error.remedies(), fields::of_model(error));
        Self { remedies, cause, fields, ..Self::new(Kind::Model, "model", error.to_string()) }
    }
}

impl From<BadHunks> for EngineError {
    fn from(unfit: BadHunks) -> Self {
        let fields = fields::of_hunks(&unfit);
        Self { fields, ..Self::new(Kind::Refused, "no_such_hunks", unfit.to_string()) }
    }
}

impl From<StoreError> for EngineError {
    fn from(error: StoreError) -> Self {
        let message = error.to_string();
        let (kind, code, remedies) = match &error {
            StoreError::Refused(refusal) => return refused(refusal),
            StoreError::StaleFiles(_) | StoreError::Unsettled | StoreError::NothingToDo => of_files(&error),
            StoreError::Runs(_) | StoreError::CallBegun(_) | StoreError::UnknownCall(_) => of_turns(&error),
            StoreError::UnknownConversation(_) => {
                (Kind::NotFound, "unknown_conversation", vec![Remedy::List])
            }
            StoreError::UnknownEntry { .. } => (Kind::NotFound, "unknown_entry", vec![Remedy::Log]),
            StoreError::ForeignEntry { .. } => (Kind::NotFound, "foreign_entry", vec![Remedy::Conversation]),
            StoreError::RequestReused(_) => (Kind::Refused, "request_reused", Vec::new()),
            StoreError::BadCursor(_) => (Kind::NotFound, "bad_cursor", Vec::new()),
            StoreError::EmptyQuery { .. } => (Kind::Usage, "empty_query", Vec::new()),
            StoreError::UnknownRevision { .. } => (Kind::NotFound, "unknown_revision", Vec::new()),
            StoreError::Damaged { .. } | StoreError::MissingOperation(_) => {
                (Kind::Storage, "damaged", vec![Remedy::Doctor])
            }
            StoreError::ConversationExists(_) => {
                (Kind::Refused, "conversation_exists", vec![Remedy::DataDir])
            }
            StoreError::BadExport(_) => (Kind::Usage, "bad_export", Vec::new()),
            StoreError::FileExists { .. } => (Kind::Refused, "file_exists", Vec::new()),
            StoreError::Broken { .. } => (Kind::Storage, "broken", Vec::new()),
            StoreError::TakenOver | StoreError::Moved { .. } | StoreError::Held { .. } => of_owners(&error),
            StoreError::Newer { .. } => (Kind::Storage, "newer", Vec::new()),
            StoreError::NotAStore { .. } => (Kind::Storage, "not_a_store", vec![Remedy::DataDir]),
            full if full.is_full() => (Kind::Storage, "disk_full", Vec::new()),
            StoreError::Io { .. } | StoreError::Database { .. } => (Kind::Storage, "storage", Vec::new()),
            StoreError::NotDurable { .. } => (Kind::Storage, "not_durable", Vec::new()),
            StoreError::NotScrubbed(_) => (Kind::Storage, "not_scrubbed", Vec::new()),
            StoreError::Closed => (Kind::Storage, "closed", Vec::new()),
        };
        let cause =
            error.source().map(|cause| Cause { text: chain(cause), for_log: error.for_log() }.shared());
        let fields = fields::of_store(&error);
        Self { remedies, cause, fields, ..Self::new(kind, code, message) }
    }
}

/// The code for a workspace whose path now holds another folder.
pub(crate) const OTHER_FOLDER: &str = "other_folder";

impl From<SettingsError> for EngineError {
    fn from(error: SettingsError) -> Self {
        let cause = error.source().map(|cause| Cause { text: chain(cause), for_log: None }.shared());
        let fields = error.fields();
        let kind = match &error {
            SettingsError::Unreadable { .. } | SettingsError::Unwritable { .. } => Kind::Storage,
            _ => Kind::Usage,
        };
        let remedies = error.remedies();
        Self { cause, fields, remedies, ..Self::new(kind, "settings", error.to_string()) }
    }
}

impl From<WorktreeError> for EngineError {
    fn from(error: WorktreeError) -> Self {
        let (kind, code) = match &error {
            WorktreeError::RootMissing(_) => (Kind::NotFound, "no_workspace"),
            WorktreeError::RootOther(_) => (Kind::Refused, OTHER_FOLDER),
            WorktreeError::RootBusy(_) => (Kind::Refused, "workspace_busy"),
            WorktreeError::RootRefused { .. } => (Kind::Refused, "no_workspace"),
            WorktreeError::TooMuch { .. } => (Kind::Refused, "too_much"),
            WorktreeError::Missing(_) | WorktreeError::Damaged(_) => (Kind::Storage, "damaged"),
            _ => (Kind::Storage, "storage"),
        };
        let cause =
            error.source().map(|cause| Cause { text: chain(cause), for_log: error.for_log() }.shared());
        let fields = fields::of_worktree(&error);
        Self { cause, fields, ..Self::new(kind, code, error.to_string()) }
    }
}

/// Kind, code and remedies for the store's errors about owners.
fn of_owners(error: &StoreError) -> (Kind, &'static str, Vec<Remedy>) {
    match error {
        StoreError::TakenOver => (Kind::Storage, "taken_over", Vec::new()),
        StoreError::Moved { .. } => (Kind::Storage, "data_moved", vec![Remedy::DataDir]),
        _ => (Kind::Storage, "held", vec![Remedy::DataDir]),
    }
}

/// Kind, code and remedies for the store's errors about files.
fn of_files(error: &StoreError) -> (Kind, &'static str, Vec<Remedy>) {
    match error {
        StoreError::StaleFiles(_) => (Kind::Stale, "stale_plan", Vec::new()),
        StoreError::Unsettled => (Kind::Refused, "unsettled", Vec::new()),
        _ => (Kind::Refused, "unchanged", Vec::new()),
    }
}

/// A cause whose type is not public.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
struct Cause {
    /// Its text for people.
    text: String,
    /// Its text for the log.
    for_log: Option<String>,
}

impl Cause {
    fn shared(self) -> Arc<dyn Error + Send + Sync> {
        Arc::new(self)
    }
}

/// A cause of which only the text is known.
pub(crate) fn said(text: String) -> Arc<dyn Error + Send + Sync> {
    Cause { text, for_log: None }.shared()
}

/// A cause and its own causes as one text, without their types.
fn chain(cause: &dyn Error) -> String {
    let own = cause.to_string();
    match cause.source().map(chain) {
        // Some libraries repeat their source's message in their own.
        Some(rest) if rest.contains(&own) => rest,
        Some(rest) if !own.contains(&rest) => format!("{own}: {rest}"),
        _ => own,
    }
}

fn refused(refusal: &Refusal) -> EngineError {
    let (kind, head) = match refusal {
        Refusal::Stale { now, .. } => (Kind::Stale, Some(*now)),
        Refusal::StaleMark(_) => (Kind::Stale, None),
        Refusal::UnknownEntry
        | Refusal::UnknownFold
        | Refusal::UnknownHead(_)
        | Refusal::NoSuchAlternative { .. } => (Kind::NotFound, None),
        Refusal::EmptyLabel | Refusal::BadName(_) | Refusal::EmptySummary => (Kind::Usage, None),
        _ => (Kind::Refused, None),
    };
    EngineError {
        head,
        fields: refusal.fields(),
        remedies: refusal.remedies(),
        ..EngineError::new(kind, refusal.code(), refusal.to_string())
    }
}

/// Kind, code and remedies for the store's errors about runs and the ledger.
fn of_turns(error: &StoreError) -> (Kind, &'static str, Vec<Remedy>) {
    match error {
        StoreError::Runs(RunRefusal::Running) => (Kind::Refused, "run_active", vec![Remedy::Stop]),
        StoreError::Runs(RunRefusal::Waiting) => (Kind::Refused, "run_waiting", Vec::new()),
        StoreError::Runs(RunRefusal::TooManyWords) => (Kind::Refused, "queue_full", Vec::new()),
        StoreError::Runs(RunRefusal::NothingQueued) => (Kind::Refused, "nothing_waits", vec![Remedy::Log]),
        StoreError::Runs(RunRefusal::NothingRuns) => (Kind::Refused, "nothing_runs", vec![Remedy::Log]),
        StoreError::Runs(RunRefusal::OtherWords) => (Kind::Stale, "other_words", Vec::new()),
        StoreError::Runs(RunRefusal::Fenced) => (Kind::Stale, "fenced", Vec::new()),
        StoreError::CallBegun(_) => (Kind::Refused, "call_begun", Vec::new()),
        _ => (Kind::NotFound, "unknown_call", vec![Remedy::Doctor]),
    }
}
