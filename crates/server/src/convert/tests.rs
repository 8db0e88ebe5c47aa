//! The problems of the engine, in the words that clients make of them.

use std::path::PathBuf;

use retake_core::{Head, Mark, OpNo, Part, Pos, Refusal};
use retake_engine::EngineError;
use retake_engine::model::{ModelError, ModelErrorKind as Kind};
use retake_engine::settings::SettingsError;
use retake_wire::{Problem, english};

use super::{parts, parts_in, shown_problem};

fn assert_made_by_the_tables(error: EngineError) {
    let Problem { code, fields, remedies, .. } = shown_problem(error);
    // Without the text fields, as the next version sends it.
    let problem = Problem { code, fields, remedies, ..Problem::default() };
    assert!(english::has_sentence(&problem), "{problem:?}");
    assert!(english::hint(&problem).is_some(), "{problem:?}");
}

#[test]
fn each_refusal_has_a_sentence_and_a_hint() {
    let (head, entry) = (Head::new(2, 5), Pos::new(0, 1));
    let all = [
        Refusal::UnknownEntry,
        Refusal::NotOnPath { entry, taken_back: None },
        Refusal::NotOnPath { entry, taken_back: Some((OpNo(3), head)) },
        Refusal::NotVisible(Mark::Hidden),
        Refusal::Stale { seen: head, now: head },
        Refusal::StaleMark(Mark::Hidden),
        Refusal::NothingToUndo,
        Refusal::NothingToRedo,
        Refusal::UnknownHead(head),
        Refusal::Overtaken,
        Refusal::UnknownFold,
        Refusal::NotFoldable,
        Refusal::EmptyLabel,
        Refusal::BadName('\t'),
        Refusal::EmptySummary,
        Refusal::LabelTaken("a".to_owned()),
        Refusal::NoSuchAlternative { wanted: 3, count: 2 },
        Refusal::NotAnAnswer,
        Refusal::ReadOnly { op: OpNo(3), kind: "new".to_owned() },
    ];
    all.iter().for_each(|refusal| assert_made_by_the_tables(EngineError::refused(refusal)));
}

#[test]
fn each_failure_of_a_model_has_a_sentence_and_a_hint() {
    let kinds = [
        Kind::NoKey,
        Kind::Refused,
        Kind::OutOfCredit,
        Kind::RateLimited { retry_after: None },
        Kind::Overloaded,
        Kind::ContextTooLong,
        Kind::SafetyRefusal,
        Kind::UnknownModel,
        Kind::Rejected,
        Kind::Unreachable,
        Kind::Cut,
        Kind::TimedOut,
        Kind::OutputLimit,
        Kind::BadCall,
        Kind::BadReply,
        Kind::BadSettings,
    ];
    for kind in kinds {
        assert_made_by_the_tables(EngineError::model(&ModelError::new(kind, "a/b")));
    }
}

#[test]
fn each_error_of_the_settings_has_a_sentence_and_a_hint() {
    let (path, key, problem) = (PathBuf::from("/a"), || "a.b".to_owned(), || "is wrong".to_owned());
    let source = || std::io::Error::from_raw_os_error(13);
    let unknown = |nearest, table| SettingsError::Unknown { key: key(), line: Some(3), nearest, table };
    let all = [
        SettingsError::Unreadable { path: path.clone(), source: source() },
        SettingsError::NoText { path: path.clone(), problem: problem() },
        SettingsError::Unwritable { path: path.clone(), source: source() },
        SettingsError::Syntax { line: 3, problem: problem() },
        unknown(None, Vec::new()),
        unknown(Some(key()), Vec::new()),
        unknown(None, vec![key()]),
        SettingsError::Section { key: key(), settings: vec![key()] },
        SettingsError::Wrong { key: key(), line: None, problem: problem() },
        SettingsError::InFile { file: path, source: Box::new(unknown(None, Vec::new())) },
    ];
    all.into_iter().for_each(|error| assert_made_by_the_tables(error.into()));
}

#[test]
fn a_repaired_call_is_shown_as_it_runs_and_as_it_was_sent() {
    let call = |name: &str| Part::ToolCall { id: "1".into(), name: name.into(), arguments: "[]".into() };
    let repaired = Part::Repaired { name: "shell".into(), arguments: "{}".into() };
    let all = vec![Part::text("a"), call("Bash"), repaired, call("read")];
    let shown = parts(all.clone());
    let sent = Some(retake_wire::SentCall { name: "Bash".into(), arguments: "[]".into() });
    let as_run =
        retake_wire::Part::ToolCall { id: "1".into(), name: "shell".into(), arguments: "{}".into(), sent };
    assert_eq!((shown.len(), &shown[1]), (3, &as_run));
    assert!(matches!(&shown[2], retake_wire::Part::ToolCall { sent: None, .. }));
    assert_eq!(parts_in(shown).expect("parts"), all);
}
