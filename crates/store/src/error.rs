//! The errors of reading or writing a store. After an error, nothing has changed.

use std::path::PathBuf;

use retake_core::{ConversationId, EntryId, OpNo, Refusal, RequestId, Revision, RunRefusal};

/// The result of store functions.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// Why a store did not carry out a request.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The request is not possible in the conversation's current state.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The conversation does not exist.
    #[error("there is no conversation “{0}”")]
    UnknownConversation(String),
    /// The entry does not exist in the conversation.
    #[error("there is no message “{id}”")]
    UnknownEntry {
        /// The requested id.
        id: EntryId,
    },
    /// The entry belongs to another conversation.
    #[error("message {id} belongs to conversation {conversation}")]
    ForeignEntry {
        /// The requested id.
        id: EntryId,
        /// The conversation that it belongs to.
        conversation: ConversationId,
    },
    /// A path has changed since the plan was made.
    #[error("{0} was changed after the plan was made")]
    StaleFiles(String),
    /// Files of another operation are not settled yet.
    #[error("another operation on these files is not finished")]
    Unsettled,
    /// The runs of the conversation do not allow it.
    #[error("{}", of_runs(.0))]
    Runs(RunRefusal),
    /// A call with this name is in the ledger already: it began before.
    #[error("call {0} was begun before")]
    CallBegun(String),
    /// No call with this name is in the ledger.
    #[error("there is no call {0}")]
    UnknownCall(String),
    /// There is nothing to be done.
    #[error("there is nothing to be done")]
    NothingToDo,
    /// The request id was used for another request.
    #[error("request id {0} was used for another request")]
    RequestReused(RequestId),
    /// A row cannot be read. It stays as it is and is never replaced by a default.
    #[error("{row} is damaged: {why}")]
    Damaged {
        /// The row.
        row: String,
        /// The error in it.
        why: String,
    },
    /// The file is so damaged that nothing in it can be read.
    #[error("the store {} is too damaged to be opened", file.display())]
    Broken {
        /// The file.
        file: PathBuf,
        /// SQLite's error.
        source: rusqlite::Error,
    },
    /// The cursor of a page names no entry of the projection.
    #[error("the page's cursor {0} is not in this reading")]
    BadCursor(EntryId),
    /// The conversation never reached this revision: the client saw another store.
    #[error("there is no revision {} in this conversation, the last one is {}", wanted.0, last.0)]
    UnknownRevision {
        /// The requested revision.
        wanted: Revision,
        /// The revision now.
        last: Revision,
    },
    /// An empty search.
    #[error("{}", of_search(*.excludes))]
    EmptyQuery {
        /// Whether it only excludes words.
        excludes: bool,
    },
    /// Another process has taken over the data directory.
    #[error("another process has taken over the data directory")]
    TakenOver,
    /// The data directory is no longer where it was opened.
    #[error("the data directory was moved or deleted while it was in use, and nothing more is stored: {}", dir.display())]
    Moved {
        /// Its earlier path.
        dir: PathBuf,
    },
    /// Another process holds the data directory.
    #[error("the data directory {} is in use by {holder}", dir.display())]
    Held {
        /// The directory.
        dir: PathBuf,
        /// The holder, from its own entry in the lock file.
        holder: String,
    },
    /// The file was written by a newer version.
    #[error("{} has format {found}, this version reads up to {known}", file.display())]
    Newer {
        /// The file.
        file: PathBuf,
        /// Its format.
        found: i64,
        /// The newest format known here.
        known: i64,
    },
    /// The file is no store of ours.
    #[error("{} is not a Retake store", file.display())]
    NotAStore {
        /// The file.
        file: PathBuf,
    },
    /// A file or folder can't be used.
    #[error("can't {attempt} {}", path.display())]
    Io {
        /// The attempted action.
        attempt: &'static str,
        /// The path.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The database failed.
    #[error("the store can't {attempt}")]
    Database {
        /// The attempted action.
        attempt: &'static str,
        /// The cause.
        source: rusqlite::Error,
    },
    /// The commit with this request failed as a whole.
    #[error("the change could not be made durable: {why}")]
    NotDurable {
        /// The cause.
        why: String,
        /// Whether the disk is full.
        is_full: bool,
    },
    /// Content was erased, but old copies of its bytes are still in the store's files. The next start tries again.
    #[error("the content is erased, but old copies of its bytes are still in the store's files: {0}")]
    NotScrubbed(String),
    /// The store's writer has ended.
    #[error("the store is closed")]
    Closed,
    /// The conversation to restore exists already.
    #[error("conversation {0} is here already")]
    ConversationExists(ConversationId),
    /// An inconsistent export: nothing of it was stored.
    #[error("the export can't be imported: {0}")]
    BadExport(String),
    /// An existing file is never overwritten.
    #[error("{} is there already", path.display())]
    FileExists {
        /// The file.
        path: PathBuf,
    },
    /// An operation number that does not exist: the log has a gap.
    #[error("operation {0} is missing")]
    MissingOperation(OpNo),
}

