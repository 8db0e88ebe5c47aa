//! The values of failures below the engine, by name. Must never leave out a value that stands in the message.

use std::path::Path;

use retake_core::{Field, Unfit, WhyUnfit};
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
        E::Io { path: at, source, .. } => with_errno(vec![path(at)], source),
        E::NotDurable { why, .. } | E::NotScrubbed(why) | E::BadExport(why) => vec![text("detail", why)],
        E::ConversationExists(id) => vec![text("conversation", id)],
        E::MissingOperation(op) => vec![("operation", op.0.into())],
        E::Unsettled | E::Runs(_) | E::NothingToDo | E::TakenOver | E::Database { .. } | E::Closed => {
            Vec::new()
        }
    }
}

/// Those of a folder.
pub(super) fn of_worktree(error: &WorktreeError) -> Fields {
    use WorktreeError as E;
    match error {
        E::Io { path: at, source, .. } => with_errno(vec![path(at)], source),
        E::Missing(object) | E::Damaged(object) | E::NoManifest(object) => vec![text("object", object)],
        E::InUse(at) | E::NotDurable(at) | E::RootMissing(at) | E::RootOther(at) | E::RootBusy(at) => {
            vec![path(at)]
        }
        E::OtherFormat { path: at, version } => vec![path(at), ("format", u64::from(*version).into())],
        E::BadPlan { path, why } => vec![text("path", path), text("detail", why)],
        E::BadStagingName(name) => vec![text("name", name)],
        E::RootRefused { path: at, why } => vec![path(at), text("detail", why)],
        E::TooMuch { files, bytes } => vec![("files", (*files).into()), ("bytes", (*bytes).into())],
        E::NotCovered { path, why } => vec![text("path", path), text("cause", why.name())],
        _ => Vec::new(),
    }
}

/// Those of a choice of hunks that does not fit.
pub(super) fn of_hunks(unfit: &Unfit) -> Fields {
    let what = match &unfit.why {
        WhyUnfit::NotPlanned => "not_planned",
        WhyUnfit::ComesBack => "comes_back",
        WhyUnfit::Goes => "goes",
        WhyUnfit::NoFile => "no_file",
        WhyUnfit::SameBytes => "same_bytes",
        WhyUnfit::Bytes(_) => "no_such_hunks",
    };
    vec![text("path", &unfit.path), text("what", what)]
}

/// Those of a failed call of a model.
pub(super) fn of_model(error: &ModelError) -> Fields {
    let mut fields = vec![text("what", error.kind().name()), text("target", error.target())];
    fields.extend(error.detail_text().map(|detail| text("detail", detail)));
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
    use std::time::Duration;

    use retake_core::Field;

    use crate::EngineError;
    use crate::model::{ModelError, ModelErrorKind};

    fn field(error: &EngineError, name: &str) -> Option<Field> {
        error.fields.iter().find(|(it, _)| *it == name).map(|(_, value)| value.clone())
    }

    #[test]
    fn values_of_the_store_and_of_folders_are_fields() {
        let path = std::path::PathBuf::from("/d/x");
        let source = std::io::Error::from_raw_os_error(13);
        let store = retake_store::StoreError::Io { attempt: "open", path: path.clone(), source };
        let store = EngineError::from(store);
        assert_eq!(field(&store, "path"), Some("/d/x".into()));
        assert_eq!(field(&store, "errno"), Some(13_u64.into()));
        let much = EngineError::from(retake_worktree::WorktreeError::TooMuch { files: 3, bytes: 9 });
        assert_eq!((field(&much, "files"), field(&much, "bytes")), (Some(3_u64.into()), Some(9_u64.into())));
        let gone = EngineError::from(retake_worktree::WorktreeError::RootMissing(path));
        assert_eq!(field(&gone, "path"), Some("/d/x".into()));
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
