//! The values of failures below the engine, by name. Must never leave out a value that stands in the message.

use std::path::Path;

use retake_core::{BadHunks, Field, HunkDefect, NoSuchHunks};
use retake_store::StoreError;
use retake_worktree::WorktreeError;

use crate::model::{ModelError, ModelErrorKind};

/// Values by name.
type Fields = Vec<(&'static str, Field)>;

/// Those of the store. A refusal of core has its own.
pub(super) fn of_store(error: &StoreError) -> Fields {
    use StoreError as E;
    match error {
        E::Refused(refusal) => refusal.fields(),
        E::UnknownConversation(name) => vec![text("name", name)],
        E::UnknownEntry { id } => vec![text("name", id)],
        E::ForeignEntry { id, conversation } => vec![text("name", id), text("conversation", conversation)],
        E::StaleFiles(at) => vec![text("path", at)],
        E::CallBegun(call) | E::UnknownCall(call) => vec![text("call", call)],
        E::RequestReused(id) => vec![text("request", id)],
        E::Damaged { row, why } => vec![text("row", row), text("detail", why)],
        E::BadCursor(entry) => vec![text("cursor", entry)],
        E::UnknownRevision { wanted, last } => {
            vec![("wanted", wanted.0.into()), ("last", last.0.into())]
        }
        E::EmptyQuery { excludes } => {
            vec![text("what", if *excludes { "only_exclusions" } else { "no_word" })]
        }
        E::Held { dir, holder } => vec![path(dir), text("holder", holder)],
        E::Newer { file, found, known } => {
            vec![path(file), ("format", number(*found)), ("known", number(*known))]
        }
        E::Moved { dir: at } | E::Broken { file: at, .. } | E::NotAStore { file: at } => vec![path(at)],
        E::FileExists { path: at } => vec![path(at)],
        E::Io { attempt, path: at, source } => with_errno(vec![path(at), text("attempt", attempt)], source),
        E::Database { attempt, .. } => vec![text("attempt", attempt)],
        E::NotDurable { why, .. } | E::NotScrubbed(why) | E::BadExport(why) => vec![text("detail", why)],
        E::ConversationExists(id) => vec![text("conversation", id)],
        E::MissingOperation(op) => vec![("operation", op.0.into())],
        E::Unsettled | E::Runs(_) | E::NothingToDo | E::TakenOver | E::Closed => Vec::new(),
    }
}

/// Those of a folder.
pub(super) fn of_worktree(error: &WorktreeError) -> Fields {
    use WorktreeError as E;
    match error {
        E::Io { attempt, path: at, source } => with_errno(vec![path(at), text("attempt", attempt)], source),
        E::Missing(object) => vec![text("object", object), text("what", "missing_object")],
        E::Damaged(object) => vec![text("object", object), text("what", "damaged_object")],
        E::NoManifest(object) => vec![text("object", object)],
        E::InUse(at) => vec![path(at), text("what", "in_use")],
        E::NotDurable(at) => vec![path(at), text("what", "not_durable")],
        E::RootMissing(at) => vec![path(at), text("what", "missing")],
        E::RootOther(at) | E::RootBusy(at) => vec![path(at)],
        E::OtherFormat { path: at, version } => vec![path(at), ("format", u64::from(*version).into())],
        E::BadPlan { path, why } => vec![text("path", path), text("detail", why)],
        E::BadStagingName(name) => vec![text("name", name)],
        E::RootRefused { path: at, why } => vec![path(at), text("detail", why)],
        E::TooMuch { files, bytes } => vec![("files", (*files).into()), ("bytes", (*bytes).into())],
        E::NotCovered { path, why } => vec![text("path", path), text("cause", why.name())],
    }
}

/// Those of a choice of hunks that does not fit.
pub(super) fn of_hunks(unfit: &BadHunks) -> Fields {
    let mut fields = vec![text("path", &unfit.path)];
    let what = match &unfit.why {
        HunkDefect::Bytes(NoSuchHunks::NoText) => "no_text",
        HunkDefect::Bytes(NoSuchHunks::Only(count)) => {
            fields.push(("count", u64::from(*count).into()));
            "no_such_hunks"
        }
        whole => whole.into(),
    };
    fields.push(text("what", what));
    fields
}

/// Those of a failed call of a model.
pub(super) fn of_model(error: &ModelError) -> Fields {
    let mut fields = vec![text("what", error.kind().name()), text("target", error.target())];
    fields.extend(error.detail_text().map(|detail| text("detail", detail)));
    fields.extend(error.fields().iter().cloned());
    if let ModelErrorKind::RateLimited { retry_after: Some(wait) } = error.kind() {
        let wait = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        fields.push(("retry_after_ms", wait.into()));
    }
    fields
}

fn text(name: &'static str, value: impl ToString) -> (&'static str, Field) {
    (name, value.to_string().into())
}

fn path(at: &Path) -> (&'static str, Field) {
    ("path", at.into())
}

fn number(value: i64) -> Field {
    u64::try_from(value).unwrap_or_default().into()
}

/// With the number of the system's error.
fn with_errno(mut fields: Fields, error: &std::io::Error) -> Fields {
    let errno = error.raw_os_error().and_then(|errno| u64::try_from(errno).ok());
    fields.extend(errno.map(|errno| ("errno", errno.into())));
    fields
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::time::Duration;

    use retake_core::{
        ContentHash, ConversationId, EntryId, Field, FilePath, OpNo, Refusal, Revision, UncoveredReason,
    };
    use retake_store::StoreError as E;
    use retake_worktree::WorktreeError as W;

    use retake_tools::mcp::ConfigError;

    use super::{BadHunks, HunkDefect, NoSuchHunks};
    use crate::EngineError;
    use crate::model::{ModelError, ModelErrorKind};
    use crate::settings::SettingsError;

    fn field(error: &EngineError, name: &str) -> Option<Field> {
        error.fields.iter().find(|(it, _)| *it == name).map(|(_, value)| value.clone())
    }

    /// Values that stand in messages, and nowhere else in them.
    const VALUES: &[&str] = &["/d/x", "name-x", "why-x", "attempt-x", "4711", "4712", "010101"];

    fn each_value_is_a_field(error: &EngineError) {
        let fields: Vec<String> = error.fields.iter().map(|(_, value)| format!("{value:?}")).collect();
        for value in VALUES.iter().filter(|value| error.message.contains(**value)) {
            assert!(fields.iter().any(|field| field.contains(value)), "{value} of {error:?} is no field");
        }
    }

    #[test]
    fn each_value_in_the_message_of_a_failure_of_the_store_is_a_field() {
        let path = || PathBuf::from("/d/x");
        let (name, why) = (|| "name-x".to_owned(), || "why-x".to_owned());
        let uuid = "01010101-0101-7101-8101-010101010101";
        let id = || uuid.parse::<EntryId>().expect("an id");
        let conversation: ConversationId = uuid.parse().expect("an id");
        let io = || std::io::Error::from_raw_os_error(13);
        let all = [
            E::Refused(Refusal::LabelTaken(name())),
            E::UnknownConversation(name()),
            E::UnknownEntry { id: id() },
            E::ForeignEntry { id: id(), conversation },
            E::StaleFiles(name()),
            E::CallBegun(name()),
            E::UnknownCall(name()),
            E::RequestReused("name-x".parse().expect("an id")),
            E::Damaged { row: name(), why: why() },
            E::BadCursor(id()),
            E::UnknownRevision { wanted: Revision(4711), last: Revision(4712) },
            E::Moved { dir: path() },
            E::Held { dir: path(), holder: name() },
            E::Newer { file: path(), found: 4711, known: 4712 },
            E::NotAStore { file: path() },
            E::Io { attempt: "attempt-x", path: path(), source: io() },
            E::NotDurable { why: why(), is_full: false },
            E::NotScrubbed(why()),
            E::ConversationExists(conversation),
            E::BadExport(why()),
            E::FileExists { path: path() },
            E::MissingOperation(OpNo(4711)),
        ];
        for error in all {
            let error = EngineError::from(error);
            assert!(VALUES.iter().any(|value| error.message.contains(value)), "{error:?}");
            each_value_is_a_field(&error);
        }
        let unreadable = EngineError::from(E::Io { attempt: "attempt-x", path: path(), source: io() });
        assert_eq!(field(&unreadable, "errno"), Some(13_u64.into()));
    }

    #[test]
    fn each_value_in_the_message_of_a_failure_in_a_folder_is_a_field() {
        let path = || PathBuf::from("/d/x");
        let file = || FilePath::new(b"name-x").expect("a path");
        let object = ContentHash([1; 32]);
        let all = [
            W::Io { attempt: "attempt-x", path: path(), source: std::io::Error::from_raw_os_error(13) },
            W::Missing(object),
            W::Damaged(object),
            W::InUse(path()),
            W::OtherFormat { path: path(), version: 4711 },
            W::NotDurable(path()),
            W::RootMissing(path()),
            W::RootOther(path()),
            W::RootBusy(path()),
            W::BadPlan { path: file(), why: "why-x" },
            W::BadStagingName("name-x".to_owned()),
            W::RootRefused { path: path(), why: "why-x" },
            W::TooMuch { files: 4711, bytes: 4712 },
            W::NotCovered { path: file(), why: UncoveredReason::Ignored },
            W::NoManifest(object),
        ];
        for error in all {
            let error = EngineError::from(error);
            assert!(VALUES.iter().any(|value| error.message.contains(value)), "{error:?}");
            each_value_is_a_field(&error);
        }
    }

    #[test]
    fn each_value_in_the_message_of_settings_servers_and_hunks_is_a_field() {
        let path = || PathBuf::from("/d/x");
        let (name, problem) = (|| "name-x".to_owned(), || "why-x".to_owned());
        let settings = EngineError::from(SettingsError::NoText { path: path(), problem: problem() });
        let hunks = BadHunks {
            path: FilePath::new(b"name-x").expect("a path"),
            why: HunkDefect::Bytes(NoSuchHunks::Only(4711)),
        };
        let all = [
            (settings, "no_text"),
            (ConfigError::BadName(name()).into(), "bad_name"),
            (ConfigError::BadEntry { name: name(), problem: problem() }.into(), "bad_entry"),
            (ConfigError::Exists { name: name(), path: path() }.into(), "exists"),
            (ConfigError::Missing { name: name(), path: path() }.into(), "missing"),
            (hunks.into(), "no_such_hunks"),
        ];
        for (error, what) in all {
            assert!(VALUES.iter().any(|value| error.message.contains(value)), "{error:?}");
            each_value_is_a_field(&error);
            assert_eq!(field(&error, "what"), Some(what.into()), "{error:?}");
        }
    }

    #[test]
    fn time_that_a_provider_asks_to_wait_is_a_field() {
        let limited = |retry_after| {
            let error = ModelError::new(ModelErrorKind::RateLimited { retry_after }, "openai/x at http://h");
            EngineError::model(&error.detail("HTTP 429"))
        };
        let error = limited(Some(Duration::from_secs(7)));
        assert_eq!(field(&error, "retry_after_ms"), Some(7_000_u64.into()));
        assert_eq!(field(&error, "detail"), Some("HTTP 429".into()));
        assert_eq!(field(&limited(None), "retry_after_ms"), None);
    }
}