impl StoreError {
    /// Wraps a database error with the attempted action.
    pub(crate) fn database(attempt: &'static str) -> impl FnOnce(rusqlite::Error) -> Self {
        move |source| Self::Database { attempt, source }
    }

    /// A required row that does not exist.
    pub(crate) fn missing(row: String) -> Self {
        Self::Damaged { row, why: "it is missing".to_owned() }
    }

    /// The cause in a form for logs: the attempted action, and the code of the system or the database. Never a text, which may
    /// quote content.
    pub fn for_log(&self) -> Option<String> {
        match self {
            Self::Io { attempt, source, .. } => Some(format!("{attempt}: {}", system_error(source))),
            Self::Database { attempt, source } => Some(format!("{attempt}: {}", database_error(source))),
            Self::Broken { source, .. } => Some(database_error(source)),
            _ => None,
        }
    }

    /// Whether the disk is too full for the change.
    pub fn is_full(&self) -> bool {
        match self {
            Self::Database { source: rusqlite::Error::SqliteFailure(error, _), .. } => {
                error.code == rusqlite::ErrorCode::DiskFull
            }
            Self::Io { source, .. } => source.kind() == std::io::ErrorKind::StorageFull,
            Self::NotDurable { is_full, .. } => *is_full,
            _ => false,
        }
    }
}

impl From<RunRefusal> for StoreError {
    fn from(refusal: RunRefusal) -> Self {
        Self::Runs(refusal)
    }
}

/// A system error as its number, or else its kind.
fn system_error(error: &std::io::Error) -> String {
    error.raw_os_error().map_or_else(|| error.kind().to_string(), |_| error.to_string())
}

/// A database error as its code.
pub(crate) fn database_error(error: &rusqlite::Error) -> String {
    match error.sqlite_error() {
        Some(code) => code.to_string(),
        None => "the database returned something unexpected".to_owned(),
    }
}

fn of_search(excludes: bool) -> &'static str {
    match excludes {
        true => "the search only says what to leave out",
        false => "the search has no word to look for",
    }
}

fn of_runs(refusal: &RunRefusal) -> &'static str {
    match refusal {
        RunRefusal::TooManyWords => {
            "1000 messages wait for their turn in this conversation, and no more are taken"
        }
        RunRefusal::Running => "a model is answering in this conversation",
        RunRefusal::Waiting => "something is waiting for its turn in this conversation",
        RunRefusal::NothingQueued => "nothing is waiting for its turn",
        RunRefusal::NothingRuns => "nothing is being answered",
        RunRefusal::OtherWords => "the waiting messages have changed since this answer was prepared",
        RunRefusal::Fenced => {
            "the run may not write any more: it was stopped, or the message it answers was taken back"
        }
    }
}
