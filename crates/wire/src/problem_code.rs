//! The codes of errors, each with an English title. Programs decide by the codes.

#[cfg(feature = "schema")]
use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use serde::{Deserialize, Serialize};

/// Declares the codes: the name on the wire, the English title, and the names of the values that a problem with the code may
/// have.
macro_rules! codes {
    ($($name:ident = $code:literal, $title:literal, [$($field:literal),*];)*) => {
        /// The code of a problem. The list is complete for one version of the owner.
        #[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(from = "String", into = "String")]
        pub enum ProblemCode {
            $(#[doc = $title] $name,)*
            /// A code that only a newer owner knows.
            Other(String),
            /// No code has been set yet.
            #[default]
            None,
        }

        impl ProblemCode {
            /// Every code of this version.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The code in its form on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$name => $code,)*
                    Self::Other(code) => code,
                    Self::None => "",
                }
            }

            /// The meaning of the code, as an English sentence without a full stop. `None` for a code of a newer owner.
            pub fn title(&self) -> Option<&'static str> {
                match self {
                    $(Self::$name => Some($title),)*
                    Self::Other(_) | Self::None => None,
                }
            }

            /// The names of the values that a problem with this code may have. Empty for a code of a newer owner.
            pub fn fields(&self) -> &'static [&'static str] {
                match self {
                    $(Self::$name => &[$($field),*],)*
                    Self::Other(_) | Self::None => &[],
                }
            }
        }

        impl From<String> for ProblemCode {
            fn from(code: String) -> Self {
                match code.as_str() {
                    $($code => Self::$name,)*
                    "" => Self::None,
                    _ => Self::Other(code),
                }
            }
        }
    };
}

