//! Backups of a store in use, and the check of a damaged store.

use std::path::Path;

use retake_core::{CheckMode, Finding, Role, SearchRequest};
use retake_engine::ExportFormat;
use rusqlite::Connection;

use super::{Desk, rich};

/// Changes the file of a store directly.
fn behind_its_back(dir: &Path, sql: &str) {
    let db = Connection::open(dir.join("retake.db")).expect("opened");
    assert!(db.execute(sql, []).expect("done") > 0, "{sql} changes nothing");
}

#[tokio::test]
async fn a_backup_is_a_whole_store() {
    let (folder, other) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let desk = Desk::in_folder(folder.path(), 1).await;
    let (id, _) = rich(&desk).await;
    let to = other.path().join("retake.db");
    let copied = desk.engine.backup(Some(to.clone())).await.expect("copied");
    assert_eq!((copied.path, copied.bytes), (to.clone(), std::fs::metadata(&to).expect("there").len()));
    let text = desk.export(id, ExportFormat::Full).await;
    desk.words(id, Role::User, "said after it").await;
    let error = desk.engine.backup(Some(to)).await.expect_err("it is there");
    assert_eq!(error.code, "file_exists");
    assert_eq!(desk.engine.backup(Some("here.db".into())).await.expect_err("relative").code, "usage");
    let dated = desk.engine.backup(None).await.expect("copied").path;
    assert!(dated.starts_with(folder.path()) && dated.exists(), "{}", dated.display());
    let copy = Desk::in_folder(other.path(), 2).await;
    assert_eq!(copy.export(id, ExportFormat::Full).await, text);
}

#[tokio::test]
async fn a_sound_store_has_no_problems() {
    let folder = tempfile::tempdir().expect("a folder");
    for desk in [Desk::new(1).await, Desk::in_folder(folder.path(), 1).await] {
        rich(&desk).await;
        let checked = desk.engine.doctor(CheckMode::Mend).await.expect("checked");
        assert_eq!((checked.conversations, checked.entries), (2, 12));
        assert_eq!((checked.problems, checked.mended), (vec![], vec![]));
    }
}

#[tokio::test]
async fn a_damaged_full_text_index_is_made_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let desk = Desk::in_folder(folder.path(), 1).await;
    let (id, _) = rich(&desk).await;
    // Changes an open store directly: a start would find and repair the damage first.
    behind_its_back(folder.path(), "UPDATE search_data SET block = zeroblob(length(block)) WHERE id > 100");
    let looked = desk.engine.doctor(CheckMode::Look).await.expect("checked");
    assert!(!looked.problems.is_empty() && looked.mended.is_empty(), "{looked:?}");
    let mended = desk.engine.doctor(CheckMode::Mend).await.expect("checked");
    assert!(mended.problems.is_empty() && mended.mended.len() == 1, "{mended:?}");
    let search =
        SearchRequest { query: "people".into(), limit: 5, conversation: Some(id), ..Default::default() };
    assert_eq!(desk.store.search(search).await.expect("found").hits.len(), 1);
}

#[tokio::test]
async fn a_damaged_message_is_named_and_the_rest_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    let desk = Desk::in_folder(folder.path(), 1).await;
    let id = desk.create().await;
    for text in ["before", "broken", "after"] {
        desk.words(id, Role::User, text).await;
    }
    drop(desk);
    behind_its_back(folder.path(), "UPDATE entry SET content = '{' WHERE content = '\"broken\"'");
    let desk = Desk::in_folder(folder.path(), 2).await;
    let checked = desk.engine.doctor(CheckMode::Mend).await.expect("checked");
    let names = |found: &Finding| match found {
        Finding::Unreadable { detail, .. } => detail.contains("entry 2"),
        _ => false,
    };
    assert!(checked.problems.iter().any(names), "{checked:?}");
    let full = desk.engine.export(id, ExportFormat::Full, None).await;
    assert_eq!(full.expect_err("it would not be whole").code, "damaged");
    let text = desk.export(id, ExportFormat::Jsonl).await;
    assert!(text.contains("before") && text.contains("after") && text.contains("{\"damaged\":"), "{text}");
    let new = desk.import(&text).await.expect("imported");
    let text = desk.export(new, ExportFormat::Text).await;
    assert!(text.contains("[excluded]") && text.contains("was damaged before"), "{text}");
}

#[tokio::test]
async fn a_damaged_conversation_is_reported_and_the_others_stay() {
    let folder = tempfile::tempdir().expect("a folder");
    let desk = Desk::in_folder(folder.path(), 1).await;
    let (good, _) = rich(&desk).await;
    desk.create().await;
    drop(desk);
    behind_its_back(folder.path(), "UPDATE conversation SET head_seq = -1 WHERE log = 3");
    let desk = Desk::in_folder(folder.path(), 2).await;
    let checked = desk.engine.doctor(CheckMode::Mend).await.expect("checked");
    assert!(!checked.problems.is_empty() && checked.mended.is_empty(), "{checked:?}");
    assert!(desk.export(good, ExportFormat::Text).await.contains("Noted."));
}

#[tokio::test]
async fn trial_16_a_pipe_is_no_file_that_is_there_already() {
    let folder = tempfile::tempdir().expect("a folder");
    let desk = Desk::in_folder(folder.path(), 1).await;
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("it runs").success());
    for (to, what, said) in
        [(pipe, "device", "it is a pipe or a device"), (folder.path().into(), "folder", "it is a folder")]
    {
        let refused = desk.engine.backup(Some(to)).await.expect_err("no file");
        assert_eq!(refused.code, "no_file");
        assert!(refused.message.contains(said), "{}", refused.message);
        assert!(refused.fields.contains(&("what", what.into())), "{:?}", refused.fields);
    }
}