codes! {
    Aborted = "aborted", "The work was aborted", ["what", "detail"];
    AmbiguousConversation = "ambiguous_conversation", "Several conversations have this name", ["name"];
    AmbiguousEntry = "ambiguous_entry", "Several messages have this name", ["name"];
    AmbiguousPoint = "ambiguous_point", "The name identifies several points in time", ["name", "checkpoint"];
    BadCursor = "bad_cursor", "The cursor does not belong to this list", ["cursor", "what"];
    BadExport = "bad_export", "The stored export is damaged", ["detail"];
    BadImport = "bad_import", "The data to import is not valid", ["what", "line", "detail"];
    BadName = "bad_name", "The name contains a character that is not allowed", ["character", "what"];
    BadPath = "bad_path", "The path is not valid or leaves the folder", ["path", "folder", "paths", "count", "what"];
    BadPlace = "bad_place", "The place in the history is not valid", ["place", "what"];
    BadRequest = "bad_request", "The request does not match the API document", ["what", "parameter", "expected", "expected_types", "least", "most", "given_type", "given", "detail"];
    Behind = "behind", "The subscriber fell too far behind", [];
    Broken = "broken", "The store is damaged", ["path"];
    BrokenBody = "broken_body", "The body of the request ended too early", [];
    BrokenRun = "broken_run", "The events of a run ended without a result", [];
    CallBegun = "call_begun", "A call with this name has already begun", ["call"];
    Closed = "closed", "The store is closed", [];
    CommandFile = "command_file", "The file of a command or a skill cannot be used", ["what", "name", "path", "line", "most", "problem"];
    Conflict = "conflict", "Somebody else changed files that the step would change", ["paths", "count", "what", "sealed", "choice", "path"];
    ConversationExists = "conversation_exists", "The conversation exists already", ["conversation"];
    Damaged = "damaged", "A stored row or file version cannot be read", ["what", "row", "object", "operation", "detail"];
    DataMoved = "data_moved", "The data folder was moved", ["path"];
    DiskFull = "disk_full", "The disk is full", ["path", "attempt", "errno", "detail"];
    EmptyAnswer = "empty_answer", "The model gave an empty answer", ["model"];
    EmptyLabel = "empty_label", "A label or a title is empty", [];
    EmptyQuery = "empty_query", "The search contains no word to look for", ["what"];
    EmptySummary = "empty_summary", "The summary of a fold is empty", [];
    Client = "client", "The terminal program failed", [];
    Fenced = "fenced", "A newer run has replaced this one", [];
    File = "file", "A file cannot be read or written", ["what", "path", "attempt", "errno", "detail"];
    FileExists = "file_exists", "The file exists already", ["path"];
    FilesRefused = "files_refused", "Files cannot be written", ["paths", "obstacles", "details", "count"];
    FolderMissing = "folder_missing", "The folder does not exist", ["what", "path", "detail"];
    ForeignCheckpoint = "foreign_checkpoint", "The checkpoint belongs to another folder", ["checkpoint", "folder"];
    ForeignEntry = "foreign_entry", "The message belongs to another conversation", ["name", "conversation"];
    HeadersTooLarge = "headers_too_large", "The headers of the request are too large", [];
    Held = "held", "Another owner has the data folder", ["path", "holder"];
    Hooks = "hooks", "The request about a hook failed", ["what", "hook", "folder", "path", "line", "key", "problem", "nearest", "section", "settings"];
    Internal = "internal", "A defect of this program", [];
    Interrupted = "interrupted", "The step on files was interrupted", ["path", "obstacle", "detail", "left", "count"];
    LabelTaken = "label_taken", "The label names another message", ["label"];
    LinesMissing = "lines_missing", "Lines of an import are missing", ["line", "missing"];
    Listen = "listen", "The owner cannot listen at this address", ["what", "address", "path"];
    Mcp = "mcp", "The request about an MCP server failed", ["what", "server", "path", "folder", "line", "key", "keys", "problem"];
    MethodNotAllowed = "method_not_allowed", "The path does not have this method", [];
    Model = "model", "The model or its provider failed", ["what", "target", "detail", "retry_after_ms", "nearest", "provider", "unknown_provider", "variable", "key_file", "path"];
    Newer = "newer", "The store was written by a newer version", ["path", "format", "known"];
    NoAnswer = "no_answer", "The earlier request has no answer", ["what"];
    NoChatPlace = "no_chat_place", "Nobody has written in this place", [];
    NoCommand = "no_command", "The command does not exist", ["command", "detail"];
    NoConversation = "no_conversation", "There is no conversation yet", [];
    NoFact = "no_fact", "There is no such remembered fact", ["fact"];
    NoFile = "no_file", "This is not a regular file", ["path", "what"];
    NoFiles = "no_files", "This owner keeps no files", [];
    NoFolder = "no_folder", "The conversation works in no folder", ["what"];
    NoJob = "no_job", "There is no such job", ["job"];
    NoModel = "no_model", "The model cannot be used", ["what", "target", "detail", "retry_after_ms", "nearest", "provider", "unknown_provider", "variable", "key_file", "path"];
    NoOutput = "no_output", "The output of the job is gone", ["what", "job", "command"];
    NoPlace = "no_place", "The file cannot be written there", ["path", "attempt", "errno"];
    NoRule = "no_rule", "There is no such rule", ["rule"];
    NoSettings = "no_settings", "There is no settings file", [];
    NoSuchAlternative = "no_such_alternative", "The message has no such alternative", ["wanted", "count"];
    NoSuchHunks = "no_such_hunks", "The file has no such hunks", ["path", "what", "count"];
    AccountHeld = "account_held", "Another gateway has the account", ["holder"];
    NoCode = "no_code", "No person waits with this code", [];
    NoPerson = "no_person", "No such person is paired", ["name"];
    NoPost = "no_post", "There is no such post", [];
    NoToken = "no_token", "There is no such token", ["name"];
    NoTurn = "no_turn", "There is no turn to go back to", [];
    NoWorkspace = "no_workspace", "The folder is missing or cannot be a workspace", ["what", "path", "detail"];
    NotAStore = "not_a_store", "The file is not a store of this program", ["path"];
    NotAnAnswer = "not_an_answer", "The message was not written by a model", [];
    NotAsked = "not_asked", "The question is no longer open", [];
    NotCovered = "not_covered", "The path is not covered", ["path", "uncovered", "what"];
    NotDurable = "not_durable", "The change could not be stored", ["detail"];
    NotEditable = "not_editable", "The message cannot be edited", [];
    NotFoldable = "not_foldable", "The messages do not stand together in the prompt", [];
    NotJson = "not_json", "The body is not JSON", ["charset"];
    NotKept = "not_kept", "The version of the file is not kept", ["checkpoint"];
    NotLoopback = "not_loopback", "The address is not on the loopback interface", ["address"];
    NotOnPath = "not_on_path", "The message is not on the current path", ["operation", "restore"];
    NotPermitted = "not_permitted", "The token does not permit this", ["right", "what"];
    NotRunning = "not_running", "No run is active", [];
    NotScrubbed = "not_scrubbed", "Erased content could not be overwritten yet", ["detail"];
    NotServing = "not_serving", "The owner serves no TCP address", ["pid"];
    NotVisible = "not_visible", "The message is hidden or dropped", ["mark"];
    NothingRuns = "nothing_runs", "No run is active that could be changed", [];
    NothingSaid = "nothing_said", "There is no message yet", [];
    NothingToRedo = "nothing_to_redo", "There is nothing to redo", [];
    NothingToUndo = "nothing_to_undo", "There is nothing to undo", [];
    NothingWaits = "nothing_waits", "No message is waiting", [];
    OtherFileSystem = "other_file_system", "A path is on another file system", ["path"];
    OtherFolder = "other_folder", "Another folder is at this place", ["path", "what"];
    OtherWords = "other_words", "The waiting messages have changed", [];
    Overtaken = "overtaken", "Something newer was added", [];
    OwnerAway = "owner_away", "No owner can be reached", [];
    OwnerLeaving = "owner_leaving", "The owner is about to end", [];
    OwnerLost = "owner_lost", "The connection to the owner was lost", [];
    OwnerSilent = "owner_silent", "The owner does not answer", [];
    OwnerStart = "owner_start", "The owner could not be started", [];
    OwnerVersion = "owner_version", "The owner has another version", [];
    QueueFull = "queue_full", "Too many messages are waiting", [];
    ReadOnly = "read_only", "The conversation is read-only", ["operation", "kind"];
    RepeatedCalls = "repeated_calls", "The model kept repeating a call", ["tool"];
    RequestReused = "request_reused", "The request id was used for another request", ["request"];
    RunActive = "run_active", "A run is active", ["what", "waited_s"];
    RunWaiting = "run_waiting", "A run is waiting already", [];
    Settings = "settings", "The settings cannot be used", ["what", "path", "line", "key", "problem", "nearest", "section", "settings", "attempt"];
    SeveralJobs = "several_jobs", "Several jobs have this name", ["job"];
    Signals = "signals", "Signals cannot be handled", [];
    Skipped = "skipped", "The waiting message was skipped", ["what"];
    StaleHead = "stale_head", "The conversation has changed since the author saw it", ["seen", "now"];
    StaleMark = "stale_mark", "The mark has changed since the author saw it", ["mark"];
    StalePlan = "stale_plan", "The files have changed since the author saw the plan", ["path"];
    StillRunning = "still_running", "Processes of a command are still running", ["what", "pids", "job", "command"];
    StillThere = "still_there", "The owner is still running", [];
    Storage = "storage", "The store or the disk failed", ["what", "path", "attempt", "errno", "object", "format", "name", "cause", "detail"];
    StrangeAnswer = "strange_answer", "The answer of the owner cannot be read", [];
    SubagentConversation = "subagent_conversation", "The conversation is a subagent's", ["conversation"];
    TakenOver = "taken_over", "Another owner has taken over the data folder", [];
    Terminal = "terminal", "The terminal failed", [];
    TokenExists = "token_exists", "A token has or had this name", ["name"];
    TooLarge = "too_large", "The body of the request is too large", ["what", "most"];
    TooManySteps = "too_many_steps", "The run reached its limit of model calls", ["most"];
    TooMuch = "too_much", "The folder has too many files", ["files", "bytes"];
    Unauthorized = "unauthorized", "The token is missing or wrong", ["what", "version", "pid"];
    Unchanged = "unchanged", "Nothing would change", ["what"];
    UnexpectedReply = "unexpected_reply", "The owner gave another kind of reply", [];
    UnknownCall = "unknown_call", "The call is not known", ["call"];
    UnknownCheckpoint = "unknown_checkpoint", "There is no such checkpoint", ["checkpoint", "folder"];
    UnknownCommand = "unknown_command", "There is no such command", [];
    UnknownConversation = "unknown_conversation", "There is no such conversation", ["name", "nearest"];
    UnknownEntry = "unknown_entry", "There is no such message", ["name", "nearest"];
    UnknownFold = "unknown_fold", "There is no such fold", [];
    NothingToCompact = "nothing_to_compact", "Nothing can be summarised", [];
    NoSummary = "no_summary", "The model gave no summary", [];
    LongSummary = "long_summary", "The summary is not shorter than what it replaces", [];
    MemoryService = "memory_service", "The memory service recalls nothing", ["detail"];
    UnknownOutboxItem = "unknown_outbox_item", "The outbox has no such item", ["name"];
    UnknownHead = "unknown_head", "There is no such head", ["head"];
    UnknownImport = "unknown_import", "There is no such import", ["import"];
    UnknownPoint = "unknown_point", "The name identifies no point in time", ["name"];
    UnknownPath = "unknown_path", "There is no such path", ["path", "what"];
    UnknownRequest = "unknown_request", "No request with this id was carried out", ["request"];
    UnknownRevision = "unknown_revision", "There is no such revision", ["wanted", "last"];
    UnknownWorkspace = "unknown_workspace", "There is no such workspace", ["workspace", "what"];
    Unqueued = "unqueued", "The waiting message was taken back", [];
    Unseen = "unseen", "The folder could not be captured after the call", [];
    Unsettled = "unsettled", "A step in this folder is not finished", ["what", "path", "folder", "obstacle", "detail"];
    UriTooLong = "uri_too_long", "The path with its query is too long", [];
    Usage = "usage", "The request makes no sense", ["parameter", "what", "name", "path", "rule", "count", "least", "most", "action", "argument"];
    WorkspaceBusy = "workspace_busy", "Another program works in the folder", ["path"];
}

impl From<&str> for ProblemCode {
    fn from(code: &str) -> Self {
        code.to_owned().into()
    }
}

impl From<ProblemCode> for String {
    fn from(code: ProblemCode) -> Self {
        match code {
            ProblemCode::Other(code) => code,
            code => code.as_str().to_owned(),
        }
    }
}

impl Deref for ProblemCode {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Display for ProblemCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl PartialEq<str> for ProblemCode {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for ProblemCode {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for ProblemCode {
    fn schema_name() -> Cow<'static, str> {
        "ProblemCode".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        // A schema extension, because client generators would make a type of each constant.
        let titles =
            Self::ALL.iter().filter_map(|code| Some((code.as_str().to_owned(), code.title()?.into())));
        let titles: serde_json::Map<String, serde_json::Value> = titles.collect();
        let with_fields = Self::ALL.iter().filter(|code| !code.fields().is_empty());
        let fields = with_fields.map(|code| (code.as_str().to_owned(), code.fields().into()));
        let fields: serde_json::Map<String, serde_json::Value> = fields.collect();
        schemars::json_schema!({
            "type": "string",
            "description": "The code of a problem. `x-codes` lists every code with its meaning, `x-fields` the named values that a problem with it may have; a newer owner may have more.",
            "x-codes": titles,
            "x-fields": fields,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn every_code_has_one_name_and_an_english_title() {
        for code in ProblemCode::ALL {
            let json = serde_json::to_value(code).expect("written");
            assert_eq!(json, Value::from(code.as_str()));
            assert_eq!(serde_json::from_value::<ProblemCode>(json).expect("read"), *code);
            let title = code.title().expect("a title");
            assert!(title.starts_with(char::is_uppercase) && !title.ends_with('.'), "{title}");
        }
    }

    #[test]
    fn a_code_of_a_newer_owner_is_kept_as_it_is() {
        let code: ProblemCode = serde_json::from_str(r#""not_known_yet""#).expect("read");
        assert_eq!((code.title(), code.to_string().as_str()), (None, "not_known_yet"));
    }
}
